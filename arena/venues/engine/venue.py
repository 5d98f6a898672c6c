"""The engine venue: many fixtures share the rows of one engine, which are stepped together."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np

from agents import Choice
from agents.batched import BatchedAgent
from agents.engine import FORMATS
from agents.engine.gen1.engine import Engine
from agents.observation.engine_observation import observe_rows
from arena.battles.guard import StepGuard
from arena.battles.seat import Fault
from arena.fixture import SEATS, Fixture
from arena.record import BattleRecord
from arena.venue import NotOnEngine, Rules, VenuesDiffer
from arena.venues.engine.batches import AskSeparately, ask_batch
from arena.venues.engine.battle import EngineBattle
from arena.venues.engine.requests import describe_rows
from arena.venues.engine.seat import EngineSeat
from arena.venues.simulator.host import Host, drawn_team
from arena.venues.simulator.replaying import record_difference, replay_input_log
from teamsets import cache
from teamsets.errors import BadInput
from teamsets.locking import file_lock

#: What is asked in one call: the agents of a class in the battles of a format.
Kind = tuple[type[BatchedAgent], str]


class EngineVenue:
    """Plays fixtures on the engine, `rows` at once; more wait.

    host: draws teams, and replays one battle in `verify_every` on Showdown (0: none), chosen by the fixture's key.
    """

    def __init__(self, host: Host, guard: StepGuard, rules: Rules, *, rows: int = 256, verify_every: int = 0) -> None:
        self.host, self.guard, self.rules, self.verify_every = host, guard, rules, verify_every
        self.engine = Engine(rows)
        self._observed = {format_id: self.engine.of_format(format_id) for format_id in FORMATS}
        self._free = list(range(rows))
        self._room = asyncio.Semaphore(rows)
        self._opened: list[EngineBattle] = []
        self._ready: list[EngineBattle] = []
        self._waiting: dict[Kind, list[tuple[EngineBattle, EngineSeat]]] = {}
        self._asking: set[Kind] = set()
        self._tasks: set[asyncio.Future[Any]] = set()
        self._playing: dict[int, EngineBattle] = {}  # by row
        self._turning = False

    async def play(self, fixture: Fixture, serial: int) -> BattleRecord:
        """Play one fixture to its end.

        Raises NotOnEngine for one that must be played in the simulator, VenuesDiffer if Showdown does not play it the
        same way, and HostDied. serial: see `StepGuard.call`.
        """
        teams = (await self._team(fixture, 0), await self._team(fixture, 1))
        async with self._room:
            try:
                record = await self._played(fixture, serial, teams)
            except AskSeparately:
                record = await self._played(fixture, serial, teams, ask_separately=True)
        return record

    @property
    def gone(self) -> bool:
        return self.host.dead.done()

    def end(self) -> None:
        self.host.kill()

    async def _team(self, fixture: Fixture, index: int) -> str:
        team = fixture.teams[index]
        if team.packed is not None:
            return team.packed
        return await drawn_team(self.host, fixture.format, str(team.seed))

    async def _played(
        self, fixture: Fixture, serial: int, teams: tuple[str, str], *, ask_separately: bool = False
    ) -> BattleRecord:
        battle = self._open(fixture, serial, teams, ask_separately)
        try:
            record = battle.record(await battle.over)
        finally:
            self._playing.pop(battle.row)
            self._free.append(battle.row)
        if self.verify_every and int(fixture.key, 16) % self.verify_every == 0:
            await self._verify(battle, record)
        return record

    def _open(self, fixture: Fixture, serial: int, teams: tuple[str, str], ask_separately: bool) -> EngineBattle:
        row = self._free.pop()
        try:
            self.engine.reset([teams], [fixture.seed], [row])
        except (BadInput, ValueError) as error:
            self._free.append(row)
            raise NotOnEngine(str(error)) from None
        battle = EngineBattle(fixture, self.guard, serial, self.rules, teams, row, ask_separately=ask_separately)
        self._playing[row] = battle
        self._opened.append(battle)
        self._wake()
        return battle

    async def _verify(self, battle: EngineBattle, record: BattleRecord) -> None:
        """Raise VenuesDiffer if Showdown plays the battle in another way."""
        replay = await replay_input_log(self.host, record.input_log)
        where_different = record_difference(replay, record)
        if where_different is not None:
            raise battle.differs(where_different)

    # The turns of all battles: one pass steps those that can be stepped, and asks whoever must choose.

    def _wake(self) -> None:
        if not self._turning:
            self._turning = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._turning = False
        with self._bugs():
            self._step()
            for kind in [kind for kind in self._waiting if kind not in self._asking]:
                waiting = [(battle, seat) for battle, seat in self._waiting.pop(kind) if not battle.over.done()]
                if waiting:
                    self._asking.add(kind)
                    asking = ask_batch(self._observed[kind[1]], self.guard, waiting)
                    self._begin(asking, functools.partial(self._answered, kind))

    @contextmanager
    def _bugs(self) -> Iterator[None]:
        """Context of what the loop calls: a bug of the arena ends every battle, and is raised where they are awaited."""
        try:
            yield
        except Exception as error:
            for battle in self._playing.values():
                battle.break_off(error)

    def _step(self) -> None:
        ready, self._ready = [battle for battle in self._ready if not battle.over.done()], []
        opened, self._opened = self._opened, []
        if ready:
            rows = np.array([battle.row for battle in ready])
            self.engine.step(np.array([battle.actions() for battle in ready], np.int32), rows)
        battles = [battle for battle in ready + opened if not battle.over.done()]
        if not battles:
            return
        results, parts = describe_rows(self.engine.words[[battle.row for battle in battles]])
        for battle, result, part_of in zip(battles, results, parts, strict=True):
            try:
                posed = battle.advance(result, part_of)
            except (NotOnEngine, VenuesDiffer) as error:
                battle.break_off(error)
                continue
            for seat in posed:
                self._ask(battle, seat)

    def _ask(self, battle: EngineBattle, seat: EngineSeat) -> None:
        if isinstance(seat.agent, BatchedAgent) and seat.observation is None:
            if not battle.ask_separately:
                kind = type(seat.agent), battle.fixture.format
                self._waiting.setdefault(kind, []).append((battle, seat))
                self._wake()
                return
            engine = self._observed[battle.fixture.format]
            seat.observation = observe_rows(engine, np.array([battle.row]), np.array([SEATS.index(seat.role)]))
        try:
            choice = seat.decide()
        except Fault as fault:
            self._decided(battle, seat, fault, at_once=not seat.batched)
            return
        if isinstance(choice, Choice):
            self._decided(battle, seat, choice, at_once=not seat.batched)
        else:
            self._begin(choice, functools.partial(self._decided_later, battle, seat))

    def _begin(self, work: Awaitable[Any], done: Callable[[asyncio.Future[Any]], None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(done)

    def _decided_later(self, battle: EngineBattle, seat: EngineSeat, task: asyncio.Future[Any]) -> None:
        if task.cancelled():
            return
        with self._bugs():
            try:
                self._decided(battle, seat, task.result())
            except Fault as fault:
                self._decided(battle, seat, fault)

    def _decided(
        self, battle: EngineBattle, seat: EngineSeat, choice: Choice | Fault, *, at_once: bool = False
    ) -> None:
        seat.observation = None
        if battle.record_choice(seat, choice, at_once=at_once):
            self._ready.append(battle)
            self._wake()

    def _answered(self, kind: Kind, task: asyncio.Future[Any]) -> None:
        self._asking.discard(kind)
        if task.cancelled():
            return
        with self._bugs():
            for battle, seat, choice in task.result():
                if isinstance(choice, AskSeparately):
                    battle.break_off(choice)
                elif choice is None:
                    self._ask(battle, seat)  # alone, with its observation
                else:  # a failure: in `start`, which is called at once
                    self._decided(battle, seat, choice, at_once=isinstance(choice, Fault))
            self._wake()


async def ready_engine() -> None:
    """Compile the engine for one core, or load it from the cache; workers wait for the first that compiles it.

    It is done in a thread, so that the event loop of the worker stays alive: compiling takes about a minute.
    """
    numba.set_num_threads(1)  # of this thread, which will call the kernels: each worker has a core to itself

    def ready() -> None:
        cache.folder().mkdir(parents=True, exist_ok=True)
        with file_lock(cache.folder() / "engine.lock", wait=True):
            warm_up()

    await asyncio.to_thread(ready)


def warm_up() -> None:
    """Compile what the venue calls, or load it from the cache."""
    engine, none = Engine(0), np.zeros(0, np.int64)
    describe_rows(engine.words)
    engine.step(np.zeros((0, 2), np.int32))
    observe_rows(engine, none, none)
