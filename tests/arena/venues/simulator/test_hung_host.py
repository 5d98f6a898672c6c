"""A host that hangs without dying is ended, and whoever waits for it is told."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Coroutine
from typing import Any

import pytest

from arena.battles.guard import StepGuard
from arena.fixture import Fixture, FixtureTeam, showdown_seed
from arena.venue import Rules
from arena.venues.simulator.host import Host, HostDied
from arena.venues.simulator.simulator import Simulator

TEAMS = (FixtureTeam("a", "a", seed=showdown_seed(1)), FixtureTeam("b", "b", seed=showdown_seed(2)))
FIXTURE = Fixture("gen1randombattle", ("random", "random"), TEAMS, showdown_seed(3), "pair", "drawn")


def impatient() -> Coroutine[Any, Any, Host]:
    return Host.launch(silence_seconds=1.0, check_seconds=0.25)


def test_a_stopped_host_is_killed_and_its_battle_broken_off() -> None:
    async def play() -> None:
        host = await impatient()
        await host.ask({"op": "version"})  # it is up
        os.kill(host.pid, signal.SIGSTOP)
        with pytest.raises(HostDied):
            await asyncio.wait_for(Simulator(host, StepGuard(), Rules()).play(FIXTURE, 1), 60)
        assert host.status == -signal.SIGKILL
        with pytest.raises(HostDied):  # and at once, not never
            await asyncio.wait_for(host.ask({"op": "version"}), 5)

    asyncio.run(play())


def test_an_idle_host_is_left_alone() -> None:
    async def idle() -> None:
        async with await impatient() as host:
            await host.ask({"op": "version"})
            await asyncio.sleep(2)
            assert (await host.ask({"op": "version"}))["version"].startswith("v")

    asyncio.run(idle())
