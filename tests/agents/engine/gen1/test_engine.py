"""The engine plays Showdown's own battles: state, legal actions, random numbers and results at every decision."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

from support.scripts import script

from agents.engine.gen1.engine import Engine, initial
from agents.engine.gen1.layout import SEED, TURN, UNDECIDED, WINNER
from agents.engine.gen1.rollout import rollout
from agents.observation.engine_observation import observe_rows
from teamsets.errors import BadInput
from teamsets.showdown import node, package

engine_parity = script("parity/engine_parity.py")
PROJECT = Path(__file__).parents[4]
SEEDS = ("gen5,0123456789abcdef", "gen5,fedcba9876543210")
TEAM = "]".join(
    f"|{species}||noability|{moves}||252,252,252,252,252,252||30,30,30,30,30,30|||"
    for species, moves in (
        ("tauros", "bodyslam,hyperbeam,earthquake,blizzard"),
        ("chansey", "softboiled,icebeam,sing,reflect"),
    )
)


def with_fields(*, evs: str = "", ivs: str = "", level: str = "") -> str:
    """A team of one Pokémon, as Showdown packs it."""
    return f"|tauros||noability|bodyslam||{evs}||{ivs}||{level}|"


@pytest.mark.parametrize(("teams", "policy"), [("any", "random"), ("any", "rare"), ("random", "switcher")])
def test_every_decision_is_showdowns(teams: str, policy: str) -> None:
    battles = engine_parity.oracle({"battles": 40, "seed": 20261124, "teams": teams, "policy": policy})
    assert sum(len(battle["decisions"]) for battle in battles) > 1000
    assert engine_parity.compare(battles) == {}


def test_a_difference_is_found_and_shown() -> None:
    options = {"battles": 5, "seed": 3, "teams": "any", "policy": "random"}
    battles = engine_parity.oracle(options)
    battles[2]["decisions"][4][0] ^= 1
    assert engine_parity.compare(battles) == {2: 4}
    battles[3]["decisions"][2][1] ^= 1  # legal actions
    assert engine_parity.compare(battles) == {2: 4, 3: 2}
    shown = engine_parity.explain(options, battles[2], 4)
    assert shown.startswith("battle 2 (seed 3), decision 4: legal ")
    assert "|turn|" in shown


def test_the_data_is_that_of_the_installed_showdown() -> None:
    script = PROJECT / "scripts" / "build" / "make_engine_data.mjs"
    made = subprocess.run([node(), str(script), "--print"], capture_output=True, text=True, check=True).stdout
    assert made == (PROJECT / "agents" / "engine" / "gen1" / "gen1.json").read_text(), f"run: node {script}"
    assert json.loads(made)["version"] == json.loads((package() / "package.json").read_text())["version"]


def test_a_fork_goes_its_own_way_and_the_same_choices_lead_to_the_same_state() -> None:
    engine = Engine(2)
    engine.reset([(TEAM, TEAM)] * 2, SEEDS)
    engine.step(np.zeros((2, 2), np.int32))
    fork = engine.fork([1, 1, 0])
    assert (fork.words == engine.words[[1, 1, 0]]).all()
    fork.step(np.array([[0, 0], [1, 2], [0, 0]], np.int32))
    assert (fork.words[0] != fork.words[1]).any()
    engine.step(np.zeros((2, 2), np.int32))
    assert (engine.words == fork.words[[2, 0]]).all()


def test_rows_are_begun_anew_in_place_and_a_bad_team_changes_none() -> None:
    engine = Engine(3)
    engine.reset([(TEAM, TEAM)] * 3, [SEEDS[0]] * 3)
    begun = engine.words[0].copy()
    engine.step(np.zeros((3, 2), np.int32))
    engine.reset([(TEAM, TEAM)], [SEEDS[0]], rows=[1])
    assert (engine.words[1] == begun).all()
    assert (engine.words[[0, 2]] != begun).any(axis=1).all()
    before = engine.words.copy()
    with pytest.raises(BadInput, match="missingno"):
        engine.reset([(TEAM, TEAM), (TEAM.replace("tauros", "missingno"), TEAM)], SEEDS, rows=[0, 1])
    assert (engine.words == before).all()


def test_some_rows_are_stepped_in_any_order_and_the_others_stay() -> None:
    engine = Engine(4)
    engine.reset([(TEAM, TEAM)] * 4, [*SEEDS, *SEEDS])
    before, apart = engine.words.copy(), engine.fork([2, 0])
    actions = np.array([[0, 1], [2, 0]], np.int32)
    rows = np.array([2, 0])
    assert (engine.legal(rows) == engine.legal()[rows]).all()
    engine.step(actions, rows)
    apart.step(actions)
    assert (engine.words[rows] == apart.words).all() and (engine.words[[1, 3]] == before[[1, 3]]).all()
    after = engine.words.copy()
    for wrong, names in (([1, 1], "rows: 1 comes more than once"), ([0, 4], "rows: there is no 4"), ([0], "is needed")):
        with pytest.raises(BadInput, match=names):
            engine.step(actions, np.array(wrong))
    with pytest.raises(BadInput, match="battle 3, seat 1: action 8 is not legal"):
        engine.step(np.array([[0, 0], [0, 8]]), np.array([1, 3]))
    assert (engine.words == after).all()


def test_a_finished_battle_stays_as_it_is() -> None:
    engine = Engine(1)
    engine.reset([(TEAM, TEAM)], [SEEDS[0]])
    engine.words[0, WINNER] = 1
    before = engine.words.copy()
    engine.step(np.zeros((1, 2), np.int32))
    assert (engine.words == before).all()


def test_an_illegal_action_is_named_and_nothing_is_played() -> None:
    engine = Engine(2)
    engine.reset([(TEAM, TEAM)] * 2, SEEDS)
    before = engine.words.copy()
    with pytest.raises(BadInput, match="battle 1, seat 0: action 8 is not legal"):
        engine.step(np.array([[0, 0], [8, 0]], np.int32))
    assert (engine.words == before).all()


@pytest.mark.parametrize(
    ("actions", "names"),
    [
        (np.zeros((1, 2), np.int32), r"actions of shape \[1, 2\]: \[2, 2\] is needed"),
        (np.zeros((2, 1), np.int32), r"actions of shape \[2, 1\]"),
        (np.zeros(2, np.int32), r"actions of shape \[2\]"),
        (np.zeros((3, 2), np.int32), r"actions of shape \[3, 2\]"),
        (np.zeros((2, 2, 1), np.int32), r"actions of shape \[2, 2, 1\]"),
        (np.zeros((2, 2), np.float32), "actions of type float32: whole numbers"),
        (np.zeros((2, 2), np.bool_), "actions of type bool"),
        (np.array([[0, 0], [1 << 32, 0]]), "battle 1, seat 0: action 4294967296 is not legal"),
        (np.array([[0, 0], [0, -1]]), "battle 1, seat 1: action -1 is not legal"),
    ],
)
def test_actions_of_another_shape_or_type_are_refused_and_nothing_is_played(actions: Any, names: str) -> None:
    engine = Engine(2)
    engine.reset([(TEAM, TEAM)] * 2, SEEDS)
    before = engine.words.copy()
    with pytest.raises(BadInput, match=names):
        engine.step(actions)
    assert (engine.words == before).all()
    engine.step(np.zeros((2, 2), np.int64))  # whole numbers of any type
    assert (engine.words != before).any(axis=1).all()


@pytest.mark.parametrize(
    ("rows", "seats", "names"),
    [
        ([0, 2], [0, 0], "rows: there is no 2; there are 2, from 0"),
        ([-1], [0], "rows: there is no -1"),
        ([1 << 40], [0], "rows: there is no 1099511627776"),
        ([0, 1], [0, 2], "seats: there is no 2; there are 2"),
        ([0, 1], [0], r"seats of shape \[1\]: \[2\] is needed"),
        ([[0, 1]], [0, 1], r"rows of shape \[1, 2\]: \[n\] is needed"),
        ([0.0], [0], "rows of type float64"),
        ([True], [0], "rows of type bool"),
    ],
)
def test_rows_and_seats_that_are_not_there_are_refused(rows: Any, seats: Any, names: str) -> None:
    engine = Engine(2)
    engine.reset([(TEAM, TEAM)] * 2, SEEDS)
    asked: tuple[Any, Any] = np.array(rows), np.array(seats)
    with pytest.raises(BadInput, match=names):
        observe_rows(engine, *asked)
    with pytest.raises(BadInput, match=names):
        engine.translate(*asked, np.zeros(len(rows), np.int64))
    if names.startswith("rows"):
        with pytest.raises(BadInput, match=names):
            engine.fork(rows)
        with pytest.raises(BadInput, match=names):
            engine.reset([(TEAM, TEAM)] * len(rows), [SEEDS[0]] * len(rows), rows=rows)


def test_what_is_no_number_team_or_array_is_refused() -> None:
    with pytest.raises(BadInput, match="battles=-1: must be a whole number, 0 or more"):
        Engine(-1)
    engine = Engine(1)
    for pair in ((None, TEAM), (TEAM.encode(), TEAM), (TEAM,)):
        with pytest.raises(BadInput, match="two packed teams are needed, both as text"):
            engine.reset([pair], SEEDS[:1])  # type: ignore[list-item]
    with pytest.raises(BadInput, match="rows of type object: whole numbers are needed"):
        engine.translate(None, None, None)  # type: ignore[arg-type]


def test_arrays_for_observations_and_actions_must_fit() -> None:
    engine = Engine(2)
    engine.reset([(TEAM, TEAM)] * 2, SEEDS)
    rows, seats = np.arange(2), np.zeros(2, np.int64)
    out = observe_rows(engine, rows, seats)
    with pytest.raises(BadInput, match=r"out of int16 \[2, 19, 12\], .*: int16 \[1, 19, 12\], .* are needed"):
        observe_rows(engine, rows[:1], seats[:1], out)
    with pytest.raises(BadInput, match=r"actions of shape \[1\]: \[2\] is needed"):
        engine.translate(rows, seats, np.zeros(1, np.int64))
    assert engine.translate(rows, seats, np.array([-1, 99])).tolist() == [-1, -1]
    with pytest.raises(BadInput, match="1 pairs of teams and 2 seeds for 2 rows"):
        engine.reset([(TEAM, TEAM)], SEEDS)


def test_random_play_begins_finished_battles_anew_with_other_seeds() -> None:
    fresh = np.stack([initial((TEAM, TEAM), seed) for seed in SEEDS])
    engine = Engine(2)
    engine.reset([(TEAM, TEAM)] * 2, SEEDS)
    battles, choices, turns = rollout(engine.words, fresh, np.array([1, 2], np.uint64), 3000)
    assert battles > 20
    assert turns > battles  # a battle has a turn or more
    assert 2 * 3000 < choices <= 4 * 3000  # of two seats in two battles, less where one waits
    assert (engine.words[:, WINNER] == UNDECIDED).all()
    assert (engine.words[:, TURN] >= 1).all()
    assert (engine.words[:, SEED : SEED + 4] != fresh[:, SEED : SEED + 4]).any()


_ON_TWO_THREADS = """
import sys
import numba
import numpy as np
from agents.engine.gen1.engine import Engine

