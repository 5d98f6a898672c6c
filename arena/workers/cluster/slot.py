"""The side of an actor (actor.py) and of its workers that the coordinator's process sees."""

from __future__ import annotations

import asyncio
import itertools
import math
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from arena.workers.cluster.actor import GATHER_SECONDS, PREFETCH_SECONDS, Event
from arena.workers.worker_pool import OnDeath, OnLine, WorkerHandle, load_of

#: The battles that may wait for a worker at its machine are those of so many seconds, and at most so many.
PREFETCH_WINDOW_SECONDS, MAX_PREFETCH = GATHER_SECONDS + PREFETCH_SECONDS, 48.0
#: Its speed is that of the last seconds, about so many.
SPEED_SECONDS = 2.0
#: Time for the coordinator to hand out the next battles, in seconds.
REPLY_SECONDS = 0.002
_numbers = itertools.count(1)


async def await_call(reference: Any) -> Any:
    """Wait for a call to an actor, and return its result or raise its error.

    Whoever stops waiting does not cancel Ray's own future: Ray's client prints a traceback for one that was cancelled.
    """
    loop = asyncio.get_running_loop()
    result = loop.create_future()

    def hand_over(future: Future[Any]) -> None:
        if result.done():  # nobody waits any more
            return
        error = future.exception()
        if error is None:
            result.set_result(future.result())
        else:
            result.set_exception(error)

    def arrived(future: Future[Any]) -> None:
        with suppress(RuntimeError):  # the run has ended, and its loop with it
            loop.call_soon_threadsafe(hand_over, future)

    reference.future().add_done_callback(arrived)
    return await result


class RemoteWorker(WorkerHandle):
    """A worker on another machine."""

    def __init__(self, slot: WorkerSlot, *, solo: bool) -> None:
        super().__init__(solo=solo, node=slot.node)
        self.slot, self.number, self.last_error = slot, next(_numbers), ""
        self._ended, self._noted = 0.0, slot.now()
        slot.send("launch", self.number, solo)

    def order(self, order: dict[str, Any]) -> None:
        self.slot.send("give", self.number, order["serial"], order["fixture"])

    def kill(self) -> None:
        self.slot.send("kill", self.number)

    def last_error_line(self) -> str:
        return self.last_error

    def note_ended(self, load: float) -> None:
        """Note that it has reported a battle. load: see `load_of`."""
        self._ended, self._noted = self._lately() + load, self.slot.now()

    @property
    def prefetch(self) -> float:
        """As many as it ends until reports and the next orders have travelled: 0 where battles take long."""
        return min(MAX_PREFETCH, self._lately() / SPEED_SECONDS * PREFETCH_WINDOW_SECONDS // 1)

    def _lately(self) -> float:
        """Battles that it has ended, those of earlier seconds counted less and less."""
        return self._ended * math.exp((self._noted - self.slot.now()) / SPEED_SECONDS)


class WorkerSlot:
    """Room for one worker, and a solo one beside it, on a machine. actor: the handle. played: battles so far.

    now: the clock, in seconds.
    """

    def __init__(
        self,
        node_id: str,
        node: str,
        actor: Any,
        on_line: OnLine,
        on_death: OnDeath,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.node_id, self.node, self.actor, self.now = node_id, node, actor, now
        self.workers: dict[int, RemoteWorker] = {}
        self.played = 0
        self.ready = False
        self._on_line, self._on_death = on_line, on_death
        self._awaiting_reports = False  # a call for reports is in progress
        self._orders: list[tuple[Any, ...]] = []
        self._sending: asyncio.Task[None] | None = None

    def launch(self, *, solo: bool) -> RemoteWorker:
        """Start a worker."""
        worker = RemoteWorker(self, solo=solo)
        self.workers[worker.number] = worker
        return worker

    def send(self, *order: Any) -> None:
        """Queue an order. Orders that come together go in one call; calls follow each other."""
        self._orders.append(order)
        if self._awaiting_reports and (self._sending is None or self._sending.done()):
            self._sending = asyncio.ensure_future(self._send())

    async def exchange(self) -> None:
        """Wait for reports, and handle them. What is ordered in reply goes with the next call: each costs milliseconds."""
        if self._sending is not None:
            await self._sending
        orders, self._orders = self._orders, []
        self._awaiting_reports = True
        events = await await_call(self.actor.exchange.remote(orders))
        self._awaiting_reports = False
        self.receive(events)
        await asyncio.sleep(REPLY_SECONDS)

    async def _send(self) -> None:
        while self._orders:
            orders, self._orders = self._orders, []
            try:
                await await_call(self.actor.carry_out.remote(orders))
            except Exception:  # the machine or the connection is gone: who waits for reports finds that out, and why
                return

    def receive(self, events: list[Event]) -> None:
        """Handle the actor's reports."""
        for kind, number, *rest in events:
            worker = self.workers.get(number)
            if worker is None:
                continue
            if kind == "line":
                header, record = rest
                worker.begun = True
                if header["serial"] in worker.fixtures:  # else an idle worker was faster
                    self.played += 1
                    worker.note_ended(load_of(worker.fixtures[header["serial"]]))
                    self._on_line(worker, header, record)
            else:
                (worker.begun, worker.last_step, worker.cause), worker.last_error, worker.waiting = rest
                del self.workers[number]
                self._on_death(worker)

    def lose(self) -> None:
        """Report all workers as lost with their machine."""
        self.ready = False
        if self._sending is not None:
            self._sending.cancel()
        workers, self.workers = list(self.workers.values()), {}
        for worker in workers:
            worker.lost = True
            self._on_death(worker)
