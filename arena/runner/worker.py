"""A worker: one process with one event loop and one host that plays many battles concurrently. Started by supervised.py.

In, a line of JSON each: first the settings, then fixtures {"serial", "fixture"}; the end of input means stop.
Out, one line per fixture: a JSON header, a tab, and the battle record's line (empty if the venue failed). Output of agents
goes to stderr.
"""

from __future__ import annotations

import asyncio
import gc
import mmap
import os
import sys
from typing import Any

import orjson

from arena.fixture import Fixture
from arena.isolation.closing import close_to_others
from arena.isolation.seat import Isolation
from arena.record import BattleRecord
from arena.server.local import LocalServer
from arena.server.venue import ServerVenue
from arena.simulator.guard import SHARED_BYTES, StepGuard
from arena.simulator.host import Host
from arena.simulator.seat import type_name
from arena.simulator.simulator import Simulator
from arena.venue import Rules, Venue, VenueFailed

#: Number of retries of a fixture after failures of the venue, before it is stored as "aborted".
ATTEMPTS = 3


class Worker:
    """Plays the fixtures that arrive on stdin, and writes their results to `output`."""

    def __init__(self, settings: dict[str, Any], output: int) -> None:
        self.run = settings["run"]
        self.rules = Rules(**settings["rules"])
        self.stock = settings["stock"]
        self.on_server = settings["venue"] == "server"
        self.output = output
        self.guard = StepGuard(mmap.mmap(settings["shared"], SHARED_BYTES))
        self.isolation = Isolation() if settings["isolate"] else None
        self.venues: dict[bool, Venue] = {}  # whether it is the server -> the venue, created at its first use
        self.launching = asyncio.Lock()

    async def play(self, serial: int, fixture: Fixture) -> None:
        """Play one fixture and report it; after a failure of the venue, retry it on a new process."""
        failure: Exception | None = None
        for _ in range(ATTEMPTS):
            venue = await self.ready_venue(self.on_server or fixture.has_program)
            try:
                record = await venue.play(fixture, serial)
                break
            except VenueFailed as error:
                failure = error
        else:
            words = str(failure)[:1000]
            record = BattleRecord(fixture, winner=None, reason="aborted", fault="venue", detail=words)
        self.report(serial, record)

    async def ready_venue(self, server: bool) -> Venue:
        """Return the venue for a fixture. server: needed for external programs."""
        async with self.launching:
            venue = self.venues.get(server)
            if venue is None or venue.gone:
                if server:
                    venue = ServerVenue(await LocalServer.launch(), self.guard, self.rules, self.isolation)
                else:
                    venue = Simulator(await Host.launch(stock=self.stock), self.guard, self.rules, self.isolation)
                self.venues[server] = venue
            return venue

    def report(self, serial: int, record: BattleRecord) -> None:
        data = memoryview(orjson.dumps(record.header(serial)) + b"\t" + record.to_line(self.run) + b"\n")
        while data:
            data = data[os.write(self.output, data) :]
        self.guard.reported()

    async def serve(self, orders: asyncio.StreamReader) -> None:
        """Serve until the input ends. Battles in progress are dropped then; they were not reported and are replayed."""
        playing: set[asyncio.Task[None]] = set()
        failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def done(task: asyncio.Task[None]) -> None:
            playing.discard(task)
            if failed.done():
                return
            if task.cancelled():  # not by the arena: an agent cancelled the loop's tasks
                failed.set_exception(RuntimeError("a battle's task was cancelled"))
            elif task.exception() is not None:
                failed.set_exception(task.exception())  # type: ignore[arg-type]

        while True:
            reading = asyncio.ensure_future(orders.readline())
            await asyncio.wait({reading, failed}, return_when=asyncio.FIRST_COMPLETED)  # type: ignore[type-var]
            if failed.done():
                reading.cancel()
                failed.result()  # a bug of the arena: the traceback goes to the coordinator through stderr
            line = reading.result()
            if not line:
                break
            order = orjson.loads(line)
            fixture = Fixture.from_json(order["fixture"])
            task = asyncio.ensure_future(self.play(order["serial"], fixture))
            playing.add(task)
            task.add_done_callback(done)
        for task in playing:
            task.remove_done_callback(done)
            task.cancel()
        for venue in self.venues.values():
            venue.end()
        if self.isolation is not None:
            self.isolation.end()


async def _main() -> None:
    # stdout is redirected: an agent's output must not mix with the records.
    output = os.dup(1)
    os.dup2(2, 1)
    orders = asyncio.StreamReader(limit=1 << 24)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    settings = orjson.loads(await orders.readline())
    if settings["isolate"]:
        close_to_others()
    # What is loaded by now stays: the garbage collector can skip it, and run less often.
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    asyncio.get_running_loop().set_exception_handler(_note_error)
    worker = Worker(settings, output)
    worker.guard.beat()
    await worker.serve(orders)


def _note_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an error that is awaited nowhere, e.g. in an agent's task, without its message: that may run agent code."""
    error = context.get("exception")
    print(f"{context['message']}: {'no exception' if error is None else type_name(error)}", file=sys.stderr)


def main() -> None:
    """Play the fixtures that arrive on stdin until it ends."""
    asyncio.run(_main())
