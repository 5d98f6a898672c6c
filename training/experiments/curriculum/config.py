"""The configuration of a curriculum. As for a training run, every setting is in its YAML file; none has a hidden default.

The shipped ones are in training/presets/curricula/, with a comment on every setting.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Discriminator, Field, Tag

from agents.policy.shape import Shape
from teamsets import variety
from teamsets.formats import get_format
from training.data.hold_out import By
from training.experiments.curriculum.stage import Learner, LearnFrom, Opponent, PastOpponents, Quality, StageTeams
from training.offline.config import Cloning, Config, Source
from training.online.config import OnlineConfig
from training.runs.config_reader import BadConfig, Section, validated

#: Keys of the section `training` that the curriculum sets.
SET_HERE = ("name", "out", "seed", "network.start_from", "data.train", "data.validate_on", "length.epochs")
#: Keys of an online stage's `online` that the curriculum sets.
SET_HERE_ONLINE = ("name", "out", "seed", "format", "learner.network.start_from", "rollout.held_out")
#: Value of `training.reference.checkpoint` for the curriculum's base; "" is the stage's parent.
BASE = "base"
#: Value of `base` for a randomly initialized network of the curriculum's preset and seed.
NEW = "new"


class PoolSettings(Section):
    """The opponents of every evaluation. anchor: has Elo 1000. battles: per pairing and team set."""

    agents: Annotated[list[str], Field(min_length=2)]
    anchor: str
    battles: Annotated[int, Field(ge=2)]


class Test(Section):
    """A sequential probability ratio test (SPRT) on the held-out teams. battles: maximum."""

    elo0: float
    elo1: float
    alpha: Annotated[float, Field(gt=0, lt=0.5)]
    beta: Annotated[float, Field(gt=0, lt=0.5)]
    model: Literal["normalized", "logistic"]
    battles: Annotated[int, Field(ge=2)]


class ParentGate(Test):
    """The test against the parent. require: H1; or not H0: an undecided test passes too, if its evidence is nearer to H1.

    alpha: of the stage, divided equally among its attempts. best: also test against the best checkpoint so far, if it is
    not the parent; files of earlier versions do not have it.
    """

    require: Literal["H1", "not H0", "nothing"]
    best: bool | None = None


class FinalTest(Test):
    """The final test of the last checkpoint against an earlier one.

    against: base, the name of a stage (its checkpoint), or "" for no test. teams: team sets that the curriculum does not use
    otherwise; []: the shipped set `verdict`, or the gates' sets if the format has none.
    """

    against: str
    teams: list[str] = Field(default_factory=list)


class PoolGate(Section):
    """The rating against the pool on the held-out teams minus the parent's: passes if `by` of it is >= -`tolerance`.

    by: the difference itself, the low end of its 95% interval (surely no worse), or the high end (not clearly worse).
    """

    by: Literal["low", "estimate", "high", "nothing"]
    tolerance: Annotated[float, Field(ge=0)]


class GateSettings(Section):
    """The acceptance tests of a checkpoint."""

    parent: ParentGate
    pool: PoolGate


class Stage(Section):
    """A stage that learns from battles. battles: total, divided by weights. overrides: of `training`, by dotted key.

    retries: alternative settings, tried in turn if the gate rejects: settings of this stage that are replaced (`overrides`
    are merged). If all are rejected, the next stage starts from the parent.
    """

    kind: Literal["battles"] = "battles"  # files of earlier versions do not have it
    name: Annotated[str, Field(pattern=r"^[\w-]+$")]
    learner: Learner
    opponents: list[Opponent]
    coaches: list[Opponent]
    past: PastOpponents
    teams: list[StageTeams]
    battles: Annotated[int, Field(ge=2)]
    learn_from: LearnFrom
    quality: Quality
    epochs: Annotated[float, Field(gt=0)]
    overrides: dict[str, Any]
    gate: GateSettings
    retries: list[dict[str, Any]]


class OnlineStage(Section):
    """A stage of online training. online: a configuration of `train online` without the keys SET_HERE_ONLINE.

    It starts from the parent, and never plays on the teams of the gates and of the final test. retries: as for a stage of
    battles; keys of `online` are dotted, as in `online.reference.coefficient`.
    """

    kind: Literal["online"]
    name: Annotated[str, Field(pattern=r"^[\w-]+$")]
    online: dict[str, Any]
    gate: GateSettings
    retries: list[dict[str, Any]]


def _kind(settings: Any) -> str:
    """Return the tag of a stage. Tags have spaces, by which messages tell them from keys (training.offline.config)."""
    kind = settings.get("kind", "") if isinstance(settings, dict) else getattr(settings, "kind", "")
    return "online stage" if kind == "online" else "battle stage"


_Stage = TypeVar("_Stage", bound=Stage | OnlineStage)
AnyStage = Annotated[
    Annotated[Stage, Tag("battle stage")] | Annotated[OnlineStage, Tag("online stage")], Discriminator(_kind)
]


class Curriculum(Section):
    """A curriculum.

    out: its folder. database: "" for arena.duckdb in it. base: the initial checkpoint; `new`: random initialization. venue:
    of all battles, those of the gates included; what the engine does not play is played in the simulator. take: the
    checkpoint of a training run that is used. hold_out: fraction of the battles that is held out for validation.
    hold_out_by: pairs of battles, or teams with all their battles. held_out: team sets of the gates; evaluate_on: further
    team sets for the evaluation of kept checkpoints. training: a training configuration without the keys SET_HERE.
    """

    name: Annotated[str, Field(min_length=1)]
    out: str
    database: str
    seed: int
    format: str
    base: str
    workers: Annotated[int, Field(ge=1)]
    think_limit: Annotated[float, Field(gt=0)]
    venue: Literal["simulator", "engine"] = "simulator"  # files of earlier versions do not have it
    take: Literal["last", "best"]
    hold_out: Annotated[float, Field(ge=0, le=0.5)]
    hold_out_by: By = "pairs"  # files of earlier versions do not have it
    pool: PoolSettings
    held_out: list[str]
    evaluate_on: list[str]
    training: dict[str, Any]
    final_test: FinalTest
    stages: Annotated[list[AnyStage], Field(min_length=1)]

    @property
    def db(self) -> Path:
        return Path(self.database) if self.database else Path(self.out) / "arena.duckdb"

    @property
    def new_base(self) -> Path:
        """The run folder of a randomly initialized base."""
        return Path(self.out) / "00-base" / NEW

    @property
    def base_found(self) -> str:
        """The base as `agents.policy.checkpoint.find` takes it."""
        return f"{self.new_base}@0" if self.base == NEW else self.base

    def check(self) -> None:
        _check(self)


def attempts(stage: _Stage) -> list[_Stage]:
    """Return the stage, and its variants by each of its retries. Raises BadConfig."""
    settings = stage.model_dump()
    variants = [stage]
    for number, changes in enumerate(stage.retries, 1):
        changed = copy.deepcopy(settings)
        for key, value in changes.items():
            if key == "overrides" and key in changed:
                changed["overrides"] |= value
                continue
            _put(changed, key, value, f"stage {stage.name}: retries.{number}")
        variants.append(validated(type(stage), changed, f"stage {stage.name}, retry {number}"))
    return variants


def online_config(config: Curriculum, stage: OnlineStage, *, out: Path, parent: str, seed: int) -> OnlineConfig:
    """Return an attempt's settings of online training. parent: for `agents.policy.checkpoint.find`. Raises BadConfig."""
    settings = copy.deepcopy(stage.online)
    named = f"stage {stage.name}: online"
    _set_here(config, stage, settings, named, {
        "out": str(out),
        "seed": seed,
        "format": config.format,
        "learner.network.start_from": parent,
        "rollout.held_out": [*config.held_out, *config.final_test.teams],
    })  # fmt: skip
    return validated(OnlineConfig, settings, named)


