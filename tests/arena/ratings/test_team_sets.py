"""Differences between team sets: found where they are, silent where they are not, compared without the anchor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from arena.ratings.bradley_terry import ELO
from arena.ratings.evidence import Evidence, make_evidence
from arena.ratings.team_sets import SetDifference, sentence, set_differences

NAMES = ("b", "c", "d", "e", "f", "random")


def played(elo: dict[str, dict[str, float]], count: int, seed: int) -> Evidence:
    """`count` pairs a pairing on every team set of `elo` (set -> agent -> Elo)."""
    rng = np.random.default_rng(seed)
    found = []
    for team_set, strengths in elo.items():
        names = sorted(strengths)
        for place, one in enumerate(names):
            for other in names[place + 1 :]:
                chance = 1 / (1 + 10 ** ((strengths[other] - strengths[one]) / 400))
                found += [(one, other, float(rng.binomial(2, chance)), 2, team_set) for _ in range(count)]
    return make_evidence(found)


EQUAL = dict.fromkeys(NAMES, 1000.0)


def test_a_difference_is_found_with_its_size_and_sign() -> None:
    found = set_differences(played({"competitive": EQUAL | {"d": 800.0}, "human": EQUAL}, 40, seed=1), resamples=300)
    assert len(found) == len(NAMES)
    first = found[0]
    assert (first.agent, first.better_on, first.worse_on, first.clear) == ("d", "human", "competitive", True)
    assert first.elo == pytest.approx(200, abs=60)
    assert 80 < first.low < 200 < first.high
    assert all(each.elo >= 0 and each.low <= each.elo <= each.high for each in found)


def test_the_anchors_own_difference_is_not_laid_on_the_others() -> None:
    """It counts among the others of each: a fifth of its 300 Elo, where the anchor as zero would give them all of it."""
    weak = EQUAL | {"random": 700.0}
    found = {each.agent: each for each in set_differences(played({"one": EQUAL, "two": weak}, 60, seed=2))}
    random = found.pop("random")
    assert random.clear and random.worse_on == "two" and random.elo == pytest.approx(300, abs=80)
    gains = [each.elo if each.better_on == "two" else -each.elo for each in found.values()]
    assert np.mean(gains) == pytest.approx(60, abs=20) and max(gains) < 130


def test_nothing_is_called_clear_by_chance_more_often_than_it_may_be() -> None:
    """36 differences of which none is real, 30 times over: 30 * 36 * 5% = 54 intervals leave out 0; few are called clear."""
    leave_out_0, with_a_clear_one = 0, 0
    for seed in range(30):
        sets = dict.fromkeys(("one", "two", "three", "four"), EQUAL)
        found = set_differences(played(sets, 6, seed=100 + seed), resamples=200, seed=seed)
        assert len(found) == 36
        leave_out_0 += sum(each.low > 0 for each in found)
        with_a_clear_one += any(each.clear for each in found)
    assert 20 <= leave_out_0 <= 110
    assert with_a_clear_one <= 5  # 5% of 30 is 1.5; more than 5 has a chance of one in a hundred


def test_a_clear_difference_has_an_interval_without_0() -> None:
    for seed in range(5):
        evidence = played({"one": EQUAL, "two": EQUAL | {"b": 850.0, "c": 1150.0}}, 15, seed=seed)
        for each in set_differences(evidence, resamples=200):
            assert each.low > 0 or not each.clear


def test_only_agents_with_battles_on_both_sets_are_compared() -> None:
    some = dict.fromkeys(("b", "c", "d"), 1000.0)
    found = set_differences(played({"one": EQUAL, "two": some}, 5, seed=3), resamples=50)
    assert sorted(each.agent for each in found) == ["b", "c", "d"]
    two = dict.fromkeys(("b", "c"), 1000.0)
    assert set_differences(played({"one": EQUAL, "two": two}, 5, seed=3), resamples=50) == []
    assert set_differences(played({"one": EQUAL}, 5, seed=3), resamples=50) == []


def test_pools_without_a_link_are_not_put_on_one_scale() -> None:
    strong = dict.fromkeys(("b", "c", "d"), 1000.0)
    weak = dict.fromkeys(("e", "f", "random"), 1000.0)
    apart = [played({"one": pool, "two": pool}, 8, seed=4) for pool in (strong, weak)]
    joined = make_evidence(
        [
            (each.agents[a], each.agents[b], float(p), int(n), each.team_sets[s])
            for each in apart
            for a, b, p, n, s in zip(each.first, each.second, each.points, each.games, each.team_set, strict=True)
        ]
    )
    found = {each.agent: each for each in set_differences(joined, resamples=50)}
    for each in apart:
        for alone in set_differences(each, resamples=50):
            assert found[alone.agent].elo == pytest.approx(alone.elo, abs=1e-3)
            assert found[alone.agent].better_on == alone.better_on


def test_the_sets_are_resampled_apart() -> None:
    """The same results on both: no difference, but as unsure as two independent ratings are."""
    one = played({"one": EQUAL}, 20, seed=7)
    rows = [
        (one.agents[a], one.agents[b], float(p), 2) for a, b, p in zip(one.first, one.second, one.points, strict=True)
    ]
    for each in set_differences(make_evidence([(*row, name) for row in rows for name in ("one", "two")])):
        assert each.elo == pytest.approx(0, abs=1e-6)
        # Six equals, 40 battles a pairing: the squared error of one against the mean of the others is 1.2 / 60 squared
        # logits (1 / 10 a pairing, Laplacian of the complete graph), of a difference twice that.
        assert each.high - each.low == pytest.approx(2 * 1.96 * ELO * (2 * 1.2 / 60) ** 0.5, rel=0.25)


def test_the_order_of_the_pairs_does_not_matter() -> None:
    evidence = played({"one": EQUAL, "two": EQUAL}, 4, seed=5)
    shuffled = evidence.take(np.random.default_rng(0).permutation(len(evidence)))
    assert set_differences(evidence, resamples=50) == set_differences(shuffled, resamples=50)


def test_who_lost_everything_on_a_set_has_a_bound() -> None:
    hopeless = EQUAL | {"d": -9000.0}
    found = set_differences(played({"one": EQUAL, "two": hopeless}, 20, seed=6), resamples=300)
    (d,) = (each for each in found if each.agent == "d")
    assert d.bound and d.clear and d.worse_on == "two" and d.low > 200
    assert sentence(d) == f"d is at least {d.low:.0f} Elo worse on `two` than on `one`"
    assert not any(each.bound for each in found if each.agent != "d")


def test_the_sentence() -> None:
    difference = SetDifference("X", "human", "competitive", 180.2, 137.0, 227.0, True)
    assert sentence(difference) == "X is 180 ± 45 Elo worse on `competitive` than on `human`"
    assert sentence(replace(difference, bound=True)) == "X is at least 137 Elo worse on `competitive` than on `human`"
