"""The configuration of a training run. Every setting is in its YAML file; none has a hidden default.

`train config PRESET > my.yaml` prints a complete file. A missing key, an unknown key or an invalid value is an error that
names it. The presets are in training/presets/; each can be used as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from teamsets.reading import MAX_YAML_BYTES, UnusableText, parse_yaml, read_text
from training import former
from training.renamed import Holds, Renamed, SettingGivenTwice, current, current_key
from training.runs.settings import Change, changed, named

PRESETS = Path(__file__).parents[1] / "presets"


class BadConfig(BadInput):
    """A configuration with a missing or unknown key, or an invalid value."""


class Section(BaseModel):
    """A section of a configuration, or a whole one.

    former_keys: former key -> key; former_values: key -> (former value -> value). Both are still read.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    former_keys: ClassVar[Mapping[str, str]] = {}
    former_values: ClassVar[Mapping[str, Mapping[str, str]]] = {}

    @model_validator(mode="before")
    @classmethod
    def _rename(cls, settings: Any) -> Any:
        return current(cls, settings)


_Whole = TypeVar("_Whole", bound=Section)


class Network(Section):
    """The network. preset: of agents/policy/network.py. start_from: initial checkpoint; "": random initialization.

    freeze: patterns (as in fnmatch) of the names of frozen parameters.
    """

    preset: Literal["micro", "tiny", "small", "medium", "large"]
    dropout: Annotated[float, Field(ge=0, lt=1)]
    start_from: str
    freeze: list[str]


PolicyFrom = Literal["won", "all", "none"]
ValueFrom = Literal["all", "none"]


class Source(Section):
    """A dataset and its sampling weight over trajectories.

    policy_from: sides that enter the policy loss; value_from: sides that enter the value loss. A value trained on won sides
    only predicts the player, not the position. Files of earlier versions have neither key: then both are `all`.
    """

    path: str
    weight: Annotated[float, Field(gt=0)]
    policy_from: PolicyFrom = "all"
    value_from: ValueFrom = "all"


class Data(Section):
    """The data. validate_on: validation datasets. batch_size: trajectories per step.

    max_length: maximum number of decisions of a trajectory; longer ones are truncated to a random window.
    """

    former_keys: ClassVar = {"batch": "batch_size", "longest": "max_length"}
    train: Annotated[list[Source], Field(min_length=1)]
    validate_on: list[str]
    batch_size: Annotated[int, Field(ge=1)]
    max_length: Annotated[int, Field(ge=1)]


class AlgorithmSettings(Section):
    """Settings of a learning algorithm. Algorithms of users subclass `training.offline.losses.Algorithm`.

    name: `cloning`, `offline-rl`, `dpo` or MODULE:CLASS.
    """

    name: str


class Cloning(AlgorithmSettings):
    """Behaviour cloning: training/offline/cloning.py.

    targets: `choices`, the actions played, or `target_policy`, an expert's target policy where there is one, and the actions
    played elsewhere (training/data/targets.py). expert_value_weight: weight of the win probability that the expert reported
    in the value target; the rest is the result.
    """

    former_keys: ClassVar = {"coach_value_share": "expert_value_weight"}
    former_values: ClassVar = {"targets": {"shares": "target_policy"}}
    name: Literal["cloning"]
    targets: Literal["choices", "target_policy"]
    expert_value_weight: Annotated[float, Field(ge=0, le=1)]
    value_weight: Annotated[float, Field(ge=0)]


