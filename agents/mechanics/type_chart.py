"""The type chart."""

from __future__ import annotations

from functools import cache, lru_cache

from poke_env.data import GenData


@lru_cache(maxsize=65_536)
def effectiveness(gen: int, kind: str, types: tuple[str, ...]) -> float:
    """Return the effectiveness of an attacking type against a defender's types. Types outside the chart count as 1."""
    chart = GenData.from_gen(gen).type_chart
    factor = 1.0
    for own in types:
        factor *= chart.get(own, {}).get(kind, 1.0)
    return factor


@cache
def steps(gen: int, kind: str, own: str) -> int:
    """Return how often an attacking type's damage is doubled (halved if negative) by one type; 0 for an immune one."""
    return {0.5: -1, 2.0: 1}.get(effectiveness(gen, kind, (own,)), 0)


@lru_cache(maxsize=65_536)
def total_steps(gen: int, kind: str, types: tuple[str, ...]) -> int:
    """Return the sum of `steps` over a defender's types."""
    return sum(steps(gen, kind, own) for own in types)


@lru_cache(maxsize=65_536)
def blocked(gen: int, kind: str, types: tuple[str, ...]) -> bool:
    """Return whether one of a defender's types is immune to an attacking type."""
    return any(effectiveness(gen, kind, (own,)) == 0 for own in types)
