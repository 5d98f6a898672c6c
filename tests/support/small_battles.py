"""Battles of small teams of generation 1, and a battle as a seat sees it at its first request."""

from __future__ import annotations

import asyncio
import random

import orjson

from agents.battle import SeatBattle
from arena.fixture import Fixture, FixtureTeam
from arena.record import BattleRecord
from arena.venue import Rules
from arena.venues.simulator.simulator import play_all


def team(*members: tuple[str, ...]) -> str:
    """A packed team. members: species and moves."""
    return "]".join(
        f"{species}|{species}||noability|{','.join(moves)}||252,252,252,252,252,252||||||"
        for species, *moves in members
    )


def fought(one: str, two: str, agents: tuple[str, str] = ("random", "random")) -> BattleRecord:
    """A battle of two packed teams."""
    teams = (FixtureTeam("a" * 16, "one", one), FixtureTeam("b" * 16, "two", two))
    fixture = Fixture("gen1ou", agents, teams, "gen5,0123456789abcdef", "pair", "none")
    return asyncio.run(play_all([fixture], Rules(think_limit=60.0, max_turns=80)))[0]


def at_first_request(record: BattleRecord) -> SeatBattle:
    """The battle as p1 sees it when it first has to choose."""
    lines = record.logs[0]
    at = next(place for place, line in enumerate(lines) if line.startswith("|request|"))
    battle = SeatBattle("battle-gen1ou-1", "p1", "p1", 1, "gen1ou", random.Random(0))
    battle.feed(lines[:at])
    battle.ask(orjson.loads(lines[at][9:]))
    return battle