def team_sets(config: Curriculum) -> list[str]:
    """Return the team sets on which the stages play."""
    names: list[str] = []
    for stage in config.stages:
        if isinstance(stage, Stage):
            names += [teams.set for teams in stage.teams]
        else:
            names += [teams["set"] for teams in stage.online["rollout"]["teams"]]
    return names


def training_config(
    config: Curriculum,
    stage: Stage,
    *,
    out: Path,
    parent: str,
    seed: int,
    sources: list[Source],
    validate_on: list[str],
) -> Config:
    """Return the training configuration of an attempt. parent: for `agents.policy.checkpoint.find`. Raises BadConfig."""
    settings = copy.deepcopy(config.training)
    named = f"stage {stage.name}: training"
    for key, value in stage.overrides.items():
        _put(settings, key, value, f"stage {stage.name}: overrides", known=key in SET_HERE)
    _set_here(config, stage, settings, named, {
        "out": str(out),
        "seed": seed,
        "network.start_from": parent,
        "data.train": [source.model_dump() for source in sources],
        "data.validate_on": validate_on,
        "length.epochs": stage.epochs,
    })  # fmt: skip
    return validated(Config, settings, named)


def network_shape(config: Curriculum, stage: Stage | OnlineStage) -> Shape:
    """Return the shape of the network that a stage trains; slots, previews and policies are not those of its format."""
    out, parent = Path(config.out), config.base_found
    if isinstance(stage, OnlineStage):
        return online_config(config, stage, out=out, parent=parent, seed=0).learner.network.shape
    sources = [Source(path="?", weight=1)]
    return training_config(config, stage, out=out, parent=parent, seed=0, sources=sources, validate_on=[]).network.shape


