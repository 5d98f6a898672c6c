"""Settings as pydantic models, whose errors are one line: the setting, its value, what is accepted."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from teamsets.errors import BadInput

#: A tuple of texts; a list is taken, too.
Texts = Annotated[tuple[str, ...], Field(strict=False)]


class Settings(BaseModel):
    """Base of settings that cannot be changed. Raises BadInput for a value that is not accepted; text is no number."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    if not TYPE_CHECKING:  # type checkers make a signature of the fields

        def __init__(self, **values: Any) -> None:
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise BadInput("; ".join(problems(type(self), error))) from None


def problems(model: type[BaseModel], error: ValidationError) -> list[str]:
    """What is wrong, as a line for each setting: "battles is 0: must be at least 1 and at most 1000000"."""
    lines: dict[str, str] = {}
    for problem in error.errors(include_url=False):
        key = str(problem["loc"][0])
        lines.setdefault(key, f"{key} {_wrong(model, key, dict(problem))}")
    return list(lines.values())


#: pydantic's types of errors, and what is accepted.
_KINDS = {
    "string_type": "a text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "tuple_type": "a list",
    "dict_type": "a table",
}


def _wrong(model: type[BaseModel], key: str, problem: dict[str, Any]) -> str:
    kind, inside = problem["type"], len(problem["loc"]) > 1
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return f"is not a setting: there are {', '.join(model.model_fields)}"
    if kind == "too_short":
        return "is empty: name at least one"
    value = f"{'holds' if inside else 'is'} {problem['input']!r}"
    if description := model.model_fields[key].description:
        return f"{value}: must be {description}"
    if kind == "literal_error":
        accepted = problem["ctx"]["expected"]
    else:
        accepted = _KINDS.get(kind) or bounds(model, key) or problem["msg"]
    return f"{value}: {'each ' if inside else ''}must be {accepted}"


def bounds(model: type[BaseModel], key: str) -> str:
    """What the bounds of a number allow: "at least 1 and at most 1000"; empty for a setting without bounds."""
    phrases = {"gt": "more than", "ge": "at least", "le": "at most"}
    marks = model.model_fields[key].metadata
    limits = [(phrases[name], getattr(mark, name)) for mark in marks for name in phrases if hasattr(mark, name)]
    return " and ".join(f"{than} {limit}" for than, limit in limits)


_LOCAL_NAMES = {"localhost", "localhost.localdomain"}


def is_loopback(host: str) -> bool:
    """Whether a host is this machine's own: an address of the loopback, or localhost."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() in _LOCAL_NAMES