class OfflineRL(AlgorithmSettings):
    """Offline RL: training/offline/offline_rl.py.

    td_lambda: λ of the value's target returns; 1: the result only. gae_lambda: λs of the advantage estimates that are
    averaged; []: `td_lambda` only. max_advantage_weight: maximum weight of a decision in the policy loss. normalize_weights:
    divide the weights by their mean. Files of earlier versions have neither `gae_lambda` nor `normalize_weights`.
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


class DPO(AlgorithmSettings):
    """Direct preference optimisation on pairs of `train preferences build`: training/offline/dpo.py.

    loss: `sigmoid`, or a variant. beta: β. label_smoothing: the share of pairs that are taken to be the wrong way round, for
    `conservative` and `robust`. unit: `decision`: each pair for itself; `battle`: all pairs of one side of it together.
    length_normalized: with `battle`, their mean instead of their sum. value_weight: of the value's loss on the results.
    """

    name: Literal["dpo"]
    loss: Literal["sigmoid", "conservative", "robust", "ipo"]
    beta: Annotated[float, Field(gt=0)]
    label_smoothing: Annotated[float, Field(ge=0, lt=0.5)]
    unit: Literal["decision", "battle"]
    length_normalized: bool
    value_weight: Annotated[float, Field(ge=0)]

    @model_validator(mode="after")
    def _fits(self) -> DPO:
        smoothed = self.loss in ("conservative", "robust")
        if smoothed != (self.label_smoothing > 0):
            fix = "set it above 0" if smoothed else "use 0, or `loss: conservative` or `robust`"
            words = f"label_smoothing: {self.label_smoothing:g} has no meaning with `loss: {self.loss}`: {fix}"
            raise PydanticCustomError(BAD_TOGETHER, "{problem}", {"problem": words})
        if self.length_normalized and self.unit == "decision":
            words = "length_normalized: true has no effect on single decisions: use false, or `unit: battle`"
            raise PydanticCustomError(BAD_TOGETHER, "{problem}", {"problem": words})
        return self


_BUILT_IN: dict[str, type[AlgorithmSettings]] = {"cloning": Cloning, "offline-rl": OfflineRL, "dpo": DPO}


def _algorithm(given: Any) -> AlgorithmSettings:
    return settings_by_name(given, AlgorithmSettings, _algorithm_class)


def settings_by_name(given: Any, kind: type[_Whole], class_of: Callable[[str], type[_Whole]]) -> _Whole:
    """Validate an algorithm's settings by the class of their `name`. Raises PydanticCustomError for an invalid name."""
    if isinstance(given, kind):
        return given
    name = str(given.get("name", "")) if isinstance(given, dict) else ""
    return class_of(name).model_validate(given)


def _algorithm_class(name: str) -> type[AlgorithmSettings]:
    if name in _BUILT_IN:
        return _BUILT_IN[name]
    found = users_class(name, _BUILT_IN, "docs/extend.md")
    if not (isinstance(found, type) and issubclass(found, AlgorithmSettings) and hasattr(found, "loss")):
        raise bad_name(name, f"{name.partition(':')[2]} is no subclass of training.offline.losses.Algorithm")
    return found


def users_class(name: str, built_in: Iterable[str], page: str) -> Any:
    """Import a user's algorithm by its name MODULE:CLASS. page: where the docs say how to write one.

    Raises PydanticCustomError for a name that is neither that nor one of `built_in`, and where the import fails.
    """
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute:
        raise bad_name(name, f"accepted are {', '.join(built_in)} and MODULE:CLASS of your own ({page})")
    try:
        return imported(module, attribute)
    except BadInput as error:
        lacks_torch = getattr(error.__cause__, "name", None) == "torch"
        raise bad_name(name, f"{error}{': `make training` installs it' if lacks_torch else ''}") from error


def bad_name(name: str, problem: str) -> PydanticCustomError:
    """An error of `algorithm.name`."""
    return PydanticCustomError(_BAD_NAME, "{problem}", {"problem": f"name '{name}': {problem}"})


_BAD_NAME = "algorithm_name"
BAD_TOGETHER = "settings_together"


class Reference(Section):
    """The KL penalty: training/offline/reference.py. checkpoint: of the reference policy; "": `network.start_from`.

    coefficient: of the KL in the loss; 0: off. target: KL in nats per decision that the coefficient is adapted to; 0: fixed
    coefficient.
    """

    checkpoint: str
    coefficient: Annotated[float, Field(ge=0)]
    target: Annotated[float, Field(ge=0)]


