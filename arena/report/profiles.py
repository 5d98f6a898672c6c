"""The data of the agents' sections: best and worst opponents and teams, moves, leads, and results by turn."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from poke_env.data import GenData

from arena.report.counts import Lead, TeamUse, rate
from teamsets.formats import get_format

TURNS = (1, 5, 10, 15, 20, 30, 40, 60, 80, 100, 150, 200, 300, 400, 600, 800)
SHOWN = 3  # best and worst of each kind
MOST_USED = 8  # moves, leads
ENOUGH = 5  # battles that reached a turn, to be shown for it


def best_and_worst(entries: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The best and the worst of entries with "score", "low", "high", at most SHOWN and never the same one in both.

    Ordered by the interval's careful end (the best by `low`, the worst by `high`), so that two lucky battles do not
    pass for the best of all.
    """
    count = min(SHOWN, len(entries) // 2) if len(entries) > 1 else len(entries)
    best = sorted(entries, key=lambda e: (-e["low"], -e["score"]))[:count]
    left = [entry for entry in entries if entry not in best]
    worst = sorted(left, key=lambda e: (e["high"], e["score"]))[:count]
    return best, worst


def opponents(cross: Iterable[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """agent -> {"best", "worst"} of the cross table's entries."""
    by_agent: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for entry in cross:
        by_agent[entry["agent"]].append(entry)
    return {
        agent: dict(zip(("best", "worst"), best_and_worst(found), strict=True)) for agent, found in by_agent.items()
    }


def teams(uses: Iterable[TeamUse]) -> dict[str, dict[str, Any]]:
    """agent -> {"of": teams that it held, "best", "worst", "told_apart": whether any interval of these lies apart}."""
    by_agent: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for use in uses:
        entry = {"team": use.team, "team_set": use.team_set, "team_id": use.team_id, **rate(use.points, use.battles)}
        by_agent[use.agent].append(entry | {"species": species(use.packed)})
    said = {}
    for agent, found in by_agent.items():
        best, worst = best_and_worst(found)
        apart = any(one["low"] > other["high"] for one in best for other in worst)
        said[agent] = {"of": len(found), "best": best, "worst": worst, "told_apart": apart}
    return said


def moves(format_id: str, uses: Iterable[tuple[str, str, int]]) -> dict[str, list[dict[str, Any]]]:
    """agent -> its most used moves: {"move", "times", "share" (of its moves)}."""
    names = GenData.from_gen(get_format(format_id).gen).moves
    by_agent: dict[str, Counter[str]] = defaultdict(Counter)
    for agent, move, times in uses:
        by_agent[agent][move] += times
    return {
        agent: [
            {"move": str(names.get(move, {}).get("name", move)), "times": times, "share": times / counter.total()}
            for move, times in counter.most_common(MOST_USED)
        ]
        for agent, counter in by_agent.items()
    }


def leads(uses: Iterable[Lead]) -> dict[str, dict[str, Any]]:
    """agent -> {"chosen": whether at a team preview (else the team says it), "leads": [{"lead", rate}] most used first}.

    Left out where Showdown draws the teams: nobody chooses there, and the store does not know them.
    """
    by_agent: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    chosen: dict[str, bool] = {}
    for use in uses:
        members = species(use.packed)
        if len(members) < (use.place or 1):
            continue
        count = by_agent[use.agent][members[(use.place or 1) - 1]]
        count[0] += use.battles
        count[1] += use.points
        chosen[use.agent] = chosen.get(use.agent, False) or use.place is not None
    return {
        agent: {
            "chosen": chosen[agent],
            "of": len(counts),
            "leads": [
                {"lead": lead, **rate(points, int(battles))}
                for lead, (battles, points) in sorted(counts.items(), key=lambda item: (-item[1][0], item[0]))[
                    :MOST_USED
                ]
            ],
        }
        for agent, counts in by_agent.items()
    }


def by_turn(lengths: Iterable[tuple[str, int, int, float]]) -> dict[str, list[dict[str, Any]]]:
    """agent -> [{"turn", rate}]: of its battles that reached that turn, how many it won; as long as ENOUGH did."""
    by_agent: dict[str, list[tuple[int, int, float]]] = defaultdict(list)
    for agent, turns, battles, points in lengths:
        by_agent[agent].append((turns, battles, points))
    said: dict[str, list[dict[str, Any]]] = {}
    for agent, counts in by_agent.items():
        said[agent] = []
        for turn in TURNS:
            reached = [(battles, points) for turns, battles, points in counts if turns >= turn]
            entry = rate(sum(points for _, points in reached), sum(battles for battles, _ in reached))
            if turn == TURNS[0] or entry["battles"] >= ENOUGH:
                said[agent].append({"turn": turn, **entry})
    return said


def species(packed: str | None) -> list[str]:
    """The species of a team in Showdown's packed text (nickname|species|…, the species left out where both are one)."""
    if packed is None:
        return []
    members = [member.split("|") for member in packed.split("]")]
    return [member[1] or member[0] for member in members if len(member) > 1]
