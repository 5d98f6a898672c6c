"""A host that hangs without dying is ended, and whoever waits for it is told."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from arena.battles.guard import StepGuard
from arena.fixture import Fixture, FixtureTeam, showdown_seed
from arena.venue import Rules
from arena.venues.simulator import host as host_module
from arena.venues.simulator.host import Host, HostDied
from arena.venues.simulator.simulator import Simulator

TEAMS = (FixtureTeam("a", "a", seed=showdown_seed(1)), FixtureTeam("b", "b", seed=showdown_seed(2)))
FIXTURE = Fixture("gen1randombattle", ("random", "random"), TEAMS, showdown_seed(3), "pair", "drawn")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_module, "_SILENCE_SECONDS", 1.0)
    monkeypatch.setattr(host_module, "_CHECK_SECONDS", 0.25)


def test_a_stopped_host_is_killed_and_its_battle_broken_off(impatient: None) -> None:
    async def play() -> None:
        host = await Host.launch()
        await host.ask({"op": "version"})  # it is up
        os.kill(host.pid, signal.SIGSTOP)
        with pytest.raises(HostDied):
            await asyncio.wait_for(Simulator(host, StepGuard(), Rules()).play(FIXTURE, 1), 60)
        assert host.status == -signal.SIGKILL
        with pytest.raises(HostDied):  # and at once, not never
            await asyncio.wait_for(host.ask({"op": "version"}), 5)

    asyncio.run(play())


def test_an_idle_host_is_left_alone(impatient: None) -> None:
    async def idle() -> None:
        async with await Host.launch() as host:
            await host.ask({"op": "version"})
            await asyncio.sleep(2)
            assert (await host.ask({"op": "version"}))["version"].startswith("v")

    asyncio.run(idle())
