"""Win probabilities that agents reported in their diagnostics, and which diagnostics are rejected as such."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

from agents.coached import coached_parts

#: The diagnostic in which an agent reports its estimated win probability, from 0 to 1.
REPORTED = "win_probability"
#: The diagnostic of earlier versions: a policy's win probability, but also a rule player's score.
_FORMER = "value"
#: Agent families whose former diagnostics were win probabilities: `value` of a policy, `values` of a search.
_FORMER_FAMILIES = ("policy", "search")


def win_probability(diagnostics: dict[str, Any] | None, agent: str, refused: Counter[str]) -> float:
    """Return the win probability, from 0 to 1, that an agent reported with a decision; NaN if it reported none.

    agent: the spec of the player. refused: name -> number of decisions whose diagnostic of that name was rejected; it is
    added to. Rejected are a `win_probability` that is no number from 0 to 1, and a `value` of an agent outside of
    _FORMER_FAMILIES.

    In battles stored before `win_probability` existed, `value` of a `policy:` and the visited `values` of a `search:` are
    used. A `value` of any other agent is never used: those of `heuristic:expert` were scores, some of them between 0 and 1.
    """
    if not diagnostics:
        return math.nan
    if REPORTED in diagnostics:
        return _checked(diagnostics[REPORTED], REPORTED, refused)
    has_former = _reporting_agent(agent).partition("?")[0].partition(":")[0] in _FORMER_FAMILIES
    if _FORMER in diagnostics:
        if has_former:
            return _checked(diagnostics[_FORMER], _FORMER, refused)
        refused[_FORMER] += 1
        return math.nan
    return _mean_over_visits(diagnostics, refused) if has_former else math.nan


def refused_lines(counts: Iterable[tuple[str, dict[str, int]]]) -> list[str]:
    """Return a line for each agent and name whose diagnostics were rejected. counts: agent and `refused` per trajectory."""
    total: Counter[tuple[str, str]] = Counter()
    for agent, refused in counts:
        for name, number in refused.items():
            total[agent, name] += number
    return [f"left out: {number:,} {_description(agent, name)}" for (agent, name), number in total.most_common()]


def _description(agent: str, name: str) -> str:
    if name == _FORMER:
        return (
            f"`{_FORMER}` in the diagnostics of {agent}: they may be scores; an agent reports a win probability from 0 to 1 "
            f"as `{REPORTED}`"
        )
    return f"`{name}` in the diagnostics of {agent}: not numbers from 0 to 1; an agent reports a score as `score`"


def _checked(value: Any, name: str, refused: Counter[str]) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    refused[name] += 1
    return math.nan


def _reporting_agent(spec: str) -> str:
    """Return the spec of the agent whose diagnostics are stored: the coach for `coached?learner=SPEC&coach=SPEC`."""
    return coached_parts(spec).get("coach", spec)


def _mean_over_visits(diagnostics: dict[str, Any], refused: Counter[str]) -> float:
    """Return the mean of a search's values per choice, weighted by visits (diagnostics of earlier versions)."""
    visits, values = diagnostics.get("visits") or {}, diagnostics.get("values") or {}
    total = sum(visits[label] for label in values if label in visits)
    if not total:
        return math.nan
    mean = sum(visits[label] * value for label, value in values.items() if label in visits) / total
    return _checked(round(mean, 6), "values", refused)  # rounded: a mean of ones may be 1.0000000000000002
