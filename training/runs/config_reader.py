"""Reads configurations: YAML files in which every setting is written. Errors name the key, its value and what is accepted.

`load(Model, path)` is the way from a file to a validated configuration of any kind; a kind is a `Section` (its settings with
their types and limits).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import PydanticCustomError

from agents.importing import imported
from teamsets.errors import BadInput
from teamsets.reading import MAX_YAML_BYTES, UnusableText, parse_yaml, read_text
from training.runs.settings import Change, changed, named

#: The shipped files; those of a kind of configuration of its own are in a folder of its own (training/runs/shipped.py).
PRESETS = Path(__file__).parents[1] / "presets"
#: Names of settings before version 0.1.0 -> today's: an error line says them.
RENAMED = {
    "batch": "batch_size", "longest": "max_length", "most_steps": "max_steps", "accumulate": "gradient_accumulation_steps",
    "last_share": "min_lr_ratio", "clip_norm": "max_grad_norm", "coach_value_share": "expert_value_weight",
    "trace": "td_lambda", "advantage_traces": "gae_lambda", "largest_weight": "max_advantage_weight",
    "only_won": "policy_from of each dataset of data.train", "watched_by": "expert", "least_decisions": "min_decisions",
    "most_decisions": "max_decisions", "verdict": "final_test", "learner_weight": "learner.weight",
    "coaches_weight": "coaches.weight",
}  # fmt: skip


class BadConfig(BadInput):
    """A configuration with a missing or unknown key, or an invalid value."""


class Section(BaseModel):
    """A section of a configuration, or a whole one. printed_by: the command that prints a complete file of a whole one."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    printed_by: ClassVar[str] = "train config"

    def check(self) -> None:
        """Check constraints between settings. Raises BadConfig that begins with the key."""


_Whole = TypeVar("_Whole", bound=Section)


def load(model: type[_Whole], path: Path, changes: Sequence[Change] = ()) -> _Whole:
    """Read a configuration from a YAML file, with changes of `--set`. Raises BadConfig that names every invalid key, and
    BadInput for a change of a key that the file does not have."""
    return validated(model, read_settings(path, changes), named(str(path), changes))


def read_settings(path: Path, changes: Sequence[Change] = ()) -> Any:
    """Read a YAML file's settings, with changes of `--set`, before they are validated. Raises as `load`."""
    return changed(read_yaml(path), changes, str(path))


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


def validated(model: type[_Whole], settings: Any, name: str) -> _Whole:
    """Validate parsed YAML or JSON as a configuration of any kind. name: of its source, for errors.

    Raises BadConfig that names every invalid key.
    """
    if not isinstance(settings, dict):
        raise BadConfig(f"{name}: contains no settings; `{model.printed_by}` prints a complete file")
    try:
        config = model.model_validate(settings)
    except ValidationError as error:
        raise BadConfig(f"{name}: {'; '.join(_message(problem, settings) for problem in error.errors())}") from None
    try:
        config.check()
    except BadConfig as error:
        raise BadConfig(f"{name}: {error}") from None
    return config


def _message(problem: Any, settings: Any) -> str:
    key = ".".join(_path(problem["loc"], settings))
    if problem["type"] in (_BAD_NAME, BAD_TOGETHER):
        return f"{key}: {problem['msg']}" if key else str(problem["msg"])
    if problem["type"] == "missing":
        return f"{key} is missing"
    if problem["type"] == "extra_forbidden":
        now = RENAMED.get(key.rpartition(".")[2])
        return f"{key} is not a known setting" + (f": it is {now} now" if now else "")
    return f"{key}: {problem['msg'][0].lower()}{problem['msg'][1:]}, not {problem['input']!r}"


def _path(places: Sequence[str | int], settings: Any) -> list[str]:
    """The keys on the way to a setting, without the name of a variant (or its tag, which has a space) in between, and
    without the mark of a bad key at the end."""
    path: list[str] = []
    for number, place in enumerate(places):
        if isinstance(place, str) and (" " in place or place == "[key]"):
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


def settings_by_name(given: Any, kind: type[_Whole], class_of: Callable[[str], type[_Whole]]) -> _Whole:
    """Validate an algorithm's settings by the class of their `name`. Raises PydanticCustomError for an invalid name."""
    if isinstance(given, kind):
        return given
    name = str(given.get("name", "")) if isinstance(given, dict) else ""
    return class_of(name).model_validate(given)


def algorithm_class(
    name: str, built_in: Iterable[str], page: str, shipped: Mapping[str, str] = MappingProxyType({})
) -> Any:
    """Import an algorithm by its name MODULE:CLASS. page: where the docs say how to write one.

    shipped: name -> MODULE:CLASS of those that are imported under a name of their own. Raises PydanticCustomError for a name
    that is neither MODULE:CLASS nor one of `built_in`, and where the import fails.
    """
    module, colon, attribute = shipped.get(name, name).partition(":")
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


def is_of_language_model(settings: Any) -> bool:
    """Return whether parsed YAML is a configuration of `train llm-dpo` (training/llm/config.py)."""
    return isinstance(settings, dict) and "lora" in settings and "network" not in settings
