"""What the generation-9 engine keeps of what each seat has been shown: what SeatBattle has from the protocol."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from support.compilers import need_compiler
from support.gen9_battles import PAIRS, SEEDS, firsts
from support.scripts import script

from agents.engine.gen9.engine import Engine
from agents.engine.gen9.layout import SHOWN

need_compiler()

shown_parity = script("parity/gen9_shown_parity.py")
gen9_seats = shown_parity.gen9_seats
ORDERS = [([0, 1, 2, 3, 4, 5], [2, 0, 1, 3, 4, 5])] * 2


def seated() -> Any:
    return gen9_seats.SeatedBattles(PAIRS, SEEDS, ORDERS)


def test_seats_are_shown_what_the_protocol_says() -> None:
    decisions, places, examples = gen9_seats.play(
        seated(), gen9_seats.POLICIES["random"](random.Random(5)), shown_parity.compare
    )
    assert decisions > 150
    assert not places, examples


def test_a_word_that_differs_is_named_with_both_values() -> None:
    battles = seated()
    battles.engine.shown.view(SHOWN)["sides"]["pokemon"]["hp"][0, 1, 0, 1, 0] -= 1
    _, places, examples = gen9_seats.play(battles, lambda _, asked: asked.actions[0], shown_parity.compare)
    assert places["hp"] == 1  # the next line of its HP says it again
    assert "p2 turn 1, theirs " in examples[0] and "(100, 100) by the protocol" in examples[0]


def test_a_fork_has_what_was_shown_and_goes_on_by_itself() -> None:
    engine = Engine(2, shows=True)
    engine.reset(PAIRS, SEEDS, orders=ORDERS)
    fork, before = engine.fork([1, 0]), engine.shown.copy()
    for _ in range(10):
        fork.step(firsts(fork.legal()))
    assert np.array_equal(engine.shown, before) and not np.array_equal(fork.shown, before[::-1])
    for _ in range(10):
        engine.step(firsts(engine.legal()))
    assert np.array_equal(engine.shown[[1, 0]], fork.shown)


def test_battles_are_the_same_where_it_is_not_kept_or_lines_are_written() -> None:
    kept, plain, recorded = Engine(2, shows=True), Engine(2), Engine(2, shows=True)
    recorded.record(1)
    for engine in (kept, plain, recorded):
        engine.reset(PAIRS, SEEDS, orders=ORDERS)
        for _ in range(30):
            engine.step(firsts(engine.legal()))
    assert plain.shown.size == 0
    assert np.array_equal(kept.words, plain.words) and np.array_equal(kept.words, recorded.words)
    assert np.array_equal(kept.shown, recorded.shown)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("teams", "policy"),
    [("ring1", "rules"), ("ring2", "rare"), ("random", "random"), ("random", "tera"), ("odd", "moves")],
)
def test_seats_are_shown_what_the_protocol_says_with_other_teams(teams: str, policy: str) -> None:
    rng = random.Random(f"{teams} {policy}")
    decisions, places, examples = gen9_seats.play(
        gen9_seats.drawn_battles(teams, 30, rng), gen9_seats.POLICIES[policy](rng), shown_parity.compare
    )
    assert decisions > 1000
    assert not places, examples
