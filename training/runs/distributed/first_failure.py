"""Which rank of a run failed first, and what to do about it.

When one rank fails, the others fail too, within milliseconds: their collective operation loses its peer. So the order in
which processes end does not tell the cause. A rank that only lost its connection is not blamed while another one has a
reason of its own; neither is one that the launcher has stopped.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from training.runs.distributed.rank_files import Failure, RankFiles, RankProgress

#: Parts of the messages with which gloo, NCCL and the store report that another rank is gone.
_LOST_PEER = (
    "Connection closed by peer", "Connection reset by peer", "Broken pipe", "remote process exited", "Connection refused",
    "failed to recv, got 0 bytes", "Socket closed", "NCCL communicator was aborted", "remote error", "recvValue failed",
    "sendBytes failed", "Connection was likely closed",
)  # fmt: skip
_OUT_OF_MEMORY = ("OutOfMemoryError", "out of memory", "not enough memory", "MemoryError", "can't allocate memory")


@dataclass(frozen=True)
class EndedRank:
    """A rank that has ended. code: negative: by this signal. time: Unix time at which its end was seen."""

    files: RankFiles
    code: int
    time: float
    stopped_by_us: bool
    failure: Failure | None
    progress: RankProgress | None

    @property
    def rank(self) -> int:
        return self.files.rank

    @property
    def at(self) -> float:
        return self.time if self.failure is None else self.failure.time

    @property
    def lost_peer(self) -> bool:
        return self.failure is not None and any(part in self.failure.message for part in _LOST_PEER)


def first_failure(ends: Sequence[EndedRank]) -> EndedRank:
    """Return the rank that failed first, of ranks of which at least one has failed."""
    failed = [end for end in ends if end.code != 0]
    own = [end for end in failed if not end.lost_peer and not end.stopped_by_us]
    hung = [end for end in own if end.failure is not None and end.failure.kind == "hung" and end.progress is not None]
    if hung and len(hung) == len(own):  # the one that the others waited for says best where it was
        return min(hung, key=lambda end: (end.progress.count if end.progress else 0, end.at))
    return min(own or [end for end in failed if not end.stopped_by_us] or failed, key=lambda end: end.at)


def report(ends: Sequence[EndedRank], *, killed_for_memory: bool) -> int:
    """Print which rank failed first, where, why, and its log; return the exit code of the command."""
    first = first_failure(ends)
    failure = first.failure
    if failure is not None and failure.bad_input:
        print(f"train: {failure.message}", file=sys.stderr)
        return 2
    print(f"train: {describe(first, len(ends), killed_for_memory)}", file=sys.stderr)
    for end in sorted(ends, key=lambda end: end.rank):
        if end is not first and end.code:
            print(f"train: rank {end.rank} after it: {_consequence(end)}; log: {end.files.log}", file=sys.stderr)
    return 1


def describe(end: EndedRank, world: int, killed_for_memory: bool) -> str:
    """Return one line: rank, place, reason, where, what to do, log."""
    failure, place = end.failure, "before its first step" if end.progress is None else f"in {end.progress.place}"
    if failure is None:
        reason, where = _death(end.code, killed_for_memory), ""
    else:
        place, reason, where = f"in {failure.place}", failure.message, f", at {failure.where}"
    if failure is not None and failure.kind == "hung":
        return f"{reason}; reported by rank {end.rank} of {world}{where}{_fix(reason)}; log: {end.files.log}"
    return f"rank {end.rank} of {world} failed first, {place}: {reason}{where}{_fix(reason)}; log: {end.files.log}"


def _death(code: int, killed_for_memory: bool) -> str:
    if code >= 0:
        return f"it ended with exit code {code} and said nothing"
    name = signal.Signals(-code).name if -code in {*signal.Signals} else f"signal {-code}"
    if code == -signal.SIGKILL:
        if killed_for_memory:
            return "killed by the kernel: out of memory (SIGKILL; memory.events counts an oom_kill)"
        return (
            "killed by SIGKILL: by somebody, or by the kernel because memory was short (`dmesg | grep -i oom` says so)"
        )
    return f"ended by {name}: a crash in compiled code; the stack is in its log"


def _fix(reason: str) -> str:
    if any(part in reason for part in _OUT_OF_MEMORY):
        return "; `train plan CONFIG --gpus N --memory SIZE` prints settings that fit"
    if "hung" in reason:
        return "; `train doctor` tests the connection between the devices"
    return ""


def _consequence(end: EndedRank) -> str:
    if end.stopped_by_us:
        return "stopped by the launcher"
    if end.lost_peer:
        return f"lost its connection in {end.failure.place if end.failure else '?'}"
    return end.failure.message if end.failure is not None else _death(end.code, False)
