"""The nursery: forks agent processes for one worker. `python -m arena.venues.isolation.nursery FD FOLDER`, with a socket as
stdin.

FD, FOLDER: the mailbox to the servers of models (agents/serving/broker.py). Only forks that run nothing but the arena's own
code keep it: others could send requests of their own. Those are confined, too: they cannot trace or signal other processes.

Importing Python and poke-env takes a second and 80 MB; a fork takes milliseconds and shares the memory. The nursery is
started by `exec`, so it contains nothing of its worker: no team, seed or venue. It runs only the arena's code.

In, a line of JSON each: {"fork": spec, "gen"} with two descriptors (the channel, and the agent's output), {"kill": pid}.
Out: {"pid"} for each fork, {"ended": pid, "code"} for each agent process (negative: the signal that ended it).
At the end of input it kills its forks, and ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import random
import resource
import select
import selectors
import signal
import socket
import sys
import threading
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import orjson
from poke_env import concurrency
from poke_env.data import GenData

from agents import is_built_in
from agents.serving.client import Mailbox, use_mailbox
from arena.battles.clock import TICK_SECONDS, RunClock, Witness, shared_clock
from arena.battles.session import source_of
from arena.venues.isolation import inside
from teamsets.processes import adopt_orphans, children, close_to_others, confine, die_with

#: The descriptor of an agent process's channel.
CHANNEL = 3
#: The descriptor of the mailbox, in those that have it.
MAILBOX = 4


class Nursery:
    """The loop of the process. orders: the socket to the worker. mailbox: to the servers of models."""

    def __init__(self, orders: socket.socket, mailbox: Mailbox) -> None:
        self.orders, self.mailbox = orders, mailbox
        self.descriptors: list[int] = []
        self.living: set[int] = set()
        self.rest = b""
        self.woken, wake = socket.socketpair()
        for end in (self.woken, wake):
            end.setblocking(False)
        self.wake = wake  # kept referenced: the signal module has only its number
        signal.set_wakeup_fd(wake.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.witness = Witness()
        self.ticks, self.seen_ticks = shared_clock()

    def serve(self) -> None:
        """Serve until the worker closes its side."""
        while True:
            ready, _, _ = select.select([self.orders, self.woken], [], [], TICK_SECONDS)
            self.witness.tick([self.ticks])
            if self.woken in ready:
                self.woken.recv(4096)
                self.reap()
                self.end_orphans()
            if self.orders in ready and not self.take_orders():
                break
        for pid in self.living:
            _end(pid)
        while self.living or children():  # their orphans become children of the nursery
            self.end_orphans()
            self.reap()
            self.woken.settimeout(0.1)
            with contextlib.suppress(TimeoutError):
                self.woken.recv(4096)

    def take_orders(self) -> bool:
        """Execute the received orders. Returns False at the end of input."""
        try:
            data, descriptors, _, _ = socket.recv_fds(self.orders, 65536, 16)
        except ConnectionResetError:  # the worker was killed before it had read everything
            return False
        self.descriptors += descriptors
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            order = orjson.loads(line)
            if "fork" in order:
                channel, output = self.descriptors[:2]
                del self.descriptors[:2]
                _prepare(order["fork"], order["gen"])
                self.fork(channel, output, trusted=is_built_in(order["fork"]))
            elif order["kill"] in self.living:
                _end(order["kill"])
        return bool(data)

    def fork(self, channel: int, output: int, *, trusted: bool) -> None:
        """Fork an agent process. trusted: it runs only the arena's own code."""
        pid = os.fork()
        if pid == 0:
            for end in (self.orders, self.woken, self.wake):
                end.detach()  # their ids may soon be reused
            self.ticks.close()  # other agents' clocks: it keeps the memory that it cannot write
            _become_agent_process(channel, output, self.mailbox if trusted else None, RunClock(self.seen_ticks))
        os.close(channel)
        os.close(output)
        self.living.add(pid)
        self.send({"pid": pid})

    def reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                pid, status = found
                if pid in self.living:
                    self.living.remove(pid)
                    self.send({"ended": pid, "code": os.waitstatus_to_exitcode(status)})

    def end_orphans(self) -> None:
        """Kill the orphans of agent processes."""
        for pid in children() - self.living:
            _end(pid)

    def send(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the worker is gone: the input ends as well
            self.orders.sendall(orjson.dumps(message) + b"\n")


@cache
def _prepare(spec: str, gen: int) -> None:
    """Load what all forks for an agent need: poke-env's tables, and the agent's code if it is the arena's."""
    GenData.from_gen(gen)
    if is_built_in(spec):
        source_of(spec)
    gc.freeze()  # the garbage collector would touch, and so copy, every shared page


def _end(pid: int) -> None:
    """Kill a process and its process group; processes that left the group are adopted, and killed as orphans."""
    for end in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError):
            end(pid, signal.SIGKILL)


def _become_agent_process(channel: int, output: int, mailbox: Mailbox | None, clock: RunClock) -> NoReturn:
    """Drop the nursery's state, and play for the worker at the other side of the channel.

    mailbox: None for foreign code. clock: the run's time.
    """
    try:
        die_with(_NURSERY)
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _leave_poke_env()
        os.dup2(channel, CHANNEL)
        if mailbox is None:
            confine()
        else:
            os.dup2(mailbox.descriptor, MAILBOX, inheritable=False)
            use_mailbox(Mailbox(MAILBOX, mailbox.folder))
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.closerange(CHANNEL + 1 if mailbox is None else MAILBOX + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        _restart_poke_env()
        _draw_anew()
        inside.run(CHANNEL, clock)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(0)


def _stop_poke_env() -> None:
    """Stop the thread of poke-env's event loop: a thread does not survive a fork."""
    concurrency.POKE_LOOP.call_soon_threadsafe(concurrency.POKE_LOOP.stop)
    concurrency._t.join()


def _leave_poke_env() -> None:
    """Close the selector and the pipe of poke-env's event loop, which are shared with all other forks."""
    loop: Any = concurrency.POKE_LOOP
    loop._selector.close()
    loop._ssock.close()
    loop._csock.close()


def _restart_poke_env() -> None:
    """Run poke-env's event loop in a thread again, with a new selector and pipe."""
    loop: Any = concurrency.POKE_LOOP
    loop._selector = selectors.DefaultSelector()
    loop._make_self_pipe()
    threading.Thread(target=loop.run_forever, daemon=True).start()


def _draw_anew() -> None:
    """Reseed the global random generators, whose state is the nursery's in every fork."""
    random.seed()
    numbers = sys.modules.get("numpy.random")
    if numbers is not None:
        numbers.seed()


if __name__ == "__main__":
    _NURSERY = os.getpid()
    adopt_orphans()
    close_to_others()
    _stop_poke_env()
    channel_to_worker = socket.socket(fileno=os.dup(0))
    # Above the numbers that an agent process gives to its own descriptors.
    to_servers = Mailbox(fcntl.fcntl(int(sys.argv[1]), fcntl.F_DUPFD_CLOEXEC, MAILBOX + 1), Path(sys.argv[2]))
    try:
        Nursery(channel_to_worker, to_servers).serve()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(0)  # poke-env's exit handler waits for the stopped thread
