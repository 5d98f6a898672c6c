"""The configuration of a sweep. As everywhere, every key is in the YAML file."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from training.experiments.ablation.config import HeldOutEvaluation, Name
from training.offline.config import Config
from training.online.config import OnlineConfig
from training.runs.config_reader import BadConfig, Section, read_settings, validated
from training.runs.settings import flow, key_hint, put
from training.runs.shipped import Kind, resolve_path

#: Kind of trials -> the kind of shipped file that `base` may name, and the class of its settings.
_BASES: dict[str, tuple[Kind, type[OnlineConfig] | type[Config]]] = {
    "online": ("online", OnlineConfig),
    "train": ("preset", Config),
}
#: Keys that the sweep sets in each trial, or that belong to its `length` and `evaluation`.
_OWN = ("name", "out", "seed", "iterations", "max_decisions", "length", "evaluation")
#: Where between its ends a range is tried before the first trial: no round number of a whole or of a half.
_INSIDE = 0.382


class Choices(Section):
    """A setting that takes one of several values, of any kind."""

    kind: Literal["choice"]
    values: Annotated[list[Any], Field(min_length=2)]


class Numbers(Section):
    """A setting between `low` and `high`: `uniform`, or `log`, uniform in its logarithm."""

    kind: Literal["uniform", "log"]
    low: float
    high: float


class Integers(Section):
    """A whole number between `low` and `high`, both included."""

    kind: Literal["int"]
    low: int
    high: int


Space = Annotated[Choices | Numbers | Integers, Field(discriminator="kind")]


class SweepLength(Section):
    """The length of each trial. iterations, decisions (of the learner): of `kind: online`; steps: of `kind: train`."""

    unit: Literal["iterations", "decisions", "steps"]
    total: Annotated[int, Field(ge=1)]


class Sampler(Section):
    """Optuna's sampler. startup_trials: drawn at random before it (of `tpe` and `gp`)."""

    name: Literal["tpe", "gp", "qmc", "random"]
    startup_trials: Annotated[int, Field(ge=0)]


class Pruner(Section):
    """Optuna's percentile pruner. at: lengths at which a trial is measured, and may be pruned; []: none is.

    keep: a trial whose Elo is below that of this share of the complete trials, from the best, is pruned. startup_trials:
    complete trials before one is pruned.
    """

    at: list[Annotated[int, Field(ge=1)]]
    keep: Annotated[float, Field(gt=0, lt=1)]
    startup_trials: Annotated[int, Field(ge=1)]


class FinalMeasurement(Section):
    """What is measured anew after the sweep: the best checkpoint, and its settings beside the base's own.

    battles, seed: as in `evaluation`, with another seed. training_seeds: with each of them the best settings and the base
    are trained; []: neither is.
    """

    battles: Annotated[int, Field(ge=4)]
    seed: int
    training_seeds: list[int]


class Sweep(Section):
    """A sweep. out: its folder. kind: of its trials, and of `base` (an example's name, a file, or settings).

    fixed: dotted key of the base -> the value of all trials. space: dotted key -> what is tried. workers: trials at once.
    seed: of what is drawn.
    """

    name: Name
    out: str
    kind: Literal["online", "train"]
    base: str | dict[str, Any]
    fixed: dict[str, Any]
    space: dict[str, Space]
    trials: Annotated[int, Field(ge=1)]
    workers: Annotated[int, Field(ge=1)]
    seed: int
    sampler: Sampler
    length: SweepLength
    pruner: Pruner
    evaluation: HeldOutEvaluation
    final: FinalMeasurement

    printed_by: ClassVar[str] = "train config --sweep ppo"

    def check(self) -> None:
        _check_space(self)
        _check_length(self)
        _check_seeds(self)
        trial_config(self, {}, Path("check"))
        for key, each in self.space.items():
            for value in _tried(each):
                trial_config(self, {key: value}, Path("check"), f"space.{key}: {flow(value)}: ")


def trial_config(
    sweep: Sweep, settings: dict[str, Any], out: Path, about: str = "", *, length: int = 0, seed: int | None = None
) -> OnlineConfig | Config:
    """Return the run of a trial.

    settings: dotted key -> value, beside those of `fixed`. length: where it ends; 0: the sweep's. about: begins an error
    message. seed: instead of the base's. Raises BadConfig.
    """
    found = base_settings(sweep)
    seed = int(found.get("seed", 0)) if seed is None else seed
    changes = {**sweep.fixed, **settings, "name": f"{sweep.name}-{out.name}", "out": str(out), "seed": seed}
    for key, value in {**changes, "evaluation.every": 0}.items():
        try:
            put(found, key, value)
        except LookupError:
            section = "fixed" if key in sweep.fixed else "space"
            raise BadConfig(f"{section}.{key}: the base has no such key{key_hint(found, key)}") from None
    for key, value in _ending(sweep, found, length or sweep.length.total).items():
        put(found, key, value)
    try:
        return validated(_BASES[sweep.kind][1], found, "the base with this setting" if settings else "base")
    except BadConfig as error:
        raise BadConfig(f"{about}{error}") from None


