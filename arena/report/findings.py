"""The findings of a report: a few plain sentences, written from its numbers, no surer than the intervals are."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from arena.report.numbers import counted, listed, percent, whole

SURE = 0.95  # "better" is said without "may" from here on
TEAM_SET_LINES = 2
MANY_FORMATS = 3  # more formats than these share one sentence on who is best


def findings(formats: list[dict[str, Any]]) -> list[str]:
    """Sentences on: who is best, where team sets matter, cycles, failures. One when nothing was finished."""
    told = [each for each in formats if len(each["ranking"]) > 1]
    if not told:
        return ["No battle was finished."]
    best = [_best(each) for each in told] if len(told) <= MANY_FORMATS else [_best_of_many(told)]
    return [*best, *_team_sets(told), *_cycles(told), _faults(formats)]


def elo_words(row: dict[str, Any], anchor: str) -> str:
    """ "1580 [1540, 1622]"."""
    if row["agent"] == anchor:
        return f"{whole(row['elo'])}, the anchor"
    return f"{whole(row['elo'])} [{whole(row['low'])}, {whole(row['high'])}]"


def chance_of_better(said: dict[str, Any], agent: str, other: str) -> float | None:
    """Probability that `agent` is better than `other`; None when they cannot be compared."""
    names = said["better"]["agents"]
    value: float | None = said["better"]["matrix"][names.index(agent)][names.index(other)]
    return value


def _close(said: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[str, float]]]:
    """The leader, and those that may be as good: (agent, probability that the leader is better), the closest first."""
    first = said["ranking"][0]
    chances = [(row["agent"], chance_of_better(said, first["agent"], row["agent"])) for row in said["ranking"][1:]]
    close = [(agent, chance) for agent, chance in chances if chance is not None and chance < SURE]
    return first, sorted(close, key=lambda pair: pair[1])


def _best(said: dict[str, Any]) -> str:
    first, close = _close(said)
    name, where, elo = first["agent"], said["format"], elo_words(first, said["anchor"])
    if not close:
        second = next((row for row in said["ranking"][1:] if row["group"] == first["group"]), None)
        if second is None:
            return f"{name} is first in {where}, but no battle links it to the others."
        chance = chance_of_better(said, name, second["agent"])
        return (
            f"{name} is best in {where}: {elo}, {first['elo'] - second['elo']:.0f} above "
            f"{second['agent']}; P(better) {_equals(chance)}."
        )
    if len(close) == 1:
        ((other, chance),) = close
        return f"{name} leads in {where} with {elo}, but {other} may be as good: P(better) {_equals(chance)}."
    (other, chance), *_ = close
    return (
        f"{name} leads in {where} with {elo}, but {len(close)} others cannot be told from it; "
        f"the closest is {other}: P(better) {_equals(chance)}."
    )


def _equals(chance: float | None) -> str:
    words = percent(chance or 0.0)
    return words if words[0] in "<>" else f"= {words}"


def _best_of_many(formats: list[dict[str, Any]]) -> str:
    """One sentence for many formats: who leads where, and where that is sure."""
    where: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for said in formats:
        first, close = _close(said)
        where[first["agent"], not close].append(said["format"])
    parts = [
        f"{agent} {'is best' if sure else 'leads, not surely,'} in {listed(names)}"
        for (agent, sure), names in sorted(where.items(), key=lambda item: (-len(item[1]), item[0]))
    ]
    return "; ".join(parts) + "."


def _team_sets(formats: list[dict[str, Any]]) -> list[str]:
    """The greatest clear differences between team sets, and how many were looked at."""
    differences = [(each, said["format"]) for said in formats for each in said["set_differences"]]
    if not differences:
        return []
    clear = sorted((pair for pair in differences if pair[0]["clear"]), key=lambda pair: -pair[0]["elo"])
    if not clear:
        return [
            f"Team sets: no agent is clearly better on one than on another ({len(differences)} differences looked at)."
        ]
    lines = [f"{each['sentence']}{_in(format_id, formats)}." for each, format_id in clear[:TEAM_SET_LINES]]
    more = len(clear) - len(lines)
    if more:
        lines.append(f"{more} more of {len(differences)} differences between team sets are clear.")
    return lines


def _cycles(formats: list[dict[str, Any]]) -> list[str]:
    """The surest cycle of all formats, if it is sure enough to be said without "may"."""
    found = [(cycle, said["format"]) for said in formats for cycle in said["cycles"]]
    sure = [pair for pair in found if pair[0]["confidence"] >= SURE]
    if all(len(said["ranking"]) < 3 for said in formats):
        return []
    if not sure:
        return ["No cycle (a beats b, b beats c, c beats a) is sure: the rankings tell the story."]
    cycle, format_id = max(sure, key=lambda pair: pair[0]["confidence"])
    a, b, c = cycle["agents"]
    return [
        f"Strength is no straight line{_in(format_id, formats)}: {a} beats {b}, {b} beats {c}, and {c} beats {a} "
        f"(confidence {percent(cycle['confidence'])})."
    ]


def _faults(formats: list[dict[str, Any]]) -> str:
    """Who lost battles by its own failure."""
    lost: dict[str, int] = defaultdict(int)
    for said in formats:
        for fault in said["faults"]:
            if fault["at_fault"]:
                lost[fault["agent"]] += fault["battles"]
    if not lost:
        return "No agent lost a battle by a failure of its own (crash, time-out, illegal choice)."
    games: dict[str, int] = defaultdict(int)
    for said in formats:
        for row in said["ranking"]:
            games[row["agent"]] += row["games"]
    order = sorted(lost, key=lambda agent: (-lost[agent], agent))
    parts = [f"{agent} {lost[agent]:,} of {counted(games[agent], 'battle')}" for agent in order[:3]]
    more = f", and {len(order) - 3} more agents some" if len(order) > 3 else ""
    return f"Lost by an own failure: {', '.join(parts)}{more}."


def _in(format_id: str, formats: list[dict[str, Any]]) -> str:
    return f" in {format_id}" if len(formats) > 1 else ""
