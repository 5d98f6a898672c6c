"""What counts as a battle's time: not the making of its agents, the first of which loads a model or starts a server."""

from __future__ import annotations

import pytest

from agents import Agent
from arena.battles import session as session_module
from arena.battles.guard import StepGuard
from arena.battles.session import BattleSession
from arena.fixture import Fixture, FixtureTeam


def test_start_up_of_agents_is_no_battles_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000.0]

    def made(spec: str) -> Agent:
        clock[0] += 20.0
        return Agent()

    monkeypatch.setattr(session_module.time, "time", lambda: clock[0])
    monkeypatch.setattr(session_module.time, "perf_counter", lambda: clock[0])
    team = FixtureTeam("t", "t")
    fixture = Fixture("gen1randombattle", ("a", "b"), (team, team), "gen5,0123456789abcdef", "key", "drawn")
    battle = BattleSession(
        fixture, StepGuard(), 1, tag="battle-gen1randombattle-1", think_limit=10.0, create_agent=made
    )
    clock[0] += 1.5
    record = battle.record({"winner": "", "turns": 3, "turnLimit": False, "inputLog": []})
    assert (record.started, record.seconds) == (1040.0, 1.5)
