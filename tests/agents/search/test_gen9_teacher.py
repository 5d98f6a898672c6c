"""What a search of the generation-9 engine's positions teaches: values, at the network's actions that they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.compilers import need_compiler
from support.gen9_battles import team

from agents.engine.gen9.engine import Engine, records
from agents.observation.gen9_observation import legal_masks
from agents.search.exact.game import ILLEGAL, UNKNOWN
from agents.search.exact.gen9.positions import Gen9Positions
from agents.search.exact.gen9.tree import Tree
from agents.search.exact.gen9.weights import read
from agents.search.exact.teacher import Searched, Teacher
from agents.search.exact.weights import NINTH

need_compiler()

SEATS = np.array([0, 1])
ROWS = np.zeros(2, np.int64)


def begun(teams: tuple[str, str]) -> Engine:
    engine = Engine(1, shows=True)
    engine.reset([teams], ["gen5,0123456789abcdef"])
    return engine


def judged(engine: Engine, iterations: int = 400, second_share: float = 0.0) -> Searched:
    """Both seats' decisions."""
    teacher = Teacher(Gen9Positions(read(NINTH)), iterations, 8.0, 0, second_share=second_share)
    teacher.begin(0)
    return teacher.judge(engine, ROWS, SEATS)


def legal(engine: Engine) -> NDArray[np.bool_]:
    return legal_masks(engine, ROWS, SEATS)


def test_values_stand_at_the_networks_actions() -> None:
    """Seat 0 wins by Extreme Speed, before the other, who hits harder, can move; its actions are moves by name."""
    teams = (
        team(
            ("dragonite", "", "innerfocus", "roost,extremespeed,dragondance,agility"),
            ("kingambit", "", "defiant", "suckerpunch"),
        ),
        team(
            ("garchomp", "", "roughskin", "earthquake,swordsdance"),
        ),
    )
    engine = begun(teams)
    records(engine.words)["sides"]["pokemon"]["hp"][0, :, 0] = 1
    found = judged(engine)
    assert np.array_equal(~np.isnan(found.values), legal(engine))
    extreme_speed, agility = 2, 0
    assert np.nanargmax(found.values[0]) in (extreme_speed, extreme_speed + 9)  # with terastallization or without
    assert found.values[0, extreme_speed] > found.values[0, agility] + 0.03
    assert found.value[0] > 0.9 and found.value[0] == pytest.approx(1 - found.value[1], abs=1e-6)


def test_a_switch_that_the_seat_does_not_know_to_be_impossible_has_the_first_guess_and_stays_unknown() -> None:
    """Corviknight cannot leave before Magnet Pull, which Magnezone may have or not."""
    teams = (
        team(("corviknight", "", "pressure", "bodypress,roost"), ("garchomp", "", "roughskin", "earthquake")),
        team(("magnezone", "", "magnetpull", "flashcannon,thunderbolt"), ("dragonite", "", "innerfocus", "roost")),
    )
    engine = begun(teams)
    before = engine.shown.copy()
    actions = Gen9Positions(read(NINTH)).engine_actions(engine, ROWS, SEATS)
    switch = 4
    assert actions[0, switch] == UNKNOWN and actions[1, switch] >= 0
    assert np.array_equal(actions != ILLEGAL, legal(engine))
    found = judged(engine, second_share=1.0)
    assert found.values[0, switch] == pytest.approx(found.value[0] - 0.05, abs=1e-6)
    assert found.second_values[0, switch] == pytest.approx(found.value[0], abs=0.1)
    assert np.array_equal(engine.shown, before) and np.array_equal(engine.words, engine.fork([0]).words)


def test_the_same_seed_judges_the_same_and_the_battle_is_left_as_it_was() -> None:
    teams = (
        team(
            ("garchomp", "", "roughskin", "earthquake,dragonclaw"), ("kingambit", "", "defiant", "suckerpunch,ironhead")
        ),
        team(("kingambit", "", "defiant", "kowtowcleave,swordsdance"), ("garchomp", "", "roughskin", "stoneedge")),
    )
    engine = begun(teams)
    words = engine.words.copy()
    one, same = judged(engine, second_share=1.0), judged(engine, second_share=1.0)
    for part, again in zip(one, same, strict=True):
        np.testing.assert_array_equal(part, again)
    assert np.array_equal(engine.words, words)
    assert (one.values != one.second_values)[legal(engine)].any()


def test_a_seat_with_one_action_or_none_is_not_judged() -> None:
    teams = (
        team(("garchomp", "", "roughskin", "earthquake")),
        team(("kingambit", "", "defiant", "ironhead,suckerpunch")),
    )
    engine = begun(teams)
    records(engine.words)["sides"]["request"][0, 1] = 0
    found = judged(engine)
    assert np.isnan(found.value[1]) and np.isnan(found.values[1]).all()
    engine.words[:] = 0  # a row in which no battle was begun
    assert np.isnan(judged(engine).value).all()


def test_the_policies_of_both_seats_have_their_share_of_the_priors_at_the_actions_they_belong_to() -> None:
    teams = (
        team(
            ("garchomp", "", "roughskin", "earthquake,dragonclaw"), ("kingambit", "", "defiant", "suckerpunch,ironhead")
        ),
        team(("kingambit", "", "defiant", "kowtowcleave,swordsdance"), ("garchomp", "", "roughskin", "stoneedge")),
    )
    engine, guides = begun(teams), []

    class Watched(Gen9Positions):
        def trees(self, *arguments: Any) -> Iterator[Tree]:
            guides.append(arguments[-1])
            yield from super().trees(*arguments)

    mask = legal(engine)
    policies = np.where(mask, np.random.default_rng(1).random(mask.shape), 0).astype(np.float32)
    policies /= policies.sum(1, keepdims=True)
    positions = Watched(read(NINTH))
    teacher = Teacher(positions, 50, 8.0, 0, prior=0.5)
    guided = teacher.judge(engine, ROWS, SEATS, policies)
    translated = positions.engine_actions(engine, ROWS, SEATS)
    (guide,) = guides
    assert guide.sum(1) == pytest.approx([0.5, 0.5])
    for seat, action in np.argwhere(mask):
        assert guide[seat, translated[seat, action]] == pytest.approx(0.5 * policies[seat, action])
    without = teacher.judge(engine, ROWS, SEATS)
    assert guides[1:] == [None] and not np.array_equal(guided.values, without.values, equal_nan=True)
