"""Battles on Showdown in process (arena/simulator): any singles format, one Node process, no server."""

from __future__ import annotations

import asyncio
import random
import weakref
from collections.abc import Awaitable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents import Agent, Choice, SeatBattle
from agents.policy.actions import ACTIONS, legal_actions, legal_mask
from agents.policy.observation import FEATURES, IDS_PER_TOKEN, TOKENS, Observations, observe
from arena.child import Message
from arena.fixture import SEATS, Fixture, seat_seed
from arena.simulator.guard import Clock, StepGuard
from arena.simulator.host import Host
from arena.simulator.seat import Fault, Seat
from arena.simulator.session import player_options
from teamsets.errors import ArenaError, BadInput
from teamsets.formats import get_format
from training.envs.background import soon, wait_for
from training.envs.venue import STUCK, TIE, UNDECIDED, Ints

#: Showdown's own limit; an environment's lower one truncates a battle without the simulator.
_MAX_TURNS = 1000
_WINNERS = {"p1": 0, "p2": 1, "": TIE}


class _Unlimited(StepGuard):
    """Runs an agent's code without a time limit: a limit works by a signal, which only a main thread receives."""

    def __init__(self) -> None:
        self.spent = 0.0

    def call(self, who: int, limit: float, function: Any, *arguments: Any) -> Any:
        return function(*arguments)


class _Battle:
    """One row's battle. asked: which seats have a decision to make."""

    def __init__(self, number: int, fixture: Fixture, agents: tuple[Agent | None, Agent | None]) -> None:
        gen = get_format(fixture.format).gen
        self.number, self.fixture, self.winner, self.turn = number, fixture, UNDECIDED, 0
        self.asked = [False, False]
        self.actions: list[dict[int, Choice]] = [{}, {}]
        self.seats: list[Seat] = []
        for role, agent in zip(SEATS, agents, strict=True):
            rng = random.Random(seat_seed(fixture.seed, role))
            battle = SeatBattle(f"battle-{fixture.format}-{number}", role, role, gen, fixture.format, rng)
            self.seats.append(Seat(role, agent or Agent(), battle, Clock(_Unlimited(), 0, float("inf"))))

    def see(self, message: Message) -> None:
        """Processes what the host sent for this battle."""
        if "p1" not in message:  # refused, crash, died
            self.winner, self.asked = STUCK, [False, False]
            return
        for seat, role in enumerate(SEATS):
            if self.seats[seat].see(message[role]):
                self.asked[seat] = True
                request = self.seats[seat].request
                assert request is not None
                self.actions[seat] = legal_actions(request, self.seats[seat].battle.legal)
        self.turn = self.seats[0].battle.turn
        if "end" in message:
            self.winner, self.asked, self.turn = (
                _WINNERS[message["end"]["winner"]],
                [False, False],
                message["end"]["turns"],
            )
            for one in self.seats:
                one.finish()

    def wire(self, seat: int, action: int) -> str:
        """Showdown's words for an action; ACTIONS + k is the k-th of all legal choices. Raises KeyError, IndexError."""
        legal = self.seats[seat].battle.legal
        return legal[action - ACTIONS].wire if action >= ACTIONS else self.actions[seat][action].wire


