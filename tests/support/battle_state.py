"""Everything that a battle of poke-env's holds, as plain values, to compare two battles."""

from __future__ import annotations

from enum import Enum
from typing import Any

#: Not the battle's state, or compared otherwise: the record of lines grows with each.
_LEFT_OUT = frozenset({"logger", "rng", "_replay_data"})
_PLAIN = (str, int, float, bool, type(None), Enum, frozenset)


def snapshot(value: Any, seen: dict[int, int] | None = None) -> Any:
    """All attributes of an object and of what it refers to. An object met again is its number, in the order of meeting."""
    seen = {} if seen is None else seen
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, dict):
        return [(snapshot(key, seen), snapshot(item, seen)) for key, item in value.items()]
    if isinstance(value, list | tuple | set):
        return [snapshot(item, seen) for item in value]
    if id(value) in seen:
        return seen[id(value)]
    seen[id(value)] = len(seen)
    names = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    names += getattr(value, "__dict__", ())
    return {name: snapshot(getattr(value, name), seen) for name in names if name not in _LEFT_OUT}