class Optimizer(Section):
    """AdamW. schedule: of the learning rate after warm-up, which decays to `min_lr_ratio` of its peak."""

    former_keys: ClassVar = {"last_share": "min_lr_ratio", "clip_norm": "max_grad_norm"}
    learning_rate: Annotated[float, Field(gt=0)]
    schedule: Literal["constant", "linear", "cosine"]
    warmup_steps: Annotated[int, Field(ge=0)]
    min_lr_ratio: Annotated[float, Field(ge=0, le=1)]
    weight_decay: Annotated[float, Field(ge=0)]
    betas: tuple[float, float]
    max_grad_norm: Annotated[float, Field(gt=0)]


class Length(Section):
    """The length of the run. epochs: over the trajectories of all datasets together. max_steps: 0: no limit."""

    former_keys: ClassVar = {"most_steps": "max_steps"}
    epochs: Annotated[float, Field(gt=0)]
    max_steps: Annotated[int, Field(ge=0)]


class Compute(Section):
    """Devices. gradient_accumulation_steps: micro-batches per batch. threads: of torch on a CPU; 0: torch's default.

    sharding: of parameters, gradients and optimizer state over the processes of a run; none: every process has all of them.
    collective_timeout: seconds after which a rank that others wait for is named, and the run ends. Files of earlier versions
    have neither.
    """

    former_keys: ClassVar = {"accumulate": "gradient_accumulation_steps"}
    precision: Literal["fp32", "bf16", "fp16"]
    gradient_accumulation_steps: Annotated[int, Field(ge=1)]
    activation_checkpointing: bool
    sharding: Literal["none", "fsdp2"] = "none"
    collective_timeout: Annotated[float, Field(gt=0)] = 600.0
    threads: Annotated[int, Field(ge=0)]


class Checkpoints(Section):
    """Checkpoints. every: interval in steps. keep: number of latest checkpoints that are kept; the best is kept too."""

    every: Annotated[int, Field(ge=1)]
    keep: Annotated[int, Field(ge=1)]


class Evaluation(Section):
    """Battles of the current checkpoint against a fixed pool. every: interval in steps; 0: never. battles: per pairing.

    best_by: how the best checkpoint is selected: by this rating, or by the policy loss on `data.validate_on`.
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
    """Metrics. wandb: auto is online if an API key is set, else offline. every: interval in steps."""

    wandb: Literal["auto", "online", "offline", "disabled"]
    project: str
    every: Annotated[int, Field(ge=1)]


class Config(Section):
    """A training run. out: its folder. seed: of the order of the data, the initial weights and dropout."""

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
    """Read the configuration in a YAML file, with changes of `--set`. Raises BadConfig."""
    return checked(settings_in(Config, path, changes), named(str(path), changes))


def settings_in(model: type[Section], path: Path, changes: Sequence[Change] = ()) -> Any:
    """Read the settings of a model from a YAML file, under their present names and with changes of `--set`.

    Former names and forms in the file are reported on stderr. Raises BadConfig, and BadInput for a change of a key that the
    file does not have.
    """
    settings = read_yaml(path)
    by_a_person = not _written_by_a_run(path, settings)
    for note in former.notes(settings) if by_a_person else ():
        _note_once(f"{path}: {note}")
    return with_changes(model, settings, changes, str(path), note_former=by_a_person)


def with_changes(
    model: type[Section], settings: Any, changes: Sequence[Change], name: str, *, note_former: bool = False
) -> Any:
    """Return settings of a model under their present names, with changes of `--set`. name: of their source, for errors.

    note_former: report former names on stderr. Raises BadConfig for a setting under two names, and BadInput for a change of
    a key that the settings do not have.
    """
    found: list[Renamed] = []
    try:
        present = current(model, settings, found)
    except SettingGivenTwice as error:
        raise BadConfig(f"{name}: {error}") from None
    if found and note_former:
        _note_once(f"{name}: settings with new names (the former are still read): {_listed(found)}")
    return changed(present, present_changes(model, changes), name)


def present_changes(model: type[Section], changes: Sequence[Change]) -> list[Change]:
    """Return changes of `--set` under the present names of their keys; former names are reported on stderr."""
    present = [Change(current_key(model, change.key), change.value) for change in changes]
    for before, now in zip(changes, present, strict=True):
        if before.key != now.key:
            _note_once(f"--set {before.key}: the new name of this setting is {now.key} (the former is still read)")
    return present


def _listed(found: Sequence[Renamed]) -> str:
    return ", ".join(f"{former} is now {key}" for former, key in dict.fromkeys((one.former, one.key) for one in found))


def _written_by_a_run(path: Path, settings: Any) -> bool:
    """Return whether a file is a run's copy of its settings: it is in the folder that it names as `out`."""
    is_copy = path.name in ("config.yaml", "curriculum.yaml", "ablation.yaml")
    return is_copy and isinstance(settings, dict) and Path(str(settings.get("out"))).resolve() == path.parent.resolve()


