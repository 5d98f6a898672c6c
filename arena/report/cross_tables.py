"""Who scored how much against whom and on which team set: from the counts of pairings, for reports and leaderboards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from arena.ratings.pentanomial import elo_score
from arena.report.counts import PairingCount, counted_rate
from arena.report.summary_types import (
    CountedWinRate,
    PairingOnTeamSet,
    PairingResult,
    PairingTables,
    RankingRow,
    TeamSetResult,
)

Key = TypeVar("Key", bound=tuple[str, ...])


def pairing_tables(meetings: Sequence[PairingCount], ranking: Iterable[RankingRow]) -> PairingTables:
    """The tables of one format, each in the order of its names. meetings: from both sides. ranking: of all their agents."""
    elo = {row["agent"]: (row["elo"], row["group"]) for row in ranking}
    cross = []
    for (agent, opponent), total in _summed(meetings, lambda meeting: (meeting.agent, meeting.opponent)):
        (own_elo, group), (other_elo, other_group) = elo[agent], elo[opponent]
        expected = elo_score(own_elo - other_elo) if group == other_group else None
        cross.append(PairingResult(agent=agent, opponent=opponent, **total.win_rate(), expected=expected))
    return {
        "cross": cross,
        "team_sets": sorted({meeting.team_set for meeting in meetings}),
        "by_team_set": [
            TeamSetResult(agent=agent, team_set=team_set, **total.win_rate())
            for (agent, team_set), total in _summed(meetings, lambda meeting: (meeting.agent, meeting.team_set))
        ],
        "cross_by_team_set": [
            PairingOnTeamSet(agent=agent, opponent=opponent, team_set=team_set, **total.win_rate())
            for (agent, opponent, team_set), total in _summed(
                meetings, lambda meeting: (meeting.agent, meeting.opponent, meeting.team_set)
            )
        ],
    }


class _Total(NamedTuple):
    """Sums over some meetings."""

    points: float = 0.0
    battles: int = 0
    wins: int = 0
    losses: int = 0

    def plus(self, meeting: PairingCount) -> _Total:
        return _Total(
            self.points + meeting.points,
            self.battles + meeting.battles,
            self.wins + meeting.wins,
            self.losses + meeting.losses,
        )

    def win_rate(self) -> CountedWinRate:
        return counted_rate(self.points, self.battles, self.wins, self.losses)


def _summed(meetings: Iterable[PairingCount], key: Callable[[PairingCount], Key]) -> list[tuple[Key, _Total]]:
    """The totals for each key, in their order."""
    totals: dict[Key, _Total] = {}
    for meeting in meetings:
        totals[key(meeting)] = totals.get(key(meeting), _Total()).plus(meeting)
    return sorted(totals.items())
