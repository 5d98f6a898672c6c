"""The data of the agents' sections: best and worst opponents and teams, moves, leads, and results by turn."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import TypeVar

from poke_env.data import GenData

from arena.report.counts import LeadCount, LengthCount, MoveCount, TeamUse, rate
from arena.report.summary_types import (
    BestAndWorstOpponents,
    BestAndWorstTeams,
    LeadSummary,
    MoveShare,
    PairingResult,
    TeamRate,
    TurnRate,
    WinRate,
)
from teamsets.formats import get_format

Rated = TypeVar("Rated", bound=WinRate)
TURNS = (1, 5, 10, 15, 20, 30, 40, 60, 80, 100, 150, 200, 300, 400, 600, 800)
SHOWN = 3  # best and worst of each kind
MOST_USED = 8  # moves, leads
ENOUGH = 5  # battles that reached a turn, to be shown for it


def best_and_worst(entries: list[Rated]) -> tuple[list[Rated], list[Rated]]:
    """The best and the worst of some results, at most SHOWN and never the same one in both.

    Ordered by the interval's careful end (the best by `low`, the worst by `high`), so that two lucky battles do not
    pass for the best of all.
    """
    count = min(SHOWN, len(entries) // 2) if len(entries) > 1 else len(entries)
    best = sorted(entries, key=lambda e: (-e["low"], -e["score"]))[:count]
    others = [entry for entry in entries if entry not in best]
    worst = sorted(others, key=lambda e: (e["high"], e["score"]))[:count]
    return best, worst


def opponents(cross: Iterable[PairingResult]) -> dict[str, BestAndWorstOpponents]:
    """agent -> its best and worst opponents, from the cross table."""
    by_agent: dict[str, list[PairingResult]] = defaultdict(list)
    for entry in cross:
        by_agent[entry["agent"]].append(entry)
    of_agents: dict[str, BestAndWorstOpponents] = {}
    for agent, entries in by_agent.items():
        best, worst = best_and_worst(entries)
        of_agents[agent] = {"best": best, "worst": worst}
    return of_agents


def teams(uses: Iterable[TeamUse]) -> dict[str, BestAndWorstTeams]:
    """agent -> the teams with which it scored best and worst."""
    by_agent: dict[str, list[TeamRate]] = defaultdict(list)
    for use in uses:
        by_agent[use.agent].append(
            {
                "team": use.team,
                "team_set": use.team_set,
                "team_id": use.team_id,
                **rate(use.points, use.battles),
                "species": species(use.packed),
            }
        )
    of_agents: dict[str, BestAndWorstTeams] = {}
    for agent, entries in by_agent.items():
        best, worst = best_and_worst(entries)
        apart = any(good["low"] > bad["high"] for good in best for bad in worst)
        of_agents[agent] = {"of": len(entries), "best": best, "worst": worst, "told_apart": apart}
    return of_agents


def moves(format_id: str, uses: Iterable[MoveCount]) -> dict[str, list[MoveShare]]:
    """agent -> its most used moves."""
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


def leads(uses: Iterable[LeadCount]) -> dict[str, LeadSummary]:
    """agent -> its leads. Left out where Showdown draws the teams: nobody chooses there, and the store lacks them."""
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


def by_turn(lengths: Iterable[LengthCount]) -> dict[str, list[TurnRate]]:
    """agent -> its results in the battles that reached each of TURNS, as far as ENOUGH of them did.

    Of the first turn, if any did: a battle whose agent fails at team preview has none.
    """
    by_agent: dict[str, list[LengthCount]] = defaultdict(list)
    for count in lengths:
        by_agent[count.agent].append(count)
    of_agents: dict[str, list[TurnRate]] = {}
    for agent, counts in by_agent.items():
        of_agents[agent] = []
        for turn in TURNS:
            reached = [count for count in counts if count.turns >= turn]
            battles = sum(count.battles for count in reached)
            if battles >= (1 if turn == TURNS[0] else ENOUGH):
                of_agents[agent].append({"turn": turn, **rate(sum(count.points for count in reached), battles)})
    return of_agents


def species(packed: str | None) -> list[str]:
    """The species of a team in Showdown's packed text (nickname|species|…, the species left out where both are one)."""
    if packed is None:
        return []
    members = [member.split("|") for member in packed.split("]")]
    return [member[1] or member[0] for member in members if len(member) > 1]