@lru_cache(maxsize=256)
def _note_once(line: str) -> None:
    """Print a line on stderr, once per process: an ablation reads its base for every cell."""
    print(line, file=sys.stderr)


def read_yaml(path: Path) -> Any:
    """Read a YAML file. Raises BadConfig."""
    try:
        return parse_yaml(read_text(path, MAX_YAML_BYTES))
    except FileNotFoundError:
        raise BadConfig(f"{path}: no such file; `train config` prints one to start from") from None
    except OSError as error:
        raise BadConfig(f"{path}: cannot be read ({error.strerror}): give a YAML file") from None
    except UnusableText as error:
        raise BadConfig(f"{path}: {error}: fix the file, or print one to start from with `train config`") from None


def checked(settings: Any, name: str) -> Config:
    """Validate parsed YAML or JSON as a training configuration. Raises BadConfig that names every invalid key."""
    if not isinstance(settings, dict):
        raise BadConfig(f"{name}: contains no settings; `train config` prints a complete file")
    if is_of_language_model(settings):
        raise BadConfig(
            f"{name}: is a configuration of `train llm-dpo`: accepted here are those of networks (`train config tiny`)"
        )
    return validated(Config, settings, name)


def is_of_language_model(settings: Any) -> bool:
    """Return whether parsed YAML is a configuration of `train llm-dpo` (training/llm/config.py)."""
    return isinstance(settings, dict) and "lora" in settings and "network" not in settings


def validated(model: type[_Whole], settings: dict[str, Any], name: str) -> _Whole:
    """Validate settings as a configuration of any kind. Raises BadConfig that names every invalid key."""
    try:
        return model.model_validate(settings)
    except ValidationError as error:
        raise BadConfig(f"{name}: {'; '.join(_message(problem, settings) for problem in error.errors())}") from None


def _message(problem: Any, settings: Any) -> str:
    if isinstance(problem.get("ctx", {}).get("error"), SettingGivenTwice):
        return str(problem["ctx"]["error"])
    key = ".".join(_path(problem["loc"], settings))
    if problem["type"] in (_BAD_NAME, BAD_TOGETHER):
        return f"{key}: {problem['msg']}"
    if problem["type"] == "missing":
        return f"{key} is missing"
    if problem["type"] == "extra_forbidden":
        return f"{key} is not a known setting"
    return f"{key}: {problem['msg'][0].lower()}{problem['msg'][1:]}, not {problem['input']!r}"


def _path(places: Sequence[str | int], settings: Any) -> list[str]:
    """The keys on the way to a setting, without the name of a variant (or its tag, which has a space) in between."""
    path: list[str] = []
    for number, place in enumerate(places):
        if isinstance(place, str) and " " in place:
            continue
        last = number == len(places) - 1
        if isinstance(settings, dict) and place not in settings and not last and place in list(settings.values()):
            continue
        path.append(str(place))
        inside = isinstance(settings, dict) or (isinstance(settings, list) and isinstance(place, int))
        try:
            settings = settings[place] if inside else None
        except LookupError:
            settings = None
    return path


def preset_names() -> list[str]:
    """Return the names of the presets."""
    return sorted(path.stem for path in PRESETS.glob("*.yaml"))


def preset_text(name: str) -> str:
    """Return a preset's file as text, with its comments. Raises BadConfig."""
    if name not in preset_names():
        raise BadConfig(f"preset '{name}': unknown; the presets are {', '.join(preset_names())}")
    return (PRESETS / f"{name}.yaml").read_text(encoding="utf-8")
