"""The side of an actor (actor.py) and of its workers that the coordinator's process sees."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

from arena.cluster.actor import Event
from arena.runner.place import OnDeath, OnLine, Worker

#: Time for the coordinator to hand out the next battles, in seconds.
REPLY_SECONDS = 0.002
_numbers = itertools.count(1)


class RemoteWorker(Worker):
    """A worker on another machine."""

    def __init__(self, slot: Slot, *, alone: bool) -> None:
        super().__init__(alone=alone, node=slot.node)
        self.slot, self.number, self.words = slot, next(_numbers), ""
        slot.send("launch", self.number, alone)

    def order(self, order: dict[str, Any]) -> None:
        self.slot.send("give", self.number, order["serial"], order["fixture"])

    def kill(self) -> None:
        self.slot.send("kill", self.number)

    def last_words(self) -> str:
        return self.words


class Slot:
    """Room for one worker, and a lone one beside it, on a machine. actor: the handle. played: battles so far."""

    def __init__(self, node_id: str, node: str, actor: Any, on_line: OnLine, on_death: OnDeath) -> None:
        self.node_id, self.node, self.actor = node_id, node, actor
        self.workers: dict[int, RemoteWorker] = {}
        self.played = 0
        self.ready = False
        self._on_line, self._on_death = on_line, on_death
        self._asking = False  # a call for reports is under way
        self._orders: list[tuple[Any, ...]] = []
        self._sending: asyncio.Task[None] | None = None

    def launch(self, *, alone: bool) -> RemoteWorker:
        """Start a worker."""
        worker = RemoteWorker(self, alone=alone)
        self.workers[worker.number] = worker
        return worker

    def send(self, *order: Any) -> None:
        """Queue an order. Orders that come together go in one call; calls follow each other."""
        self._orders.append(order)
        if self._asking and (self._sending is None or self._sending.done()):
            self._sending = asyncio.ensure_future(self._send())

    async def exchange(self) -> None:
        """Wait for reports, and handle them. What is ordered in reply goes with the next call: each costs milliseconds."""
        if self._sending is not None:
            await self._sending
        orders, self._orders = self._orders, []
        self._asking = True
        events = await self.actor.exchange.remote(orders)
        self._asking = False
        self.receive(events)
        await asyncio.sleep(REPLY_SECONDS)

    async def _send(self) -> None:
        while self._orders:
            orders, self._orders = self._orders, []
            try:
                await self.actor.carry_out.remote(orders)
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
                    self._on_line(worker, header, record)
            else:
                (worker.begun, worker.last_step, worker.cause), worker.words = rest
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
