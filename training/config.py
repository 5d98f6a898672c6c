"""What a training run is told: every setting is in its YAML file, none has a hidden default.

`train config PRESET > my.yaml` prints a whole file. A missing or unknown key, or a value that makes no sense, is an error
that names it. The presets lie in training/presets/, each a file that can be used as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    SerializeAsAny,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from agents.importing import imported
from teamsets.errors import BadInput
from teamsets.reading import MAX_YAML_BYTES, Refused, parse_yaml, read_text
from training import former
from training.renamed import BothNames, Holds, Renamed, current, current_key
from training.settings import Change, changed, named

PRESETS = Path(__file__).with_name("presets")


class BadConfig(BadInput):
    """A configuration with a missing, unknown or senseless value."""


class Section(BaseModel):
    """A part of a configuration, or a whole one.

    former_keys: what its settings were called in earlier versions, which are still read: former key -> key.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    former_keys: ClassVar[Mapping[str, str]] = {}

    @model_validator(mode="before")
    @classmethod
    def _rename(cls, told: Any) -> Any:
        return current(cls, told)


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
    """validate_on: datasets that are never learned from. batch_size: trajectories a step.

    max_length: decisions of a trajectory; longer ones are cut to a window.
    """

    former_keys: ClassVar = {"batch": "batch_size", "longest": "max_length"}
    train: Annotated[list[Source], Field(min_length=1)]
    validate_on: list[str]
    batch_size: Annotated[int, Field(ge=1)]
    max_length: Annotated[int, Field(ge=1)]


class AlgorithmSettings(Section):
    """Settings of a learning algorithm. One of the user's own is a subclass of `training.algorithms.Algorithm`.

    name: `cloning`, `offline-rl` or MODULE:CLASS.
    """

    name: str


class Cloning(AlgorithmSettings):
    """training/algorithms/cloning.py. targets: the choices that were played, or (shares) an expert's target
    policies where one gave them (training/data/targets.py), and the choices elsewhere.

    coach_value_share: of what the value learns, where a coach declared its chance to win; the rest is the result.
    """

    name: Literal["cloning"]
    targets: Literal["choices", "shares"]
    coach_value_share: Annotated[float, Field(ge=0, le=1)]
    value_weight: Annotated[float, Field(ge=0)]


class OfflineRL(AlgorithmSettings):
    """training/algorithms/offline_rl.py. td_lambda: λ of the returns that the value learns from; 1 is the result alone.

    gae_lambda: λ of the generalized advantage estimates whose mean the policy's advantages are; [] for `td_lambda` alone.
    max_advantage_weight: of a decision in the policy's loss. normalize_weights: divide the weights by their mean. Files of
    earlier versions have neither `gae_lambda` nor `normalize_weights`.
    """

    former_keys: ClassVar = {
        "largest_weight": "max_advantage_weight",
        "trace": "td_lambda",
        "advantage_traces": "gae_lambda",
    }
    name: Literal["offline-rl"]
    filter: Literal["binary", "exponential"]
    temperature: Annotated[float, Field(gt=0)]
    max_advantage_weight: Annotated[float, Field(gt=0)]
    td_lambda: Annotated[float, Field(ge=0, le=1)]
    gae_lambda: list[Annotated[float, Field(ge=0, le=1)]] = []
    normalize_weights: bool = False
    value_weight: Annotated[float, Field(ge=0)]


_BUILT_IN: dict[str, type[AlgorithmSettings]] = {"cloning": Cloning, "offline-rl": OfflineRL}


def _algorithm(given: Any) -> AlgorithmSettings:
    """An algorithm's settings, of the class that their `name` names. Raises PydanticCustomError for a bad name."""
    if isinstance(given, AlgorithmSettings):
        return given
    name = str(given.get("name", "")) if isinstance(given, dict) else ""
    return _algorithm_class(name).model_validate(given)


def _algorithm_class(name: str) -> type[AlgorithmSettings]:
    if name in _BUILT_IN:
        return _BUILT_IN[name]
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute:
        raise _bad_name(name, f"accepted are {', '.join(_BUILT_IN)} and MODULE:CLASS of your own (docs/extend.md)")
    try:
        found = imported(module, attribute)
    except BadInput as error:
        lacks_torch = getattr(error.__cause__, "name", None) == "torch"
        raise _bad_name(name, f"{error}{': `make training` installs it' if lacks_torch else ''}") from error
    if not (isinstance(found, type) and issubclass(found, AlgorithmSettings) and hasattr(found, "loss")):
        raise _bad_name(name, f"{attribute} is no subclass of training.algorithms.Algorithm")
    return found


def _bad_name(name: str, words: str) -> PydanticCustomError:
    return PydanticCustomError(_BAD_NAME, "{words}", {"words": f"name '{name}': {words}"})


_BAD_NAME = "algorithm_name"


class Reference(Section):
    """training/algorithms/reference.py: a policy to stay near to. checkpoint: "" for `network.start_from`.

    coefficient: of the KL in the loss; 0 for off. target: nats a decision that the coefficient is moved to bring about; 0
    leaves it as it is.
    """

    checkpoint: str
    coefficient: Annotated[float, Field(ge=0)]
    target: Annotated[float, Field(ge=0)]


class Optimizer(Section):
    """AdamW. schedule: of the learning rate after the warm-up, down to `min_lr_ratio` of it."""

    former_keys: ClassVar = {"last_share": "min_lr_ratio", "clip_norm": "max_grad_norm"}
    learning_rate: Annotated[float, Field(gt=0)]
    schedule: Literal["constant", "linear", "cosine"]
    warmup_steps: Annotated[int, Field(ge=0)]
    min_lr_ratio: Annotated[float, Field(ge=0, le=1)]
    weight_decay: Annotated[float, Field(ge=0)]
    betas: tuple[float, float]
    max_grad_norm: Annotated[float, Field(gt=0)]


