"""The sequential test on pairs: the numbers, the words, and whether its errors are what was promised."""

from __future__ import annotations

import importlib.util
import itertools
import math
import re
import sys
from types import ModuleType

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom
from support.command_line import PROJECT

from arena.ratings.pentanomial import NELO, PAIR_SCORES, match_summary
from arena.ratings.sprt import Sprt, SprtSettings, decide, llr, pair_counts, parse_sprt, report_lines
from teamsets.errors import BadInput

SCRIPT = PROJECT / "scripts/simulate/sprt.py"


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sprt", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["sprt"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


# What fastchess computes for the same counts (its own tests say so, to two digits).
@pytest.mark.parametrize(
    "counts, elo0, elo1, model, expected",
    [
        ([365, 16618, 36229, 16974, 390], 0, 2, "normalized", 2.25),
        ([127, 4883, 10712, 5150, 104], -1.75, 0.25, "normalized", 3.01),
        ([0, 0, 0, 0, 5550], 0, 5, "normalized", 111.82),
        ([223, 9863, 21279, 10037, 246], 0.5, 2.5, "logistic", -3.07),
        ([871, 26175, 55983, 26678, 821], 0, 2, "logistic", -4.98),
    ],
)
def test_llr_is_that_of_fastchess(counts: list[int], elo0: float, elo1: float, model: str, expected: float) -> None:
    assert llr(counts, SprtSettings(elo0=elo0, elo1=elo1, model=model)) == pytest.approx(expected, abs=0.03)


def likeliest(counts: list[int], elo: float, model: str) -> float:
    """The greatest log-likelihood of the counts at exactly that lead, by a general minimiser from many starts."""
    seen = np.where(np.array(counts) > 0, counts, 1e-3)

    def off(q: np.ndarray) -> float:
        mean = float(q @ PAIR_SCORES)
        if model == "logistic":
            return mean - 1 / (1 + 10 ** (-elo / 400))
        return mean - 0.5 - math.sqrt(2) * elo / NELO * math.sqrt(max(q @ (PAIR_SCORES - mean) ** 2, 1e-18))

    best = -math.inf
    rng = np.random.default_rng(0)
    for _ in range(4):
        found = minimize(
            lambda q: -float(seen @ np.log(q)) / seen.sum(),
            rng.dirichlet(np.ones(5)) * 0.99 + 0.002,
            jac=lambda q: -seen / q / seen.sum(),
            bounds=[(1e-12, 1)] * 5,
            constraints=[{"type": "eq", "fun": lambda q: q.sum() - 1}, {"type": "eq", "fun": off}],
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 1000},
        )
        if found.success and abs(off(found.x)) < 1e-7:
            best = max(best, -found.fun * seen.sum())
    return best


@pytest.mark.parametrize("model", ["normalized", "logistic"])
@pytest.mark.parametrize("elo0, elo1", [(0, 30), (-200, 200)])
@pytest.mark.parametrize("counts", [[5, 1, 8, 2, 9], [0, 0, 10, 0, 0], [3, 0, 4, 0, 13], [0, 1, 0, 0, 12]])
def test_llr_is_the_ratio_of_the_greatest_likelihoods(counts: list[int], elo0: float, elo1: float, model: str) -> None:
    expected = likeliest(counts, elo1, model) - likeliest(counts, elo0, model)
    assert llr(counts, SprtSettings(elo0=elo0, elo1=elo1, model=model)) == pytest.approx(expected, abs=0.002)


@pytest.mark.parametrize("model", ["normalized", "logistic"])
@pytest.mark.parametrize("elo0, elo1", [(0, 30), (-200, 200), (199, 200), (-200, -100)])
def test_llr_is_finite_for_all_counts_and_turns_with_the_agents(elo0: float, elo1: float, model: str) -> None:
    rng = np.random.default_rng(1)
    few = np.array(list(itertools.product(range(3), repeat=5)))
    many = rng.integers(0, rng.choice([10, 1000, 1_000_000], size=(500, 1)), size=(500, 5)) * rng.integers(
        0, 2, (500, 5)
    )
    counts = np.concatenate([few, many])
    with np.errstate(all="raise"):
        forth = llr(counts, SprtSettings(elo0=elo0, elo1=elo1, model=model))
        back = llr(counts[:, ::-1], SprtSettings(elo0=-elo1, elo1=-elo0, model=model))
    assert np.isfinite(forth).all()
    np.testing.assert_allclose(forth, -back, rtol=1e-3, atol=1e-3)
    assert forth[0] == 0  # no pairs


