"""The numbers of a leaderboard: rankings per format and team set, head-to-head results, and ratings over time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from arena.leaderboard.merging import CountedBattle, MergedBattles, evidence_of
from arena.ratings.bradley_terry import fit_ratings
from arena.ratings.evidence import default_anchor
from arena.report.counts import PairingCount
from arena.report.cross_tables import pairing_tables
from arena.report.strengths import strengths_of
from arena.report.summary_types import CrossTables, RankedFormat, SweepPoint

#: Points of a history: more lie closer than they can be told apart on a phone.
_MOST_MOMENTS = 12
_RESAMPLES = 200


class Standings(CrossTables):
    """One format. by_team_set_ranking: team set -> its ranking; moments: ISO times; history: agent -> its ratings then,
    whose `x` is the number of the moment."""

    by_team_set_ranking: dict[str, RankedFormat]
    moments: list[str]
    history: dict[str, list[SweepPoint]]


def standings(merged: MergedBattles, format_id: str, *, anchor: str | None = None, seed: int = 0) -> Standings:
    """The numbers of one format. anchor: rated 1000; without it, or where it does not play, the default one."""
    battles = merged.of(format_id)
    agents = sorted({agent for battle in battles for agent in (battle.p1, battle.p2)})
    chosen = anchor if anchor in agents else default_anchor(agents)
    whole = _ranked(merged, battles, chosen, seed)
    tables = pairing_tables(_pairing_counts(battles), whole["ranking"])
    team_sets = tables["team_sets"]
    apart = {
        team_set: _ranked(merged, [battle for battle in battles if battle.team_set == team_set], chosen, seed)
        for team_set in (team_sets if len(team_sets) > 1 else [])
    }
    moments, history = _history(battles, chosen, seed)
    return {
        **whole,
        **tables,
        "by_team_set_ranking": apart,
        "moments": [moment.isoformat(timespec="minutes") for moment in moments],
        "history": history,
    }


def _ranked(merged: MergedBattles, battles: Sequence[CountedBattle], anchor: str, seed: int) -> RankedFormat:
    evidence = evidence_of(battles)
    singly = [(battle.p1, battle.p2, battle.score) for battle in sorted(battles, key=lambda b: (b.pair, b.p1))]
    present = anchor if anchor in evidence.agents else default_anchor(evidence.agents)
    strengths = strengths_of(evidence, singly, anchor=present, seed=seed, descriptions=merged.descriptions)
    return {**strengths, "format": battles[0].format, "battles": len(battles)}


def _pairing_counts(battles: Sequence[CountedBattle]) -> list[PairingCount]:
    """Each battle singly, from both sides."""
    return [
        PairingCount(agent, opponent, battle.team_set, battles=1, wins=score == 1, losses=score == 0, points=score)
        for battle in battles
        for agent, opponent, score in (
            (battle.p1, battle.p2, battle.score),
            (battle.p2, battle.p1, 1 - battle.score),
        )
    ]


def _history(
    battles: Sequence[CountedBattle], anchor: str, seed: int
) -> tuple[list[datetime], dict[str, list[SweepPoint]]]:
    """Ratings from all battles up to the ends of runs, at most _MOST_MOMENTS of them, the last included.

    An agent has a rating as soon as battles link it to the anchor.
    """
    ends: dict[tuple[str, str], datetime] = {}
    for battle in battles:
        ends[battle.session] = max(battle.started, ends.get(battle.session, battle.started))
    moments = sorted(set(ends.values()))
    if len(moments) > _MOST_MOMENTS:
        every = (len(moments) - 1) / (_MOST_MOMENTS - 1)
        moments = [moments[round(number * every)] for number in range(_MOST_MOMENTS)]
    history: dict[str, list[SweepPoint]] = defaultdict(list)
    for number, moment in enumerate(moments):
        evidence = evidence_of([battle for battle in battles if battle.started <= moment])
        if anchor not in evidence.agents:
            continue
        ratings = fit_ratings(evidence, anchor=anchor, resamples=_RESAMPLES, seed=seed)
        for i, agent in enumerate(ratings.agents):
            if ratings.group[i] == 0 and ratings.games[i]:
                elo, low, high = (round(float(each[i]), 1) for each in (ratings.elo, ratings.low, ratings.high))
                point: SweepPoint = {
                    "x": number, "agent": agent, "rank": 0, "elo": elo, "low": low, "high": high, "mark": ratings.marks[i],
                }  # fmt: skip
                history[agent].append(point)
    return moments, dict(history)
