"""The rules by which a decision becomes a pair, each by its name; what garbling does; what an interval says."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from training.preferences.attempts import TriedChoice
from training.preferences.expert import AGREED, EXPERT, NO_VALUES, expert_pair
from training.preferences.garbling import corrupted, garbler
from training.preferences.rules import (
    CLOSE,
    EVERYTHING,
    NOT_GARBLED,
    NOT_OTHER,
    NOTHING,
    ONE_ANSWER,
    SOME,
    UNSURE,
    AttemptOutcome,
    Bar,
    Judged,
    judged,
    margin_interval,
    merged,
    outcome,
)

LEGAL = ("move surf", "move rest", "switch snorlax")
BAR = Bar(baseline=0.5, min_gain=0.05, min_margin=0.2)
LEGAL_ONE, NONE = garbler("legal", LEGAL, 1), garbler("none", LEGAL, 1)


def played(action: str, won: int, lost: int, plan: str = "") -> TriedChoice:
    return TriedChoice(action, (1.0,) * won + (0.0,) * lost, plan)


def test_an_attempt_fails_or_gains_nothing_or_gains() -> None:
    assert outcome(TriedChoice("surf!", failure="illegal"), BAR, 0.5) == (AttemptOutcome.FAILED, 0.0)
    assert outcome(TriedChoice("", failure="timeout"), BAR, 0.5)[0] is AttemptOutcome.FAILED
    assert outcome(played("move rest", 4, 4), BAR, 0.5) == (AttemptOutcome.NO_GAIN, 0.0)
    assert outcome(played("move surf", 6, 2), BAR, 0.5) == (AttemptOutcome.GAINED, 0.25)


def test_nothing_worked_is_dropped() -> None:
    tried = [played("move surf", 3, 5), played("move rest", 0, 8), TriedChoice("nonsense", failure="unparsable")]
    assert judged(tried, "action", BAR, LEGAL_ONE) == NOTHING


def test_some_worked_is_the_best_against_the_worst_that_did_not() -> None:
    tried = [played("move rest", 4, 4), played("move surf", 8, 0), played("switch snorlax", 1, 7)]
    pair = judged(tried, "action", BAR, LEGAL_ONE)
    assert isinstance(pair, Judged)
    assert (pair.rule, pair.chosen, pair.rejected) == (SOME, "move surf", "switch snorlax")
    assert (pair.chosen_score, pair.rejected_score, pair.margin) == (1.0, 0.125, 0.875)
    assert pair.low is not None and pair.high is not None and 0 < pair.low < 0.875 < pair.high
    assert pair.rejected_outcome == "acted, no gain"


def test_an_attempt_that_failed_to_act_is_rejected_before_one_that_gained_nothing() -> None:
    tried = [played("move surf", 8, 0), played("move rest", 0, 8), TriedChoice("surf!", failure="illegal")]
    pair = judged(tried, "action", BAR, LEGAL_ONE)
    assert isinstance(pair, Judged)
    assert (pair.rejected, pair.rejected_outcome, pair.margin) == ("surf!", "failed to act: illegal", None)


@pytest.mark.parametrize("kind", ["legal", "illegal", "corrupted"])
def test_everything_worked_is_the_best_against_a_garbled_version(kind: str) -> None:
    tried = [played("move surf", 8, 0), played("move rest", 7, 1)]
    pair = judged(tried, "action", BAR, garbler(kind, LEGAL, 5))  # type: ignore[arg-type]
    assert isinstance(pair, Judged)
    assert (pair.rule, pair.chosen, pair.rejected_outcome) == (EVERYTHING, "move surf", "garbled")
    assert pair.rejected != "move surf" and (pair.rejected in LEGAL) == (kind == "legal")
    if pair.rejected == "move rest":
        assert pair.rejected_score == 0.875, "it was tried, so its score is known"
    assert judged(tried, "action", BAR, NONE) == NOT_GARBLED


def test_the_plan_of_an_answer_is_judged_by_all_that_followed_it() -> None:
    tried = [
        played("move surf", 6, 2, "attack"),
        played("move rest", 8, 0, "attack"),
        played("switch snorlax", 2, 6, "wait"),
        played("move surf", 2, 6, "wait"),
    ]
    plan = judged(tried, "plan", BAR, LEGAL_ONE)
    assert isinstance(plan, Judged)
    assert (plan.part, plan.chosen, plan.rejected, plan.chosen_score, plan.rejected_score) == (
        "plan", "attack", "wait", 0.875, 0.25,
    )  # fmt: skip
    action = judged(tried, "action", BAR, LEGAL_ONE)
    assert isinstance(action, Judged) and (action.chosen, action.rejected) == ("move rest", "switch snorlax")
    assert judged([played("move surf", 8, 0)], "plan", BAR, LEGAL_ONE) is None, "no answer has a plan"
    both = [played("move surf", 8, 0, "attack"), played("move rest", 8, 0, "rest and attack")]
    garbled = judged(both, "plan", BAR, LEGAL_ONE)
    assert isinstance(garbled, Judged) and garbled.rule == EVERYTHING and garbled.rejected not in ("attack", *LEGAL)


def test_a_baseline_of_the_position_makes_pairs_of_won_and_lost_positions_too() -> None:
    lost = [played("move surf", 4, 12), played("move rest", 0, 16)]
    assert judged(lost, "action", BAR, LEGAL_ONE) == NOTHING
    pair = judged(lost, "action", Bar(baseline=None), LEGAL_ONE)
    assert isinstance(pair, Judged) and (pair.rule, pair.chosen) == (SOME, "move surf")
    failed = [played("move surf", 4, 12), TriedChoice("surf!", failure="illegal")]
    pair = judged(failed, "action", Bar(baseline=None), LEGAL_ONE)
    assert isinstance(pair, Judged) and (pair.chosen, pair.rejected) == ("move surf", "surf!")


def test_a_small_or_unsure_margin_makes_no_pair() -> None:
    assert judged([played("move surf", 5, 3), played("move rest", 4, 4)], "action", BAR, LEGAL_ONE) == CLOSE
    near = [played("move surf", 5, 3), played("move rest", 3, 5)]
    assert isinstance(judged(near, "action", BAR, LEGAL_ONE), Judged)
    assert judged(near, "action", Bar(sure=True), LEGAL_ONE) == UNSURE


def test_garbled_rejections_are_of_the_same_decisions_with_the_same_chosen_answer() -> None:
    tried = [played("move surf", 8, 0), played("move rest", 0, 8)]
    pair = judged(tried, "action", BAR, garbler("illegal", LEGAL, 2), real=False)
    assert isinstance(pair, Judged) and (pair.rule, pair.chosen, pair.rejected_outcome) == (
        SOME,
        "move surf",
        "garbled",
    )
    assert pair.rejected not in LEGAL
    assert judged([played("move surf", 5, 3), played("move rest", 4, 4)], "action", BAR, LEGAL_ONE, real=False) == CLOSE


def test_the_same_answer_twice_is_one_with_the_results_of_both() -> None:
    (one,) = merged(
        [played("move surf", 1, 1), TriedChoice("move surf", failure="timeout"), played("move surf", 2, 0)], "action"
    )
    assert one.results == (1.0, 0.0, 1.0, 1.0) and not one.failure


def test_answers_with_the_same_action_share_its_playouts() -> None:
    results = (1.0, 0.0)
    said = [TriedChoice("move surf", results, plan, shared=0) for plan in ("attack", "be bold", "attack")]
    (one,) = merged(said, "action")
    assert one.results == results
    assert [(one.plan, one.results) for one in merged(said, "plan")] == [("attack", results), ("be bold", results)]
    both = merged([*said, TriedChoice("move rest", (1.0, 1.0), "attack", shared=1)], "plan")
    assert both[0].results == (1.0, 0.0, 1.0, 1.0)
    assert judged(said, "plan", Bar(baseline=0.1), garbler("worse", LEGAL, 0), worse=True) == CLOSE


def test_where_everything_worked_the_worst_may_be_rejected() -> None:
    tried = [played("move surf", 8, 0), played("move rest", 5, 3), played("switch snorlax", 6, 2)]
    pair = judged(tried, "action", BAR, garbler("worse", LEGAL, 0), worse=True)
    assert isinstance(pair, Judged)
    assert (pair.rule, pair.chosen, pair.rejected, pair.margin) == (EVERYTHING, "move surf", "move rest", 0.375)
    assert pair.rejected_outcome == "acted and gained" and pair.low is not None
    assert judged(tried, "action", Bar(min_margin=0.4), NONE, worse=True) == CLOSE
    assert judged(tried[:1], "action", BAR, NONE, worse=True) == ONE_ANSWER


def test_what_the_model_says_at_a_high_temperature_is_rejected() -> None:
    tried = [replace(played("move surf", 8, 0, "attack"), text="Plan: attack\nAction: move surf")]
    hot = TriedChoice("dance", plan="win", failure="illegal", text="Plan: win\nAction: dance")
    pair = judged(tried, "action", BAR, hot)
    assert isinstance(pair, Judged) and (pair.rule, pair.rejected_outcome) == (EVERYTHING, "garbled: illegal")
    assert (pair.chosen_text, pair.rejected_text) == (tried[0].text, hot.text)
    plan = judged(tried, "plan", BAR, hot)
    assert isinstance(plan, Judged) and (plan.chosen, plan.rejected) == ("attack", "win")
    known = judged(
        [*tried, played("move rest", 7, 1)], "action", BAR, TriedChoice("move rest", text="Action: move rest")
    )
    assert isinstance(known, Judged) and (known.rejected_score, known.rejected_text) == (0.875, "Action: move rest")
    assert judged(tried, "action", BAR, TriedChoice("move surf", text="Action: move surf")) == NOT_OTHER
    assert judged(tried, "plan", BAR, TriedChoice("move rest", text="Action: move rest")) == NOT_OTHER
    some = judged([*tried, played("move rest", 0, 8)], "action", BAR, hot, real=False)
    assert isinstance(some, Judged) and (some.rule, some.rejected_text) == (SOME, hot.text)


def test_the_interval_of_a_margin_is_newcombes() -> None:
    # Newcombe 1998, table II, example (a): 56/70 against 48/80.
    low, high = margin_interval([1.0] * 56 + [0.0] * 14, [1.0] * 48 + [0.0] * 32)
    assert (low, high) == (pytest.approx(0.0524, abs=1e-4), pytest.approx(0.3339, abs=1e-4))
    low, high = margin_interval([1.0] * 8, [0.0] * 8)
    assert 0.5 < low < 0.7 and high == 1.0, "eight against none is no certainty"


def test_a_corrupted_text_is_another_one_and_depends_on_the_seed_only() -> None:
    text = "I want to paralyse their Tauros before it moves"
    assert corrupted(text, random.Random(1)) == corrupted(text, random.Random(1)) != text
    assert corrupted(text, random.Random(2)) != corrupted(text, random.Random(1))
    assert corrupted("x", random.Random(1)) is None


def test_the_experts_choice_is_paired_with_the_learners_by_the_experts_values() -> None:
    told = {
        "coach": "move surf",
        "values": {"move surf": 0.7, "move rest": 0.4},
        "visits": {"move surf": 9, "move rest": 3},
    }
    pair = expert_pair("move rest", told, 0.2)
    assert isinstance(pair, Judged)
    assert (pair.rule, pair.chosen, pair.rejected, pair.margin, pair.low) == (
        EXPERT,
        "move surf",
        "move rest",
        0.3,
        None,
    )
    assert expert_pair("move surf", told, 0.2) == AGREED
    assert expert_pair("move rest", told, 0.4) == CLOSE
    assert expert_pair("switch snorlax", told, 0.2) == NO_VALUES
    unvisited = told | {"visits": {"move surf": 9, "move rest": 0}}
    assert expert_pair("move rest", unvisited, 0.2) == NO_VALUES, "the value of a choice that was never visited"
    assert expert_pair("move rest", {"coach": "move surf", "probabilities": {"move surf": 1.0}}, 0.0) == NO_VALUES


def test_the_best_of_four_equal_choices_is_rarely_called_better() -> None:
    """Best and worst are picked by the results that the interval is of: without regard to that it is wrong far too often."""
    rng = random.Random(11)
    wrong = {2: 0, 4: 0}
    for _ in range(1000):
        results = [[float(rng.random() < 0.5) for _ in range(32)] for _ in range(4)]
        best, worst = max(results, key=sum), min(results, key=sum)
        for tried in wrong:
            wrong[tried] += margin_interval(best, worst, tried)[0] > 0
    assert wrong[2] > 120 and wrong[4] < 50  # 5% of them
