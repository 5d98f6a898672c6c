"""Rankings by results against a chosen set of opponents, also for each lead, species, length or team set on its own."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypedDict

import numpy as np

from arena.ratings.against import ResultsAgainst
from arena.ratings.bradley_terry import fit, groups
from arena.ratings.evidence import Floats
from arena.ratings.pentanomial import elo_score
from arena.report.seat_battles import (
    FEW_PAIRS,
    GROUPS,
    SeatBattle,
    chosen_format,
    likeness,
    matching,
    seat_battles,
)
from teamsets.errors import BadInput


class ConditionalRow(TypedDict):
    """An agent against the set. rank: None where it has not met the whole set. score, low, high: expected score against an
    opponent drawn from the set, with its 95% interval. expected: that by the ratings over all battles, None where the
    agents are not all linked by battles. better: the probability that it is better than the next; None for the last one.
    met: opponents of the set that it has met, of `of`. few: fewer than FEW_PAIRS pairs."""

    rank: int | None
    agent: str
    score: float
    low: float
    high: float
    expected: float | None
    better: float | None
    met: int
    of: int
    battles: int
    pairs: int
    few: bool


class ConditionalGroup(TypedDict):
    """A ranking over the battles of one group; "" for all. left_out: agents with too few battles."""

    group: str
    battles: int
    ranking: list[ConditionalRow]
    left_out: list[str]


class ConditionalRanking(TypedDict):
    """against: the set of opponents. left_out: how many groups have no agent with enough battles."""

    format: str
    against: list[str]
    by: str | None
    groups: list[ConditionalGroup]
    left_out: int


def conditional_ranking(
    db: Path,
    format_id: str | None,
    *,
    against: Sequence[str] = (),
    by: str | None = None,
    only: Sequence[str] = (),
    least: int = 10,
    run: str | None = None,
) -> ConditionalRanking:
    """Rank all agents of a format by their results against the opponents that `against` names (without it, all agents).

    by: a key of GROUPS, with one ranking for each of its groups; only: these groups. least: battles of an agent (in a group)
    below which it is left out. run: only battles that count for this run; by default all stored ones.
    Raises BadInput for names without battles, and where no agent has enough.
    """
    chosen_id = chosen_format(db, format_id, run=run)
    battles = seat_battles(db, chosen_id, run=run)
    agents = sorted({battle.agent for battle in battles})
    chosen = matching(against, agents)
    expected = _expected(battles, agents, chosen)
    alike = likeness(battles)
    grouped = _grouped([battle for battle in battles if battle.opponent in chosen], by)
    wanted = set(grouped) if by is None else matching(only, grouped, "--only")
    rankings = [
        _ranking(name, grouped[name], agents, chosen, expected, alike, least) for name in grouped if name in wanted
    ]
    shown = [each for each in rankings if each["ranking"]]
    if not shown:
        raise BadInput(f"format {chosen_id}: no agent has {least} such battles: lower --min-battles")
    left_out = len(rankings) - len(shown)
    return {"format": chosen_id, "against": sorted(chosen), "by": by, "groups": shown, "left_out": left_out}


def _grouped(battles: Iterable[SeatBattle], by: str | None) -> dict[str, list[SeatBattle]]:
    """The battles of each group: lengths in their order, other groups from the one with most battles on."""
    grouped: dict[str, list[SeatBattle]] = defaultdict(list)
    for battle in battles:
        for group in [""] if by is None else GROUPS[by](battle):
            grouped[group].append(battle)
    names = sorted(grouped, key=lambda name: (-len(grouped[name]), name))
    if by == "length":
        names.sort(key=lambda name: int(name.replace("-", " ").split()[0]))
    return {name: grouped[name] for name in names}


def _expected(battles: Sequence[SeatBattle], agents: Sequence[str], chosen: set[str]) -> dict[str, float]:
    """Agent -> its expected score against the set by one joint fit to all battles; empty where they do not link all."""
    place = {agent: number for number, agent in enumerate(agents)}
    points, games = np.zeros((2, len(agents), len(agents)))
    for battle in battles:
        points[place[battle.agent], place[battle.opponent]] += battle.score
        games[place[battle.agent], place[battle.opponent]] += 1
    if groups(games).any():
        return {}
    elo = fit(points, games)
    members = [place[agent] for agent in chosen]
    return {
        agent: float(np.mean([elo_score(elo[i] - elo[member]) for member in members])) for agent, i in place.items()
    }


def _ranking(
    group: str,
    battles: Sequence[SeatBattle],
    agents: Sequence[str],
    chosen: set[str],
    expected: dict[str, float],
    alike: float,
    least: int,
) -> ConditionalGroup:
    """One group's ranking. battles: against members of the set."""
    numbers = Counter(battle.agent for battle in battles)
    pairs = Counter(agent for agent, _ in {(battle.agent, battle.cluster) for battle in battles})
    members = np.array([agent in chosen for agent in agents])
    results = ResultsAgainst(*_tables(battles, agents), members, alike)
    scores, low, high = results.scores()
    shown = [i for i, agent in enumerate(agents) if numbers[agent] >= least]
    shown.sort(key=lambda i: (results.missing[i] > 0, -scores[i], agents[i]))
    ranking: list[ConditionalRow] = []
    for position, i in enumerate(shown):
        complete = not results.missing[i]
        following = shown[position + 1] if position + 1 < len(shown) else None
        is_compared = complete and following is not None and not results.missing[following]
        agent = agents[i]
        ranking.append(
            {
                "rank": position + 1 if complete else None,
                "agent": agent,
                "score": round(float(scores[i]), 6),
                "low": round(float(low[i]), 6),
                "high": round(float(high[i]), 6),
                "expected": round(expected[agent], 6) if agent in expected else None,
                "better": round(results.better(i, following), 4) if is_compared and following is not None else None,
                "met": int(results.opponents[i]),
                "of": int(results.opponents[i] + results.missing[i]),
                "battles": numbers[agent],
                "pairs": pairs[agent],
                "few": pairs[agent] < FEW_PAIRS,
            }
        )
    left_out = [agent for agent in agents if numbers[agent] < least]
    return {"group": group, "battles": len(battles), "ranking": ranking, "left_out": left_out}


def _tables(battles: Sequence[SeatBattle], agents: Sequence[str]) -> tuple[Floats, Floats, Floats]:
    """(points, battles, squares), all [N, N]: as of `ResultsAgainst`."""
    place = {agent: number for number, agent in enumerate(agents)}
    points, games, squares = np.zeros((3, len(agents), len(agents)))
    sizes: Counter[tuple[int, int, tuple[str, str, str]]] = Counter()
    for battle in battles:
        row, column = place[battle.agent], place[battle.opponent]
        points[row, column] += battle.score
        games[row, column] += 1
        sizes[row, column, battle.cluster] += 1
    for (row, column, _), size in sizes.items():
        squares[row, column] += size**2
    return points, games, squares
