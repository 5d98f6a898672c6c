"""A battle in play, at any venue: seats for a fixture's agents, the first fault, and the record of how it went."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Awaitable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Protocol

from agents import Agent, Choice
from arena.fixture import SEATS, Fixture, seat_seed
from arena.record import BattleRecord
from arena.simulator.guard import StepGuard
from arena.simulator.seat import Fault, Seat, make_agent, new_seat
from arena.sources import source_of
from teamsets.formats import get_format


class Seats(Protocol):
    """Makes seats whose agents are elsewhere, in processes of their own (arena/isolation)."""

    def seat(
        self,
        role: str,
        spec: str,
        guard: StepGuard,
        who: int,
        *,
        tag: str,
        format_id: str,
        gen: int,
        seed: int,
        think_limit: float,
    ) -> Seat:
        """As `new_seat`, for the agent of a spec, which is made there."""

    async def part(self, seats: Iterable[Seat]) -> None:
        """Tells the agents that their battle is over."""

    def drop(self, seats: Iterable[Seat]) -> None:
        """Ends what is left of seats whose battle was broken off."""


class MakesSeat(Protocol):
    """Makes the seat of a user who is not ours."""

    def __call__(self, role: str, guard: StepGuard, who: int, *, tag: str, format_id: str, gen: int) -> Seat: ...


class BattleSession:
    """One battle: its seats, the first fault, and what is kept of it.

    outside: role -> what makes its seat, where no agent of ours sits. faults: of agents that could not be made, by seat;
    they lose as soon as the battle has begun. isolation: makes the seats of our agents; None: they play in this process.
    """

    def __init__(
        self,
        fixture: Fixture,
        guard: StepGuard,
        serial: int,
        *,
        tag: str,
        think_limit: float,
        outside: Mapping[str, MakesSeat] = MappingProxyType({}),
        isolation: Seats | None = None,
    ) -> None:
        self.fixture = fixture
        self.isolation = isolation
        self.started = time.time()
        self._clock = time.perf_counter()
        self.fault: tuple[str, Fault] | None = None
        self.seats: dict[str, Seat] = {}
        self.faults: dict[str, Fault] = {}
        gen = get_format(fixture.format).gen
        for index, (role, spec) in enumerate(zip(SEATS, fixture.agents, strict=True)):
            who = serial * 2 + index
            if role in outside:
                self.seats[role] = outside[role](role, guard, who, tag=tag, format_id=fixture.format, gen=gen)
                continue
            told: dict[str, Any] = {
                "guard": guard,
                "who": who,
                "tag": tag,
                "format_id": fixture.format,
                "gen": gen,
                "seed": seat_seed(fixture.seed, role),
                "think_limit": think_limit,
            }
            if isolation is not None:
                self.seats[role] = isolation.seat(role, spec, **told)
                continue
            try:
                self.seats[role] = new_seat(role, make_agent(guard, who, functools.partial(_made, spec)), **told)
            except Fault as fault:
                self.seats[role], self.faults[role] = new_seat(role, Agent(), **told), fault

    async def part(self) -> None:
        """Tells agents in processes of their own that the battle is over; `record` tells all others."""
        if self.isolation is not None:
            await self.isolation.part(self.seats.values())

    def leave(self) -> None:
        """Ends what is left of isolated seats when the battle was broken off."""
        if self.isolation is not None:
            self.isolation.drop(self.seats.values())

    def record(self, end: dict[str, Any]) -> BattleRecord:
        """Tells the agents that it is over, and says how it went. end: winner, turns, turnLimit, inputLog."""
        for seat in self.seats.values():
            seat.finish()
        return BattleRecord(
            fixture=self.fixture,
            **self._verdict(end),
            turns=end["turns"],
            started=self.started,
            seconds=time.perf_counter() - self._clock,
            input_log=end["inputLog"],
            logs=(self.seats["p1"].log, self.seats["p2"].log),
            decisions=[row for index, seat in enumerate(self.seats.values()) for row in seat.rows(index)],
            parse_warnings=sum(seat.battle.parse_warnings for seat in self.seats.values()),
        )

    def _verdict(self, end: dict[str, Any]) -> dict[str, Any]:
        """winner, reason, fault and detail of the record."""
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
    """What Showdown is told of each side: {"name": the seat, and "team": packed text or "seed": to draw it from}."""
    return {
        role: {"name": role, "team": team.packed} if team.packed else {"name": role, "seed": team.seed}
        for role, team in zip(SEATS, fixture.teams, strict=True)
    }


def drop(awaitable: Awaitable[Choice]) -> None:
    """Closes a coroutine, or cancels a future, that nobody will await."""
    if isinstance(awaitable, asyncio.Future):
        awaitable.cancel()
        return
    close = getattr(awaitable, "close", None)
    if close is not None:
        close()


def _made(spec: str) -> Agent:
    return source_of(spec).make()