def test_more_points_speak_for_h1() -> None:
    values = llr([[9, 0, 5, 0, 5], [8, 1, 5, 0, 5], [7, 1, 6, 0, 5], [6, 1, 6, 1, 5], [5, 1, 6, 1, 6]], SprtSettings())
    assert (np.diff(values) > 0).all()


def test_a_word_that_is_missing_has_its_default() -> None:
    assert parse_sprt([]) == SprtSettings(elo0=0, elo1=30, alpha=0.05, beta=0.05, model="normalized")
    given = parse_sprt(["elo1=10.5", "elo0=-5", "alpha=0.01", "beta=.1", "model=logistic"])
    assert given == SprtSettings(elo0=-5, elo1=10.5, alpha=0.01, beta=0.1, model="logistic")


@pytest.mark.parametrize(
    "words, said",
    [
        (["elo2=3"], "elo2=3"),
        (["elo1"], "elo1"),
        (["elo1=much"], "'much'"),
        (["elo1=nan"], "elo1=nan"),
        (["elo1=0"], "elo1 must be greater"),
        (["elo0=40"], "elo1 must be greater"),
        (["elo1=900"], "-200 to 200"),
        (["alpha=0"], "alpha=0"),
        (["beta=0.5"], "beta=0.5"),
        (["model=bayesian"], "model=bayesian"),
        (["elo1=5", "elo1=6"], "twice"),
    ],
)
def test_bad_words_are_refused_in_one_line(words: list[str], said: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse_sprt(words)
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_pairs_are_counted_by_points() -> None:
    assert pair_counts([2, 0, 1, 1.5, 2, 0.5, 1]).tolist() == [1, 1, 2, 1, 2]
    assert pair_counts([]).tolist() == [0] * 5
    for wrong in (0.25, 2.5, -1, math.nan):
        with pytest.raises(ValueError):
            pair_counts([1, wrong])


@pytest.mark.parametrize("win, decision", [(0.75, "H1"), (0.3, "H0")])
def test_it_stops_at_the_first_crossing_and_stays(win: float, decision: str) -> None:
    settings = SprtSettings(elo0=0, elo1=100)
    rng = np.random.default_rng(3)
    pairs = rng.binomial(2, win, size=400)
    test = Sprt(settings)
    said = [test.add(points) for points in pairs]
    stop = next(i for i, each in enumerate(said) if each)
    assert said[stop:] == [decision] * (400 - stop) and stop > 5
    course = llr(np.cumsum(np.eye(5, dtype=int)[2 * pairs], axis=0), settings)
    assert [decide(float(value), settings) for value in course[: stop + 1]] == said[: stop + 1]
    assert test.counts.tolist() == pair_counts(pairs[: stop + 1]).tolist()
    assert test.llr == pytest.approx(course[stop]) and test.decision == decision


# nElo, its error, Elo, its error, LOS in %: what fastchess computes for the same counts (its own tests).
@pytest.mark.parametrize(
    "counts, expected",
    [
        ([34, 54, 63, 64, 75], (57.94, 28.28, 55.58, 27.65, 100.00)),
        ([332, 433, 498, 333, 334], (-9.17, 10.96, -8.64, 10.33, 5.05)),
        ([7895, 8757, 5685, 568, 9999], (-19.01, 2.65, -21.04, 2.95, 0.00)),
    ],
)
def test_a_match_in_numbers_is_that_of_fastchess(counts: list[int], expected: tuple[float, ...]) -> None:
    said = match_summary(counts)
    assert said.elo.high is not None and said.elo.low is not None and said.los is not None
    assert said.nelo.high is not None and said.nelo.low is not None
    halves = ((said.nelo.high - said.nelo.low) / 2, (said.elo.high - said.elo.low) / 2)
    found = (said.nelo.value, halves[0], said.elo.value, halves[1], 100 * said.los)
    assert found == pytest.approx(expected, abs=0.006, rel=0.001)


def test_what_a_match_says() -> None:
    assert report_lines("a", "b", [51, 2, 70, 3, 98], parse_sprt([])) == [
        "Results of a against b: 224 pairs (448 battles), 271.5 points (60.60 %)",
        "Elo: 74.81 ± 37.86, nElo: 65.86 ± 32.17 (95 % intervals)",
        "LOS: 100.00 %, DrawRatio: 31.25 %, PairsRatio: 1.91",
        "Ptnml(0-2): [51, 2, 70, 3, 98], pairs in which a scored 0, 0.5, 1, 1.5 and 2",
        "LLR: 5.42 (184.1 %) (-2.94, 2.94) [0.00, 30.00] nElo",
        "H1 accepted: a leads b by more than 0 nElo (type I error rate at most 5 %)",
    ]
    h0 = report_lines("a", "b", [98, 3, 70, 2, 51], parse_sprt(["model=logistic", "beta=0.1"]))
    assert h0[-1] == "H0 accepted: a does not lead b by 30 Elo (type II error rate at most 10 %)"
    undecided = report_lines("a", "b", [5, 2, 7, 3, 6], parse_sprt([]))
    assert undecided[-1] == "Inconclusive: the LLR has reached neither bound"
    assert report_lines("a", "b", [5, 2, 7, 3, 6], None) == undecided[:4]


@pytest.mark.parametrize(
    "counts, said",
    [
        ([0, 0, 0, 0, 0], ["no finished pairs"]),
        ([0, 0, 0, 0, 20], ["Elo: > 277.39, nElo: n/a", "LOS: > 99.99 %", "PairsRatio: n/a (no pair lost)"]),
        ([20, 0, 0, 0, 0], ["Elo: < -277.39, nElo: n/a", "LOS: < 0.01 %", "PairsRatio: 0.00"]),
        ([0, 0, 0, 0, 1], ["1 pair (2 battles)", "Elo: > -636", "LOS: > 50.00 %"]),
        ([0, 0, 9, 0, 0], ["Elo: 0.00 ± 121.56, nElo: n/a", "LOS: 50.00 %", "DrawRatio: 100.00 %"]),
        ([0, 0, 0, 9, 0], ["Elo: 190.85 ± 141.02, nElo: n/a", "LOS: > 97.40 %"]),
        ([1, 0, 0, 0, 1], ["Elo: 0.00 (n/a)", "LOS: 50.00 %"]),
        ([0, 0, 0, 1, 9], ["Elo: 636.43 (> 445.43)"]),
    ],
)
def test_matches_without_spread_are_told_in_words(counts: list[int], said: list[str]) -> None:
    text = "\n".join(report_lines("a", "b", counts, parse_sprt([])))
    assert all(each in text for each in said), text
    assert not re.search(r"\b(inf|nan|None)\b", text)


@pytest.mark.parametrize("kind", ["independent", "teams decide", "luck repeats"])
@pytest.mark.parametrize("elo0, elo1, matches", [(0, 60, 600), (0, 200, 1500)])
def test_errors_are_within_what_was_promised(
    simulation: ModuleType, kind: str, elo0: float, elo1: float, matches: int
) -> None:
    """At H0 and at H1 themselves, for matches of a hundred pairs and of a dozen (where zero counts are the rule)."""
    settings = SprtSettings(elo0=elo0, elo1=elo1)
    most = binom.ppf(0.999, matches, 0.05)
    rng = np.random.default_rng(4)
    for elo, wrong in ((elo0, 1), (elo1, 0)):
        shares = simulation.with_lead(simulation.KINDS[kind], elo, "normalized")
        assert simulation.true_lead(shares, "normalized") == pytest.approx(elo, abs=1e-6)
        outcome = simulation.play(shares, settings, matches, rng)
        assert (outcome.accepted == wrong).sum() <= most
        assert outcome.pairs.mean() < simulation.fixed_size(settings)


def test_other_ways_to_judge_break_the_promise(simulation: ModuleType) -> None:
    """What the exact pentanomial is for: battles taken as independent, and the normal approximation, both err too often."""
    settings, matches = SprtSettings(elo0=0, elo1=60, model="logistic"), 1000
    shares = simulation.with_lead(simulation.KINDS["luck repeats"], 0, "logistic")
    for judge in (simulation.by_battles, simulation.by_normal_approximation):
        outcome = simulation.play(shares, settings, matches, np.random.default_rng(5), judge)
        assert (outcome.accepted == 1).sum() > binom.ppf(0.999, matches, 0.05)
