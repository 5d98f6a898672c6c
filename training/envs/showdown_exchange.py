"""One battle on Showdown as both seats see it, and its exchange with the host (arena/venues/simulator/host.mjs)."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Sequence
from typing import Any

from agents import Agent, Choice, new_battle
from agents.observation.decisions import Decisions, decisions_of
from agents.observation.layout import layout_of
from arena.battles.clock import RunClock
from arena.battles.guard import SeatClock, StepGuard
from arena.battles.seat import Seat
from arena.fixture import SEATS, Fixture, seat_seed
from arena.processes.child import Message
from arena.venues.simulator.simulator import BattleHost
from teamsets.formats import get_format
from training.envs.venue import STUCK, TIE, UNDECIDED

_WINNERS = {"p1": 0, "p2": 1, "": TIE}


class _Unlimited(StepGuard):
    """Runs an agent's code without a time limit: a limit works by a signal, which only a main thread receives."""

    def __init__(self) -> None:
        self.clock = RunClock()
        self.spent = self.collected = 0.0
        self.untimed_limit = math.inf

    def call(self, seat_id: int, limit: float, function: Any, *arguments: Any) -> Any:
        return function(*arguments)


class ShowdownBattle:
    """A battle. number: its id at the host. asked: which seats have a request. needs_decision: which of them have a decision
    to make. decisions: of their requests, in doubles several in turn. taken: the actions of the present request so far.

    agents: of both seats; None for a seat whose actions come from outside.
    """

    def __init__(self, number: int, fixture: Fixture, agents: tuple[Agent | None, Agent | None]) -> None:
        chosen = get_format(fixture.format)
        self.layout = layout_of(chosen.slots)
        self.number, self.winner, self.turn = number, UNDECIDED, 0
        self.fixture, self.has_agent = fixture, tuple(agent is not None for agent in agents)
        self.history: list[
            Message
        ] = []  # the orders that the host had since its start: choices, and other random numbers
        self.asked, self.needs_decision = [False, False], [False, False]
        self.decisions: list[Decisions | None] = [None, None]
        self.taken: list[list[int]] = [[], []]
        self._choices: dict[str, str] = {}
        self.seats: list[Seat] = []
        for role, agent in zip(SEATS, agents, strict=True):
            rng = random.Random(seat_seed(fixture.seed, role))
            battle = new_battle(f"battle-{fixture.format}-{number}", role, role, chosen.gen, fixture.format, rng)
            self.seats.append(Seat(role, agent or Agent(), battle, SeatClock(_Unlimited(), 0, float("inf"))))

    def receive(self, message: Message) -> None:
        """Processes what the host sent for this battle."""
        if "p1" not in message:  # refused, crash, died
            self.winner, self.asked, self.needs_decision = STUCK, [False, False], [False, False]
            return
        for seat, role in enumerate(SEATS):
            if self.seats[seat].receive(message[role]):
                self.asked[seat] = self.needs_decision[seat] = True
                self.decisions[seat], self.taken[seat] = decisions_of(self.seats[seat].battle), []
        self.turn = self.seats[0].battle.turn
        if "end" in message:
            end = message["end"]
            self.winner, self.turn = _WINNERS[end["winner"]], end["turns"]
            self.asked, self.needs_decision = [False, False], [False, False]
            for one in self.seats:
                one.finish()

    def turn_of(self, seat: int) -> Decisions:
        """The decisions of a seat that is asked."""
        decisions = self.decisions[seat]
        assert decisions is not None, f"seat {seat} has no request"
        return decisions

    def is_legal(self, seat: int, action: int) -> bool:
        """Whether `take` takes an action: a legal one, or number of actions + k, the k-th of all legal choices."""
        beyond = action - self.layout.actions
        return beyond < len(self.seats[seat].battle.legal) if beyond >= 0 else action in self.turn_of(seat).actions

    def take(self, seat: int, action: int) -> None:
        """Take a seat's decision. The seat needs none then, unless there is another one in its request."""
        turn, beyond = self.turn_of(seat), action - self.layout.actions
        self.taken[seat].append(action)
        if beyond < 0:
            turn.take(action)
            if turn.actions:
                return
        self.answer(seat, turn.choice if beyond < 0 else self.seats[seat].battle.legal[beyond])

    def answer(self, seat: int, choice: Choice) -> None:
        """Answer the request of a seat, which needs no decision then."""
        self._choices[SEATS[seat]] = choice.wire
        self.needs_decision[seat] = False

    def repeat(self, original: ShowdownBattle) -> None:
        """Decide what another battle at the same requests has decided so far."""
        for seat in (0, 1):
            for action in original.taken[seat]:
                self.take(seat, action)
        self._choices |= original._choices
        self.needs_decision = list(original.needs_decision)

    def pop_choices(self) -> dict[str, str]:
        """Showdown's words for what the seats have decided. Resets them."""
        choices, self._choices, self.taken = self._choices, {}, [[], []]
        return choices


class Exchange:
    """Messages to a host about battles, and its replies. The host knows this object, and not the battles' owner."""

    def __init__(self, host: BattleHost) -> None:
        self.host = host
        self.refused = ""
        self._waiting: dict[int, ShowdownBattle] = {}  # number -> battle whose reply is due
        self._replied: asyncio.Future[None] | None = None

    async def __call__(self, orders: Sequence[tuple[ShowdownBattle, Message]]) -> None:
        """Sends a message about each battle, and waits for all replies. `refused`: why the host refused one, or ""."""
        self.refused = ""
        if self.host.dead.done():  # it has died between two calls
            for battle, _ in orders:
                battle.receive({"died": self.host.dead.result()})
            return
        self._waiting = {battle.number: battle for battle, _ in orders}
        self._replied = asyncio.get_running_loop().create_future()
        for battle, message in orders:
            self.host.send({**message, "id": battle.number})
        if orders:
            await self._replied

    def open(self) -> int:
        """The number of a new battle."""
        return self.host.open(self._receive)

    def drop(self, battle: ShowdownBattle) -> None:
        """Ends a battle that nobody plays on."""
        self.host.forget(battle.number)
        self.host.send({"op": "stop", "id": battle.number})

    def _receive(self, message: Message) -> None:
        battle = self._waiting.pop(message["id"], None)
        if battle is None:
            return
        replied = self._replied
        assert replied is not None
        self.refused = self.refused or message.get("refused", "")
        try:
            battle.receive(message)
        except Exception as error:  # a bug: raised where the battles are awaited
            if not replied.done():
                replied.set_exception(error)
        if battle.winner != UNDECIDED:
            self.host.forget(battle.number)
        if not self._waiting and not replied.done():
            replied.set_result(None)
