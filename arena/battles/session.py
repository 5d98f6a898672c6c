"""A battle in progress, at any venue: the seats of a fixture's agents, the first fault, and the record."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Protocol

from agents import Agent, AgentSource, Choice, resolve
from arena.battles.guard import StepGuard
from arena.battles.seat import Fault, Seat, make_agent, new_seat
from arena.fixture import SEATS, Fixture, seat_seed
from arena.record import BattleRecord
from teamsets.formats import get_format


@functools.cache
def source_of(spec: str) -> AgentSource:
    """Return the source of an agent in this process's battles, resolved once."""
    return resolve(spec)


def agent_of_spec(spec: str) -> Agent:
    """Create an agent from its spec."""
    return source_of(spec).make()


def prepared_agent(create: Callable[[str], Agent], spec: str, format_id: str) -> Agent:
    """Create an agent that has prepared for a format."""
    agent = create(spec)
    agent.prepare(format_id)
    return agent


class SeatIsolation(Protocol):
    """Creates seats whose agents run in their own processes (arena/venues/isolation)."""

    def seat(
        self,
        role: str,
        spec: str,
        guard: StepGuard,
        seat_id: int,
        *,
        tag: str,
        format_id: str,
        gen: int,
        seed: int,
        think_limit: float,
    ) -> Seat:
        """Like `new_seat`; the agent is created from its spec in its process."""

    async def end_seats(self, seats: Iterable[Seat]) -> None:
        """Notify the agents that their battle is over."""

    def drop_seats(self, seats: Iterable[Seat]) -> None:
        """Clean up the seats of an aborted battle."""


class SeatFactory(Protocol):
    """Creates the seat of a remote player."""

    def __call__(self, role: str, guard: StepGuard, seat_id: int, *, tag: str, format_id: str, gen: int) -> Seat: ...


class BattleSession:
    """One battle: its seats, the first fault, and its record.

    remote_seats: role -> creates the seat of a remote player. faults: of agents that could not be created, by seat; they
    lose when the battle starts. isolation: creates the seats of local agents; None: they run in this process, created by
    create_agent(spec).
    """

    #: As in the record, and the class of the seats of this process.
    venue = "simulator"
    seat_class: type[Seat] = Seat

    def __init__(
        self,
        fixture: Fixture,
        guard: StepGuard,
        serial: int,
        *,
        tag: str,
        think_limit: float,
        remote_seats: Mapping[str, SeatFactory] = MappingProxyType({}),
        isolation: SeatIsolation | None = None,
        create_agent: Callable[[str], Agent] = agent_of_spec,
    ) -> None:
        self.fixture = fixture
        self.isolation = isolation
        self.fault: tuple[str, Fault] | None = None
        self.seats: dict[str, Seat] = {}
        self.faults: dict[str, Fault] = {}
        gen = get_format(fixture.format).gen
        for index, (role, spec) in enumerate(zip(SEATS, fixture.agents, strict=True)):
            seat_id = serial * 2 + index
            if role in remote_seats:
                self.seats[role] = remote_seats[role](role, guard, seat_id, tag=tag, format_id=fixture.format, gen=gen)
                continue
            seat_settings: dict[str, Any] = {
                "guard": guard,
                "seat_id": seat_id,
                "tag": tag,
                "format_id": fixture.format,
                "gen": gen,
                "seed": seat_seed(fixture.seed, role),
                "think_limit": think_limit,
            }
            if isolation is not None:
                self.seats[role] = isolation.seat(role, spec, **seat_settings)
                continue
            seat_settings["kind"] = self.seat_class
            create = functools.partial(prepared_agent, create_agent, spec, fixture.format)
            try:
                self.seats[role] = new_seat(role, make_agent(guard, seat_id, create), **seat_settings)
            except Fault as fault:
                self.seats[role], self.faults[role] = new_seat(role, Agent(), **seat_settings), fault
        # Not before: the first agent of a kind loads its model, which is no battle's time.
        self.started = time.time()
        self._clock = time.perf_counter()

    async def end_isolated_seats(self) -> None:
        """Notify agents in their own processes that the battle is over; `record` notifies the others."""
        if self.isolation is not None:
            await self.isolation.end_seats(self.seats.values())

    def clean_up(self) -> None:
        """Clean up isolated seats of an aborted battle."""
        if self.isolation is not None:
            self.isolation.drop_seats(self.seats.values())

    def record(self, end: dict[str, Any]) -> BattleRecord:
        """Notify the agents of the end, and return the record. end: winner, turns, turnLimit, inputLog."""
        for seat in self.seats.values():
            seat.finish()
        return BattleRecord(
            fixture=self.fixture,
            **self._result(end),
            turns=end["turns"],
            started=self.started,
            seconds=time.perf_counter() - self._clock,
            input_log=end["inputLog"],
            logs=(self.seats["p1"].log, self.seats["p2"].log),
            decisions=[row for index, seat in enumerate(self.seats.values()) for row in seat.rows(index)],
            parse_warnings=sum(seat.battle.parse_warnings for seat in self.seats.values()),
            venue=self.venue,
        )

    def _result(self, end: dict[str, Any]) -> dict[str, Any]:
        """Return winner, reason, fault and detail of the record."""
        if self.fault is not None:
            role, fault = self.fault
            winner = "p2" if role == "p1" else "p1"
            return {"winner": winner, "reason": fault.kind, "fault": role, "detail": str(fault)}
        if end["turnLimit"]:
            return {"winner": None, "reason": "turn-limit"}
        if end["winner"]:
            last = end["inputLog"][-1]
            gave_up = f"{last[-2:]} forfeited" if last.startswith(">forcelose ") else None
            return {"winner": end["winner"], "reason": "win", "detail": gave_up}
        return {"winner": None, "reason": "tie"}


def player_options(fixture: Fixture) -> dict[str, dict[str, Any]]:
    """Return Showdown's options of each side: {"name": seat, and "team": packed text or "seed": generates the team}."""
    return {
        role: {"name": role, "team": team.packed} if team.packed else {"name": role, "seed": team.seed}
        for role, team in zip(SEATS, fixture.teams, strict=True)
    }


def close_awaitable(awaitable: Awaitable[Choice]) -> None:
    """Close a coroutine, or cancel a future, that will not be awaited."""
    if isinstance(awaitable, asyncio.Future):
        awaitable.cancel()
        return
    close = getattr(awaitable, "close", None)
    if close is not None:
        close()
