"""Starts the ranks of a training run on this machine, and says which one failed first, where and why.

A launcher of other people's (`accelerate launch`, `torchrun`) works as well, and is needed for several machines. It blames
the rank whose exit it sees first, which is often one that only lost its connection to the rank that failed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from teamsets.locking import file_lock
from training.runs.config_reader import BadConfig
from training.runs.distributed.first_failure import EndedRank, report
from training.runs.distributed.ports import reserved_port
from training.runs.distributed.rank import LAUNCHER
from training.runs.distributed.rank_files import RankFiles

#: Seconds for the other ranks to say how they ended, after the first one did, and then for SIGTERM.
_GRACE = 5.0
_POLL = 0.05
_OOM_KILLS = Path("/sys/fs/cgroup/memory.events")


@dataclass
class _Child:
    files: RankFiles
    process: subprocess.Popen[bytes]
    ended: float | None = None  # Unix time at which the launcher has seen its end
    stopped_by_us: bool = False


def launch(arguments: Sequence[str], run: Path, processes: int, program: Sequence[str] = ("-m", "training.cli")) -> int:
    """Run `train ARGUMENTS` in so many processes, and return the exit code: 0, or that of the first failure.

    Prints the first failure on stderr. run: the run's folder, where the ranks' logs are. Raises BadConfig if another
    launcher has the folder.
    """
    oom_kills = _oom_kills()
    (run / "ranks").mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        if not stack.enter_context(file_lock(run / "ranks" / "lock", wait=False)):
            raise BadConfig(f"out {run}: in use by another training process: wait, or name another folder")
        port = stack.enter_context(reserved_port())
        children = _start([sys.executable, *program, *arguments], run, processes, port)
        try:
            _wait(children)
        finally:  # also after Ctrl-C, which the ranks have received themselves
            _stop(children)
    ends = [_end_of(child) for child in children]
    if all(end.code == 0 for end in ends):
        return 0
    return report(ends, killed_for_memory=_oom_kills() > oom_kills)


def _start(command: list[str], run: Path, processes: int, port: int) -> list[_Child]:
    threads = max(1, len(os.sched_getaffinity(0)) // processes)
    shared = {
        **os.environ,
        "WORLD_SIZE": str(processes),
        "LOCAL_WORLD_SIZE": str(processes),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        LAUNCHER: str(os.getpid()),
    }
    shared.setdefault("OMP_NUM_THREADS", str(threads))
    children: list[_Child] = []
    for rank in range(processes):
        files = RankFiles(run, rank)
        files.clear()
        with files.log.open("wb") as log:
            # Rank 0 keeps the terminal, for the live line.
            output = {} if rank == 0 else {"stdout": log, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
            environment = {**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)}
            process = subprocess.Popen(command, env=environment, **output)  # type: ignore[call-overload]
        children.append(_Child(files, process))
    return children


def _wait(children: list[_Child]) -> None:
    """Return when all have ended, or some seconds after the first failure, for the others to say how they end."""
    first: float | None = None
    while any(child.ended is None for child in children):
        for child in children:
            if child.ended is None and child.process.poll() is not None:
                child.ended = time.time()
                if child.process.returncode and first is None:
                    first = child.ended
        if first is not None and time.time() - first > _GRACE:
            return
        time.sleep(_POLL)


def _stop(children: list[_Child]) -> None:
    running = [child for child in children if child.process.poll() is None]
    for child in running:
        child.stopped_by_us = True
        child.process.terminate()
    deadline = time.monotonic() + _GRACE
    for child in running:
        try:
            child.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:  # it ignores SIGTERM, or is stopped
            child.process.kill()
            child.process.wait()


def _end_of(child: _Child) -> EndedRank:
    return EndedRank(
        files=child.files,
        code=child.process.returncode,
        time=child.ended or time.time(),
        stopped_by_us=child.stopped_by_us,
        failure=child.files.read_failure(),
        progress=child.files.read_progress(),
    )


def _oom_kills() -> int:
    """Return how many processes of this control group the kernel has killed because memory was short; 0 if unknown."""
    try:
        lines = dict(line.split() for line in _OOM_KILLS.read_text().splitlines())
    except (OSError, ValueError):
        return 0
    return int(lines.get("oom_kill", 0))
