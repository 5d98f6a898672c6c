"""Shares training runs out over the machines of a Ray cluster, and brings their folders home.

A machine takes as many runs as it has room for, joins and leaves as it likes; a run that was on a lost machine is trained
again elsewhere. Afterwards every run's folder is here, as if it had been trained here, with `FILE` saying where it was.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tarfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from arena.workers.cluster.connection import ON, ThisMachine, connect_cluster
from arena.workers.cluster.payload import Payload
from teamsets.atomic import write_atomic
from teamsets.errors import ArenaError, BadInput
from training.machines.cluster.remote import RemoteOutcome, identity, train_there
from training.machines.cluster.run_payload import Run, pack_run
from training.offline.config import Config

#: In the folder of a run that was trained on another machine: which one, and seconds.
FILE = "trained-on.json"
#: Seconds between two looks at the cluster's machines.
LOOK_SECONDS = 1.0
#: The command ends if no machine has room for so many seconds while nothing is trained.
EMPTY_SECONDS = 120.0
#: A run that was lost with so many machines is not tried again: it may be what ends them.
MOST_LOSSES = 3

Say = Callable[[str], None]


@dataclass
class _Trained:
    """A run under way. node: the machine's id; machine: its name."""

    run: Run
    node: str
    machine: str
    began: float


@contextmanager
def cluster_of(on: str | None, say: Say) -> Iterator[bool]:
    """Connect to what `--on` or the environment names, for runs and for their battles; yields whether there is a cluster."""
    before = os.environ.get(ON)
    with connect_cluster(on, None, say) as cluster:
        if on is not None:
            os.environ[ON] = on
        try:
            yield not isinstance(cluster, ThisMachine)
        finally:
            if on is not None:
                os.environ.pop(ON)
                if before is not None:
                    os.environ[ON] = before


def is_home(run: Run) -> bool:
    """Whether a run was trained on another machine, to its end, and is here."""
    return (Path(run.out) / FILE).exists()


def train_everywhere(runs: Sequence[object], say: Say) -> None:
    """Train those runs that are not here yet on the cluster to which this process is connected.

    Skips what must be trained here: curricula, and runs that play evaluation battles. Raises BadInput, and ArenaError for a
    run that failed, after the others under way are home.
    """
    waiting: list[Run] = []
    for run in runs:
        if not isinstance(run, Run):
            say(
                "curricula are trained here: their battles go into a database; only the battles are played on the cluster"
            )
            break
        if run.evaluation.every:
            say(f"{run.name}: trained here: its evaluation battles go into {run.evaluation.database}")
        elif not is_home(run):
            waiting.append(run)
    if not waiting:
        return
    shares, failed = Shares(say), list[str]()
    for run in waiting:
        shares.add(run)
    try:
        while shares.under_way or (shares.waiting and not failed):
            failed += [problem for _, problem in shares.look(hand_out=not failed) if problem]
    finally:
        shares.close()
    if failed:
        raise ArenaError("; ".join(failed))