def base_settings(sweep: Sweep) -> dict[str, Any]:
    """Return a copy of the base's settings, not validated. Raises BadConfig."""
    if isinstance(sweep.base, dict):
        return copy.deepcopy(sweep.base)
    found = read_settings(resolve_path(sweep.base, _BASES[sweep.kind][0]))
    if not isinstance(found, dict):
        raise BadConfig(f"base {sweep.base}: contains no settings; `train config` prints a complete file")
    return found


def rungs(sweep: Sweep) -> list[int]:
    """Return the lengths at which a trial is measured; the last one is its whole length."""
    return [*sweep.pruner.at, sweep.length.total]


def _ending(sweep: Sweep, base: dict[str, Any], length: int) -> dict[str, int]:
    """Return the settings by which a run ends at this length."""
    if sweep.length.unit == "steps":
        return {"length.max_steps": length}
    if sweep.length.unit == "iterations":
        return {"iterations": length, "max_decisions": 0}
    battles = base.get("rollout", {}).get("battles", 1)
    most = length // battles if isinstance(battles, int) and battles > 0 else length
    return {"iterations": most + 1, "max_decisions": length}  # the learner makes a decision in every battle at least


def _check_space(sweep: Sweep) -> None:
    if not sweep.space:
        raise BadConfig(
            "space: is empty: name at least one setting and what is tried, as `train config --sweep ppo` does"
        )
    for section in ("fixed", "space"):
        for key in getattr(sweep, section):
            if key.split(".")[0] in _OWN:
                raise BadConfig(f"{section}.{key}: is set by the sweep itself: leave it out")
    for key, each in sweep.space.items():
        if key in sweep.fixed:
            raise BadConfig(f"space.{key}: is also under `fixed`: keep one of them")
        if isinstance(each, Choices):
            repeated = [flow(value) for value in each.values if each.values.count(value) > 1]
            if repeated:
                raise BadConfig(f"space.{key}: {repeated[0]} is listed more than once")
        elif not each.low < each.high < math.inf:
            raise BadConfig(f"space.{key}: low {each.low:g} must be below high {each.high:g}")
        elif each.kind == "log" and each.low <= 0:
            raise BadConfig(f"space.{key}: low {each.low:g} must be above 0 with `kind: log`; or use `kind: uniform`")


def _check_length(sweep: Sweep) -> None:
    if (sweep.kind == "train") != (sweep.length.unit == "steps"):
        fix = "steps" if sweep.kind == "train" else "iterations or decisions"
        raise BadConfig(f"length.unit: {sweep.length.unit}: with `kind: {sweep.kind}` use {fix}")
    at = sweep.pruner.at
    if at and sweep.kind == "train":
        raise BadConfig(
            "pruner.at: runs of `kind: train` cannot be made longer, as their learning rate depends on their length: use []"
        )
    if at != sorted(set(at)) or (at and at[-1] >= sweep.length.total):
        raise BadConfig(f"pruner.at: {flow(at)}: must ascend, and stay below length.total, {sweep.length.total}")
    if sweep.kind == "online" and sweep.evaluation.checkpoint == "best":
        raise BadConfig("evaluation.checkpoint: best: trials of `kind: online` have no best checkpoint: use last")


def _check_seeds(sweep: Sweep) -> None:
    """The figures of the final measurement come from seeds that have chosen nothing."""
    if sweep.final.seed == sweep.evaluation.seed:
        raise BadConfig(f"final.seed: {sweep.final.seed} is that of `evaluation`, whose battles choose: use another")
    used = base_settings(sweep).get("seed")
    seeds = sweep.final.training_seeds
    if used in seeds:
        raise BadConfig(f"final.training_seeds: {used} is the base's seed, with which the trials choose: use others")
    if len(set(seeds)) < len(seeds):
        raise BadConfig("final.training_seeds: one is listed more than once")


def _tried(each: Space) -> list[Any]:
    """Return the values of a setting that are validated before the first trial."""
    if isinstance(each, Choices):
        return each.values
    if isinstance(each, Integers):
        return [each.low, each.high]
    if each.kind == "log":
        return [each.low, each.low * (each.high / each.low) ** _INSIDE, each.high]
    return [each.low, each.low + (each.high - each.low) * _INSIDE, each.high]
