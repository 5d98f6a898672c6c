"""The equilibrium rating and alpha-rank: games whose answer is known, copies of an agent, and where they differ from Elo."""

from __future__ import annotations

import numpy as np
import pytest

from arena.ratings import alpha_rank as alpha
from arena.ratings.evidence import Evidence, make_evidence
from arena.report.findings import other_orders
from arena.report.strengths import strengths_of
from arena.report.summary_types import RankedFormat

#: a beats b, b beats c, c beats a by these rates; w is weak, and a alone beats it always.
_RATES = {("a", "b"): 0.7, ("b", "c"): 0.7, ("a", "c"): 0.3, ("a", "w"): 1.0, ("b", "w"): 0.7, ("c", "w"): 0.7}


def _evidence(rates: dict[tuple[str, str], float], pairs: int = 100) -> Evidence:
    """So many pairs for each pairing, won or lost as a whole in these shares."""
    return make_evidence(
        [
            (a, b, 2.0 * (number < round(rate * pairs)), 2, "")
            for (a, b), rate in rates.items()
            for number in range(pairs)
        ]
    )


def _ranked(rates: dict[tuple[str, str], float], anchor: str = "w") -> RankedFormat:
    return {**strengths_of(_evidence(rates), [], anchor=anchor), "format": "f", "battles": 0}


def test_a_copy_of_a_weak_agent_moves_elo_and_not_the_equilibrium_rating() -> None:
    """Ten copies of who loses to `a` alone raise a's Elo above b's and c's; in the mixture nobody of them plays."""
    copies = {}
    for number in range(10):
        copies |= {(agent, f"w{number}"): rate for (agent, weak), rate in _RATES.items() if weak == "w"}
        copies |= {("w", f"w{number}"): 0.5}
        copies |= {(f"w{earlier}", f"w{number}"): 0.5 for earlier in range(number)}
    before, after = _ranked(_RATES), _ranked(_RATES | copies)
    elo = [{row["agent"]: row["elo"] for row in each["ranking"]} for each in (before, after)]
    assert (elo[1]["a"] - elo[1]["b"]) - (elo[0]["a"] - elo[0]["b"]) > 50
    for name in "abc":
        ratings = [row["nash"] for each in (before, after) for row in each["ranking"] if row["agent"] == name]
        assert ratings[0] and ratings[1]
        assert ratings[0]["rating"] == pytest.approx(ratings[1]["rating"], abs=0.02)
        assert ratings[1]["rating_low"] <= ratings[1]["rating"] <= 0.5
    weak = next(row["nash"] for row in before["ranking"] if row["agent"] == "w")
    assert weak and weak["rating"] == pytest.approx(np.mean([0.0, 0.3, 0.3]), abs=0.03)  # against a third of each


def test_without_openspiel_there_is_no_alpha_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.report.strengths.is_installed", lambda: False)
    ranked = _ranked(_RATES)
    assert [row["alpha_rank"] for row in ranked["ranking"]] == [None] * 4
    assert other_orders(ranked) == []


@pytest.mark.slow  # so that CI runs it where it has installed OpenSpiel
@pytest.mark.skipif(not alpha.is_installed(), reason="OpenSpiel is not installed")
class TestAlphaRank:
    def test_a_circle_shares_the_time_and_the_best_of_an_order_has_it_all(self) -> None:
        circle = np.array([[0.5, 1.0, 0.0], [0.0, 0.5, 1.0], [1.0, 0.0, 0.5]])
        assert alpha.alpha_rank(circle) == pytest.approx([1 / 3] * 3)
        order = np.array([[0.5, 0.7, 0.9], [0.3, 0.5, 0.6], [0.1, 0.4, 0.5]])
        assert alpha.alpha_rank(order) == pytest.approx([1.0, 0.0, 0.0], abs=1e-6)

    def test_who_beats_everyone_narrowly_is_first_by_alpha_rank_and_not_by_elo(self) -> None:
        rates = {("narrow", "wide"): 0.65, ("narrow", "x"): 0.65, ("narrow", "y"): 0.65}
        rates |= {("wide", "x"): 0.98, ("wide", "y"): 0.98, ("x", "y"): 0.5}
        ranked = _ranked(rates, "x")
        assert ranked["ranking"][0]["agent"] == "wide"
        shares = {row["agent"]: row["alpha_rank"] or 0.0 for row in ranked["ranking"]}
        assert sum(shares.values()) == pytest.approx(1, abs=1e-3) and shares["narrow"] > 0.95
        for row in ranked["ranking"]:
            assert (row["alpha_rank_low"] or 0) <= shares[row["agent"]] <= (row["alpha_rank_high"] or 0)
        assert any("and narrow by alpha-rank" in sentence for sentence in other_orders(ranked))
