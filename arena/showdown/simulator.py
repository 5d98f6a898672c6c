"""The simulator venue: fixtures played in process on real Showdown, through a host."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any

from agents import Agent, AgentSource, Choice, resolve
from arena.fixture import SEATS, Fixture, seat_seed
from arena.record import BattleRecord
from arena.showdown.guard import StepGuard
from arena.showdown.host import Host, HostDied, Message
from arena.showdown.seat import Fault, Seat, make_agent, new_seat
from teamsets.errors import ArenaError
from teamsets.formats import get_format


class SimulatorCrashed(ArenaError):
    """Showdown itself threw in a battle, or refused to start it."""


@dataclass(frozen=True)
class Rules:
    """The limits of a battle: seconds for one decision, turns for the whole (Showdown's own limit is 1,000)."""

    think_limit: float = 10.0
    max_turns: int = 1000


class Simulator:
    """Plays fixtures on one host. Many at once: `play` returns when its battle is over."""

    def __init__(self, host: Host, guard: StepGuard, rules: Rules) -> None:
        self.host, self.guard, self.rules = host, guard, rules

    async def play(self, fixture: Fixture, serial: int) -> BattleRecord:
        """Plays one fixture to its end, whatever the agents do.

        serial: a number for this fixture that the guard shows to other processes. Raises HostDied or SimulatorCrashed
        when the venue, and no agent, failed.
        """
        return await _Table(self, fixture, serial).over


@functools.cache
def _source(spec: str) -> AgentSource:
    return resolve(spec)


def _made(spec: str) -> Agent:
    return _source(spec).make()


class _Table:
    """One battle at a host: passes what the host says to the seats, and what the seats choose to the host."""

    def __init__(self, simulator: Simulator, fixture: Fixture, serial: int) -> None:
        self.fixture = fixture
        self.host = simulator.host
        self.over: asyncio.Future[BattleRecord] = asyncio.get_running_loop().create_future()
        self.started = time.time()
        self.clock = time.perf_counter()
        self.fault: tuple[str, Fault] | None = None
        self.tasks: set[asyncio.Task[None]] = set()
        self.id = self.host.open(self.receive)
        rules, gen = simulator.rules, get_format(fixture.format).gen
        self.seats: dict[str, Seat] = {}
        faults: dict[str, Fault] = {}
        for index, (role, spec) in enumerate(zip(SEATS, fixture.agents, strict=True)):
            who = serial * 2 + index
            try:
                agent = make_agent(simulator.guard, who, functools.partial(_made, spec))
            except Fault as fault:
                agent, faults[role] = Agent(), fault
            self.seats[role] = new_seat(
                role,
                agent,
                simulator.guard,
                who,
                tag=f"battle-{fixture.format}-{self.id}",
                format_id=fixture.format,
                gen=gen,
                seed=seat_seed(fixture.seed, role),
                think_limit=rules.think_limit,
            )
        players = {
            role: {"name": role, "team": team.packed} if team.packed else {"name": role, "seed": team.seed}
            for role, team in zip(SEATS, fixture.teams, strict=True)
        }
        order = {
            "op": "start",
            "id": self.id,
            "format": fixture.format,
            "seed": fixture.seed,
            "maxTurns": rules.max_turns,
        }
        self.host.send({**order, **players})
        for role, failure in faults.items():
            self.lose(role, failure)

    def receive(self, message: Message) -> None:
        """One message from the host. Nothing that happens here may escape into the event loop."""
        try:
            if "p1" in message:
                self.update(message)
            elif "died" in message:
                self.break_off(HostDied(message["died"]))
            else:
                words = message.get("refused") or message["crash"]
                self.break_off(SimulatorCrashed(f"{self.fixture.format}, seed {self.fixture.seed}: {words}"))
        except Exception as error:  # a fault of ours: it belongs to whoever awaits this battle, not to the loop
            self.break_off(error)

    def update(self, message: Message) -> None:
        ended = "end" in message
        order: dict[str, Any] = {"op": "choose", "id": self.id}
        later: list[tuple[Seat, Awaitable[Choice]]] = []
        for role, seat in self.seats.items():
            if not seat.see(message[role]) or ended or self.fault:
                continue
            try:
                choice = seat.decide()
            except Fault as fault:
                self.lose(role, fault)
                continue
            if isinstance(choice, Choice):
                order[role] = choice.wire
            else:
                later.append((seat, choice))
        if ended:
            self.end(message["end"])
            return
        for seat, awaitable in later:
            if self.fault:
                _drop(awaitable)
            else:
                task = asyncio.ensure_future(self.choose_later(seat, awaitable))
                self.tasks.add(task)
                task.add_done_callback(self.tasks.discard)
        if len(order) > 2 and not self.fault:
            self.host.send(order)

    async def choose_later(self, seat: Seat, awaitable: Awaitable[Choice]) -> None:
        try:
            choice = await awaitable
        except Fault as fault:
            self.lose(seat.role, fault)
        except Exception as error:
            self.break_off(error)
        else:
            if not self.fault and not self.over.done():
                self.host.send({"op": "choose", "id": self.id, seat.role: choice.wire})

    def lose(self, role: str, fault: Fault) -> None:
        """The seat has failed: it loses. The host's answer to this ends the battle. Only the first fault counts."""
        if self.fault is None:
            self.fault = (role, fault)
            self.host.send({"op": "lose", "id": self.id, "side": role})

    def break_off(self, error: Exception) -> None:
        self.close()
        self.host.send({"op": "stop", "id": self.id})
        if not self.over.done():
            self.over.set_exception(error)

    def close(self) -> None:
        self.host.forget(self.id)
        for task in self.tasks:
            task.cancel()

    def end(self, end: dict[str, Any]) -> None:
        self.close()
        for seat in self.seats.values():
            seat.finish()
        record = BattleRecord(
            fixture=self.fixture,
            **self.verdict(end),
            turns=end["turns"],
            started=self.started,
            seconds=time.perf_counter() - self.clock,
            input_log=end["inputLog"],
            logs=(self.seats["p1"].log, self.seats["p2"].log),
            decisions=[
                (index, number, d.turn, d.legal, d.choice, d.think_ms, d.thought)
                for index, seat in enumerate(self.seats.values())
                for number, d in enumerate(seat.decisions)
            ],
            oddities=sum(seat.battle.oddities for seat in self.seats.values()),
        )
        if not self.over.done():
            self.over.set_result(record)

    def verdict(self, end: dict[str, Any]) -> dict[str, Any]:
        """winner, reason, fault and detail of the record."""
        if self.fault is not None:
            role, fault = self.fault
            winner = "p2" if role == "p1" else "p1"
            return {"winner": winner, "reason": fault.kind, "fault": role, "detail": str(fault)}
        if end["turnLimit"]:
            return {"winner": None, "reason": "turn-limit"}
        if end["winner"]:
            return {"winner": end["winner"], "reason": "win"}
        return {"winner": None, "reason": "tie"}


def _drop(awaitable: Awaitable[Choice]) -> None:
    """Closes a coroutine that nobody will await."""
    close = getattr(awaitable, "close", None)
    if close is not None:
        close()
