"""Former names of settings, in files, stored configurations, `--set`, `overrides`, `retries` and grids.

Each model lists its former keys (`Section.former_keys`: former key -> key) and former values (`Section.former_values`: key
-> (former value -> value)). `current` renames them in settings, nested ones included; `current_key` in a dotted key. A
field that is a dict with settings of another model is annotated with `Holds`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo


class SettingGivenTwice(ValueError):
    """A setting has a value under its former name and another under its present name."""


@dataclass(frozen=True)
class Holds:
    """Annotation of a dict field that contains settings of other models, complete or not.

    models: returns the models, which may be declared later. dotted: the dict's keys are dotted.
    """

    models: Callable[[], Sequence[type[BaseModel]]]
    dotted: bool = False


@dataclass(frozen=True)
class _Place:
    """What a setting can contain, from its type.

    models: that it may be an instance of. dotted: models whose settings it has under dotted keys. inside: types of a list's
    items or of a dict's values. values: former value -> value.
    """

    models: tuple[type[BaseModel], ...] = ()
    dotted: tuple[type[BaseModel], ...] = ()
    inside: tuple[Any, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Renamed:
    """A former key (or `key: value`) that was found. former: dotted, without list indices; key: the last part of the present
    key (or the present value)."""

    former: str
    key: str


def current(
    models: type[BaseModel] | Sequence[type[BaseModel]], settings: Any, found: list[Renamed] | None = None
) -> Any:
    """Return settings of a model (or of any of several) under their present names; `settings` itself is not changed.

    found: a list to which every former name is appended. Raises SettingGivenTwice.
    """
    models = (models,) if isinstance(models, type) else tuple(models)
    return _current(_Place(models), settings, "", [] if found is None else found)


def current_key(
    models: type[BaseModel] | Sequence[type[BaseModel]], key: str, found: list[Renamed] | None = None
) -> str:
    """Return a dotted key with the present name of each part; unknown parts are not changed."""
    models = (models,) if isinstance(models, type) else tuple(models)
    return _follow(_Place(models), key, "", [] if found is None else found)[0]


def _current(place: _Place, settings: Any, at: str, found: list[Renamed]) -> Any:
    if isinstance(settings, list):
        return [_current(_of(place.inside), item, at, found) for item in settings]
    if isinstance(settings, str) and settings in place.values:
        found.append(Renamed(f"{at}: {settings}", place.values[settings]))
        return place.values[settings]
    if not isinstance(settings, dict):
        return settings
    renamed: dict[Any, Any] = {}
    origin: dict[Any, Any] = {}
    for key, value in settings.items():
        if place.dotted and isinstance(key, str):
            name, below = _follow(_Place(place.dotted), key, at, found)
        else:
            name, below = _step(place, key, at, found)
        if name in origin:
            former, other = (key, origin[name]) if key != name else (origin[name], key)
            raise SettingGivenTwice(f"{_joined(at, former)} is the former name of {other}: give {name} alone")
        origin[name] = key
        renamed[name] = _current(below, value, _joined(at, key), found)
    return renamed


def _follow(place: _Place, key: str, at: str, found: list[Renamed]) -> tuple[str, _Place]:
    """Return a dotted key under its present name, and its place."""
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
    """Return the present name of a key of a place, and the place of its value."""
    for model in (*place.models, *place.dotted):
        former: Mapping[str, str] = getattr(model, "former_keys", {})
        name = former.get(key, key)
        if name in model.model_fields:
            if name != key:
                found.append(Renamed(_joined(at, key), name))
            values: Mapping[str, str] = getattr(model, "former_values", {}).get(name, {})
            return name, replace(_of_field(model.model_fields[name]), values=values)
    return key, _of(place.inside)


def _joined(at: str, key: Any) -> str:
    return f"{at}.{key}" if at else str(key)


def _of_field(info: FieldInfo) -> _Place:
    return _merged(_places(info.annotation, info.metadata))


def _of(kinds: Sequence[Any]) -> _Place:
    return _merged(place for kind in kinds for place in _places(kind, ()))


def _merged(places: Iterator[_Place] | Sequence[_Place]) -> _Place:
    merged = _Place()
    for place in places:
        merged = _Place(merged.models + place.models, merged.dotted + place.dotted, merged.inside + place.inside)
    return merged


def _places(kind: Any, metadata: Sequence[Any]) -> Iterator[_Place]:
    """Yield the places of a type with its annotations; several for a union."""
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
