"""A worker: one process with one event loop and one host that plays many battles concurrently. Started by supervised.py.

In, a line of JSON each: first the settings, then fixtures {"serial", "fixture"}; the end of input means stop.
Out, one line per fixture: a JSON header, a tab, and the battle record's line. The header says if a fixture was `moved` from
the engine to the simulator, and why; or, without a record, that the engine `differs` from Showdown. Output of agents goes to
stderr.
"""

from __future__ import annotations

import asyncio
import gc
import mmap
import os
import sys
from pathlib import Path
from typing import Any

import orjson

from agents.engine import HOSTED_FORMATS
from agents.serving.client import Mailbox
from arena.battles.guard import SHARED_BYTES, StepGuard
from arena.battles.seat import type_name
from arena.fixture import Fixture
from arena.options import VenueName
from arena.record import BattleRecord
from arena.venue import NotOnEngine, Rules, Venue, VenueFailed, VenuesDiffer
from arena.venues.isolation.seat import Isolation
from arena.venues.server.local import LocalServer
from arena.venues.server.venue import ServerVenue
from arena.venues.simulator.host import Host
from arena.venues.simulator.simulator import Simulator

#: Number of retries of a fixture after failures of the venue, before it is stored as "aborted".
ATTEMPTS = 3


class Worker:
    """Plays the fixtures that arrive on stdin, and writes their results to `output`."""

    def __init__(self, settings: dict[str, Any], output: int) -> None:
        self.run = settings["run"]
        self.rules = Rules(**settings["rules"])
        self.stock = settings["stock"]
        self.on_server = settings["venue"] == "server"
        self.verify_every = settings["verify_every"]
        self.output = output
        self.guard = StepGuard(mmap.mmap(settings["shared"], SHARED_BYTES))
        self.isolation: Isolation | None = None
        if settings["isolate"]:
            descriptor, folder = settings["mailbox"]
            self.isolation = Isolation(Mailbox(descriptor, Path(folder)), self.guard.clock)
        self.venues: dict[str, Venue] = {}  # created at their first use; the two engines by their formats
        self.launching = asyncio.Lock()

    async def play(self, serial: int, fixture: Fixture) -> None:
        """Play one fixture and report it; after a failure of the venue, retry it on a new process."""
        name: VenueName = "server" if self.on_server or fixture.has_program else "simulator"
        name = "engine" if fixture.on_engine else name
        hosted = fixture.format in HOSTED_FORMATS
        failure: Exception | None = None
        moved: dict[str, str] = {}
        attempts = ATTEMPTS
        while attempts:
            venue = await self.ready_venue(name, hosted)
            try:
                record = await venue.play(fixture, serial)
                break
            except NotOnEngine as error:
                name, moved = "simulator", {"moved": str(error)}
            except VenuesDiffer as error:
                self.write({"serial": serial, "differs": str(error)}, b"")
                return
            except VenueFailed as error:
                failure = error
                attempts -= 1
        else:
            detail = str(failure)[:1000]
            record = BattleRecord(fixture, winner=None, reason="aborted", fault="venue", detail=detail, venue=name)
        self.write({**record.header(serial), **moved}, record.to_line(self.run))

    async def ready_venue(self, name: VenueName, hosted: bool = False) -> Venue:
        """Return the venue of that name, started. hosted: which of the two engines, where it is the engine."""
        async with self.launching:
            return await self._ready_venue(name, hosted)

    async def _ready_venue(self, name: VenueName, hosted: bool = False) -> Venue:
        key = "hosted engine" if name == "engine" and hosted else name
        venue = self.venues.get(key)
        if venue is None or venue.gone:
            if name == "server":
                venue = ServerVenue(await LocalServer.launch(), self.guard, self.rules, self.isolation)
            elif name == "engine":
                venue = await (self._hosted_engine() if hosted else self._engine_venue())
            else:
                venue = Simulator(await Host.launch(stock=self.stock), self.guard, self.rules, self.isolation)
            self.venues[key] = venue
        return venue

    async def _engine_venue(self) -> Venue:
        from arena.venues.engine.venue import EngineVenue, ready_engine  # imports Numba

        await ready_engine()
        simulator = await self._ready_venue("simulator")
        assert isinstance(simulator, Simulator)
        assert isinstance(simulator.host, Host)
        return EngineVenue(simulator.host, self.guard, self.rules, verify_every=self.verify_every)

    async def _hosted_engine(self) -> Venue:
        from arena.venues.engine.hosted import HostedEngine, ready_hosted_engine  # compiles the engine

        await ready_hosted_engine()
        simulator = await self._ready_venue("simulator")
        assert isinstance(simulator, Simulator) and isinstance(simulator.host, Host)
        return HostedEngine(simulator.host, self.guard, self.rules, verify_every=self.verify_every)

    def write(self, header: dict[str, Any], record: bytes) -> None:
        """Write a line for the coordinator."""
        data = memoryview(orjson.dumps(header) + b"\t" + record + b"\n")
        while data:
            data = data[os.write(self.output, data) :]
        self.guard.count_report()

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
