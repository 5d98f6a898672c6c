"""The chance to win that an agent declared with a decision, and what is not taken as one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

from agents.coached import coached_parts

#: Under this name an agent declares in its diagnostics the chance to win that it sees, from 0 to 1.
DECLARED = "win_probability"
#: The name of before. It held a policy's chance to win, and a rule player's score as well.
_BEFORE = "value"
#: Families whose agents left chances to win before they had a name of their own: `value` of a policy, `values` of a search.
_MEANT_CHANCES = ("policy", "search")


def win_probability(diagnostics: dict[str, Any] | None, agent: str, refused: Counter[str]) -> float:
    """The chance to win, from 0 to 1, that an agent declared with one decision; NaN where it declared none.

    agent: the spec of whoever played. refused: name -> number of decisions whose entry of that name is not taken, added to:
    a `win_probability` that is no number from 0 to 1, and a `value` of an agent that need not have meant a chance.

    Battles that were stored before `win_probability` existed are still good: there `value` of a `policy:` and the visited
    `values` of a `search:` were chances. A `value` of any other agent is never taken, whatever the number: those of
    `heuristic:expert` were scores, some of which lay between 0 and 1.
    """
    if not diagnostics:
        return math.nan
    if DECLARED in diagnostics:
        return _checked(diagnostics[DECLARED], DECLARED, refused)
    meant = _who_left_it(agent).partition("?")[0].partition(":")[0] in _MEANT_CHANCES
    if _BEFORE in diagnostics:
        if meant:
            return _checked(diagnostics[_BEFORE], _BEFORE, refused)
        refused[_BEFORE] += 1
        return math.nan
    return _mean_of_visits(diagnostics, refused) if meant else math.nan


def refused_lines(counts: Iterable[tuple[str, dict[str, int]]]) -> list[str]:
    """One line for each agent and name whose entries were not taken. counts: of each trajectory, its agent and `refused`."""
    total: Counter[tuple[str, str]] = Counter()
    for agent, refused in counts:
        for name, number in refused.items():
            total[agent, name] += number
    return [f"left out: {number:,} {_words(agent, name)}" for (agent, name), number in total.most_common()]


def _words(agent: str, name: str) -> str:
    if name == _BEFORE:
        return (
            f"`{_BEFORE}` in the diagnostics of {agent}: they may be scores; an agent reports a win probability from 0 to 1 "
            f"as `{DECLARED}`"
        )
    return f"`{name}` in the diagnostics of {agent}: not numbers from 0 to 1; an agent reports a score as `score`"


def _checked(value: Any, name: str, refused: Counter[str]) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    refused[name] += 1
    return math.nan


def _who_left_it(spec: str) -> str:
    """The spec of the agent whose diagnostics are kept: of `coached?learner=SPEC&coach=SPEC` those of the coach are."""
    return coached_parts(spec).get("coach", spec)


def _mean_of_visits(diagnostics: dict[str, Any], refused: Counter[str]) -> float:
    """A search of before has a value for each choice, which its visits weigh."""
    visits, values = diagnostics.get("visits") or {}, diagnostics.get("values") or {}
    total = sum(visits[words] for words in values if words in visits)
    if not total:
        return math.nan
    mean = sum(visits[w] * v for w, v in values.items() if w in visits) / total
    return _checked(round(mean, 6), "values", refused)  # a mean of ones may be 1.0000000000000002
