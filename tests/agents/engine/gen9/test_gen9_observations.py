"""Observations of the generation-9 engine are those of the protocol, bit by bit."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from support.compilers import need_compiler
from support.gen9_battles import OTHER, SEEDS, SETS, TEAM
from support.scripts import script

from agents.engine.gen9.engine import Engine
from agents.engine.gen9.layout import SHOWN
from agents.observation import gen9_observation
from agents.observation.gen9_estimates import LearnedEstimates
from agents.observation.gen9_observation import ILLEGAL, engine_actions, legal_masks, observe_rows
from agents.observation.observation import Observations
from teamsets.errors import BadInput

need_compiler()

observation_parity = script("parity/gen9_observation_parity.py")
gen9_seats = observation_parity.gen9_seats
PAIRS = [(TEAM, OTHER), ("]".join(SETS[3:9]),) * 2]


def seated() -> Any:
    return gen9_seats.SeatedBattles(PAIRS, SEEDS, [([0, 1, 2, 3, 4, 5], [2, 0, 1, 3, 4, 5])] * 2)


@pytest.mark.parametrize("policy", ["random", "tera"])
def test_observations_are_the_protocols(policy: str) -> None:
    decisions, places, examples = gen9_seats.play(
        seated(), gen9_seats.POLICIES[policy](random.Random(5)), observation_parity.compare
    )
    assert decisions > 100
    assert not places, examples


def test_a_difference_is_named_with_both_values() -> None:
    battles = seated()
    battles.engine.shown.view(SHOWN)["sides"]["pokemon"]["hp"][0, 1, 0, 1, 0] -= 1
    _, places, examples = gen9_seats.play(battles, lambda _, asked: asked.actions[0], observation_parity.compare)
    assert any(place.startswith("features [9, 2]") for place in places), places
    assert any("1.0 by the protocol, 0.99" in example for example in examples)


@pytest.fixture
def begun() -> Engine:
    engine = Engine(2, shows=True)
    engine.reset(PAIRS, SEEDS)
    return engine


ROWS, BOTH = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])


def test_estimates_are_the_same_whenever_they_are_worked_out(begun: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    first = observe_rows(begun, ROWS, BOTH)
    fresh = LearnedEstimates("gen9ou")
    monkeypatch.setattr(gen9_observation, "learned", lambda: fresh)
    for part, again in zip(first, observe_rows(begun, ROWS, BOTH), strict=True):
        np.testing.assert_array_equal(part, again)
    asked = list(fresh.counts)
    assert min(asked[:2]) > 0
    observe_rows(begun, ROWS, BOTH)
    assert fresh.counts == asked, "what is known is not asked for again"
    monkeypatch.setattr(LearnedEstimates, "MOST", 0)
    for part, again in zip(first, observe_rows(begun, ROWS, BOTH), strict=True):
        np.testing.assert_array_equal(part, again)
    assert fresh.counts == asked, "all was forgotten and worked out once more"


def test_masks_and_actions_are_those_of_observations(begun: Engine) -> None:
    seen = observe_rows(begun, ROWS, BOTH)
    np.testing.assert_array_equal(legal_masks(begun, ROWS, BOTH), seen.legal)
    engine_legal = begun.legal()[ROWS, BOTH, 0]
    for action in range(13):
        found = engine_actions(begun, ROWS, BOTH, np.full(4, action))
        assert ((found != ILLEGAL) == seen.legal[:, action]).all()
        assert (engine_legal[found >= 0] >> found[found >= 0] & 1).all()


def test_a_seat_that_waits_sees_nothing_and_wrong_arrays_are_refused(begun: Engine) -> None:
    sides = begun.words.view(gen9_seats.records(begun.words).dtype)[:, 0]["sides"]
    sides["request"][0, 1] = 0
    seen = observe_rows(begun, ROWS, BOTH)
    assert not any(part[1].any() for part in seen) and seen.legal[[0, 2, 3]].any(axis=1).all()
    with pytest.raises(BadInput, match=r"out of .*int16 \[2, 19, 12\].* are needed"):
        observe_rows(begun, ROWS, BOTH, Observations.room_for(2))
    with pytest.raises(BadInput, match="rows"):
        observe_rows(begun, np.array([7]), BOTH[:1])


def test_an_engine_that_keeps_nothing_shown_is_refused(begun: Engine) -> None:
    engine = Engine(1)
    engine.reset(PAIRS[:1], SEEDS[:1])
    row = np.zeros(1, np.int64)
    for ask in (
        lambda: observe_rows(engine, row, row),
        lambda: legal_masks(engine, row, row),
        lambda: engine_actions(engine, row, row, row),
    ):
        with pytest.raises(BadInput, match=r"need Engine\(\.\.\., shows=True\)"):
            ask()
    with pytest.raises(BadInput, match=r"actions of shape \[1\]: \[4\] is needed"):
        engine_actions(begun, ROWS, BOTH, row)
    with pytest.raises(BadInput, match="actions of type float64: whole numbers are needed"):
        engine_actions(begun, ROWS, BOTH, np.zeros(4))
