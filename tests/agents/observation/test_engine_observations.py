"""What the engine shows each seat is what the protocol shows it."""

from __future__ import annotations

import asyncio
import random

import numpy as np
import pytest

pytest.importorskip("numba")

from support.scripts import script

from agents.engine.gen1.engine import Engine
from agents.engine.gen1.layout import MON_HP, MON_MAX_HP, MONS, SIDE_WORDS, SIDES, WINNER
from agents.mechanics.fighters import stats_of
from agents.observation.engine_facts import FULL_STATS
from agents.observation.engine_observation import observe_rows
from arena.fixture import Fixture, FixtureTeam
from arena.record import BattleRecord
from arena.venue import Rules
from arena.venues.simulator.simulator import play_all

parity = script("parity/observation_parity.py")
TEAMS = tuple(
    "]".join(f"{name}|{species}||noability|{moves}|||||||" for name, species, moves in members)
    for members in (
        [("Zoe", "tauros", "bodyslam,hyperbeam"), ("", "chansey", "softboiled,icebeam"), ("Al", "mew", "psychic,fly")],
        [("", "starmie", "surf,recover"), ("Bo", "ditto", "transform"), ("", "gengar", "hypnosis,explosion")],
    )
)


@pytest.mark.parametrize("teams", ["any", "random", "competitive"])
def test_observations_are_those_of_the_protocol(teams: str) -> None:
    format_id = "gen1randombattle" if teams == "random" else "gen1ou"
    battles, decisions, places, words = parity.compare((20261124, 6, teams, format_id, ("random", "random")))
    assert battles == 6
    assert decisions > 200
    assert not places, words


def test_observations_where_moves_call_copy_and_go_on_are_those_of_the_protocol() -> None:
    odd = ["metronome", "mirrormove", "mimic", "transform", "skyattack", "dig", "bind", "wrap", "rage", "bide"]
    odd += ["minimize", "hyperbeam", "thrash", "icebeam", "fireblast", "bite", "toxic", "leechseed", "haze", "rest"]
    rng = random.Random(20261126)

    def team(name: str) -> FixtureTeam:
        members = rng.sample(["tauros", "mew", "ditto", "starmie", "chansey", "gengar", "lapras", "onix"], 6)
        packed = [f"{species}|||noability|{','.join(rng.sample(odd, 4))}|||||||" for species in members]
        return FixtureTeam(name, name, "]".join(packed))

    seeds = [f"gen5,{rng.getrandbits(64):016x}" for _ in range(6)]
    agents = ("random", "random")
    fixtures = [Fixture("gen1ou", agents, (team("a"), team("b")), seed, "", "") for seed in seeds]
    played = asyncio.run(play_all(fixtures, Rules(max_turns=100, think_limit=60)))
    _, decisions, places, words = parity.compared(played, "gen1ou")
    assert decisions > 200
    assert not places, words


def records() -> list[BattleRecord]:
    teams = (FixtureTeam("a", "a", TEAMS[0]), FixtureTeam("b", "b", TEAMS[1]))
    fixture = Fixture("gen1ou", ("random", "random"), teams, "gen5,0123456789abcdef", "", "")
    return asyncio.run(play_all([fixture], Rules(max_turns=30, think_limit=60)))


def test_a_difference_is_found_and_named() -> None:
    played = records()
    assert not parity.compared(played, "gen1ou")[2]

    def wrong(engine: Engine, rows: np.ndarray, seats: np.ndarray) -> object:
        found = observe_rows(engine, rows, seats)
        found.features[0, 3, 2] += 0.25
        return found

    _, decisions, places, words = parity.compared(played, "gen1ou", wrong)
    assert places["feature 3,2"] > 0
    assert set(places) == {"feature 3,2"}
    assert "p1 turn 1, feature 3,2: 1.000000 by the protocol, 1.250000 by the engine" in words[0]
    assert decisions > 10


def test_a_seat_sees_the_opponents_hp_in_percent_and_nothing_of_its_bench() -> None:
    engine = Engine(2)
    engine.reset([TEAMS, TEAMS], ["gen5,0123456789abcdef"] * 2)
    foe = SIDES + SIDE_WORDS + MONS
    engine.words[1, foe + MON_HP] = engine.words[1, foe + MON_MAX_HP] - 1
    rows, seats = np.array([0, 1]), np.array([0, 0])
    seen = observe_rows(engine, rows, seats)
    assert seen.features[:, 9, 2].tolist() == pytest.approx([1.0, 0.99])
    assert (seen.features[:, 10:15, 1] == 1).all()  # five unknown Pokémon, though its team has three
    assert (seen.features[:, 10:15, 0] == 0).all()
    engine.words[1, foe + 40 :] = 0  # whatever its bench holds is not seen
    assert (observe_rows(engine, rows, seats).token_ids[1] == seen.token_ids[1]).all()


def test_switches_are_in_the_order_of_names_and_moves_of_ids() -> None:
    engine = Engine(1)
    engine.reset([TEAMS], ["gen5,0123456789abcdef"])
    rows, seats = np.zeros(5, np.int64), np.zeros(5, np.int64)
    found = engine.translate(rows, seats, np.array([0, 1, 2, 4, 5]))
    assert found.tolist() == [0, 1, -1, 5, 4]  # "Al" before "Chansey"
    legal = observe_rows(engine, rows[:1], seats[:1]).legal[0]
    assert np.flatnonzero(legal).tolist() == [0, 1, 4, 5]


def test_a_finished_battle_and_a_waiting_seat_see_nothing() -> None:
    engine = Engine(1)
    engine.reset([TEAMS], ["gen5,0123456789abcdef"])
    engine.words[0, WINNER] = 1
    seen = observe_rows(engine, np.array([0]), np.array([1]))
    assert not seen.legal.any()
    assert not seen.features.any()


def test_given_arrays_are_written_whole() -> None:
    engine = Engine(1)
    engine.reset([TEAMS], ["gen5,0123456789abcdef"])
    rows, seats = np.array([0, 0]), np.array([0, 1])
    seen = observe_rows(engine, rows, seats)
    used = observe_rows(engine, rows, seats)
    for array in used:
        array[:] = 1
    again = observe_rows(engine, rows, seats, used)
    assert all(a is b and (a == c).all() for a, b, c in zip(again, used, seen, strict=True))


def test_stats_of_full_experience_are_those_of_the_rules_for_players() -> None:
    for level in (1, 50, 68, 100):
        expected = stats_of(1, "chansey", level, "serious", (252,) * 6)
        assert FULL_STATS[113, level].tolist() == [expected[name] for name in ("hp", "atk", "def", "spa", "spd", "spe")]
