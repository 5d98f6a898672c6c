"""Training of an attempt: builds datasets from the stage's battles and runs the training in the attempt's folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.policy import checkpoint
from arena.fixture import digest
from arena.store import rows
from training.data.build import build_once
from training.data.gates import Gates, Result
from training.data.rebuild_command import HELD_OUT
from training.data.stats import target_lines
from training.experiments.curriculum.config import Curriculum, OnlineStage, Stage, online_config, training_config
from training.experiments.curriculum.play import path_of, pinned, seed_of, specs
from training.experiments.curriculum.stage import Sides
from training.experiments.curriculum.store import Attempt, CurriculumStore
from training.offline.config import Config, Source
from training.online.config import OnlineConfig
from training.runs.config_reader import BadConfig
from training.runs.process import train_in_process


@dataclass(frozen=True)
class Learned:
    """The result of a training run. checkpoint: its spec."""

    checkpoint: str
    steps: int


def stage_folder(config: Curriculum, number: int, name: str) -> Path:
    """Return the folder of a stage."""
    return Path(config.out) / f"{number:02}-{name}"


def build_datasets(
    config: Curriculum, stage: Stage, attempt: Attempt, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Build an attempt's datasets, once: [{path, weight, policy_from, value_from, trajectories, decisions}].

    They include lost sides, for the value. Attempts with the same battles share datasets. Raises BadConfig if no side
    matches `learn_from`, or none for the policy although it is to be trained.
    """
    assert attempt.learner is not None and attempt.play_run is not None
    learn, made, taught = stage.learn_from, [], False
    wanted: tuple[tuple[str, Sides, list[str]], ...] = (
        ("learner", learn.learner, [attempt.learner]),
        ("coaches", learn.coaches, specs([coach.agent for coach in stage.coaches])),
    )
    for who, sides, agents in wanted:
        if not sides.used:
            continue
        named = ", ".join("'" + agent.replace("'", "''") + "'" for agent in agents)
        where = f"run_id = '{attempt.play_run}' AND agent IN ({named})"
        result = needed(sides)
        if not _any(config.db, where, result):
            say(f"stage {stage.name}: no sides of the {who} match learn_from ({result})")
            continue
        if sides.policy_from == "won" and not _any(config.db, where, "won"):
            say(f"stage {stage.name}: the {who} won no battle; their sides train the value only")
        elif sides.policy_from != "none":
            taught = True
        gates = Gates(min_decisions=stage.quality.min_decisions, result=result, drop_faulty=stage.quality.drop_faulty)
        named_after = digest(
            [where, result, stage.quality.model_dump(), config.hold_out, config.hold_out_by, "sides"], 8
        )
        folder = stage_folder(config, attempt.stage, attempt.name) / "data" / f"{who}-{named_after}"
        built = build_once(
            config.db, where, folder, gates, config.hold_out,
            hold_out_by=config.hold_out_by, by_expert=who == "coaches",
        )  # fmt: skip
        for line in target_lines(built.no_target):
            say(f"stage {stage.name}: {who}: {line}")
        dataset = built.datasets[0]
        made.append(
            {
                "path": str(folder),
                **sides.model_dump(),
                "trajectories": dataset.trajectories,
                "decisions": dataset.decisions,
            }
        )
    wants_policy = any(sides.policy_from != "none" for _, sides, _ in wanted)
    if not (taught if wants_policy else made) and not learn.also and not learn.earlier:
        raise BadConfig(
            f"stage {stage.name}: learn_from: no side of a battle matches; play more battles, or set policy_from: all"
        )
    return made


def mixture(stage: Stage, datasets: list[dict[str, Any]], earlier: list[dict[str, Any]]) -> list[Source]:
    """Return the training mixture: the stage's datasets, those of earlier kept stages by size, and others."""
    learn = stage.learn_from
    sources = [_source(each, each["weight"]) for each in datasets]
    if learn.earlier:
        total = sum(each["trajectories"] for each in earlier)
        sources += [_source(each, learn.earlier * each["trajectories"] / total) for each in earlier]
    sources += learn.also
    if not sources:
        raise BadConfig(f"stage {stage.name}: learn_from: no data of this or earlier stages matches")
    return sources


def _source(made: dict[str, Any], weight: float) -> Source:
    """Return a dataset of `build_datasets` as a source. Rows of earlier versions without `policy_from` use all sides."""
    return Source(
        path=made["path"], weight=weight, **{key: made[key] for key in ("policy_from", "value_from") if key in made}
    )


def run_config(config: Curriculum, stage: Stage, attempt: Attempt, store: CurriculumStore) -> Config:
    """Return the training configuration of an attempt whose datasets are built."""
    assert attempt.datasets is not None
    earlier = [
        dataset
        for each in store.attempts()
        if each.status == "kept" and each.stage < attempt.stage
        for dataset in each.datasets or []
    ]
    # Validation includes the held-out parts of earlier stages' datasets, to detect forgetting.
    sources = mixture(stage, attempt.datasets, earlier)
    held_out = [source.path + HELD_OUT for source in sources if Path(source.path + HELD_OUT).exists()]
    return training_config(
        config,
        stage,
        out=stage_folder(config, attempt.stage, attempt.name) / f"attempt-{attempt.attempt}",
        parent=path_of(attempt.parent),
        seed=seed_of(config, "learn", attempt.stage, attempt.attempt),
        sources=sources,
        validate_on=held_out if config.hold_out else [],
    )


def learn(config: Curriculum, run: Config) -> Learned:
    """Train or resume the run to its end."""
    from training.offline.trainer import train  # torch is imported here, because battles do not need it in this process

    finished = train(run)
    best = config.take == "best" and finished.best is not None
    return Learned(pinned(f"{finished.folder}@{'best' if best else 'last'}"), finished.step)


def online_run_config(config: Curriculum, stage: OnlineStage, attempt: Attempt) -> OnlineConfig:
    """Return the configuration of online training of an attempt."""
    return online_config(
        config,
        stage,
        out=stage_folder(config, attempt.stage, attempt.name) / f"attempt-{attempt.attempt}",
        parent=path_of(attempt.parent),
        seed=seed_of(config, "learn", attempt.stage, attempt.attempt),
    )


def learn_online(config: Curriculum, run: OnlineConfig) -> Learned:
    """Train or resume a run of online training to its end, in a process of its own."""
    folder = train_in_process(run)
    best = config.take == "best" and run.evaluation.every > 0
    return Learned(pinned(f"{folder}@{'best' if best else 'last'}"), max(checkpoint.steps_of(folder)))


def needed(sides: Sides) -> Result:
    """Return the `result` filter of a dataset for these sides."""
    return "won" if (sides.policy_from, sides.value_from) == ("won", "none") else "any"


def _any(db: Path, where: str, result: Result) -> bool:
    condition = "score = 1" if result == "won" else "score IS NOT NULL"
    return bool(rows(f"SELECT 1 FROM results WHERE ({where}) AND {condition} LIMIT 1", db))
