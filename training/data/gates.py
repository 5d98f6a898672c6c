"""Which sides of stored battles are good enough to learn from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from arena.ratings.bradley_terry import BASE, fit, groups
from arena.ratings.evidence import default_anchor, make_evidence
from arena.store import rows
from training.data.from_store import Candidate

Result = Literal["any", "won", "not-lost"]
#: How a battle ends without anybody's fault.
_SOUND = ("win", "tie", "turn-limit")


@dataclass(frozen=True)
class Gates:
    """What a side must be like.

    least_decisions: shorter ones are left out. result: of the side. least_rating: the agent's, as `agent_ratings` has it;
    an agent without one is left out. drop_faulty: leaves out battles that ended by a time-out, an illegal choice or an
    error, of either side.
    """

    least_decisions: int = 1
    result: Result = "any"
    least_rating: float | None = None
    drop_faulty: bool = False

    def reason(self, side: Candidate, rating: Callable[[str, str], float | None]) -> str | None:
        """Why a side is left out before anybody has looked into its log, None for one that is not."""
        if self.result == "won" and side.score < 1:
            return "not won"
        if self.result == "not-lost" and side.score == 0:
            return "lost"
        if self.drop_faulty and side.reason not in _SOUND:
            return f"ended by {side.reason}"
        if self.least_rating is not None:
            rated = rating(side.format, side.agent)
            if rated is None:
                return "not rated"
            if rated < self.least_rating:
                return f"rated below {self.least_rating:g}"
        return None

    def passed(self, db: Path, sides: Iterable[Candidate], left_out: Counter[str]) -> list[Candidate]:
        """The sides that pass as far as their battles' rows tell. left_out: reason -> sides, added to."""

        @cache
        def rated(format_id: str) -> dict[str, float]:
            return agent_ratings(db, format_id)

        kept = []
        for side in sides:
            reason = self.reason(side, lambda format_id, agent: rated(format_id).get(agent))
            if reason is None:
                kept.append(side)
            else:
                left_out[reason] += 1
        return kept


def agent_ratings(db: Path, format_id: str) -> dict[str, float]:
    """Agent -> Elo, by the joint fit over all battles of a format in the database, whatever run they are of.

    The anchor of docs/ratings.md has 1000. Agents that no battles link to it have no rating and are not in it.
    """
    pairs = rows(
        "SELECT agent, opponent, sum(score), count(score), team_set FROM results "
        "WHERE format = ? AND agent < opponent AND score IS NOT NULL "
        "GROUP BY agent, opponent, team_set, pair ORDER BY agent, opponent, team_set, pair",
        db,
        [format_id],
    )
    if not pairs:
        return {}
    evidence = make_evidence([(a, b, float(points), games, teams) for a, b, points, games, teams in pairs])
    points, games = evidence.tables()
    strengths, group = fit(points, games), groups(games)
    anchor = evidence.agents.index(default_anchor(evidence.agents))
    return {
        agent: BASE + float(strengths[i] - strengths[anchor])
        for i, agent in enumerate(evidence.agents)
        if group[i] == group[anchor]
    }


def words(left_out: Counter[str]) -> str:
    """What was left out, for the end of an error; nothing where nothing was."""
    why = ", ".join(f"{number:,} {reason}" for reason, number in left_out.most_common(5))
    return f" (left out: {why})" if why else ""
