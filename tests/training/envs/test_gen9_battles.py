"""Batches on the generation-9 engine are the battles whose seats read the protocol: observations, masks, ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.compilers import need_compiler
from support.environments import drawn_actions

from agents.contract import SinglesAgent
from agents.engine.gen9.engine import records
from agents.engine.gen9.layout import SHOWN
from arena.fixture import Fixture, FixtureTeam, showdown_seed
from teamsets.errors import BadInput
from teamsets.loading import load_set
from training.envs.fixtures import FixtureSampler
from training.envs.gen9_battles import Gen9Battles
from training.envs.hosted_battles import HostedBattles
from training.envs.opponents import Opponents

need_compiler()

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
        actions[at, seats] = drawn_actions(seen.legal, rng, 3.0 if trapped else 0.5)
        for place in (battles, hosted):
            place.play(rows, actions)
        assert (battles.winners == hosted.winners).all()
        assert (battles.turns == hosted.turns).all()
        tried += int(battles.engine.shown.view(SHOWN)["revealed"].any())
    assert decisions > 100 and (tried > 0) == trapped


def step(battles: Any, rows: Any, chosen: Any = None, seed: int = 0) -> Any:
    """Plays a step of battles that are asked the same. chosen: actions [2] of each; None: drawn. Returns them."""
    actions = np.full((len(rows), 2), -1)
    if chosen is None:
        chosen = np.full(2, -1)
        (seats,) = np.nonzero(battles.needs_decision(rows[:1])[0])
        legal = battles.masks(rows[:1].repeat(len(seats)), seats)
        chosen[seats] = drawn_actions(legal, np.random.default_rng(seed), 0.5)
    actions[:] = chosen
    battles.play(rows, actions)
    return chosen


def assert_same(battles: Any, one: int, other: int) -> None:
    """Two rows are the same battle: what is decided, what both seats see, and what the engine keeps of them."""
    rows = np.array([one, other])
    needs = battles.needs_decision(rows)
    assert (needs[0] == needs[1]).all()
    (seats,) = np.nonzero(needs[0])
    for part in zip(*(battles.observe(np.full(len(seats), row), seats) for row in rows), strict=True):
        np.testing.assert_array_equal(*part)
    np.testing.assert_array_equal(*battles.engine.words[rows])
    np.testing.assert_array_equal(*battles.engine.shown[rows])
    assert battles.winners[one] == battles.winners[other] and battles.turns[one] == battles.turns[other]


def seed_of(battles: Any, row: int) -> str:
    """The state of a battle's random numbers, as a seed."""
    return "gen5," + "".join(f"{word:04x}" for word in records(battles.engine.words)["seed"][row].tolist())


def test_a_copy_goes_on_exactly_as_its_original_does_from_the_same_seed_and_not_from_another() -> None:
    battles = Gen9Battles(SIZE, "gen9ou", 1)
    teams = [str(team.packed) for team in load_set("competitive", "gen9ou").teams[:8]]
    battles.begin(ROWS, fixtures(teams), [(None, None)] * SIZE)
    for number in range(12):
        step(battles, ROWS[:1], seed=number)
    battles.copy(np.zeros(3, np.int64), ROWS[1:], [seed_of(battles, 0), showdown_seed("a", 1), showdown_seed("b", 1)])
    decisions, number = 0, 12
    while battles.winners[0] == -1:
        assert_same(battles, 0, 1)
        decisions, number = decisions + 1, number + 1
        step(battles, ROWS[:2], seed=number)
    assert_same(battles, 0, 1)
    assert decisions > 10
    for row in (2, 3):  # from the same choices, as long as they are possible, other battles
        number, turns = 12, []
        while battles.winners[row] == -1:
            number += 1
            step(battles, ROWS[row : row + 1], seed=number)
            turns.append(int(battles.turns[row]))
    ends = [battles.engine.shown[row] for row in (0, 2, 3)]
    assert all((one != other).any() for one, other in ((ends[0], ends[1]), (ends[0], ends[2]), (ends[1], ends[2])))


def test_a_copy_in_the_middle_of_a_turn_waits_for_the_same_seat() -> None:
    """The trapped seat's switch is refused, and it chooses anew; the other's choice stands, in the copy too."""
    battles = Gen9Battles(SIZE, "gen9ou", 1)
    battles.begin(ROWS[:1], fixtures([TRAPPER, HELD])[:1], [(None, None)])
    battles.play(ROWS[:1], np.array([[0, 4]]))
    assert battles.needs_decision(ROWS[:1]).tolist() == [[False, True]]
    assert not battles.masks(ROWS[:1], np.array([1]))[0, 4:9].any()
    battles.copy(ROWS[:1], ROWS[1:2], [seed_of(battles, 0)])
    assert_same(battles, 0, 1)
    battles.play(ROWS[:2], np.array([[-1, 0], [-1, 0]]))
    assert battles.turns[:2].tolist() == [2, 2]
    assert_same(battles, 0, 1)


def test_what_cannot_be_played_is_refused() -> None:
    with pytest.raises(BadInput, match="gen1ou"):
        Gen9Battles(1, "gen1ou")
    battles = Gen9Battles(1, "gen9ou", 1)
    battles.begin(ROWS[:1], fixtures([TRAPPER, HELD])[:1], [(None, None)])
    with pytest.raises(BadInput, match="battle 0, seat 0: action 12 is not legal"):
        battles.play(ROWS[:1], np.array([[12, 9]]))


def test_an_opponent_is_made_with_its_battle_and_not_to_see_what_it_is() -> None:
    """To make a network's agent, or a language model's, starts its server."""

    class Late(SinglesAgent):
        def __init__(self) -> None:
            raise AssertionError("made before its battle")

    assert Opponents(Late, SIZE, "gen9ou", on_engine=True).weights == {"Late": 1.0}
    omniscient = "search:omniscient?iterations={}"
    assert len(Opponents(omniscient.format(9), SIZE, "gen9ou", on_engine=True).weights) == 1
    with pytest.raises(BadInput, match="iterations=0: must be 1 or more"):
        Opponents(omniscient.format(0), SIZE, "gen9ou", on_engine=True)
    with pytest.raises(BadInput, match="it sees both teams"):
        Opponents(omniscient.format(9), SIZE, "gen9ou")


def test_teams_that_the_engine_does_not_play_are_left_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "teams" / "gen9ou"
    folder.mkdir(parents=True)
    member = "{} @ Leftovers\nAbility: {}\nTera Type: Ghost\nEVs: 252 Atk / 4 Def / 252 Spe\nJolly Nature\n- {}\n"
    (folder / "zoroark.txt").write_text(member.format("Zoroark", "Illusion", "Knock Off"))
    with pytest.raises(BadInput, match=r"plays none of its 1 teams: set venue: showdown \(team zoroark: .*Illusion"):
        FixtureSampler("gen9ou", str(folder), "drawn", packed=True)
    (folder / "garchomp.txt").write_text(member.format("Garchomp", "Rough Skin", "Earthquake"))
    both, played = (FixtureSampler("gen9ou", str(folder), "drawn", packed=packed).teams for packed in (False, True))
    assert [team.name for team in played] == ["garchomp"] and len(both) == 2
    assert "1 of 2 teams are left out, which the engine does not play (team zoroark:" in capsys.readouterr().err
