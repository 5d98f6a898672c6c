"""From a stage's battles to the checkpoint that they make: datasets, then a training run in the attempt's folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.fixture import digest
from arena.store import rows
from training.config import BadConfig, Config, Source
from training.curriculum.book import Attempt, Book
from training.curriculum.config import Curriculum, Stage, training_config
from training.curriculum.play import path_of, pinned, seed_of, specs
from training.curriculum.stage import Sides
from training.data.build import build_once
from training.data.gates import Gates, Result
from training.data.orders import HELD_OUT
from training.data.stats import target_lines


@dataclass(frozen=True)
class Learned:
    """What a training run came to. checkpoint: its spec."""

    checkpoint: str
    steps: int


def stage_folder(config: Curriculum, number: int, name: str) -> Path:
    """Where everything of a stage lies."""
    return Path(config.out) / f"{number:02}-{name}"


def build_datasets(config: Curriculum, stage: Stage, one: Attempt, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """The datasets of an attempt's battles, made once: [{path, weight, policy_from, value_from, trajectories, decisions}].

    They hold lost sides, too, for the value. Attempts that learn from the same battles have the same datasets. Raises
    BadConfig where nothing is to be learned, or nothing by the policy that was to learn something.
    """
    assert one.learner is not None and one.play_run is not None
    learn, made, taught = stage.learn_from, [], False
    wanted: tuple[tuple[str, Sides, list[str]], ...] = (
        ("learner", learn.learner, [one.learner]),
        ("coaches", learn.coaches, specs([coach.agent for coach in stage.coaches])),
    )
    for who, sides, agents in wanted:
        if not sides.used:
            continue
        named = ", ".join("'" + agent.replace("'", "''") + "'" for agent in agents)
        where = f"run_id = '{one.play_run}' AND agent IN ({named})"
        result = needed(sides)
        if not _any(config.db, where, result):
            say(f"stage {stage.name}: no sides of the {who} match learn_from ({result})")
            continue
        if sides.policy_from == "won" and not _any(config.db, where, "won"):
            say(f"stage {stage.name}: the {who} won no battle; their sides train the value only")
        elif sides.policy_from != "none":
            taught = True
        gates = Gates(min_decisions=stage.quality.min_decisions, result=result, drop_faulty=stage.quality.drop_faulty)
        # By its former name: a run in progress finds the datasets that it has built.
        quality = {"least_decisions": stage.quality.min_decisions, "drop_faulty": stage.quality.drop_faulty}
        named_after = digest([where, result, quality, config.hold_out, config.hold_out_by, "sides"], 8)
        folder = stage_folder(config, one.stage, one.name) / "data" / f"{who}-{named_after}"
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
    asked = any(sides.policy_from != "none" for _, sides, _ in wanted)
    if not (taught if asked else made) and not learn.also and not learn.earlier:
        raise BadConfig(
            f"stage {stage.name}: learn_from: no side of a battle matches; play more battles, or set policy_from: all"
        )
    return made


def mixture(stage: Stage, datasets: list[dict[str, Any]], earlier: list[dict[str, Any]]) -> list[Source]:
    """What is learned from: the stage's own, those of kept stages before in proportion to their size, and others."""
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
    """A dataset as `build_datasets` noted it; one that was noted without `policy_from` holds what it is learned from."""
    return Source(
        path=made["path"], weight=weight, **{key: made[key] for key in ("policy_from", "value_from") if key in made}
    )


def run_config(config: Curriculum, stage: Stage, one: Attempt, book: Book) -> Config:
    """The training run of an attempt whose datasets are there."""
    assert one.datasets is not None
    earlier = [
        dataset
        for each in book.attempts()
        if each.status == "kept" and each.stage < one.stage
        for dataset in each.datasets or []
    ]
    # Also what was held out of what is learned again: a stage may forget.
    sources = mixture(stage, one.datasets, earlier)
    held_out = [source.path + HELD_OUT for source in sources if Path(source.path + HELD_OUT).exists()]
    return training_config(
        config,
        stage,
        out=stage_folder(config, one.stage, one.name) / f"attempt-{one.attempt}",
        parent=path_of(one.parent),
        seed=seed_of(config, "learn", one.stage, one.attempt),
        sources=sources,
        validate_on=held_out if config.hold_out else [],
    )


def learn(config: Curriculum, told: Config) -> Learned:
    """Trains to the end, from wherever the run is."""
    from training.trainer import train  # torch is loaded here and not before: battles do not need it in this process

    finished = train(told)
    best = config.take == "best" and finished.best is not None
    return Learned(pinned(f"{finished.folder}@{'best' if best else 'last'}"), finished.step)


def needed(sides: Sides) -> Result:
    """Which sides a dataset of theirs must hold."""
    return "won" if (sides.policy_from, sides.value_from) == ("won", "none") else "any"


def _any(db: Path, where: str, result: Result) -> bool:
    condition = "score = 1" if result == "won" else "score IS NOT NULL"
    return bool(rows(f"SELECT 1 FROM results WHERE ({where}) AND {condition} LIMIT 1", db))
