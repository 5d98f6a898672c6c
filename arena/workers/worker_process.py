"""The side of a worker process that its owner sees."""

from __future__ import annotations

import asyncio
import mmap
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from agents.serving.client import Mailbox
from arena.battles.guard import SHARED_BYTES, Life, read_life, read_step
from arena.processes.child import ChildProcess
from arena.processes.supervisor import LEAVE_SECONDS
from arena.workers.crash_attribution import End
from arena.workers.worker_pool import WorkerHandle
from arena.workers.worker_settings import WorkerSettings
from teamsets.showdown import PROJECT

#: Time limit for a worker's first heartbeat, in seconds: it imports everything, perhaps on a machine under load.
STARTING_SECONDS = 300.0
#: Seconds that a worker's loop may be blocked outside of all steps if the process does not compute meanwhile: it is not slow
#: then, but waits. One that computes may be on a machine under load, and has longer (`check_health`).
IDLE_SECONDS = 3.0
#: Time limit for a worker's supervisor to end it, in seconds.
SUPERVISOR_SECONDS = 2 * LEAVE_SECONDS


def _is_stopped(pid: int) -> bool:
    """Return whether a process is stopped by a signal (Linux; False elsewhere)."""
    return _stat(pid)[:1] in (["T"], ["t"])


def processor_time(pid: int) -> int:
    """Return the processor time that a process has used, in ticks of the system (Linux; 0 elsewhere)."""
    fields = _stat(pid)
    return int(fields[11]) + int(fields[12]) if fields else 0


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat, from the state on; empty where there is no /proc."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return []
    return stat.rpartition(")")[2].split()


class WorkerProcess(ChildProcess, WorkerHandle):
    """A worker that is a process of this machine: its reports, running step, and death.

    on_line(worker, header, record line), on_death(worker): called on the running loop. solo: see `WorkerHandle`.
    processor_time(pid): the processor time that a process has used, in any unit; 0 where it is not known.
    """

    def __init__(
        self,
        on_line: Callable[[WorkerProcess, dict[str, Any], bytes], None],
        on_death: Callable[[WorkerProcess], None],
        *,
        solo: bool = False,
        processor_time: Callable[[int], int] = processor_time,
    ) -> None:
        ChildProcess.__init__(self)
        WorkerHandle.__init__(self, solo=solo)
        self._on_line, self._on_death = on_line, on_death
        self.shared: mmap.mmap | None = None
        self.dead = False
        self._before = Life(0, 0, 0, 0)
        self._received = 0
        # Seconds, measured by the coordinator's checks.
        self._quiet = self._overdue = self._unheard = self._idle = 0.0
        self._processor_time = processor_time
        self._computed = 0  # its processor time at the last check
        self._cut_off = False

    @classmethod
    async def launch(
        cls,
        settings: WorkerSettings,
        on_line: Callable[[WorkerProcess, dict[str, Any], bytes], None],
        on_death: Callable[[WorkerProcess], None],
        *,
        solo: bool = False,
        mailbox: Mailbox | None = None,
    ) -> WorkerProcess:
        """Start a worker. solo: see the class. mailbox: to the servers of models, where agents are isolated."""
        # The hash seed is fixed, so that iteration over a set has the same order every time. The arena's packages come
        # first (and -P: not the current folder), or a user's folder called `agents` would shadow them.
        path = os.pathsep.join(filter(None, [str(PROJECT), os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": path}
        command = [sys.executable, "-P", "-m", "arena.workers.supervised", *(["--closed"] if settings.isolate else [])]
        posted = () if mailbox is None else (mailbox.descriptor, str(mailbox.folder))
        # An unnamed file that the worker inherits: it disappears when both processes are gone.
        with tempfile.TemporaryFile() as file:
            file.truncate(SHARED_BYTES)
            _, worker = await asyncio.get_running_loop().subprocess_exec(
                lambda: cls(on_line, on_death, solo=solo),
                *command,
                env=environment,
                start_new_session=True,
                pass_fds=(file.fileno(), *posted[:1]),
            )
            worker.shared = mmap.mmap(file.fileno(), SHARED_BYTES)
            order = {**asdict(settings), "rules": settings.rules.model_dump()}
            worker.order({**order, "shared": file.fileno(), "mailbox": posted})
        return worker

    def check_health(self, seconds: float, grace: float, silence: float) -> End | None:
        """Check the worker. Returns how it is to be ended, or None if it is healthy.

        seconds: since the last check, by a clock that stops with the coordinator: a suspended machine makes no worker
        silent. grace: seconds that a step may be overdue; silence: seconds that the loop may be blocked outside of all
        steps while the process computes; if it does not, IDLE_SECONDS.
        """
        assert self.shared is not None
        life, step = read_life(self.shared), read_step(self.shared)
        before, self._before = self._before, life
        self.begun = life.beats > 0
        self._quiet = 0.0 if life.beats != before.beats or (step and step[1] <= 0) else self._quiet + seconds
        computed, self._computed = self._computed, self._processor_time(life.pid) if self._quiet else 0
        self._idle = self._idle + seconds if self._quiet and computed == self._computed > 0 else 0.0
        self._overdue = self._overdue + seconds if step and step[1] > 0 and life.step == before.step else 0.0
        self._unheard = self._unheard + seconds if self._cut_off or life.reports > self._received else 0.0
        if not self.begun:
            return End("error", "its worker did not start") if self._quiet > STARTING_SECONDS else None
        if self._overdue > grace and step is not None:
            if _is_stopped(life.pid):
                return End("timeout", "its worker was stopped and did not continue")
            self.last_step = step[0]
            return End("timeout", "blocked its worker, out of reach of any signal, until it was ended")
        if (self._quiet > silence or self._idle > IDLE_SECONDS) and step is None:
            return End("timeout", "blocked its worker outside of its turn until it was ended")
        if self._unheard > grace:
            return End("error", "cut its worker off: it did not take orders, or its reports did not arrive")
        return None

    @property
    def silent_seconds(self) -> float:
        return self._quiet

    @property
    def idle_seconds(self) -> float:
        return self._idle

    def kill(self) -> None:
        """Let its supervisor end it and its child processes; kill the supervisor, too, if it does not."""
        if self.status is None:
            self._child.send_signal(signal.SIGTERM)
            asyncio.get_running_loop().call_later(SUPERVISOR_SECONDS, super().kill)

    def end(self, cause: End) -> None:
        """End it for a reason."""
        self.cause = cause
        self.kill()

    def order(self, order: dict[str, Any]) -> None:
        self.write_line(orjson.dumps(order))

    def line_received(self, line: bytes) -> None:
        self._received += 1
        head, _, record = line.partition(b"\t")
        try:
            header = orjson.loads(head)
            serial = header["serial"]
        except (orjson.JSONDecodeError, TypeError, KeyError):
            if self.cause is None:
                self.end(End("error", "wrote among its worker's reports"))
            return
        if serial in self.fixtures:
            self._on_line(self, header, record)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        # Usually the first sign of its death; if it is alive, `check_health` ends it.
        self._cut_off = self._cut_off or fd in (0, 1)

    def process_exited(self) -> None:
        # asyncio drains every pipe before it calls connection_lost, which reports the death.
        step = read_step(self.shared) if self.shared is not None else None
        if self.cause is None and step is not None:
            self.last_step = step[0]

    def connection_lost(self, exc: Exception | None) -> None:
        self.dead = True
        if self.shared is not None:
            self.begun = read_life(self.shared).beats > 0
        self._on_death(self)