class ShowdownBattles:
    """See `Battles` (venue.py). stock: with Showdown's unmodified code, for comparisons.

    A battle in which Showdown throws an error is STUCK; if the Node process ends, all its battles are, and the next ones
    are played by a new process. Team previews are answered at once: by an agent, or with the team's own order.
    """

    def __init__(self, size: int, format_id: str, *, stock: bool = False) -> None:
        self.format_id, self.stock = format_id, stock
        self.rows: list[_Battle | None] = [None] * size
        self.winners = np.full(size, STUCK, np.int64)
        self.turns = np.zeros(size, np.int64)
        self._host: Host | None = None
        self._hosts: list[Host] = []  # the same, for an environment that nobody closed
        weakref.finalize(self, _kill, self._hosts).atexit = False  # at its exit the process closes the hosts' input
        self._waiting: dict[int, _Battle] = {}  # number -> battle whose reply is due
        self._replied: asyncio.Future[None] | None = None
        self._refused = ""

    def begin(
        self, rows: Ints, fixtures: Sequence[Fixture], agents: Sequence[tuple[Agent | None, Agent | None]]
    ) -> None:
        wait_for(self._begin(rows.tolist(), fixtures, agents))
        if self._refused:
            raise BadInput(f"format '{self.format_id}': {self._refused}")

    def asked(self, rows: Ints) -> NDArray[np.bool_]:
        return np.array([self._at(row).asked for row in rows.tolist()], np.bool_).reshape(len(rows), 2)

    def masks(self, rows: Ints, seats: Ints) -> NDArray[np.bool_]:
        masks = np.zeros((len(rows), ACTIONS), np.bool_)
        for k, (row, seat) in enumerate(zip(rows.tolist(), seats.tolist(), strict=True)):
            if self._at(row).asked[seat]:
                masks[k] = legal_mask(self._at(row).actions[seat])
        return masks

    def observe(self, rows: Ints, seats: Ints, out: Observations | None = None) -> Observations:
        if out is None:
            out = Observations(
                np.zeros((len(rows), TOKENS, IDS_PER_TOKEN), np.int16),
                np.zeros((len(rows), TOKENS, FEATURES), np.float32),
                np.zeros((len(rows), ACTIONS), np.bool_),
            )
        for k, (row, seat) in enumerate(zip(rows.tolist(), seats.tolist(), strict=True)):
            if not self._at(row).asked[seat]:
                out.token_ids[k], out.features[k], out.legal[k] = 0, 0, False
                continue
            one = observe(self._at(row).seats[seat].battle)
            out.token_ids[k], out.features[k], out.legal[k] = one.token_ids, one.features, one.legal
        return out

    def answers(self, rows: Ints, seats: Ints) -> Ints:
        return np.array(wait_for(self._answers(rows.tolist(), seats.tolist())), np.int64)

    def play(self, rows: Ints, actions: Ints) -> None:
        orders: list[tuple[_Battle, dict[str, str]]] = []
        for row, chosen in zip(rows.tolist(), actions.tolist(), strict=True):
            battle, choices = self._at(row), {}
            for seat in (0, 1):
                if battle.asked[seat]:
                    try:
                        choices[SEATS[seat]] = battle.wire(seat, chosen[seat])
                    except (KeyError, IndexError):
                        raise BadInput(f"battle {row}, seat {seat}: action {chosen[seat]} is not legal") from None
            orders.append((battle, choices))
        wait_for(self._choose(orders))
        self._note(rows.tolist())

    def close(self) -> None:
        if self._host is not None:
            host, self._host = self._host, None
            self._hosts.clear()
            wait_for(host.close())

    def _at(self, row: int) -> _Battle:
        battle = self.rows[row]
        assert battle is not None, "begin comes first"
        return battle

    def _note(self, rows: list[int]) -> None:
        for row in rows:
            self.winners[row], self.turns[row] = self._at(row).winner, self._at(row).turn

    # On the background loop:

    async def _begin(
        self, rows: list[int], fixtures: Sequence[Fixture], agents: Sequence[tuple[Agent | None, Agent | None]]
    ) -> None:
        if self._host is None or self._host.dead.done():
            self._host = await Host.launch(stock=self.stock)
            self._hosts[:] = [self._host]
        host, self._refused = self._host, ""
        orders: list[tuple[_Battle, Message]] = []
        for row, fixture, pair in zip(rows, fixtures, agents, strict=True):
            before = self.rows[row]
            if before is not None and before.winner == UNDECIDED:
                host.forget(before.number)
                host.send({"op": "stop", "id": before.number})
            number = host.open(self._receive)
            battle = self.rows[row] = _Battle(number, fixture, pair)
            start = {"op": "start", "format": fixture.format, "seed": fixture.seed, "maxTurns": _MAX_TURNS}
            orders.append((battle, {**start, **player_options(fixture)}))
        await self._exchange(orders)
        await self._preview([battle for battle, _ in orders])
        self._note(rows)

    async def _preview(self, battles: list[_Battle]) -> None:
        """Answers team previews: a learner's seat has an agent without a preference."""
        orders: list[tuple[_Battle, dict[str, str]]] = []
        for battle in battles:
            request = battle.seats[0].request
            if battle.winner == UNDECIDED and request is not None and request.get("teamPreview"):
                orders.append((battle, {seat.role: (await self._decided(seat)).wire for seat in battle.seats}))
        if orders:
            await self._choose(orders)

    async def _choose(self, orders: Sequence[tuple[_Battle, dict[str, str]]]) -> None:
        for battle, _ in orders:
            battle.asked = [False, False]
        await self._exchange([(battle, {"op": "choose", **choices}) for battle, choices in orders])

    async def _exchange(self, orders: Sequence[tuple[_Battle, Message]]) -> None:
        """Sends a message about each battle, and waits for all replies."""
        assert self._host is not None
        if self._host.dead.done():  # it has died between two calls
            for battle, _ in orders:
                battle.see({"died": self._host.dead.result()})
            return
        self._waiting = {battle.number: battle for battle, _ in orders}
        self._replied = asyncio.get_running_loop().create_future()
        for battle, message in orders:
            self._host.send({**message, "id": battle.number})
        if orders:
            await self._replied

    def _receive(self, message: Message) -> None:
        battle = self._waiting.pop(message["id"], None)
        if battle is None:
            return
        replied = self._replied
        assert replied is not None and self._host is not None
        self._refused = self._refused or message.get("refused", "")
        try:
            battle.see(message)
        except Exception as error:  # a bug: raised where the battles are awaited
            if not replied.done():
                replied.set_exception(error)
        if battle.winner != UNDECIDED:
            self._host.forget(battle.number)
        if not self._waiting and not replied.done():
            replied.set_result(None)

    async def _answers(self, rows: list[int], seats: list[int]) -> list[int]:
        chosen = [self._at(row).seats[seat] for row, seat in zip(rows, seats, strict=True)]
        choices = await asyncio.gather(*(self._decided(seat) for seat in chosen))
        return [ACTIONS + seat.battle.legal.index(choice) for seat, choice in zip(chosen, choices, strict=True)]

    async def _decided(self, seat: Seat) -> Choice:
        """The choice of a seat's agent. Raises ArenaError if it fails: an opponent's failure must not be a won battle."""
        try:
            choice = seat.decide()
            return await choice if isinstance(choice, Awaitable) else choice
        except Fault as fault:
            raise ArenaError(
                f"opponent '{seat.agent.name or type(seat.agent).__name__}': {fault.kind}: {fault}"
            ) from None


def _kill(hosts: list[Host]) -> None:
    for host in hosts:
        soon(host.kill)