class Length(Section):
    """epochs: times that as many trajectories are seen as all datasets hold. max_steps: 0 for no limit."""

    former_keys: ClassVar = {"most_steps": "max_steps"}
    epochs: Annotated[float, Field(gt=0)]
    max_steps: Annotated[int, Field(ge=0)]


class Compute(Section):
    """gradient_accumulation_steps: micro-batches of a batch. threads: of torch on a CPU, 0 for its own choice."""

    former_keys: ClassVar = {"accumulate": "gradient_accumulation_steps"}
    precision: Literal["fp32", "bf16", "fp16"]
    gradient_accumulation_steps: Annotated[int, Field(ge=1)]
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
    algorithm: Annotated[
        SerializeAsAny[AlgorithmSettings], PlainValidator(_algorithm), Holds(lambda: tuple(_BUILT_IN.values()))
    ]
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
    return checked(settings_in(Config, path, changes), named(str(path), changes))


def settings_in(model: type[Section], path: Path, changes: Sequence[Change] = ()) -> Any:
    """What a YAML file with settings of a model holds, under their present names and with changes of `--set`.

    Settings of the file that have another name or form by now are named on stderr. Raises BadConfig, and BadInput for a
    change of a key that it does not have.
    """
    told = read_yaml(path)
    by_a_person = not _written_by_a_run(path, told)
    for note in former.notes(told) if by_a_person else ():
        _note_once(f"{path}: {note}")
    return with_changes(model, told, changes, str(path), note_former=by_a_person)


def with_changes(
    model: type[Section], told: Any, changes: Sequence[Change], name: str, *, note_former: bool = False
) -> Any:
    """Settings of a model under their present names, with changes of `--set`. name: where they are from.

    note_former: list the former names on stderr. Raises BadConfig for a setting under two names, and BadInput for a change
    of a key that it does not have.
    """
    found: list[Renamed] = []
    try:
        present = current(model, told, found)
    except BothNames as error:
        raise BadConfig(f"{name}: {error}") from None
    if found and note_former:
        _note_once(f"{name}: settings with new names (the former are still read): {_listed(found)}")
    return changed(present, present_changes(model, changes), name)


def present_changes(model: type[Section], changes: Sequence[Change]) -> list[Change]:
    """Changes of `--set` with the present names of their keys; the former ones are named on stderr."""
    present = [Change(current_key(model, change.key), change.value) for change in changes]
    for before, now in zip(changes, present, strict=True):
        if before.key != now.key:
            _note_once(f"--set {before.key}: the new name of this setting is {now.key} (the former is still read)")
    return present


def _listed(found: Sequence[Renamed]) -> str:
    return ", ".join(f"{former} is now {key}" for former, key in dict.fromkeys((one.former, one.key) for one in found))


def _written_by_a_run(path: Path, told: Any) -> bool:
    """Whether a file of settings lies in the folder that it names as `out`, as those do that runs keep of their settings."""
    kept = path.name in ("config.yaml", "curriculum.yaml", "ablation.yaml")
    return kept and isinstance(told, dict) and Path(str(told.get("out"))).resolve() == path.parent.resolve()


@lru_cache(maxsize=256)
def _note_once(words: str) -> None:
    """A line on stderr, once a process: an ablation reads its base for every cell."""
    print(words, file=sys.stderr)


def read_yaml(path: Path) -> Any:
    """What a YAML file holds. Raises BadConfig."""
    try:
        return parse_yaml(read_text(path, MAX_YAML_BYTES))
    except FileNotFoundError:
        raise BadConfig(f"{path}: no such file; `train config` prints one to start from") from None
    except OSError as error:
        raise BadConfig(f"{path}: cannot be read ({error.strerror}): give a YAML file") from None
    except Refused as error:
        raise BadConfig(f"{path}: {error}: fix the file, or print one to start from with `train config`") from None


def checked(told: Any, name: str) -> Config:
    """A configuration from what YAML or JSON held. Raises BadConfig that names every key in question."""
    if not isinstance(told, dict):
        raise BadConfig(f"{name}: contains no settings; `train config` prints a complete file")
    return validated(Config, told, name)


def validated(model: type[_Whole], told: dict[str, Any], name: str) -> _Whole:
    """A configuration of any kind. Raises BadConfig that names every key in question."""
    try:
        return model.model_validate(told)
    except ValidationError as error:
        raise BadConfig(f"{name}: {'; '.join(map(_words, error.errors()))}") from None


def _words(problem: Any) -> str:
    if isinstance(problem.get("ctx", {}).get("error"), BothNames):
        return str(problem["ctx"]["error"])
    key = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == _BAD_NAME:
        return f"{key}: {problem['msg']}"
    if problem["type"] == "missing":
        return f"{key} is missing"
    if problem["type"] == "extra_forbidden":
        return f"{key} is not a known setting"
    return f"{key}: {problem['msg'][0].lower()}{problem['msg'][1:]}, not {problem['input']!r}"


def preset_names() -> list[str]:
    """What `train config` can print."""
    return sorted(path.stem for path in PRESETS.glob("*.yaml"))


def preset_text(name: str) -> str:
    """A preset's file, comments included. Raises BadConfig."""
    if name not in preset_names():
        raise BadConfig(f"preset '{name}': unknown; the presets are {', '.join(preset_names())}")
    return (PRESETS / f"{name}.yaml").read_text(encoding="utf-8")