BATTLES = 64

def played(threads: int) -> np.ndarray:
    numba.set_num_threads(threads)
    engine, rng = Engine(BATTLES), np.random.default_rng(0)
    engine.reset([(sys.argv[1], sys.argv[1])] * BATTLES, [f"gen5,{n:016x}" for n in range(1, BATTLES + 1)])
    for _ in range(20):
        legal = engine.legal()[..., None] >> np.arange(9) & 1
        engine.step((rng.random(legal.shape) * legal).argmax(axis=-1).astype(np.int32))
    return engine.words

one, two = played(1), played(2)
print(numba.get_num_threads(), len(np.unique(one, axis=0)), (one == two).all())
"""


def test_battles_on_two_threads_are_those_on_one() -> None:
    """In a process of its own: how many threads there may be is read once, and the tests' own processes have one."""
    environment = {**os.environ, "NUMBA_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", _ON_TWO_THREADS, TEAM], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.split() == ["2", "64", "True"]


_IN_A_FORK = """
import os
import numpy as np
from agents.engine.gen1.engine import Engine
from teamsets.errors import ArenaError

def uses() -> str:
    try:
        Engine(0).step(np.zeros((0, 2), np.int32))
    except ArenaError as error:
        return str(error)
    return "it works"

def in_a_fork() -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, uses().encode())
        os._exit(0)
    os.close(writing)
    words = os.read(reading, 1000).decode()
    return words or f"status {os.waitpid(child, 0)[1]}"

print(in_a_fork())
print(uses())
print(in_a_fork())
"""


