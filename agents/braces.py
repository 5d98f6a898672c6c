"""Braces in specs: `policy:runs/x@{10..100..10}?temperature={0.5,1.0}` stands for all combinations, as in a shell.

A shell expands braces that are not quoted by itself; in a pool file, in Python and in quotes this does it.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable
from decimal import Decimal

from teamsets.errors import BadInput

#: So many specs one may stand for: more are a mistake in a range.
MAX_EXPANDED = 1000
_NUMBER = r"-?\d+(?:\.\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:\.\.({_NUMBER}))?")
#: A list or a range; other braces, as in the command line of a program ("{uri}"), are left as they are.
_BRACES = re.compile(rf"\{{([^{{}}]*,[^{{}}]*|{_RANGE.pattern})\}}")


def expand(spec: str) -> tuple[str, ...]:
    """Return the specs that one with braces stands for, the last braces varying fastest; itself if it has none.

    `{a,b}` is a list, `{first..last}` and `{first..last..step}` are ranges of numbers, both ends included. Raises BadInput
    for a step of 0, and for more than MAX_EXPANDED specs.
    """
    fixed, values = [], []
    end = 0
    for braces in _BRACES.finditer(spec):
        fixed.append(spec[end : braces.start()])
        values.append(_values(braces[1], spec))
        end = braces.end()
    count = math.prod(map(len, values))
    if count > MAX_EXPANDED:
        raise _too_many(spec, f"{count:,}")
    return tuple(
        "".join(itertools.chain(*zip(fixed, chosen, strict=True))) + spec[end:] for chosen in itertools.product(*values)
    )


def expand_all(specs: Iterable[str]) -> tuple[str, ...]:
    """Return the specs with all braces expanded, in order. Raises BadInput."""
    return tuple(each for spec in specs for each in expand(spec))


def _values(text: str, spec: str) -> list[str]:
    bounds = _RANGE.fullmatch(text)
    if bounds is None:
        return text.split(",")
    first, last = Decimal(bounds[1]), Decimal(bounds[2])
    step = abs(Decimal(bounds[3] or 1))
    if step == 0:
        raise BadInput(f"agent '{spec}': {{{text}}}: the step is 0: give another, as in {{10..100..10}}")
    steps = int(abs(last - first) / step)
    if steps >= MAX_EXPANDED:
        raise _too_many(spec, f"{steps + 1:,}")
    return [str(first + number * (step if last >= first else -step)) for number in range(steps + 1)]


def _too_many(spec: str, count: str) -> BadInput:
    return BadInput(f"agent '{spec}': stands for {count} agents, more than {MAX_EXPANDED:,}: give fewer values")