class Shares:
    """Runs that wait for a machine of the cluster, and those under way."""

    def __init__(self, say: Say) -> None:
        self.say = say
        self.waiting: list[Run] = []
        self.under_way: dict[Any, _Trained] = {}
        self._payload: dict[str, Payload] = {}
        self._refused: dict[str, str] = {}  # id of a machine -> why
        self._losses: Counter[str] = Counter()
        self._ended: list[tuple[Run, str]] = []
        self._blobs: dict[str, Any] = {}
        self._expected = identity()
        self._empty_since = time.monotonic()

    def add(self, run: Run) -> None:
        """Queue a run, with its folder as far as it was trained already. Raises BadConfig as `pack_run`."""
        self._payload[run.out] = pack_run(run)
        self._empty_since = time.monotonic()
        self.waiting.append(run)

    def look(self, *, hand_out: bool = True) -> list[tuple[Run, str]]:
        """Hand out what waits, wait for at most LOOK_SECONDS, and return the runs that have ended: what failed, or "".

        hand_out: False: begin no more runs. Raises BadInput where no machine will take what waits.
        """
        import ray

        nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
        self._lose({node["NodeID"] for node in nodes})
        for node in nodes if hand_out else ():
            self._hand_out(node)
        if self.under_way:
            self._empty_since = time.monotonic()
            done, _ = ray.wait(list(self.under_way), timeout=LOOK_SECONDS)
            for reference in done:
                self._end(reference)
        elif self.waiting:
            self._check_room(nodes, time.monotonic() - self._empty_since)
            time.sleep(LOOK_SECONDS)
        ended, self._ended = self._ended, []
        return ended

    def close(self) -> None:
        """Cancel what is under way."""
        import ray

        for reference in self.under_way:
            ray.cancel(reference, force=True)
        self.under_way.clear()

    def _hand_out(self, node: dict[str, Any]) -> None:
        """Begin runs on a machine until it has no room."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        cpus, gpus = (int(node["Resources"].get(kind, 0)) for kind in ("CPU", "GPU"))
        mine = [each.run for each in self.under_way.values() if each.node == node["NodeID"]]
        used = sum(_cpus(run, cpus) for run in mine)
        while self.waiting and node["NodeID"] not in self._refused:
            run = self.waiting[0]
            if used + _cpus(run, cpus) > cpus or (gpus and len(mine) >= gpus):
                return
            self.waiting.pop(0)
            mine.append(run)
            used += _cpus(run, cpus)
            payload = self._payload[run.out]
            for sha256, path in payload.paths.items():
                if sha256 not in self._blobs:
                    self._blobs[sha256] = ray.put(path.read_bytes())
            task = ray.remote(train_there).options(
                num_cpus=_cpus(run, cpus),
                num_gpus=1 if gpus else 0,
                max_retries=0,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False),
            )
            reference = task.remote(
                "base" if isinstance(run, Config) else "online",
                yaml.safe_dump(run.model_dump(mode="json"), sort_keys=False),
                run.out,
                payload.pieces,
                {sha256: self._blobs[sha256] for sha256 in payload.paths},
                self._expected,
                os.environ.get("OMP_NUM_THREADS"),
            )
            machine = node["NodeManagerHostname"]
            self.under_way[reference] = _Trained(run, node["NodeID"], machine, time.monotonic())
            self.say(f"{run.name}: trained on {machine}")

    def _end(self, reference: Any) -> None:
        """Take a run that has ended."""
        import ray
        from ray.exceptions import RayError, RayTaskError

        each = self.under_way.pop(reference)
        try:
            outcome: RemoteOutcome = ray.get(reference)
        except RayTaskError as error:  # raised there: it would be again
            self._ended.append((each.run, f"{each.run.name}: on machine {each.machine}: {_line(error.cause)}"))
        except RayError as error:
            self._retry(each, _line(error))
        else:
            seconds = time.monotonic() - each.began
            if outcome.problem:
                self._refused[each.node] = f"machine {each.machine}: {outcome.problem}"
                self.say(f"not used: {self._refused[each.node]}")
                self.waiting.insert(0, each.run)
            elif outcome.failed:
                self._ended.append((each.run, f"{each.run.name}: failed on machine {each.machine}: {outcome.failed}"))
            else:
                _bring_home(
                    outcome.archive, Path(each.run.out), {"machine": each.machine, "seconds": round(seconds, 1)}
                )
                self.say(f"{each.run.name}: home from {each.machine} after {seconds:.0f} s")
                self._ended.append((each.run, ""))

    def _lose(self, alive: set[str]) -> None:
        """Take back runs of machines that are gone."""
        import ray

        for reference, each in list(self.under_way.items()):
            if each.node not in alive:
                ray.cancel(reference, force=True)
                del self.under_way[reference]
                self._retry(each, "the machine is gone")

    def _retry(self, each: _Trained, why: str) -> None:
        self._losses[each.run.out] += 1
        if self._losses[each.run.out] >= MOST_LOSSES:
            problem = f"{each.run.name}: lost {MOST_LOSSES} times, the last time on {each.machine}: {why}"
            self._ended.append((each.run, problem))
            return
        self.say(f"{each.run.name}: lost with machine {each.machine} ({why}): it is trained again")
        self.waiting.insert(0, each.run)

    def _check_room(self, nodes: list[dict[str, Any]], seconds: float) -> None:
        """Raise BadInput if no machine will take what waits."""
        if nodes and all(node["NodeID"] in self._refused for node in nodes):
            raise BadInput(f"no machine of the Ray cluster can train: {self._refused[nodes[0]['NodeID']]}")
        if seconds > EMPTY_SECONDS:
            raise BadInput(
                f"{self.waiting[0].name}: no machine of the Ray cluster has room for compute.threads: "
                f"{self.waiting[0].compute.threads}: lower it, or see `ray status`"
            )


def _cpus(run: Run, cpus: int) -> int:
    """How many of a machine's CPUs a run takes: those that its settings name; all, where torch would take all."""
    return run.compute.threads or cpus


def _bring_home(archive: bytes, out: Path, about: dict[str, Any]) -> None:
    """Put a run's folder in its place, whole or not at all."""
    arriving, before = (out.with_name(f"{out.name}.{word}") for word in ("arriving", "before"))
    for folder in (arriving, before):
        shutil.rmtree(folder, ignore_errors=True)
    arriving.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        packed.extractall(arriving, filter="data")
    write_atomic(arriving / FILE, json.dumps(about) + "\n")
    if out.exists():
        out.rename(before)
    arriving.rename(out)
    shutil.rmtree(before, ignore_errors=True)


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".split("\n", 1)[0][:300]
