"""A host that hangs without dying is ended, and whoever waits for it is told."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from arena.battles.guard import StepGuard
from arena.fixture import Fixture, FixtureTeam, showdown_seed
from arena.venue import Rules
from arena.venues.simulator.host import Host, HostDied
from arena.venues.simulator.simulator import Simulator

TEAMS = (FixtureTeam("a", "a", seed=showdown_seed(1)), FixtureTeam("b", "b", seed=showdown_seed(2)))
FIXTURE = Fixture("gen1randombattle", ("random", "random"), TEAMS, showdown_seed(3), "pair", "drawn")


async def impatient() -> Host:
    """A host that is up and from now on may be silent for a second: to start takes longer on a busy machine."""
    host = await Host.launch(check_seconds=0.25)
    await host.ask({"op": "version"})
    host._silence_seconds = 1.0
    return host


def test_a_stopped_host_is_killed_and_its_battle_broken_off() -> None:
    async def play() -> None:
        host = await impatient()
        os.kill(host.pid, signal.SIGSTOP)
        with pytest.raises(HostDied):
            await asyncio.wait_for(Simulator(host, StepGuard(), Rules()).play(FIXTURE, 1), 60)
        assert host.status == -signal.SIGKILL
        with pytest.raises(HostDied):  # and at once, not never
            await asyncio.wait_for(host.ask({"op": "version"}), 60)

    asyncio.run(play())


def test_an_idle_host_is_left_alone() -> None:
    async def idle() -> None:
        async with await impatient() as host:
            await asyncio.sleep(2)
            assert not host.dead.done()
            host._silence_seconds = 60.0
            assert (await host.ask({"op": "version"}))["version"].startswith("v")

    asyncio.run(idle())
