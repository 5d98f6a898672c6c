"""The curriculum loop: play, build datasets, train, test; keep the checkpoint, retry, or roll back to the parent.

Every step is recorded in the database (training/experiments/curriculum/store.py) before the next one starts, and each can
be resumed: battles by their run, datasets by their folder, training by its checkpoints. So the same command resumes an
interrupted curriculum, and no battle and no training step is repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console

from agents import resolve
from agents.policy import checkpoint
from agents.policy.shape import unlike
from arena.report.numbers import counted
from arena.run.terminal import play_shown, stoppable
from arena.run.tournament import EvaluateSettings, PlayedRun, prepare, resume
from arena.store import open_store, rows
from arena.terminal.commands import say
from arena.workers.cluster.connection import connect_cluster
from teamsets.atomic import write_atomic
from training.experiments.curriculum import gate, learn
from training.experiments.curriculum.clock import StageClock, StageCosts
from training.experiments.curriculum.compare import against_all, gathered, rating, set_gaps
from training.experiments.curriculum.config import BASE, Curriculum, OnlineStage, Stage, attempts, network_shape
from training.experiments.curriculum.lineage import FINAL_TEST
from training.experiments.curriculum.play import (
    KIND,
    base_of,
    drawn_quotas,
    learner_spec,
    path_of,
    pinned,
    play_settings,
    specs,
)
from training.experiments.curriculum.report import PAGE, write_evaluation, write_page
from training.experiments.curriculum.store import Attempt, CurriculumStore
from training.runs.config_reader import BadConfig
from training.runs.evaluation import BattlesStopped
from training.runs.run_folder import lock_folder


def check_sizes(config: Curriculum, base: str) -> None:
    """Raise BadConfig for a stage whose network could not start from one that may be its parent. base: spec of the base."""
    parents = {"base": checkpoint.shape_of(checkpoint.find(path_of(base)))}
    for stage in config.stages:
        shapes = [network_shape(config, each) for each in attempts(stage)]
        for name, parent in parents.items():
            for shape in shapes:
                if not shape.extends(parent):
                    raise BadConfig(f"stage {stage.name}: its parent, {name}, {unlike(shape, parent)}")
        parents |= {
            f"stage {stage.name}" + f", retry {number}" * (number > 0): shape for number, shape in enumerate(shapes)
        }


def run_curriculum(config: Curriculum, console: Console, resume_command: str) -> None:
    """Run all remaining stages. resume_command: for messages.

    Raises BadConfig if the settings differ from those it was started with, if its base cannot play its format, or if another
    process holds its folder.
    """
    out = Path(config.out)
    with lock_folder(out, "in use by another process: wait, or give the curriculum another folder"):
        config.db.parent.mkdir(parents=True, exist_ok=True)
        with open_store(config.db):
            pass  # opening it ingests what a killed process left in the journal
        base = pinned(base_of(config))
        if unfit := resolve(base).missing(config.format):
            raise BadConfig(f"base: {unfit}")
        check_sizes(config, base)
        store = CurriculumStore(config.db, config.name)
        store.begin(config, base)
        write_atomic(out / "curriculum.yaml", yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False))
        loop = _Loop(config, store, StageClock(out, store), console, resume_command)
        loop.go(base)
        store.end()
        loop.page()


class _Loop:
    """Runs the stages of a curriculum in this process."""

    def __init__(
        self, config: Curriculum, store: CurriculumStore, clock: StageClock, console: Console, resume_command: str
    ) -> None:
        self.config, self.store, self.clock, self.console = config, store, clock, console
        self.resume_command = resume_command

    def go(self, base: str) -> None:
        self.store.begin_base(base)
        self.evaluate(base, 0, 0, Path(self.config.out) / "00-base")
        parent = base
        checkpoint_after = {BASE: base}
        for number, stage in enumerate(self.config.stages, 1):
            self.page()
            parent = checkpoint_after[stage.name] = self.run_stage(number, stage, parent)
        self.page()
        if self.config.final_test.against:
            self.final_test(parent, checkpoint_after[self.config.final_test.against])
        self.say(
            f"{self.config.name}: finished {counted(len(self.config.stages), 'stage')}; the final checkpoint is {parent}"
        )

    def final_test(self, last: str, earlier: str) -> None:
        """Run the final test of the last checkpoint, recorded with the attempt that trained it."""
        test = self.config.final_test
        attempt = next((attempt for attempt in self.store.attempts() if attempt.checkpoint == last), None)
        if attempt is None or last == earlier:
            self.say(f"{self.config.name}: no checkpoint was kept since {earlier}, so there is no final test")
            return
        settings = gate.final_test_settings(self.config, last, earlier)
        self.run_match(attempt, f"{FINAL_TEST} {test.against}", settings, "H1", self.config.name)

    def run_stage(self, number: int, stage: Stage | OnlineStage, parent: str) -> str:
        """Run a stage, and return the checkpoint that the next stage starts with: the first one kept, or the parent."""
        for place, settings in enumerate(attempts(stage), 1):
            attempt = self.store.attempt(number, place)
            if attempt is None:
                attempt = self.store.begin_attempt(number, place, stage.name, parent, settings.model_dump(mode="json"))
            if attempt.status == "running":
                attempt = self.run_attempt(attempt, settings)
            if attempt.status == "kept":
                assert attempt.checkpoint is not None
                return attempt.checkpoint
        self.say(f"stage {stage.name}: rolled back to {parent}")
        return parent

    def run_attempt(self, attempt: Attempt, stage: Stage | OnlineStage) -> Attempt:
        """Run or resume an attempt to its end, and return its updated row."""
        named = f"stage {attempt.name}" + (f", attempt {attempt.attempt}" if attempt.attempt > 1 else "")
        attempt = (
            self.train_online(attempt, stage, named)
            if isinstance(stage, OnlineStage)
            else self.train_offline(attempt, stage, named)
        )
        assert attempt.checkpoint is not None
        kept = self.run_gates(attempt, stage, named)
        if kept:
            folder = learn.stage_folder(self.config, attempt.stage, attempt.name)
            self.evaluate(attempt.checkpoint, attempt.stage, attempt.attempt, folder)
        self.store.decide(attempt, kept)
        self.say(f"{named}: {attempt.checkpoint} is {'kept' if kept else 'rejected'}")
        return self.reload(attempt)

    def train_online(self, attempt: Attempt, stage: OnlineStage, named: str) -> Attempt:
        """Train the attempt's checkpoint by online training, which plays its battles itself."""
        if attempt.checkpoint is None:
            run_config = learn.online_run_config(self.config, stage, attempt)
            self.say(f"{named}: online training, {counted(run_config.iterations, 'iteration')} from {attempt.parent}")
            attempt = self.train(attempt, lambda: learn.learn_online(self.config, run_config))
        return attempt

    def train(self, attempt: Attempt, train: Callable[[], learn.Learned]) -> Attempt:
        """Train, and note the checkpoint and what it took."""
        with self.clock.running(attempt.stage, attempt.attempt, "learn") as spent:
            trained = train()
            spent.steps = trained.steps
        self.store.note_checkpoint(attempt, trained.checkpoint)
        return self.reload(attempt)

    def train_offline(self, attempt: Attempt, stage: Stage, named: str) -> Attempt:
        """Play the attempt's battles, and train its checkpoint on them."""
        attempt = self.generate_battles(attempt, stage, named)
        if attempt.datasets is None:
            with self.clock.running(attempt.stage, attempt.attempt, "data"):
                datasets = learn.build_datasets(self.config, stage, attempt, self.say)
            self.store.note_datasets(attempt, datasets)
            attempt = self.reload(attempt)
        if attempt.checkpoint is None:
            run_config = learn.run_config(self.config, stage, attempt, self.store)
            self.say(
                f"{named}: training on {counted(len(run_config.data.train), 'dataset')}, {run_config.length.epochs:g} epochs"
            )
            attempt = self.train(attempt, lambda: learn.learn(self.config, run_config))
        return attempt

    def generate_battles(self, attempt: Attempt, stage: Stage, named: str) -> Attempt:
        """Play the attempt's battles, or reuse those of an earlier attempt with the same settings."""
        if attempt.play_run is None:
            learner = learner_spec(attempt.parent, stage)
            twin = self._twin(attempt)
            if twin is not None and twin.quotas is not None and twin.play_run is not None:
                self.say(f"{named}: trains on the battles of attempt {twin.attempt}")
                self.store.note_play(attempt, learner, twin.quotas, twin.play_run)
                return self.reload(attempt)
            quotas = drawn_quotas(self.config, stage, attempt.stage, attempt.parent, self.store.lineage())
            settings = play_settings(self.config, learner, quotas, attempt.stage, attempt.attempt)
            self.store.note_play(attempt, learner, quotas, self.prepared(settings))
            attempt = self.reload(attempt)
        assert attempt.play_run is not None
        if self._owner(attempt) == attempt.attempt and not self.store.spent(attempt, "play"):
            self.say(f"{named}: generating battles with {attempt.learner}")
            with self.clock.running(attempt.stage, attempt.attempt, "play") as spent:
                self.play(attempt.play_run, spent)
        return attempt

    def run_gates(self, attempt: Attempt, stage: Stage | OnlineStage, named: str) -> bool:
        """Return whether the checkpoint passes all gates; stops at the first that fails."""
        assert attempt.checkpoint is not None
        config, gates = self.config, stage.gate
        child, parent = attempt.checkpoint, attempt.parent
        for which, earlier in self.earlier(stage, parent):
            settings = gate.match_settings(config, gate.parent_test(stage), child, earlier)
            if not self.run_match(attempt, which, settings, gates.parent.require, named):
                return False
        if gates.pool.by != "nothing":
            settings = gate.pool_settings(config, child, gate.held_out(config))
            if self.play_gate(attempt, "pool", settings, named) is not None:
                result = self.store.gate_result(attempt, "pool")
                before = self.store.measured(parent)
                assert result is not None and before is not None
                mine, theirs = (child, result.run_id), (parent, before["run_id"])
                self.store.rate(child, self.rated(child, result.run_id, gate.held_out(config)))
                self.store.end_gate(attempt, "pool", *gate.pool_result(config, gates.pool, config.db, mine, theirs))
            return self.gate_passed(attempt, "pool", named)
        return True

    def earlier(self, stage: Stage | OnlineStage, parent: str) -> list[tuple[str, str]]:
        """Return (gate, opponent) of the stage's matches: the parent, and the best checkpoint so far if it is another one.

        Without the latter, small regressions that each pass by chance would accumulate over stages.
        """
        parent_gate = stage.gate.parent
        if parent_gate.require == "nothing":
            return []
        best = self.store.best() if parent_gate.best else None
        return [("parent", parent), *([("best", best)] if best not in (None, parent) else [])]

    def run_match(self, attempt: Attempt, which: str, settings: EvaluateSettings, require: str, named: str) -> bool:
        """Return whether the attempt's checkpoint passes a match against an earlier one."""
        played = self.play_gate(attempt, which, settings, named)
        if played is not None:
            self.store.end_gate(attempt, which, *gate.match_result(require, played))
        return self.gate_passed(attempt, which, named)

    def play_gate(self, attempt: Attempt, which: str, settings: EvaluateSettings, named: str) -> PlayedRun | None:
        """Play a gate's battles; None if it is decided already."""
        result = self.store.gate_result(attempt, which)
        if result is None:
            self.store.begin_gate(attempt, which, self.prepared(settings))
            result = self.store.gate_result(attempt, which)
        assert result is not None
        if result.passed is not None:
            return None
        opponent = {"parent": "its parent", "best": "the best so far", "pool": "the pool"}.get(
            which, which.removeprefix(FINAL_TEST).strip()
        )
        self.say(f"{named}: testing {attempt.checkpoint} against {opponent}")
        with self.clock.running(attempt.stage, attempt.attempt, f"gate: {which}") as spent:
            return self.play(result.run_id, spent)

    def gate_passed(self, attempt: Attempt, which: str, named: str) -> bool:
        """Print and return whether a decided gate was passed."""
        result = self.store.gate_result(attempt, which)
        assert result is not None and result.passed is not None
        self.say(f"{named}: gate '{which}' {'passed' if result.passed else 'failed'}: {result.summary}")
        return result.passed

    def evaluate(self, checkpoint: str, stage: int, attempt: int, folder: Path) -> None:
        """Evaluate a checkpoint against the pool on all team sets; results go to the database and the folder."""
        known = self.store.measured(checkpoint)
        assert known is not None
        if known["details"] is None:
            self._battles_against_all(checkpoint, known, stage, attempt)
        write_evaluation(self.store, checkpoint, folder)

    def _battles_against_all(self, checkpoint: str, known: dict[str, Any], stage: int, attempt: int) -> None:
        config, team_sets = self.config, gate.measured_on(self.config)
        if known["run_id"] is None:
            if stage == 0:
                self.say(f"{config.name}: battles of the pool and of the base against it")
                self._pool()
            run_id = self.prepared(gate.pool_settings(config, checkpoint, team_sets))
            self.store.begin_evaluation(checkpoint, run_id)
            known = {**known, "run_id": run_id}
        with self.clock.running(stage, attempt, "evaluate") as spent:
            self.play(known["run_id"], spent)
        pool, mine = specs(config.pool.agents), (checkpoint, known["run_id"])
        before = None if known["parent"] is None else self.store.measured(known["parent"])
        theirs = None if before is None else (before["checkpoint"], before["run_id"])
        details = {
            "team_sets": list(team_sets),
            "shares": against_all(config.db, pool, team_sets, mine, theirs),
            "gaps": set_gaps(config.db, pool, team_sets, mine),
        }
        self.store.rate(checkpoint, self.rated(checkpoint, known["run_id"], gate.held_out(config)), details)

    def _pool(self) -> None:
        """Play the remaining battles of the pool's own agents."""
        settings = gate.pool_settings(self.config, None, gate.measured_on(self.config))
        with self.clock.running(0, 0, "pool") as spent:
            self.play(self.prepared(settings), spent)

    def rated(self, checkpoint: str, run_id: str, team_sets: tuple[str, ...]) -> tuple[float, float, float]:
        """Return its rating on the held-out teams (Elo, low, high)."""
        pool = specs(self.config.pool.agents)
        evidence = gathered(self.config.db, [run_id], team_sets, [checkpoint, *pool])
        return rating(evidence, checkpoint, specs([self.config.pool.anchor])[0])

    def prepared(self, settings: EvaluateSettings) -> str:
        """Create a run and return its id. A run whose id is not recorded before an interruption stays empty."""
        with open_store(self.config.db) as store:
            return prepare(store, settings, kind=KIND).run_id

    def play(self, run_id: str, spent: StageCosts) -> PlayedRun:
        """Play the remaining battles of a run. Raises BattlesStopped after Ctrl-C."""
        db = self.config.db
        with connect_cluster(None, self.config.workers, self.say) as cluster, open_store(db) as store:
            run = resume(store, run_id, None, kind=KIND)
            with stoppable(self.console, store, run_id, self.resume_command):
                played = play_shown(self.console, store, run, cluster)
        if not played.finished:
            raise BattlesStopped(f"stopped; to resume: {self.resume_command}")
        counted = "SELECT count(DISTINCT battle_id), count(seat) FROM battles LEFT JOIN decisions USING (battle_id)"
        ((spent.battles, spent.decisions),) = rows(f"{counted} WHERE run_id = ?", db, [run_id])
        return played

    def reload(self, attempt: Attempt) -> Attempt:
        """Return the attempt's current row."""
        current = self.store.attempt(attempt.stage, attempt.attempt)
        assert current is not None
        return current

    def page(self) -> None:
        write_page(self.config.db, self.config.name, Path(self.config.out) / PAGE)

    def say(self, line: str) -> None:
        say(self.console, line)

    def _twin(self, attempt: Attempt) -> Attempt | None:
        """Return an earlier attempt at the same stage with the same battles, or None."""
        keys = ("learner", "opponents", "coaches", "past", "teams", "battles")
        wanted = {key: attempt.settings[key] for key in keys}
        for other in self.store.attempts():
            alike = {key: other.settings[key] for key in keys} == wanted
            if other.stage == attempt.stage and other.attempt < attempt.attempt and alike:
                return other
        return None

    def _owner(self, attempt: Attempt) -> int:
        """Return the number of the attempt for which the battles were played."""
        return min(each.attempt for each in self.store.attempts() if each.play_run == attempt.play_run)
