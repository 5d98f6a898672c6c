"""Rings of three: found where they are, and not claimed where they are not."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import binom

from arena.ratings.cycles import pair_likeness, strongest_cycles, surest_by_luck
from arena.ratings.evidence import Evidence, make_evidence


def pool(chances: np.ndarray, pairs: int, seed: int, alike: float = 0.0) -> Evidence:
    """A round robin with these chances [N, N] to win a battle. alike: that share of the pairs is won twice by the same agent
    (below 0: the second battle has the opposite luck of the first)."""
    rng = np.random.default_rng(seed)
    first, second = (np.repeat(index, pairs) for index in np.triu_indices(len(chances), 1))
    one, other = rng.random((2, len(first)))
    bound = rng.random(len(first)) < abs(alike)
    other = np.where(bound, one if alike > 0 else 1 - one, other)
    chance = chances[first, second]
    points = (one < chance) * 1.0 + (other < chance)
    return make_evidence(
        [(f"a{a:02}", f"a{b:02}", p, 2, "s") for a, b, p in zip(first, second, points.tolist(), strict=True)]
    )


def from_elo(elo: np.ndarray) -> np.ndarray:
    return 1 / (1 + 10 ** ((elo[None, :] - elo[:, None]) / 400))


def with_ring(agents: int, chance: float) -> np.ndarray:
    """Agents in steps of 250 Elo, but the first three beat each other in a ring, the first beating the second."""
    chances = from_elo(-250.0 * np.maximum(np.arange(agents) - 2, 0))
    for a, b in ((0, 1), (1, 2), (2, 0)):
        chances[a, b], chances[b, a] = chance, 1 - chance
    return chances


def test_a_ring_is_found_and_told_from_its_first_agent_on() -> None:
    (found,) = strongest_cycles(pool(with_ring(6, 0.8), 40, seed=0), top=1)
    assert found.agents == ("a00", "a01", "a02")
    points, _ = pool(with_ring(6, 0.8), 40, seed=0).tables()
    assert found.win_rates == (points[0, 1] / 80, points[1, 2] / 80, points[2, 0] / 80)
    assert found.games == (80, 80, 80)
    assert found.strength == min(found.win_rates) - 0.5
    assert found.holds > 0.99 and found.luck < 0.01 and found.confidence == min(found.holds, 1 - found.luck)
    backwards = with_ring(6, 0.2)
    assert strongest_cycles(pool(backwards, 40, seed=0), top=1)[0].agents == ("a00", "a02", "a01")


def test_the_surest_rings_come_first() -> None:
    """Against a walk through all triples."""
    evidence = pool(np.full((9, 9), 0.5), 9, seed=1)
    points, games = evidence.tables()
    rates = np.divide(points, games, out=np.full_like(points, 0.5), where=games > 0)
    rings = {
        tuple(evidence.agents[i] for i in ring): min(
            rates[ring[0], ring[1]], rates[ring[1], ring[2]], rates[ring[2], ring[0]]
        )
        for ring in itertools.permutations(range(9), 3)
        if ring[0] == min(ring)
    }
    seen = {ring: least - 0.5 for ring, least in rings.items() if least > 0.5}
    found = strongest_cycles(evidence, top=1000, resamples=20)
    assert {each.agents: pytest.approx(each.strength) for each in found} == seen and len(seen) > 3
    assert [each.strength for each in found] == sorted((each.strength for each in found), reverse=True)
    assert strongest_cycles(evidence, top=3, resamples=20) == found[:3]


def test_no_ring_where_strength_is_a_line() -> None:
    assert strongest_cycles(pool(from_elo(np.array([900.0, 600, 300, 0])), 20, seed=0)) == []
    assert strongest_cycles(make_evidence([])) == []
    assert strongest_cycles(make_evidence([("a", "b", 2.0, 2, "s")])) == []


def test_agents_who_never_met_close_no_ring() -> None:
    open_ring = [("a", "b", 2.0, 2, "s"), ("b", "c", 2.0, 2, "s")]
    assert strongest_cycles(make_evidence(open_ring)) == []
    closed = strongest_cycles(make_evidence([*open_ring, ("c", "a", 1.0, 1, "s")]), resamples=50)
    assert [(each.agents, each.games) for each in closed] == [(("a", "b", "c"), (2, 2, 1))]


def test_few_battles_make_no_sure_ring() -> None:
    """All won, but only one pair a meeting: three agents who toss coins show such a ring one time in four."""
    ring = make_evidence([("a", "b", 2.0, 2, "s"), ("b", "c", 2.0, 2, "s"), ("c", "a", 2.0, 2, "s")])
    (found,) = strongest_cycles(ring)
    assert found.win_rates == (1, 1, 1) and found.luck == pytest.approx(0.25, abs=0.06) and found.confidence < 0.8


def test_a_surer_ring_of_more_battles_goes_before_a_stronger_one_of_few() -> None:
    def ring(names: str, pairs: int, won: int) -> list[tuple[str, str, float, int, str]]:
        a, b, c = names
        return [(x, y, 2.0 * (k < won), 2, "s") for x, y in ((a, b), (b, c), (c, a)) for k in range(pairs)]

    found = strongest_cycles(make_evidence([*ring("abc", 3, 3), *ring("def", 60, 45)]), resamples=200)
    assert [each.agents for each in found] == [("d", "e", "f"), ("a", "b", "c")]
    assert found[0].strength < found[1].strength and found[0].confidence > found[1].confidence


def test_the_same_seed_gives_the_same() -> None:
    evidence = pool(np.full((6, 6), 0.5), 4, seed=2)
    assert strongest_cycles(evidence, seed=1) == strongest_cycles(evidence, seed=1)
    assert strongest_cycles(evidence, seed=1) != strongest_cycles(evidence, seed=2)


@pytest.mark.parametrize("alike", [-0.9, -0.4, 0.0, 0.4, 1.0])
def test_likeness_of_the_battles_of_a_pair_is_measured(alike: float) -> None:
    elo = np.random.default_rng(0).normal(0, 150, 14)
    assert pair_likeness(pool(from_elo(elo), 12, seed=3, alike=alike)) == pytest.approx(alike, abs=0.1)
    assert pair_likeness(pool(from_elo(elo), 1, seed=3)) == 1  # nothing to measure it by: the careful guess


@pytest.mark.parametrize("alike", [-0.6, 0.0, 0.6])
def test_luck_is_that_of_pools_without_rings(alike: float) -> None:
    """The simulated pools' surest rings against those of fresh pools made in another way."""
    chances = np.full((8, 8), 0.5)
    simulated = np.concatenate(
        [surest_by_luck(pool(chances, 30, seed, alike), 100, np.random.default_rng(0)) for seed in range(8)]
    )

    def surest(fresh: Evidence) -> float:
        best = strongest_cycles(fresh, top=1, resamples=1)
        return float(2 * min(best[0].win_rates) - 1) * np.sqrt(60) if best else -np.inf

    fresh = np.array([surest(pool(chances, 30, seed, alike)) for seed in range(100, 220)])[:, None]
    surer = (fresh > simulated + 1e-9).mean() + (abs(fresh - simulated) <= 1e-9).mean() / 2
    assert surer == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("spread, pairs, alike", [(0, 12, 0.0), (0, 4, 0.5), (60, 12, -0.4)])
def test_false_alarms_are_as_rare_as_the_confidence_says(spread: float, pairs: int, alike: float) -> None:
    """Pools of fourteen without a ring: one is claimed with confidence c in no more than 1 - c of them."""
    elo = np.random.default_rng(5).normal(0, 1, 14) * spread
    pools = 60
    said = [strongest_cycles(pool(from_elo(elo), pairs, seed, alike), resamples=150) for seed in range(pools)]
    confidence = np.array([max((each.confidence for each in found), default=0) for found in said])
    for level in (0.8, 0.9, 0.95):
        assert (confidence >= level).sum() <= binom.ppf(0.995, pools, 1 - level)
    if spread == 0 and pairs == 12:  # the bootstrap alone would claim far too many
        holds = np.array([max((each.holds for each in found), default=0) for found in said])
        assert (holds >= 0.8).sum() > binom.ppf(0.999, pools, 0.2)


def test_true_rings_are_claimed_given_enough_battles() -> None:
    sure = [
        any(set(each.agents) == {"a00", "a01", "a02"} and each.confidence >= 0.95 for each in found)
        for found in (strongest_cycles(pool(with_ring(8, 0.7), 60, seed), resamples=200) for seed in range(20))
    ]
    assert sum(sure) >= 18