def test_a_fork_of_a_process_that_has_used_it_is_told_so() -> None:
    done = subprocess.run([sys.executable, "-c", _IN_A_FORK], capture_output=True, text=True, check=True)
    before, parent, after = done.stdout.splitlines()
    assert (before, parent) == ("it works", "it works")
    assert after.startswith("the engine cannot be used here: this process was forked after the engine had been used")


@pytest.mark.parametrize(
    ("team", "seed", "names"),
    [
        (TEAM, "sodium,00", "gen5"),
        (TEAM, "gen5,0123456789abcdeg", "gen5,0123456789abcdef"),
        (TEAM, "gen5,+123456789abcdef", "gen5,0123456789abcdef"),
        (TEAM, "gen5,0123456789abcdef0", "gen5,0123456789abcdef"),
        (with_fields(level="-5"), SEEDS[0], "tauros: level '-5': must be a whole number from 1 to 100"),
        (with_fields(level="9999"), SEEDS[0], "tauros: level '9999'"),
        (with_fields(level="abc"), SEEDS[0], "tauros: level 'abc'"),
        (with_fields(evs="1,2,3,4,5,256"), SEEDS[0], "tauros: EVs '256': must be a whole number from 0 to 255"),
        (with_fields(evs="1,2"), SEEDS[0], "tauros: EVs '1,2': six numbers"),
        (with_fields(ivs=",,,,-1,"), SEEDS[0], "tauros: IVs '-1'"),
        (TEAM.replace("tauros", "skarmory"), SEEDS[0], "skarmory"),
        (TEAM.replace("blizzard", "spikes"), SEEDS[0], "spikes"),
        (TEAM.replace("noability", "intimidate", 1), SEEDS[0], "No Ability"),
        (TEAM.replace("|tauros||", "|tauros|leftovers|"), SEEDS[0], "items"),
    ],
)
def test_what_it_cannot_play_it_refuses_by_name(team: str, seed: str, names: str) -> None:
    with pytest.raises(BadInput, match=names):
        initial((team, TEAM), seed)


def test_another_format_is_refused_by_name_and_one_it_plays_shares_the_battles() -> None:
    with pytest.raises(BadInput, match="format 'gen9ou': the engine plays gen1ou and gen1randombattle"):
        Engine(1, "gen9ou")
    engine = Engine(1)
    assert engine.of_format("gen1randombattle").words is engine.words
