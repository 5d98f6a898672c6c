"""Settings under the names of earlier versions, in files, stored configurations, `--set`, `overrides`, `retries` and grids.

Each model names its former keys (`Section.former_keys`: former key -> key). `current` renames them in settings, nested ones
included; `current_key` in a dotted name. Where a model has a dict that holds settings of another one, its field is annotated
with `Holds`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo


class BothNames(ValueError):
    """A setting is given under its former name and under its present one."""


@dataclass(frozen=True)
class Holds:
    """Annotation of a dict with settings of other models, whole or in part.

    models: called for them, as they may be declared later. dotted: its keys are dotted names.
    """

    models: Callable[[], Sequence[type[BaseModel]]]
    dotted: bool = False


@dataclass(frozen=True)
class _Place:
    """What the type of a setting says of its content.

    models: of which it may be; dotted: of whose settings it has dotted names; inside: the types of a list's items or of a
    dict's values.
    """

    models: tuple[type[BaseModel], ...] = ()
    dotted: tuple[type[BaseModel], ...] = ()
    inside: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Renamed:
    """A former name that was found. former: dotted, without numbers of list items; key: the present name's last part."""

    former: str
    key: str


def current(
    models: type[BaseModel] | Sequence[type[BaseModel]], settings: Any, found: list[Renamed] | None = None
) -> Any:
    """Settings of a model (or of any of several) under their present names; `settings` itself is not changed.

    found: a list to which every former name is added. Raises BothNames.
    """
    models = (models,) if isinstance(models, type) else tuple(models)
    return _current(_Place(models), settings, "", [] if found is None else found)


def current_key(
    models: type[BaseModel] | Sequence[type[BaseModel]], key: str, found: list[Renamed] | None = None
) -> str:
    """A dotted name with the present name of each part; parts that are not known stay as they are."""
    models = (models,) if isinstance(models, type) else tuple(models)
    return _follow(_Place(models), key, "", [] if found is None else found)[0]


def _current(place: _Place, told: Any, at: str, found: list[Renamed]) -> Any:
    if isinstance(told, list):
        return [_current(_of(place.inside), item, at, found) for item in told]
    if not isinstance(told, dict):
        return told
    renamed: dict[Any, Any] = {}
    origin: dict[Any, Any] = {}
    for key, value in told.items():
        if place.dotted and isinstance(key, str):
            name, below = _follow(_Place(place.dotted), key, at, found)
        else:
            name, below = _step(place, key, at, found)
        if name in origin:
            former, other = (key, origin[name]) if key != name else (origin[name], key)
            raise BothNames(f"{_joined(at, former)} is the former name of {other}: give {name} alone")
        origin[name] = key
        renamed[name] = _current(below, value, _joined(at, key), found)
    return renamed


def _follow(place: _Place, key: str, at: str, found: list[Renamed]) -> tuple[str, _Place]:
    """A dotted name with its present parts, and what lies there."""
    parts: list[str] = []
    for part in key.split("."):
        if part.lstrip("-").isdigit() and place.inside and not place.models:
            name, place = part, _of(place.inside)
        else:
            name, place = _step(place, part, at, found)
            at = _joined(at, part)
        parts.append(name)
    return ".".join(parts), place


def _step(place: _Place, key: Any, at: str, found: list[Renamed]) -> tuple[Any, _Place]:
    """The present name of a key of a place, and what lies there."""
    for model in (*place.models, *place.dotted):
        former: Mapping[str, str] = getattr(model, "former_keys", {})
        name = former.get(key, key)
        if name in model.model_fields:
            if name != key:
                found.append(Renamed(_joined(at, key), name))
            return name, _of_field(model.model_fields[name])
    return key, _of(place.inside)


def _joined(at: str, key: Any) -> str:
    return f"{at}.{key}" if at else str(key)


def _of_field(field: FieldInfo) -> _Place:
    return _merged(_places(field.annotation, field.metadata))


def _of(kinds: Sequence[Any]) -> _Place:
    return _merged(place for kind in kinds for place in _places(kind, ()))


def _merged(places: Iterator[_Place] | Sequence[_Place]) -> _Place:
    merged = _Place()
    for place in places:
        merged = _Place(merged.models + place.models, merged.dotted + place.dotted, merged.inside + place.inside)
    return merged


def _places(kind: Any, metadata: Sequence[Any]) -> Iterator[_Place]:
    """What a type with its annotations says; several where it is one of several types."""
    for one in metadata:
        if isinstance(one, Holds):
            models = tuple(one.models())
            yield _Place(dotted=models) if one.dotted else _Place(models)
            return
    origin = get_origin(kind)
    if origin is Annotated:
        inner, *more = get_args(kind)
        yield from _places(inner, more)
    elif origin in (Union, types.UnionType):
        for one in get_args(kind):
            yield from _places(one, ())
    elif origin in (list, dict):
        yield _Place(inside=get_args(kind)[-1:])
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        yield _Place((kind,))
