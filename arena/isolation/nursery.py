"""The nursery: forks agent processes for one worker. `python -m arena.isolation.nursery`, with a socket as stdin.

Python and poke-env take a second to import and 80 MB; a fork takes milliseconds and shares them. The nursery is started
by `exec`, so nothing of its worker is in its memory: no team, no seed, no venue. It runs no code but the arena's own.

In, a line of JSON each: {"fork": spec, "gen"} with two descriptors (the channel, and where the agent's output goes),
{"kill": pid}.
Out: {"pid"} for each fork, {"ended": pid, "code"} for each agent process (negative: the signal that ended it).
At the end of input it kills what it has forked, and ends.
"""

from __future__ import annotations

import contextlib
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
from typing import Any, NoReturn

import orjson
from poke_env import concurrency
from poke_env.data import GenData

from agents import is_built_in
from arena.isolation import inside
from arena.isolation.closing import adopt_orphans, children, close_to_others, die_with
from arena.sources import source_of

#: Where an agent process finds its channel.
CHANNEL = 3


class Nursery:
    """The loop of the process. orders: the socket to the worker."""

    def __init__(self, orders: socket.socket) -> None:
        self.orders = orders
        self.descriptors: list[int] = []
        self.living: set[int] = set()
        self.rest = b""
        self.woken, wake = socket.socketpair()
        for end in (self.woken, wake):
            end.setblocking(False)
        self.wake = wake  # kept: the signal module has its number only
        signal.set_wakeup_fd(wake.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        """Until the worker closes its end."""
        while True:
            ready, _, _ = select.select([self.orders, self.woken], [], [])
            if self.woken in ready:
                self.woken.recv(4096)
                self.reap()
                self.end_orphans()
            if self.orders in ready and not self.take_orders():
                break
        for pid in self.living:
            _end(pid)
        while self.living or children():  # what they have started becomes a child of ours when they end
            self.end_orphans()
            self.reap()
            self.woken.settimeout(0.1)
            with contextlib.suppress(TimeoutError):
                self.woken.recv(4096)

    def take_orders(self) -> bool:
        """Carries out what has arrived; False at the end of input."""
        try:
            data, descriptors, _, _ = socket.recv_fds(self.orders, 65536, 16)
        except ConnectionResetError:  # the worker was killed, and had not read all that we said
            return False
        self.descriptors += descriptors
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            order = orjson.loads(line)
            if "fork" in order:
                channel, output = self.descriptors[:2]
                del self.descriptors[:2]
                _prepare(order["fork"], order["gen"])
                self.fork(channel, output)
            elif order["kill"] in self.living:
                _end(order["kill"])
        return bool(data)

    def fork(self, channel: int, output: int) -> None:
        pid = os.fork()
        if pid == 0:
            for end in (self.orders, self.woken, self.wake):
                end.detach()  # their numbers will be others' soon
            _become_agent_process(channel, output)
        os.close(channel)
        os.close(output)
        self.living.add(pid)
        self.say({"pid": pid})

    def reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                pid, status = found
                if pid in self.living:
                    self.living.remove(pid)
                    self.say({"ended": pid, "code": os.waitstatus_to_exitcode(status)})

    def end_orphans(self) -> None:
        """Ends what agent processes have left behind."""
        for pid in children() - self.living:
            _end(pid)

    def say(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the worker has gone: the input ends, too
            self.orders.sendall(orjson.dumps(message) + b"\n")


@cache
def _prepare(spec: str, gen: int) -> None:
    """Loads what all forks for an agent need: poke-env's tables, and the agent's code where it is the arena's own."""
    GenData.from_gen(gen)
    if is_built_in(spec):
        source_of(spec)
    gc.freeze()  # the collector would touch, and so copy, every page that the forks share


def _end(pid: int) -> None:
    """Ends a process and its process group; what has left the group is adopted, and ended as an orphan."""
    for end in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError):
            end(pid, signal.SIGKILL)


def _become_agent_process(channel: int, output: int) -> NoReturn:
    """Leaves everything of the nursery behind and plays for the worker at the other end of the channel."""
    try:
        die_with(_NURSERY)
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _leave_poke_env()
        os.dup2(channel, CHANNEL)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.closerange(CHANNEL + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        _restart_poke_env()
        _draw_anew()
        inside.run(CHANNEL)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(0)


def _stop_poke_env() -> None:
    """Ends the thread of poke-env's event loop: a thread does not survive a fork."""
    concurrency.POKE_LOOP.call_soon_threadsafe(concurrency.POKE_LOOP.stop)
    concurrency._t.join()


def _leave_poke_env() -> None:
    """Closes the selector and the pipe of poke-env's event loop, which are shared with all other forks."""
    loop: Any = concurrency.POKE_LOOP
    loop._selector.close()
    loop._ssock.close()
    loop._csock.close()


def _restart_poke_env() -> None:
    """Runs poke-env's event loop in a thread again, with a selector and a pipe of this process's own."""
    loop: Any = concurrency.POKE_LOOP
    loop._selector = selectors.DefaultSelector()
    loop._make_self_pipe()
    threading.Thread(target=loop.run_forever, daemon=True).start()


def _draw_anew() -> None:
    """Every fork has the nursery's state of the generators that a process has for all."""
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
    try:
        Nursery(channel_to_worker).serve()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(0)  # poke-env's way of ending waits for the thread that has ended
