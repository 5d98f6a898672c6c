"""The games' integer arithmetic of modifiers, as Showdown does it: factors are in units of 1/4096.

A chain of factors is multiplied first, rounded to 1/4096 after each step, and the value once at the end.
"""

from __future__ import annotations

from collections.abc import Iterable

#: A factor of 1.
ONE = 4096


def modify(value: int, factor: int) -> int:
    """Return value · factor / 4096, rounded to the nearest integer; halves are rounded down."""
    return (value * factor + 2047) >> 12


def chain(factors: Iterable[int]) -> int:
    """Return the product of factors, rounded to 1/4096 after each."""
    product = ONE
    for factor in factors:
        product = (product * factor + 2048) >> 12
    return product


#: A modifier's priority (the highest comes first) and its factor.
Modifier = tuple[int, int]


def ordered(own: list[Modifier], other: list[Modifier]) -> int:
    """Return the chain of two lists of modifiers in the order of their priorities, `own` first at equal ones."""
    if not other:
        merged = own
    elif not own:
        merged = other
    else:
        merged = [*own, *other]
    if len(merged) > 1:
        merged = sorted(merged, key=_by_priority)
    return chain(factor for _, factor in merged)


def _by_priority(modifier: Modifier) -> int:
    return -modifier[0]


#: Numerator and denominator of a boosted stat, by stage + 6: generations 1 and 2, and the later ones.
_STAGES = tuple((max(2, 2 + stage), max(2, 2 - stage)) for stage in range(-6, 7))
_OLD_STAGES = ((25, 100), (28, 100), (33, 100), (40, 100), (50, 100), (66, 100), *_STAGES[6:])


def boosted(stat: int, stage: int, gen: int, uncapped: bool = False) -> int:
    """Return a stat after a boost. Generations 1 and 2 have percentages, and a maximum of 999 unless `uncapped`."""
    if gen <= 2:
        over, under = _OLD_STAGES[stage + 6]
        value = max(1, stat * over // under)
        return value if uncapped else min(999, value)
    if not stage:
        return stat
    over, under = _STAGES[stage + 6]
    return stat * over // under
