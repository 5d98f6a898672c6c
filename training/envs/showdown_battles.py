"""Battles on Showdown in process (arena/venues/simulator): any format of singles or doubles, one Node process, no server."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Awaitable, Sequence

import numpy as np
from numpy.typing import NDArray

from agents import Choice
from agents.observation.layout import SINGLES, layout_of_format
from agents.observation.observation import Observations
from arena.battles.seat import Fault, Seat
from arena.battles.session import player_options
from arena.fixture import Fixture
from arena.processes.child import Message
from arena.venues.simulator.host import Host
from arena.venues.simulator.simulator import BattleHost
from teamsets.errors import ArenaError, BadInput
from training.envs.background import soon, wait_for
from training.envs.showdown_exchange import Exchange, ShowdownBattle
from training.envs.venue import STUCK, UNDECIDED, Ints, Pair, not_legal

#: Showdown's own limit; an environment's lower one truncates a battle without the simulator.
_MAX_TURNS = 1000
_Choices = dict[str, str]  # role -> Showdown's words


class ShowdownBattles:
    """See `Battles` (venue.py). stock: with Showdown's unmodified code, for comparisons.

    A battle in which Showdown throws an error is STUCK; if the Node process ends, all its battles are, and the next ones
    are played by a new process. In doubles each slot's choice is a decision, and each pick at team preview, whatever `begin`
    says of leads: the other side's follows when all of a request are taken.
    """

    def __init__(self, size: int, format_id: str, *, stock: bool = False) -> None:
        self.format_id, self.stock = format_id, stock
        self.layout = layout_of_format(format_id)
        self.rows: list[ShowdownBattle | None] = [None] * size
        self.winners = np.full(size, STUCK, np.int64)
        self.turns = np.zeros(size, np.int64)
        self.exchange: Exchange | None = None

    def begin(
        self, rows: Ints, fixtures: Sequence[Fixture], agents: Sequence[Pair], leads: NDArray[np.bool_] | None = None
    ) -> None:
        choosing = [[False, False]] * len(rows) if leads is None else leads.tolist()
        refused = wait_for(self._begin(rows.tolist(), fixtures, agents, choosing))
        if refused:
            raise BadInput(f"format '{self.format_id}': {refused}")

    def needs_decision(self, rows: Ints) -> NDArray[np.bool_]:
        return np.array([self._at(row).needs_decision for row in rows.tolist()], np.bool_).reshape(len(rows), 2)

    def masks(self, rows: Ints, seats: Ints) -> NDArray[np.bool_]:
        masks = np.zeros((len(rows), self.layout.actions), np.bool_)
        for k, (row, seat) in enumerate(zip(rows.tolist(), seats.tolist(), strict=True)):
            if self._at(row).needs_decision[seat]:
                masks[k, list(self._at(row).turn_of(seat).actions)] = True
        return masks

    def observe(self, rows: Ints, seats: Ints, out: Observations | None = None) -> Observations:
        out = Observations.room_for(len(rows), out, self.layout)
        for k, (row, seat) in enumerate(zip(rows.tolist(), seats.tolist(), strict=True)):
            if not self._at(row).needs_decision[seat]:
                out.token_ids[k], out.features[k], out.legal[k] = 0, 0, False
                continue
            one = self._at(row).turn_of(seat).observe()
            out.token_ids[k], out.features[k], out.legal[k] = one.token_ids, one.features, one.legal
        return out

    def answers(self, rows: Ints, seats: Ints) -> Ints:
        return np.array(wait_for(self._answers(rows.tolist(), seats.tolist())), np.int64)

    def play(self, rows: Ints, actions: Ints) -> None:
        taken: list[tuple[ShowdownBattle, int, int]] = []
        for row, chosen in zip(rows.tolist(), actions.tolist(), strict=True):
            battle = self._at(row)
            for seat in np.flatnonzero(battle.needs_decision).tolist():
                if not battle.is_legal(seat, chosen[seat]):
                    raise not_legal(row, seat, chosen[seat])
                taken.append((battle, seat, chosen[seat]))
        for battle, seat, action in taken:
            battle.take(seat, action)
        decided = [battle for battle in map(self._at, rows.tolist()) if not any(battle.needs_decision)]
        wait_for(self._choose([(battle, battle.pop_choices()) for battle in decided]))
        self._note(rows.tolist())

    def copy(self, sources: Ints, targets: Ints, seeds: Sequence[str], agents: Sequence[Pair] | None = None) -> None:
        """See `Battles`. Each is played again from its start, as Showdown has no copies: a fork in turn 40 costs 40 turns.

        Raises ArenaError if the simulator does not play a battle again.
        """
        pairs = agents or [(None, None)] * len(targets)
        wait_for(self._copy(sources.tolist(), targets.tolist(), seeds, pairs))

    async def _launch(self) -> BattleHost:
        return await Host.launch(stock=self.stock)

    def close(self) -> None:
        if self.exchange is not None:
            host, self.exchange = self.exchange.host, None
            wait_for(host.close())

    def _at(self, row: int) -> ShowdownBattle:
        battle = self.rows[row]
        assert battle is not None, "begin comes first"
        return battle

    def _note(self, rows: list[int]) -> None:
        for row in rows:
            self.winners[row], self.turns[row] = self._at(row).winner, self._at(row).turn

    # On the background loop:

    async def _begin(
        self, rows: list[int], fixtures: Sequence[Fixture], agents: Sequence[Pair], leads: Sequence[list[bool]]
    ) -> str:
        """Starts battles. Returns why the simulator refuses to, or "". leads: see `Battles.begin`."""
        exchange = self.exchange
        if exchange is None or exchange.host.dead.done():
            exchange = self.exchange = Exchange(await self._launch())
            # For an environment that nobody closes. At the exit of this process its hosts end by themselves.
            weakref.finalize(self, soon, exchange.host.kill).atexit = False
        battles = await self._start(exchange, rows, fixtures, agents)
        refused = exchange.refused
        await self._preview(battles, leads)
        self._note(rows)
        return refused

    async def _start(
        self,
        exchange: Exchange,
        rows: list[int],
        fixtures: Sequence[Fixture],
        agents: Sequence[Pair],
    ) -> list[ShowdownBattle]:
        orders: list[tuple[ShowdownBattle, Message]] = []
        for row, fixture, pair in zip(rows, fixtures, agents, strict=True):
            before = self.rows[row]
            if before is not None and before.winner == UNDECIDED:
                exchange.drop(before)
            battle = self.rows[row] = ShowdownBattle(exchange.open(), fixture, pair)
            start = {"op": "start", "format": fixture.format, "seed": fixture.seed, "maxTurns": _MAX_TURNS}
            shown = {"openSheets": fixture.open_sheets}
            orders.append((battle, {**start, **shown, **player_options(fixture)}))
        await exchange(orders)
        return [battle for battle, _ in orders]

    async def _copy(
        self,
        sources: list[int],
        targets: list[int],
        seeds: Sequence[str],
        agents: Sequence[Pair],
    ) -> None:
        assert self.exchange is not None, "begin comes first"
        originals = [self._at(row) for row in sources]
        copies = await self._start(self.exchange, targets, [original.fixture for original in originals], agents)
        for step in range(max((len(original.history) for original in originals), default=0)):
            repeated = [
                (copy, original.history[step])
                for copy, original in zip(copies, originals, strict=True)
                if step < len(original.history)
            ]
            await self._send(repeated)
        # A host forgets battles that are over.
        undecided = [pair for pair in zip(copies, seeds, strict=True) if pair[0].winner == UNDECIDED]
        await self._send([(copy, {"op": "reseed", "seed": seed}) for copy, seed in undecided])
        self._note(targets)
        for copy, original in zip(copies, originals, strict=True):
            if (copy.asked, copy.turn, copy.winner) != (original.asked, original.turn, original.winner):
                raise ArenaError(
                    f"{original.fixture.format}, seed {original.fixture.seed}: Showdown plays it differently again"
                )
            copy.repeat(original)

    async def _preview(self, battles: list[ShowdownBattle], leads: Sequence[list[bool]]) -> None:
        """Answers team previews of singles for seats that have an agent, or that do not choose their lead."""
        orders: list[tuple[ShowdownBattle, _Choices]] = []
        for battle, choosing in zip(battles, leads, strict=True):
            request = battle.seats[0].request
            if battle.layout is not SINGLES or battle.winner != UNDECIDED:
                continue
            if request is None or not request.get("teamPreview"):
                continue
            for seat, (of_seat, chooses) in enumerate(zip(battle.seats, choosing, strict=True)):
                if battle.has_agent[seat] or not chooses:
                    battle.answer(seat, await _decided(of_seat))
            if not any(battle.needs_decision):
                orders.append((battle, battle.pop_choices()))
        if orders:
            await self._choose(orders)

    async def _choose(self, orders: Sequence[tuple[ShowdownBattle, _Choices]]) -> None:
        await self._send([(battle, {"op": "choose", **choices}) for battle, choices in orders])

    async def _send(self, orders: Sequence[tuple[ShowdownBattle, Message]]) -> None:
        assert self.exchange is not None, "begin comes first"
        for battle, order in orders:
            battle.history.append(order)
            if order["op"] == "choose":
                battle.asked, battle.needs_decision = [False, False], [False, False]
        await self.exchange(orders)

    async def _answers(self, rows: list[int], seats: list[int]) -> list[int]:
        chosen = [self._at(row).seats[seat] for row, seat in zip(rows, seats, strict=True)]
        choices = await asyncio.gather(*map(_decided, chosen))
        beyond = self.layout.actions
        return [beyond + seat.battle.legal.index(choice) for seat, choice in zip(chosen, choices, strict=True)]


async def _decided(seat: Seat) -> Choice:
    """The choice of a seat's agent. Raises ArenaError if it fails: an opponent's failure must not be a won battle."""
    try:
        choice = seat.decide()
        return await choice if isinstance(choice, Awaitable) else choice
    except Fault as fault:
        name = seat.agent.name or type(seat.agent).__name__
        raise ArenaError(f"opponent '{name}': {fault.kind}: {fault}") from None
