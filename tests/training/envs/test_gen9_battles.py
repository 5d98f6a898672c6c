"""Batches on the generation-9 engine are the battles whose seats read the protocol: observations, masks, ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from agents.engine.gen9 import library
from agents.engine.gen9.layout import SHOWN
from agents.registry import resolve
from arena.fixture import Fixture, FixtureTeam, showdown_seed
from teamsets.errors import BadInput
from teamsets.loading import load_set

try:
    library.compiler()
except library.CompilerMissing as missing:
    pytest.skip(str(missing), allow_module_level=True)

from training.envs.gen9_battles import Gen9Battles
from training.envs.hosted_battles import HostedBattles

SIZE = 4
ROWS = np.arange(SIZE)
#: Magnet Pull holds Steel types, and their requests do not say so.
_SHEET = "{0}||leftovers|{1}|{2}|Timid|,,,252,4,252|||||,,,,,Water"
TRAPPER = _SHEET.format("Magnezone", "magnetpull", "thunderbolt,flashcannon")
HELD = "]".join(
    [
        _SHEET.format("Corviknight", "pressure", "roost,bodypress"),
        _SHEET.format("Kingambit", "supremeoverlord", "swordsdance"),
        _SHEET.format("Gliscor", "poisonheal", "protect"),
    ]
)


def fixtures(teams: list[str]) -> list[Fixture]:
    sides = [FixtureTeam(str(number), str(number), team) for number, team in enumerate(teams)]
    seeds = [showdown_seed("generation 9 in batches", number) for number in range(SIZE)]
    pairs = [(sides[2 * number % len(sides)], sides[(2 * number + 1) % len(sides)]) for number in range(SIZE)]
    return [Fixture("gen9ou", ("a", "b"), pair, seed, "", "") for pair, seed in zip(pairs, seeds, strict=True)]


@pytest.fixture
def hosted() -> Iterator[HostedBattles]:
    battles = HostedBattles(SIZE, "gen9ou", 1)
    yield battles
    battles.close()


def draw(legal: Any, rng: np.random.Generator, switches: float) -> Any:
    """An action of each mask, of which switches count so much."""
    weights = np.where((np.arange(13) >= 4) & (np.arange(13) < 9), switches, 1.0)
    return (legal * rng.random(legal.shape) * weights).argmax(axis=1)


@pytest.mark.parametrize("trapped", [False, pytest.param(True, id="hidden-trap")])
def test_observations_masks_and_ends_are_those_of_hosted_battles(hosted: HostedBattles, trapped: bool) -> None:
    teams = [TRAPPER, HELD] if trapped else [str(team.packed) for team in load_set("competitive", "gen9ou").teams[:8]]
    battles = Gen9Battles(SIZE, "gen9ou", 1)
    for place in (battles, hosted):
        place.begin(ROWS, fixtures(teams), [(None, None)] * SIZE)
    rng, tried, decisions = np.random.default_rng(1), 0, 0
    for _ in range(60):
        rows = ROWS[hosted.winners == -1]
        needs = battles.needs_decision(rows)
        assert (needs == hosted.needs_decision(rows)).all()
        at, seats = np.nonzero(needs)
        seen = hosted.observe(rows[at], seats)
        for ours, theirs in zip(battles.observe(rows[at], seats), seen, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert (battles.masks(rows[at], seats) == seen.legal).all()
        decisions += len(at)
        actions = np.full((len(rows), 2), -1)
        actions[at, seats] = draw(seen.legal, rng, 3.0 if trapped else 0.5)
        for place in (battles, hosted):
            place.play(rows, actions)
        assert (battles.winners == hosted.winners).all()
        assert (battles.turns == hosted.turns).all()
        tried += int(battles.engine.shown.view(SHOWN)["revealed"].any())
    assert decisions > 100 and (tried > 0) == trapped


def test_a_copy_goes_on_as_its_original_does_from_the_same_seed() -> None:
    battles = Gen9Battles(SIZE, "gen9ou", 1)
    teams = [str(team.packed) for team in load_set("competitive", "gen9ou").teams[:8]]
    battles.begin(ROWS, fixtures(teams), [(None, None)] * SIZE)
    rng = np.random.default_rng(1)

    def play(rows: Any) -> None:
        at, seats = np.nonzero(battles.needs_decision(rows))
        actions = np.full((len(rows), 2), -1)
        one = draw(battles.masks(rows[at], seats), np.random.default_rng(rng.integers(1 << 30)), 0.5)
        actions[at, seats] = one
        battles.play(rows, actions)

    for _ in range(6):
        play(ROWS[:1])
    seed = showdown_seed("copy", 1)
    battles.copy(np.zeros(2, np.int64), np.array([1, 2]), [seed, seed])
    for _ in range(6):
        at, seats = np.nonzero(battles.needs_decision(ROWS[1:3]))
        seen = battles.observe(ROWS[1:3][at], seats)
        half = len(at) // 2
        for part in seen:
            np.testing.assert_array_equal(part[:half], part[half:])
        actions = np.full((2, 2), -1)
        chosen = draw(seen.legal[:half], rng, 0.5)
        actions[at, seats] = np.concatenate([chosen, chosen])
        battles.play(ROWS[1:3], actions)


def test_what_cannot_be_played_is_refused() -> None:
    with pytest.raises(BadInput, match="gen1ou"):
        Gen9Battles(1, "gen1ou")
    battles = Gen9Battles(1, "gen9ou", 1)
    battles.begin(ROWS[:1], fixtures([TRAPPER, HELD])[:1], [(None, None)])
    with pytest.raises(BadInput, match="battle 0, seat 0: action 12 is not legal"):
        battles.play(ROWS[:1], np.array([[12, 9]]))


def test_an_agent_that_acts_alone_plays_the_battle_that_it_plays_on_a_host(hosted: HostedBattles) -> None:
    """One battle of four has an agent that reads the protocol, in the other three both seats are played from here."""
    teams = [str(team.packed) for team in load_set("competitive", "gen9ou").teams[:8]]
    battles = Gen9Battles(SIZE, "gen9ou", 1)
    try:
        for place in (battles, hosted):
            agent = resolve("heuristic:max-damage").make()
            place.begin(ROWS, fixtures(teams), [(None, None), (None, agent), (None, None), (None, None)])
        rng = np.random.default_rng(1)
        for _ in range(8):
            at, seats = np.nonzero(battles.needs_decision(ROWS))
            alone = (at == 1) & (seats == 1)
            actions = np.full((SIZE, 2), -1)
            seen = [place.observe(at, seats) for place in (battles, hosted)]
            for ours, theirs in zip(*seen, strict=True):
                np.testing.assert_array_equal(ours, theirs)
            actions[at, seats] = draw(seen[0].legal, rng, 0.5)
            for place in (battles, hosted):
                actions[at[alone], seats[alone]] = place.answers(at[alone], seats[alone])
                place.play(ROWS, actions)
            assert (battles.turns == hosted.turns).all()
    finally:
        battles.close()
