"""The ratings that a live display shows: the same estimate as in a report, with rough intervals, for whoever is linked."""

from __future__ import annotations

import numpy as np
import pytest

from arena.ratings.bradley_terry import fit_ratings
from arena.ratings.evidence import make_evidence
from arena.ratings.interim import standings


def points_of(pairs: list[tuple[str, str, float, int, str]]) -> dict[tuple[str, str], float]:
    """What the display knows of such pairs."""
    points: dict[tuple[str, str], float] = {}
    for one, other, won, games, _ in pairs:
        points[one, other] = points.get((one, other), 0.0) + won
        points[other, one] = points.get((other, one), 0.0) + games - won
    return points


def test_the_estimate_is_that_of_a_report_and_the_interval_is_near_it() -> None:
    rng = np.random.default_rng(3)
    names, strengths = list("abcd"), [0.0, 0.5, 1.0, 2.0]
    pairs = [
        (names[i], names[j], float(rng.binomial(2, 1 / (1 + np.exp(strengths[j] - strengths[i])))), 2, "set")
        for i in range(4)
        for j in range(i)
        for _ in range(100)
    ]
    report = fit_ratings(make_evidence(pairs), anchor="b", resamples=400)
    found = {each.agent: each for each in standings(points_of(pairs), "b")}
    assert list(found) == ["d", "c", "b", "a"]
    for i, agent in enumerate(report.agents):
        each = found[agent]
        assert each.elo == pytest.approx(report.elo[i], abs=1e-6)
        assert (each.battles, each.score) == (report.games[i], pytest.approx(report.score[i]))
        half = (report.high[i] - report.low[i]) / 2
        assert each.margin == pytest.approx(half, rel=0.3, abs=1e-9)
    assert (found["b"].elo, found["b"].margin) == (1000.0, 0.0)


def test_strong_opponents_are_no_disgrace() -> None:
    """ "fighter" loses half its battles, but against the strongest; "bully" wins most, against the weakest."""
    won = {("top", "fighter"): 10, ("fighter", "top"): 10, ("top", "middle"): 18, ("middle", "top"): 2,
           ("middle", "weak"): 16, ("weak", "middle"): 4, ("bully", "weak"): 14, ("weak", "bully"): 6}  # fmt: skip
    found = standings({pair: float(points) for pair, points in won.items()}, "middle")
    assert [each.agent for each in found] == ["top", "fighter", "middle", "bully", "weak"]
    assert {each.agent: each.score for each in found}["bully"] > {each.agent: each.score for each in found}["fighter"]


def test_who_is_not_linked_to_the_anchor_has_no_rating() -> None:
    won = {("a", "b"): 2.0, ("b", "a"): 0.0, ("c", "d"): 1.5, ("d", "c"): 0.5}
    found = standings(won, "b")
    assert [(each.agent, each.elo is None, each.margin is None) for each in found] == [
        ("a", False, False), ("b", False, False), ("c", True, True), ("d", True, True),
    ]  # fmt: skip
    assert found[1].elo == 1000.0 and standings({}, "b") == []
    assert standings(won, "nobody yet")[0].agent == "a", "a run whose anchor has not played yet"
