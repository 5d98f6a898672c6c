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
from training.experiments.curriculum.config import BASE, Curriculum, OnlineStage, Stage, attempts
from training.experiments.curriculum.lineage import FINAL_TEST
from training.experiments.curriculum.play import KIND, base_of, drawn_quotas, learner_spec, pinned, play_settings, specs
from training.experiments.curriculum.report import PAGE, write_evaluation, write_page
from training.experiments.curriculum.store import Attempt, CurriculumStore
from training.runs.evaluation import BattlesStopped
from training.runs.run_folder import lock_folder


def run_curriculum(config: Curriculum, console: Console, resume_command: str) -> None:
    """Run all remaining stages. resume_command: for messages.

    Raises BadConfig if the settings differ from those it was started with, or if another process holds its folder.
    """
    out = Path(config.out)
    with lock_folder(out, "in use by another process: wait, or give the curriculum another folder"):
        config.db.parent.mkdir(parents=True, exist_ok=True)
        with open_store(config.db):
            pass  # opening it ingests what a killed process left in the journal
        base = pinned(base_of(config))
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
        left = {BASE: base}
        for number, stage in enumerate(self.config.stages, 1):
            self.page()
            parent = left[stage.name] = self.stage(number, stage, parent)
        self.page()
        if self.config.final_test.against:
            self.final_test(parent, left[self.config.final_test.against])
        self.say(
            f"{self.config.name}: finished {counted(len(self.config.stages), 'stage')}; the final checkpoint is {parent}"
        )

    def final_test(self, last: str, earlier: str) -> None:
        """Run the final test of the last checkpoint, recorded with the attempt that trained it."""
        asked = self.config.final_test
        one = next((one for one in self.store.attempts() if one.checkpoint == last), None)
        if one is None or last == earlier:
            self.say(f"{self.config.name}: no checkpoint was kept since {earlier}, so there is no final test")
            return
        settings = gate.final_test_settings(self.config, last, earlier)
        self.match(one, f"{FINAL_TEST} {asked.against}", settings, "H1", self.config.name)

    def stage(self, number: int, stage: Stage | OnlineStage, parent: str) -> str:
        """Run a stage, and return the checkpoint that the next stage starts with: the first one kept, or the parent."""
        for place, settings in enumerate(attempts(stage), 1):
            one = self.store.attempt(number, place)
            if one is None:
                one = self.store.begin_attempt(number, place, stage.name, parent, settings.model_dump(mode="json"))
            if one.status == "running":
                one = self.attempt(one, settings)
            if one.status == "kept":
                assert one.checkpoint is not None
                return one.checkpoint
        self.say(f"stage {stage.name}: rolled back to {parent}")
        return parent

    def attempt(self, one: Attempt, stage: Stage | OnlineStage) -> Attempt:
        """Run or resume an attempt to its end, and return its updated row."""
        named = f"stage {one.name}" + (f", attempt {one.attempt}" if one.attempt > 1 else "")
        one = (
            self.taught_online(one, stage, named) if isinstance(stage, OnlineStage) else self.taught(one, stage, named)
        )
        assert one.checkpoint is not None
        kept = self.passes(one, stage, named)
        if kept:
            folder = learn.stage_folder(self.config, one.stage, one.name)
            self.evaluate(one.checkpoint, one.stage, one.attempt, folder)
        self.store.decide(one, kept)
        self.say(f"{named}: {one.checkpoint} is {'kept' if kept else 'rejected'}")
        return self.again(one)

    def taught_online(self, one: Attempt, stage: OnlineStage, named: str) -> Attempt:
        """Train the attempt's checkpoint by online training, which plays its battles itself."""
        if one.checkpoint is None:
            told = learn.online_run_config(self.config, stage, one)
            self.say(f"{named}: online training, {counted(told.iterations, 'iteration')} from {one.parent}")
            one = self.learned(one, lambda: learn.learn_online(self.config, told))
        return one

    def learned(self, one: Attempt, train: Callable[[], learn.Learned]) -> Attempt:
        """Train, and note the checkpoint and what it took."""
        with self.clock.running(one.stage, one.attempt, "learn") as spent:
            learned = train()
            spent.steps = learned.steps
        self.store.note_checkpoint(one, learned.checkpoint)
        return self.again(one)

    def taught(self, one: Attempt, stage: Stage, named: str) -> Attempt:
        """Play the attempt's battles, and train its checkpoint on them."""
        one = self.played(one, stage, named)
        if one.datasets is None:
            with self.clock.running(one.stage, one.attempt, "data"):
                datasets = learn.build_datasets(self.config, stage, one, self.say)
            self.store.note_datasets(one, datasets)
            one = self.again(one)
        if one.checkpoint is None:
            told = learn.run_config(self.config, stage, one, self.store)
            self.say(f"{named}: training on {counted(len(told.data.train), 'dataset')}, {told.length.epochs:g} epochs")
            one = self.learned(one, lambda: learn.learn(self.config, told))
        return one

    def played(self, one: Attempt, stage: Stage, named: str) -> Attempt:
        """Play the attempt's battles, or reuse those of an earlier attempt with the same settings."""
        if one.play_run is None:
            learner = learner_spec(one.parent, stage)
            twin = self._twin(one)
            if twin is not None and twin.quotas is not None and twin.play_run is not None:
                self.say(f"{named}: trains on the battles of attempt {twin.attempt}")
                self.store.note_play(one, learner, twin.quotas, twin.play_run)
                return self.again(one)
            quotas = drawn_quotas(self.config, stage, one.stage, one.parent, self.store.lineage())
            settings = play_settings(self.config, learner, quotas, one.stage, one.attempt)
            self.store.note_play(one, learner, quotas, self.prepared(settings))
            one = self.again(one)
        assert one.play_run is not None
        if self._owner(one) == one.attempt and not self.store.spent(one, "play"):
            self.say(f"{named}: generating battles with {one.learner}")
            with self.clock.running(one.stage, one.attempt, "play") as spent:
                self.play(one.play_run, spent)
        return one

    def passes(self, one: Attempt, stage: Stage | OnlineStage, named: str) -> bool:
        """Return whether the checkpoint passes all gates; stops at the first that fails."""
        assert one.checkpoint is not None
        config, asked = self.config, stage.gate
        child, parent = one.checkpoint, one.parent
        for which, earlier in self.earlier(stage, parent):
            settings = gate.match_settings(config, gate.parent_test(stage), child, earlier)
            if not self.match(one, which, settings, asked.parent.require, named):
                return False
        if asked.pool.by != "nothing":
            settings = gate.pool_settings(config, child, gate.held_out(config))
            if self.gate(one, "pool", settings, named) is not None:
                said = self.store.gate_result(one, "pool")
                before = self.store.measured(parent)
                assert said is not None and before is not None
                mine, theirs = (child, said.run_id), (parent, before["run_id"])
                self.store.rate(child, self.rated(child, said.run_id, gate.held_out(config)))
                self.store.end_gate(one, "pool", *gate.pool_result(config, asked.pool, config.db, mine, theirs))
            return self.passed(one, "pool", named)
        return True

    def earlier(self, stage: Stage | OnlineStage, parent: str) -> list[tuple[str, str]]:
        """Return (gate, opponent) of the stage's matches: the parent, and the best checkpoint so far if it is another one.

        Without the latter, small regressions that each pass by chance would accumulate over stages.
        """
        asked = stage.gate.parent
        if asked.require == "nothing":
            return []
        best = self.store.best() if asked.best else None
        return [("parent", parent), *([("best", best)] if best not in (None, parent) else [])]

    def match(self, one: Attempt, which: str, settings: EvaluateSettings, require: str, named: str) -> bool:
        """Return whether the attempt's checkpoint passes a match against an earlier one."""
        played = self.gate(one, which, settings, named)
        if played is not None:
            self.store.end_gate(one, which, *gate.match_result(require, played))
        return self.passed(one, which, named)

    def gate(self, one: Attempt, which: str, settings: EvaluateSettings, named: str) -> PlayedRun | None:
        """Play a gate's battles; None if it is decided already."""
        said = self.store.gate_result(one, which)
        if said is None:
            self.store.begin_gate(one, which, self.prepared(settings))
            said = self.store.gate_result(one, which)
        assert said is not None
        if said.passed is not None:
            return None
        opponent = {"parent": "its parent", "best": "the best so far", "pool": "the pool"}.get(
            which, which.removeprefix(FINAL_TEST).strip()
        )
        self.say(f"{named}: testing {one.checkpoint} against {opponent}")
        with self.clock.running(one.stage, one.attempt, f"gate: {which}") as spent:
            return self.play(said.run_id, spent)

    def passed(self, one: Attempt, which: str, named: str) -> bool:
        """Print and return whether a decided gate was passed."""
        said = self.store.gate_result(one, which)
        assert said is not None and said.passed is not None
        self.say(f"{named}: gate '{which}' {'passed' if said.passed else 'failed'}: {said.summary}")
        return said.passed

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

    def again(self, one: Attempt) -> Attempt:
        """Return the attempt's current row."""
        found = self.store.attempt(one.stage, one.attempt)
        assert found is not None
        return found

    def page(self) -> None:
        write_page(self.config.db, self.config.name, Path(self.config.out) / PAGE)

    def say(self, line: str) -> None:
        say(self.console, line)

    def _twin(self, one: Attempt) -> Attempt | None:
        """Return an earlier attempt at the same stage with the same battles, or None."""
        keys = ("learner", "opponents", "coaches", "past", "teams", "battles")
        wanted = {key: one.settings[key] for key in keys}
        for other in self.store.attempts():
            alike = {key: other.settings[key] for key in keys} == wanted
            if other.stage == one.stage and other.attempt < one.attempt and alike:
                return other
        return None

    def _owner(self, one: Attempt) -> int:
        """Return the number of the attempt for which the battles were played."""
        return min(each.attempt for each in self.store.attempts() if each.play_run == one.play_run)
