"""The type chart."""

from __future__ import annotations

from functools import lru_cache

from poke_env.data import GenData


@lru_cache(maxsize=65_536)
def effectiveness(gen: int, kind: str, types: tuple[str, ...]) -> float:
    """Return the effectiveness of an attacking type against a defender's types. Types outside the chart count as 1."""
    chart = GenData.from_gen(gen).type_chart
    factor = 1.0
    for own in types:
        factor *= chart.get(own, {}).get(kind, 1.0)
    return factor
