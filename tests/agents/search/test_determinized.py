"""Positions of the engine as one seat knows them, against `search:exact`, which reads the same from the seat's log."""

from __future__ import annotations

import asyncio
import random

import numpy as np
import pytest
from support.scripts import script

pytest.importorskip("numba")

from agents.engine.gen1 import layout as W
from agents.engine.gen1.engine import Engine
from agents.engine.gen1.tables import DATA, MOVE_IDS
from agents.search.exact.active_pokemon import side_at
from agents.search.exact.determinized import determinized
from agents.search.exact.root_position import sampled_team
from agents.search.exact.steps import legal
from agents.search.exact.tree import DISABLE
from arena.run.entrants import load_pools
from arena.schedules.plan import Plan, round_robin
from arena.venue import Rules
from arena.venues.simulator.simulator import play_all

walk = script("simulate/exact_comparison.py").walk
#: Words that differ between teams that a player cannot tell apart: which of the unseen names is first in the alphabet.
NAMES_ORDER = [side_at(1) + W.MONS + k * W.MON_WORDS + W.MON_PLACE for k in range(6)]


def team_of(row: np.ndarray, seat: int) -> dict[str, set[str]]:
    """Species -> moves."""
    found = {}
    for k in range(int(row[side_at(seat) + W.TEAM_SIZE])):
        mon = side_at(seat) + W.MONS + k * W.MON_WORDS
        moves = row[mon + W.MON_MOVES : mon + W.MON_MOVES + int(row[mon + W.MON_MOVE_COUNT])]
        found[DATA["species"][row[mon + W.MON_SPECIES] - 1]["id"]] = {MOVE_IDS[m] for m in moves.tolist()}
    return found


def test_the_sampled_team_is_the_one_that_the_player_samples() -> None:
    plan = Plan(("heuristic:expert", "random"), load_pools(("gen1ou",))[0], 2, 21)
    same, decisions, hidden = 0, 0, 0
    for record in asyncio.run(play_all(round_robin(plan), Rules(think_limit=60.0, max_turns=80))):
        teams = record.fixture.teams[0].packed or "", record.fixture.teams[1].packed or ""
        choices = [d[4] for d in record.decisions if d[0] == 0], [d[4] for d in record.decisions if d[0] == 1]
        for points in walk(record.logs, choices, teams, record.fixture.seed, "gen1ou"):
            for at in points:
                seed = random.Random(decisions).random()
                theirs = sampled_team(at.battle, at.log, random.Random(seed))
                found = determinized(at.true, at.seat, "gen1ou", random.Random(seed))
                decisions += 1
                same += team_of(found.row, 1 - at.seat) == {member.species: set(member.moves) for member in theirs}
                hidden += team_of(found.row, 1 - at.seat) != team_of(at.true, 1 - at.seat)
                assert team_of(found.row, at.seat) == team_of(at.true, at.seat)
                assert legal(found.row, side_at(at.seat)) == legal(at.true, side_at(at.seat)) == at.legal
                assert legal(found.row, side_at(1 - at.seat)) or not legal(at.true, side_at(1 - at.seat))
    assert decisions > 60 and hidden > 50
    assert same >= 0.98 * decisions  # the log knows a move of a transformed Pokémon, or one that was called, otherwise


def member(species: str, *moves: str) -> str:
    return f"{species}|{species}||noability|{','.join(moves)}||252,252,252,252,252,252||||||"


OURS = "]".join([member("tauros", "bodyslam", "blizzard"), member("chansey", "softboiled", "icebeam")])
SEEN = member("starmie", "surf", "recover", "thunderwave", "blizzard")
ALSO_SEEN = member("starmie", "surf", "psychic", "thunderbolt", "confuseray")
UNSEEN = member("jynx", "lovelykiss", "blizzard"), member("rhydon", "earthquake", "rockslide")


def test_what_the_opponent_has_not_shown_changes_nothing() -> None:
    engine = Engine(2)
    teams = [f"{SEEN}]{UNSEEN[0]}", f"{ALSO_SEEN}]{UNSEEN[1]}"]
    engine.reset([(OURS, theirs) for theirs in teams], ["gen5,0123456789abcdef"] * 2)
    for turn in range(3):
        one, other = (determinized(row, 0, "gen1ou", random.Random(5)) for row in engine.words)
        differing = set(np.flatnonzero(one.row != other.row).tolist())
        assert differing <= set(NAMES_ORDER) and (one.hidden == other.hidden).all(), turn
        assert (engine.words[0] != engine.words[1]).sum() > 10
        engine.step(np.array([[0, 0]] * 2, np.int32))  # Body Slam against Surf, which both have
    assert "surf" in team_of(one.row, 1)["starmie"] and "surf" not in team_of(engine.words[0], 1)["jynx"]


def test_in_a_format_whose_teams_are_generated_any_species_is_drawn_at_our_mean_level() -> None:
    engine = Engine(1, "gen1randombattle")
    levels = [member("tauros", "bodyslam")[:-2] + "70|", member("chansey", "softboiled")[:-2] + "80|"]
    engine.reset([("]".join(levels), f"{SEEN}]{UNSEEN[0]}")], ["gen5,0123456789abcdef"])
    rows = [determinized(engine.words[0], 0, "gen1randombattle", random.Random(n)).row for n in range(60)]
    unseen = [row[side_at(1) + W.MONS + W.MON_WORDS :] for row in rows]
    assert {int(mon[W.MON_LEVEL]) for mon in unseen} == {75}
    assert len({int(mon[W.MON_SPECIES]) for mon in unseen}) > 30
    assert all(int(row[side_at(1) + W.MONS + W.MON_LEVEL]) == 100 for row in rows)


def test_slots_that_are_known_stay_where_they_are() -> None:
    """One move was used, and Disable has named another; an own set of one move only has no slots to fill in between."""
    engine = Engine(1)
    engine.reset([(OURS, f"{SEEN}]{UNSEEN[0]}")], ["gen5,0123456789abcdef"])
    s = side_at(1)
    engine.words[0, s + W.MONS + W.MON_REVEALED] = 1 << 8  # the third slot
    engine.words[0, s + W.DISABLE_TIME], engine.words[0, s + W.DISABLE_SLOT] = 3, 3
    found = [determinized(engine.words[0], 0, "gen1ou", random.Random(n)) for n in range(40)]
    for root in found:
        moves = root.row[s + W.MONS + W.MON_MOVES :][:4]
        assert [MOVE_IDS[m] for m in moves[2:].tolist()] == ["thunderwave", "blizzard"]
        assert (root.row[s + W.MOVES :][:4] == moves).all() and len(set(moves.tolist())) == 4
        assert root.hidden[1, DISABLE] == 1 and (root.hidden[1, :DISABLE] == -1).all()
    assert len({root.row[s + W.MONS :][: W.MON_WORDS].tobytes() for root in found}) > 3
    ditto = engine.words[0].copy()
    ditto[s + W.MONS + W.MON_SPECIES] = 132
    ditto[s + W.MONS + W.MON_REVEALED] = 0
    for word in (s + W.MONS + W.MON_MOVE_COUNT, s + W.MOVE_COUNT):
        assert determinized(ditto, 0, "gen1ou", random.Random(0)).row[word] == 4  # Disable's is in the last slot
    ditto[s + W.DISABLE_TIME] = 0
    assert team_of(determinized(ditto, 0, "gen1ou", random.Random(0)).row, 1)["ditto"] == {"transform"}
