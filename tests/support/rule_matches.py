"""For the tests of the rule players: seeded battles in process, and fighters made by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from agents import Agent
from agents.mechanics.fighters import Conditions, Fighter
from agents.mechanics.moves import move_facts
from arena.battles.session import agent_of_spec
from arena.fixture import Fixture, FixtureTeam, digest, showdown_seed
from arena.record import BattleRecord
from arena.venue import Rules
from arena.venues.simulator import simulator


def pair_of_fixtures(first: str, second: str, format_id: str, number: int) -> list[Fixture]:
    """Two battles on the same two random teams, the agents' seats swapped."""
    seed = showdown_seed("rule players", format_id, number)
    teams = tuple(
        FixtureTeam(digest([format_id, number, side]), "drawn", seed=showdown_seed(number, side)) for side in (0, 1)
    )
    agents = [(first, second), (second, first)]
    return [Fixture(format_id, (a, b), (teams[0], teams[1]), seed, str(number), "drawn") for a, b in agents]


def play_all(
    fixtures: Iterable[Fixture], max_turns: int = 300, create_agent: Callable[[str], Agent] = agent_of_spec
) -> list[BattleRecord]:
    """Plays fixtures on one host, some at once; the records in the order of the fixtures."""
    return asyncio.run(
        simulator.play_all(fixtures, Rules(think_limit=60.0, max_turns=max_turns), create_agent=create_agent)
    )


def score(records: list[BattleRecord], agent: str) -> float:
    """The points of an agent: a win 1, a tie or the turn limit 1/2."""
    return sum(0.5 if r.winner is None else float(r.fixture.agents[int(r.winner[1]) - 1] == agent) for r in records)


def fighter(species: str, gen: int, stats: tuple[int, ...], types: tuple[str, ...], **more: Any) -> Fighter:
    """A healthy fighter at level 100. stats: hp, atk, def, spa, spd, spe. moves: ids, in `moves`."""
    moves = tuple((move_facts(move, gen), 1.0) for move in more.pop("moves", ()))
    plain: dict[str, Any] = {
        "level": 100, "tera": "", "terastallized": False, "boosts": (), "hp": 1.0, "status": "", "item": "",
        "ability": "", "weight": 80.0, "effects": frozenset(), "first_turn": False, "must_recharge": False, "slept": 0,
    }  # fmt: skip
    return Fighter(species, gen, types=types, base_types=types, stats=stats, moves=moves, **{**plain, **more})


def open_field(gen: int, weather: str = "") -> Conditions:
    """A field with nothing on it but, perhaps, weather."""
    return Conditions(gen, weather, "", False, ({}, {}))