def _set_here(
    config: Curriculum, stage: Stage | OnlineStage, settings: dict[str, Any], named: str, values: dict[str, Any]
) -> None:
    """Set what the curriculum sets itself: the run's name, `values` by dotted key, and a reference that is its base."""
    where = settings.get("reference")
    if isinstance(where, dict) and where.get("checkpoint") == BASE:
        where["checkpoint"] = config.base_found
    for key, value in {"name": f"{config.name}-{stage.name}", **values}.items():
        _put(settings, key, value, named, new=True)


def _put(settings: Any, key: str, value: Any, named: str, *, new: bool = False, known: bool = False) -> None:
    """Set a dotted key, which must exist, or must not (new). known: the key is set by the curriculum itself."""
    *way, last = key.split(".")
    for name in way:
        if not isinstance(settings, dict) or not isinstance(settings.get(name), dict):
            raise BadConfig(f"{named}.{key}: {name} is missing" if new else f"{named}.{key} is not a known setting")
        settings = settings[name]
    if (new and last in settings) or known:
        raise BadConfig(f"{named}.{key}: is set by the curriculum itself: leave it out")
    if not new and last not in settings:
        raise BadConfig(f"{named}.{key} is not a known setting")
    settings[last] = value


def _check(config: Curriculum) -> None:
    """Check constraints between settings."""
    names = [stage.name for stage in config.stages]
    if len(set(names)) < len(names):
        raise BadConfig(f"stages: two have the same name: {', '.join(names)}")
    if config.pool.anchor not in config.pool.agents:
        raise BadConfig(f"pool.anchor: {config.pool.anchor} is not in the pool: name one of its agents")
    if config.final_test.against not in (BASE, "", *names):
        raise BadConfig(
            f"final_test.against: {config.final_test.against}: name {BASE}, or one of the stages: {', '.join(names)}"
        )
    drawn = get_format(config.format).random
    if drawn == bool(config.held_out):
        fix = "Showdown generates the teams: leave it empty" if drawn else "name at least one team set"
        raise BadConfig(f"held_out: {fix}")
    if drawn and config.final_test.teams:
        raise BadConfig("final_test.teams: Showdown generates the teams: leave it empty")
    for stage in config.stages:
        for each in attempts(stage):
            if isinstance(each, OnlineStage):
                online_config(config, each, out=Path(config.out), parent=config.base_found, seed=0)
    played = {*config.held_out, *config.evaluate_on, *team_sets(config)}
    for name in config.final_test.teams:
        if name in played and name.partition(":")[0] != variety.NAME:
            raise BadConfig(
                f"final_test.teams: {name} is used before: name a set that no gate, evaluation or stage uses"
            )
    for stage in config.stages:
        for each in attempts(stage):
            if isinstance(each, Stage):
                _check_stage(config, each, drawn)


def _check_stage(config: Curriculum, stage: Stage, drawn: bool) -> None:
    named = f"stage {stage.name}"
    players = [each.agent for each in [*stage.opponents, *stage.coaches]]
    if not players and not stage.past.weight:
        raise BadConfig(f"{named}: no opponents: set opponents, coaches or a weight of past")
    if len(set(players)) < len(players):
        raise BadConfig(f"{named}: an agent is named twice among opponents and coaches: {', '.join(players)}")
    if drawn == bool(stage.teams):
        fix = "Showdown generates the teams: leave it empty" if drawn else "name at least one team set"
        raise BadConfig(f"{named}: teams: {fix}")
    for teams in stage.teams:
        name, _, size = teams.set.partition(":")
        if name != variety.NAME and teams.set in config.held_out:
            raise BadConfig(f"{named}: teams: {teams.set} is held out for the gates: use another set")
        if teams.growth != 1 and not (name == variety.NAME and size.isdecimal()):
            raise BadConfig(f"{named}: teams: {teams.set} cannot grow: only variety:N can")
    learn = stage.learn_from
    if learn.coaches.used and not stage.coaches:
        raise BadConfig(
            f"{named}: learn_from.coaches: the stage has no coaches: name one, or set policy_from and value_from to none"
        )
    for who, sides in (("learner", learn.learner), ("coaches", learn.coaches)):
        if sides.used and not sides.weight:
            raise BadConfig(
                f"{named}: learn_from.{who}.weight: 0 leaves them out: set policy_from and value_from to none, or give a "
                "weight"
            )
    if not learn.learner.used and not learn.coaches.used and not learn.earlier and not learn.also:
        raise BadConfig(f"{named}: learn_from: no data to learn from")
    algorithm = training_config(
        config, stage, out=Path(config.out), parent=config.base_found, seed=0,
        sources=[Source(path="?", weight=1)], validate_on=[],
    ).algorithm  # fmt: skip
    soft = isinstance(algorithm, Cloning) and algorithm.targets == "target_policy"
    if soft and learn.learner.policy_from != "none" and not stage.learner.expert:
        raise BadConfig(
            f"{named}: learner.expert: there is none, and training.algorithm.targets: target_policy asks for an expert's "
            "target policies: name an expert, say targets: choices (for this stage under overrides), or "
            "learn_from.learner.policy_from: none"
        )
