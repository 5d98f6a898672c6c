"""What a training run is told: every setting is in its YAML file, none has a hidden default.

`train config PRESET > my.yaml` prints a whole file. A missing or unknown key, or a value that makes no sense, is an error
that names it. The presets lie in training/presets/, each a file that can be used as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from teamsets.errors import BadInput
from teamsets.reading import MAX_YAML_BYTES, Refused, parse_yaml, read_text
from training import former
from training.settings import Change, changed, named

PRESETS = Path(__file__).with_name("presets")


class BadConfig(BadInput):
    """A configuration with a missing, unknown or senseless value."""


class Section(BaseModel):
    """A part of a configuration, or a whole one."""

    model_config = ConfigDict(extra="forbid", frozen=True)


_Whole = TypeVar("_Whole", bound=Section)


class Network(Section):
    """preset: one of agents/policy/network.py. start_from: a checkpoint whose weights are taken over; "" for none.

    freeze: patterns, as of file names, of the parameters that stay as they are.
    """

    preset: Literal["tiny", "small", "medium", "large"]
    dropout: Annotated[float, Field(ge=0, lt=1)]
    start_from: str
    freeze: list[str]


PolicyFrom = Literal["won", "all", "none"]
ValueFrom = Literal["all", "none"]


class Source(Section):
    """A dataset and its weight in the mixture, in trajectories.

    policy_from: the sides from which the policy learns; value_from: those from which the value does. A value that sees
    won sides alone learns who played, and not how a battle stands. Files of before say neither: then both are `all`.
    """

    path: str
    weight: Annotated[float, Field(gt=0)]
    policy_from: PolicyFrom = "all"
    value_from: ValueFrom = "all"


class Data(Section):
    """validate_on: datasets that are never learned from. batch: trajectories a step. longest: decisions of one, at most."""

    train: Annotated[list[Source], Field(min_length=1)]
    validate_on: list[str]
    batch: Annotated[int, Field(ge=1)]
    longest: Annotated[int, Field(ge=1)]


class Cloning(Section):
    """training/algorithms/cloning.py. targets: the choices that were played, or (shares) an expert's target
    policies where one gave them (training/data/targets.py), and the choices elsewhere.

    coach_value_share: of what the value learns, where a coach declared its chance to win; the rest is the result.
    """

    name: Literal["cloning"]
    targets: Literal["choices", "shares"]
    coach_value_share: Annotated[float, Field(ge=0, le=1)]
    value_weight: Annotated[float, Field(ge=0)]


class OfflineRL(Section):
    """training/algorithms/offline_rl.py. trace: λ of the returns that the value learns from; 1 is the result alone.

    advantage_traces: λ of the returns whose mean the policy's advantages are taken of; [] for `trace` alone.
    normalize_weights: divide the weights by their mean. Files of earlier versions have neither.
    """

    name: Literal["offline-rl"]
    filter: Literal["binary", "exponential"]
    temperature: Annotated[float, Field(gt=0)]
    largest_weight: Annotated[float, Field(gt=0)]
    trace: Annotated[float, Field(ge=0, le=1)]
    advantage_traces: list[Annotated[float, Field(ge=0, le=1)]] = []
    normalize_weights: bool = False
    value_weight: Annotated[float, Field(ge=0)]


class Reference(Section):
    """training/algorithms/reference.py: a policy to stay near to. checkpoint: "" for `network.start_from`.

    coefficient: of the KL in the loss; 0 for off. target: nats a decision that the coefficient is moved to bring about; 0
    leaves it as it is.
    """

    checkpoint: str
    coefficient: Annotated[float, Field(ge=0)]
    target: Annotated[float, Field(ge=0)]


class Optimizer(Section):
    """AdamW. schedule: of the learning rate after the warm-up, down to `last_share` of it."""

    learning_rate: Annotated[float, Field(gt=0)]
    schedule: Literal["constant", "linear", "cosine"]
    warmup_steps: Annotated[int, Field(ge=0)]
    last_share: Annotated[float, Field(ge=0, le=1)]
    weight_decay: Annotated[float, Field(ge=0)]
    betas: tuple[float, float]
    clip_norm: Annotated[float, Field(gt=0)]


class Length(Section):
    """epochs: times that as many trajectories are seen as all datasets hold. most_steps: 0 for no limit."""

    epochs: Annotated[float, Field(gt=0)]
    most_steps: Annotated[int, Field(ge=0)]


class Compute(Section):
    """accumulate: micro-batches that a batch is cut into. threads: of torch on a CPU, 0 for its own choice."""

    precision: Literal["fp32", "bf16", "fp16"]
    accumulate: Annotated[int, Field(ge=1)]
    activation_checkpointing: bool
    threads: Annotated[int, Field(ge=0)]


class Checkpoints(Section):
    """every: steps. keep: the last so many, and the best."""

    every: Annotated[int, Field(ge=1)]
    keep: Annotated[int, Field(ge=1)]


class Evaluation(Section):
    """Battles of the current checkpoint against a fixed pool. every: steps, 0 for never. battles: for each pairing.

    best_by: what makes a checkpoint the best, the rating here or the loss on `data.validate_on`.
    """

    every: Annotated[int, Field(ge=0)]
    opponents: list[str]
    formats: list[str]
    teams: list[str]
    battles: Annotated[int, Field(ge=2)]
    seed: int
    workers: Annotated[int, Field(ge=1)]
    database: str
    best_by: Literal["rating", "validation"]


class Tracking(Section):
    """wandb: auto is online where a key is set and offline elsewhere. every: steps between two lines of metrics."""

    wandb: Literal["auto", "online", "offline", "disabled"]
    project: str
    every: Annotated[int, Field(ge=1)]


class Config(Section):
    """A whole run. out: its folder. seed: of the order of the data, the first weights and dropout."""

    name: str
    out: str
    seed: int
    network: Network
    data: Data
    algorithm: Annotated[Cloning | OfflineRL, Field(discriminator="name")]
    reference: Reference
    optimizer: Optimizer
    length: Length
    compute: Compute
    checkpoints: Checkpoints
    evaluation: Evaluation
    tracking: Tracking

    _former = model_validator(mode="before")(former.run)


def read_config(path: Path, changes: Sequence[Change] = ()) -> Config:
    """The configuration in a YAML file, with changes of `--set`. Raises BadConfig."""
    told = changed(read_yaml(path), changes, str(path))
    say_former(path, told)
    return checked(told, named(str(path), changes))


def say_former(path: Path, told: Any) -> None:
    """Names on stderr the settings of a file that have another name or form by now. told: what it holds."""
    for note in former.notes(told):
        print(f"{path}: {note}", file=sys.stderr)


def read_yaml(path: Path) -> Any:
    """What a YAML file holds. Raises BadConfig."""
    try:
        return parse_yaml(read_text(path, MAX_YAML_BYTES))
    except FileNotFoundError:
        raise BadConfig(f"{path}: there is no such file: `train config` prints one to begin with") from None
    except OSError as error:
        raise BadConfig(f"{path}: cannot be read ({error.strerror}): give a YAML file") from None
    except Refused as error:
        raise BadConfig(f"{path}: {error}: fix the file, or print one to begin with by `train config`") from None


def checked(told: Any, name: str) -> Config:
    """A configuration from what YAML or JSON held. Raises BadConfig that names every key in question."""
    if not isinstance(told, dict):
        raise BadConfig(f"{name}: holds no settings: `train config` prints a whole file")
    return validated(Config, told, name)


def validated(model: type[_Whole], told: dict[str, Any], name: str) -> _Whole:
    """A configuration of any kind. Raises BadConfig that names every key in question."""
    try:
        return model.model_validate(told)
    except ValidationError as error:
        raise BadConfig(f"{name}: {'; '.join(map(_words, error.errors()))}") from None


def _words(problem: Any) -> str:
    key = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "missing":
        return f"{key} is missing"
    if problem["type"] == "extra_forbidden":
        return f"{key} is not known"
    return f"{key}: {problem['msg'][0].lower()}{problem['msg'][1:]}, not {problem['input']!r}"


def preset_names() -> list[str]:
    """What `train config` can print."""
    return sorted(path.stem for path in PRESETS.glob("*.yaml"))


def preset_text(name: str) -> str:
    """A preset's file, comments included. Raises BadConfig."""
    if name not in preset_names():
        raise BadConfig(f"preset '{name}': there is none of that name: known are {', '.join(preset_names())}")
    return (PRESETS / f"{name}.yaml").read_text(encoding="utf-8")
