"""Filters on stored sides: which of them are good enough to train on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from arena.ratings.bradley_terry import fit, groups
from arena.ratings.evidence import BASE, default_anchor, make_evidence
from arena.store import rows
from training.data.from_store import Candidate

Result = Literal["any", "won", "not-lost"]
#: Reasons of an end without a fault.
_WITHOUT_FAULT = ("win", "tie", "turn-limit")


@dataclass(frozen=True)
class Gates:
    """Conditions on a side.

    min_decisions: minimum length. result: of the side. min_rating: minimum Elo of the agent (`agent_ratings`); unrated
    agents are left out. drop_faulty: leave out battles that ended by a time-out, an illegal choice or an error of either
    side.
    """

    min_decisions: int = 1
    result: Result = "any"
    min_rating: float | None = None
    drop_faulty: bool = False

    def reason(self, side: Candidate, rating: Callable[[str, str], float | None]) -> str | None:
        """Return why a side is left out, without reading its log; None if it passes.

        rating: (format, agent) -> Elo, or None.
        """
        if self.result == "won" and side.score < 1:
            return "not won"
        if self.result == "not-lost" and side.score == 0:
            return "lost"
        if self.drop_faulty and side.reason not in _WITHOUT_FAULT:
            return f"ended by {side.reason}"
        if self.min_rating is not None:
            rated = rating(side.format, side.agent)
            if rated is None:
                return "not rated"
            if rated < self.min_rating:
                return f"rated below {self.min_rating:g}"
        return None

    def passed(self, db: Path, sides: Iterable[Candidate], left_out: Counter[str]) -> list[Candidate]:
        """Return the sides that pass, except for the check of min_decisions. left_out: reason -> sides; it is added to."""

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
    """Return agent -> Elo by a joint Bradley-Terry fit of all battles of a format in the database, of any run.

    The anchor (docs/ratings.md) has 1000. Agents that no chain of battles links to it are left out.
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
    evidence = make_evidence([(a, b, float(score), games, teams) for a, b, score, games, teams in pairs])
    scores, games = evidence.tables()
    strengths, group = fit(scores, games), groups(games)
    anchor = evidence.agents.index(default_anchor(evidence.agents))
    return {
        agent: BASE + float(strengths[i] - strengths[anchor])
        for i, agent in enumerate(evidence.agents)
        if group[i] == group[anchor]
    }


def left_out_suffix(left_out: Counter[str]) -> str:
    """Return the suffix of an error message that says what was left out; empty if nothing was."""
    reasons = ", ".join(f"{number:,} {reason}" for reason, number in left_out.most_common(5))
    return f" (left out: {reasons})" if reasons else ""
