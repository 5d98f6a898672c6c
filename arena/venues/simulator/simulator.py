"""The simulator venue: fixtures played on real Showdown through a host, without a server."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Protocol

from agents import Agent, Choice
from arena.battles.guard import StepGuard
from arena.battles.seat import Fault, Seat
from arena.battles.session import BattleSession, SeatIsolation, agent_of_spec, close_awaitable, player_options
from arena.fixture import Fixture
from arena.processes.child import Message
from arena.record import BattleRecord
from arena.venue import Rules, SimulatorCrashed
from arena.venues.simulator.host import Host, HostDied


class BattleHost(Protocol):
    """What battles are played on: `Host`, or another that has the same messages."""

    dead: asyncio.Future[str]

    def open(self, listener: Callable[[Message], None]) -> int: ...

    def send(self, message: Message) -> None: ...

    def forget(self, number: int) -> None: ...

    def kill(self) -> None: ...

    async def close(self) -> None: ...


class Simulator:
    """Plays fixtures on one host, many concurrently. isolation, create_agent: see `BattleSession`."""

    #: As in the record.
    venue = "simulator"

    def __init__(
        self,
        host: BattleHost,
        guard: StepGuard,
        rules: Rules,
        isolation: SeatIsolation | None = None,
        create_agent: Callable[[str], Agent] = agent_of_spec,
    ) -> None:
        self.host, self.guard, self.rules, self.isolation = host, guard, rules, isolation
        self.create_agent = create_agent

    async def play(self, fixture: Fixture, serial: int) -> BattleRecord:
        """Play one fixture to its end, whatever the agents do.

        serial: the fixture's number, which the guard shares with other processes. Raises HostDied or SimulatorCrashed
        if the venue, not an agent, failed.
        """
        session = _Session(self, fixture, serial)
        try:
            end = await session.over
            await session.end_isolated_seats()
            return session.record(end)
        finally:
            session.clean_up()

    @property
    def gone(self) -> bool:
        return self.host.dead.done()

    def end(self) -> None:
        self.host.kill()


async def play_all(
    fixtures: Iterable[Fixture],
    rules: Rules,
    *,
    guard: StepGuard | None = None,
    create_agent: Callable[[str], Agent] = agent_of_spec,
) -> list[BattleRecord]:
    """Play fixtures concurrently on a new host. Returns the records in the order of the fixtures.

    guard: None for a new one. create_agent: from what the fixtures call it, by default a spec.
    """
    async with await Host.launch() as host:
        simulator = Simulator(host, guard or StepGuard(), rules, create_agent=create_agent)
        return await asyncio.gather(*(simulator.play(fixture, serial) for serial, fixture in enumerate(fixtures)))


class _Session(BattleSession):
    """One battle at a host: passes the host's messages to the seats, and the seats' choices to the host."""

    def __init__(self, simulator: Simulator, fixture: Fixture, serial: int) -> None:
        self.host, self.venue = simulator.host, simulator.venue
        self.over: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.tasks: set[asyncio.Future[Choice]] = set()
        self.choices: dict[str, str] = {}  # role -> its choice, not yet sent
        self.id = self.host.open(self.receive)
        rules = simulator.rules
        tag = f"battle-{fixture.format}-{self.id}"
        super().__init__(
            fixture,
            simulator.guard,
            serial,
            tag=tag,
            think_limit=rules.think_limit,
            isolation=simulator.isolation,
            create_agent=simulator.create_agent,
        )
        order = {
            "op": "start",
            "id": self.id,
            "format": fixture.format,
            "seed": fixture.seed,
            "maxTurns": rules.max_turns,
            "openSheets": fixture.open_sheets,
        }
        self.host.send({**order, **player_options(fixture)})
        for role, failure in self.faults.items():
            self.lose(role, failure)

    def receive(self, message: Message) -> None:
        """Process a message from the host. Exceptions are passed to `over`, never to the event loop."""
        try:
            if "p1" in message:
                self.update(message)
            elif "died" in message:
                self.break_off(HostDied(message["died"]))
            else:
                error = message.get("refused") or message["crash"]
                self.break_off(SimulatorCrashed(f"{self.fixture.format}, seed {self.fixture.seed}: {error}"))
        except Exception as error:  # a bug of the arena: it is raised where the battle is awaited
            self.break_off(error)

    def update(self, message: Message) -> None:
        ended = "end" in message
        later: list[tuple[Seat, Awaitable[Choice]]] = []
        for role, seat in self.seats.items():
            if not seat.receive(message[role]) or ended or self.fault:
                continue
            try:
                choice = seat.decide()
            except Fault as fault:
                self.lose(role, fault)
                continue
            if isinstance(choice, Choice):
                self.choices[role] = choice.wire
            else:
                later.append((seat, choice))
        if ended:
            self.end(message["end"])
            return
        for seat, awaitable in later:
            if self.fault:
                close_awaitable(awaitable)
            else:
                task = asyncio.ensure_future(awaitable)
                self.tasks.add(task)
                task.add_done_callback(functools.partial(self.chosen_later, seat))
        self.send_choices()

    def chosen_later(self, seat: Seat, task: asyncio.Future[Choice]) -> None:
        self.tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if isinstance(error, Fault):
            self.lose(seat.role, error)
        elif isinstance(error, Exception):
            self.break_off(error)
        elif error is None:
            self.choices[seat.role] = task.result().wire
            self.send_choices()

    def send_choices(self) -> None:
        """Send the choices of all seats that were asked once they are complete: the host replies to each message."""
        if self.choices and not self.tasks and not self.fault and not self.over.done():
            self.host.send({"op": "choose", "id": self.id, **self.choices})
            self.choices = {}

    def lose(self, role: str, fault: Fault) -> None:
        """Let a failed seat lose. The host's reply ends the battle. Only the first fault counts."""
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
        for task in list(self.tasks):
            task.cancel()

    def end(self, end: dict[str, Any]) -> None:
        self.close()
        if not self.over.done():
            self.over.set_result(end)
