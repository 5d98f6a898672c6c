"""Doubles on the simulator: each format is played, recorded and played again to the same lines."""

from __future__ import annotations

import asyncio
import json

import pytest
from support.doubles import doubles_fixtures

from agents.battle.joint_choices import is_stored, joint_choices, slot_choices
from arena.battles.guard import StepGuard
from arena.record import BattleRecord
from arena.venue import Rules
from arena.venues.simulator.host import Host
from arena.venues.simulator.replaying import difference, replay_input_log, without_requests
from arena.venues.simulator.simulator import Simulator
from teamsets.formats import DOUBLES_FORMATS

PAIRS = (("random", "poke-env:SimpleHeuristicsPlayer"), ("poke-env:RandomPlayer", "poke-env:MaxBasePowerPlayer"))
RULES = (("heuristic:expert", "heuristic:max-damage"),)


async def play(format_id: str, pairs: tuple[tuple[str, str], ...], number: int) -> list[BattleRecord]:
    """Play battles, and again from their input logs: nothing may differ."""
    async with await Host.launch() as host:
        simulator = Simulator(host, StepGuard(), Rules(think_limit=60.0))
        fixtures = [fixture for pair in pairs for fixture in doubles_fixtures(format_id, pair, number)]
        records = await asyncio.gather(*(simulator.play(fixture, index) for index, fixture in enumerate(fixtures)))
        for record in records:
            replay = await replay_input_log(host, record.input_log)
            assert replay.lines == tuple(map(without_requests, record.logs))
            kept = [[(row[2], row[3], row[4]) for row in record.decisions if row[0] == seat] for seat in (0, 1)]
            assert not difference(
                replay, winner=record.winner, turns=record.turns, input_log=record.input_log, decisions=kept
            )
    return list(records)


@pytest.mark.parametrize("format_id", DOUBLES_FORMATS)
def test_each_format_is_played_without_a_fault_and_played_again_line_by_line(format_id: str) -> None:
    records = asyncio.run(play(format_id, PAIRS, 1))
    for record in records:
        assert (record.reason, record.fault, record.detail) in (("win", None, None), ("tie", None, None))
        assert record.parse_warnings == 0 and record.turns > 1
        assert all(is_stored(choice, legal) for _, _, _, legal, choice, *_ in record.decisions)


@pytest.mark.slow
@pytest.mark.parametrize("format_id", DOUBLES_FORMATS)
def test_poke_envs_players_find_legal_choices(format_id: str) -> None:
    records = asyncio.run(play(format_id, (*PAIRS, ("poke-env:SimpleHeuristicsPlayer", "poke-env:RandomPlayer")), 10))
    assert [record.detail for record in records if record.fault] == []
    assert sum(record.parse_warnings for record in records) == 0


def test_a_slots_choices_are_those_of_joint_choices_in_random_battles() -> None:
    records = asyncio.run(play("gen9randomdoublesbattle", (("random", "random"),), 3))
    lines = [line for record in records for log in record.logs for line in log if line.startswith("|request|")]
    requests = [json.loads(line.removeprefix("|request|")) for line in lines]
    asked = [
        slot_choices(request) for request in requests if not request.get("wait") and not request.get("teamPreview")
    ]
    assert sum(slots.replacements is not None for slots in asked) > 10
    for slots in asked:
        joint = joint_choices(slots)
        for position in (0, 1):
            assert {choice.parts[position] for choice in joint} == set(slots[position] or [])


def test_the_detail_of_illegal_answers_says_why_and_is_short() -> None:
    (record,) = asyncio.run(play("gen9randomdoublesbattle", (("bad_agents:Illegal", "random"),), 1))
    assert record.reason == "illegal" and record.detail is not None
    start = "answered 'move splashdance' (only one slot was answered), 3 times in a row; legal: a: "
    assert record.detail.startswith(start) and ", b: " in record.detail
    assert record.detail.endswith(" more") and record.detail.count(", ") == 10 and len(record.detail) < 500


@pytest.mark.parametrize("format_id", ["gen9championsvgc2026regma", "gen8doublesou"])
def test_rule_players_play(format_id: str) -> None:
    """Mega Evolution and the choice of four; Dynamax."""
    (record,) = asyncio.run(play(format_id, RULES, 1))
    assert (record.reason, record.fault, record.detail) == ("win", None, None)
    assert all(is_stored(choice, legal) for _, _, _, legal, choice, *_ in record.decisions)


@pytest.mark.slow
@pytest.mark.parametrize("format_id", DOUBLES_FORMATS)
def test_rule_players_have_no_fault(format_id: str) -> None:
    records = asyncio.run(play(format_id, (*RULES, ("heuristic:max-damage", "heuristic:expert")), 10))
    assert [record.detail for record in records if record.fault] == []


@pytest.mark.parametrize("pair", [PAIRS[0], RULES[0]])
def test_the_same_seed_gives_the_same_battle(pair: tuple[str, str]) -> None:
    first, second = (asyncio.run(play("gen9randomdoublesbattle", (pair,), 1)) for _ in range(2))
    assert first[0].logs == second[0].logs and first[0].input_log == second[0].input_log
