"""A pool (arena/workers/worker_pool.py) whose workers live on the machines of a Ray cluster."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from arena.workers.cluster.actor import WorkerActor, identity
from arena.workers.cluster.payload import Payload
from arena.workers.cluster.slot import RemoteWorker, WorkerSlot, await_call
from arena.workers.coordinator import WorkersFailed
from arena.workers.worker_pool import OnDeath, OnLine
from arena.workers.worker_settings import WorkerSettings

#: Seconds between two checks of the cluster's machines.
CHECK_SECONDS = 1.0
#: An actor that does not answer for so many seconds is lost; it answers every two (actor.ANSWER_SECONDS).
SILENT_SECONDS = 60.0
#: The run ends if no machine takes a worker for so many seconds.
EMPTY_SECONDS = 300.0
#: A machine on which so many actors were lost before their first battle takes no more.
EARLY_LOSSES = 3
#: Variables of the environment that Ray changes, or that say how battles are played.
SURROUNDINGS = ("OMP_NUM_THREADS", "ARENA_POLICY_THREADS")

Node = tuple[str, str, int]


class RayPool:
    """One actor for each CPU of each machine; a machine that joins is used, the workers of one that leaves are lost.

    workers: at most so many in all; None: as many as there are CPUs. fingerprints: of the run's agents, which a machine
    must have, too, in all `formats`.
    """

    def __init__(
        self,
        settings: WorkerSettings,
        workers: int | None,
        payload: Payload,
        fingerprints: Mapping[str, str],
        formats: tuple[str, ...],
    ) -> None:
        self.settings, self.max_workers, self.payload = settings, workers, payload
        self.fingerprints, self.formats = dict(fingerprints), formats
        self.nodes: dict[str, tuple[int, int]] = {}
        self.remarks: list[str] = []
        self.duplicates_slow = True
        self.slots: dict[WorkerSlot, asyncio.Task[None]] = {}
        self.refused: dict[str, str] = {}  # id of a machine -> why it takes no workers
        self._lost_workers: Counter[str] = Counter()  # lost workers and their battles, by the machine's name
        self._replayed: Counter[str] = Counter()
        self._early: Counter[str] = Counter()
        self._before: Counter[str] = Counter()  # battles of lost actors, by machine
        self._closing = False
        self._names: dict[str, str] = {}
        self._checked: dict[str, asyncio.Future[str]] = {}
        self._blobs: dict[str, Any] = {}  # sha256 -> its object in Ray's store

    async def open(self, on_line: OnLine, on_death: OnDeath, on_change: Callable[[Exception | None], None]) -> None:
        self._on_line, self._on_death, self._on_change = on_line, on_death, on_change
        self._identity = identity()
        self._surroundings = {name: os.environ.get(name) for name in SURROUNDINGS}
        self._watching = asyncio.ensure_future(self._watch())

    @property
    def capacity(self) -> int:
        return sum(slot.ready for slot in self.slots)

    async def launch(self, *, solo: bool = False) -> RemoteWorker:
        ready = [slot for slot in self.slots if slot.ready]
        return min(ready, key=lambda slot: sum(w.solo == solo for w in slot.workers.values())).launch(solo=solo)

    async def close(self) -> None:
        self._closing = True
        self._watching.cancel()
        for slot, task in list(self.slots.items()):
            task.cancel()
            ray.kill(slot.actor)
        await asyncio.gather(self._watching, *self.slots.values(), return_exceptions=True)

    async def _watch(self) -> None:
        """End the run when the cluster itself is gone. Ray's client then raises Exception itself: it has no type for it."""
        try:
            await self._watch_machines()
        except Exception as error:
            kept = "finished battles are kept; continue the run on this machine or on a cluster (docs/scale.md)"
            self._on_change(WorkersFailed(f"the Ray cluster does not answer: {_line(error)}: {kept}"))

    async def _watch_machines(self) -> None:
        """Check the machines of the cluster, and start actors where there is room."""
        empty_since = time.monotonic()
        while True:
            nodes = _alive(await asyncio.to_thread(ray.nodes))
            for slot, task in list(self.slots.items()):
                if slot.node_id not in {node_id for node_id, _, _ in nodes}:
                    task.cancel()  # Ray itself would only say so later
            for node_id, name, _ in nodes:
                self._name(node_id, name)
            for node_id in self._missing(nodes):
                self._begin(node_id)
            if self.capacity:
                empty_since = time.monotonic()
            why = self._no_room(nodes, time.monotonic() - empty_since)
            # Also without a change: see Coordinator.duplicate_slow_battles.
            self._on_change(WorkersFailed(why) if why else None)
            self._count()
            await asyncio.sleep(CHECK_SECONDS)

    def _no_room(self, nodes: list[Node], seconds: float) -> str:
        """Return why the run cannot continue; empty if it can. seconds: for which no machine has had room."""
        if nodes and all(node_id in self.refused for node_id, _, _ in nodes):
            return f"no machine of the Ray cluster can play this run: {self.refused[nodes[0][0]]}"
        if seconds > EMPTY_SECONDS:
            return f"no machine of the Ray cluster had a free CPU for {EMPTY_SECONDS:g} s: see `ray status`"
        return ""

    def _missing(self, nodes: list[Node]) -> list[str]:
        """The machines that actors are to begin on, one entry for each."""
        have = Counter(slot.node_id for slot in self.slots)
        free = [[node_id] * (cpus - have[node_id]) for node_id, _, cpus in nodes if node_id not in self.refused]
        rounds = max(map(len, free), default=0)
        wanted = [ids[turn] for turn in range(rounds) for ids in free if turn < len(ids)]
        return wanted if self.max_workers is None else wanted[: max(0, self.max_workers - have.total())]

    def _name(self, node_id: str, name: str) -> str:
        """A name for a machine that no other one has."""
        if node_id not in self._names:
            same = sum(known == name or known.startswith(f"{name}#") for known in self._names.values())
            self._names[node_id] = f"{name}#{same + 1}" if same else name
        return self._names[node_id]

    def _begin(self, node_id: str) -> None:
        there = NodeAffinitySchedulingStrategy(node_id, soft=False)
        actor = ray.remote(WorkerActor).options(num_cpus=1, max_restarts=0, scheduling_strategy=there)
        slot = WorkerSlot(
            node_id, self._names[node_id], actor.remote(self._surroundings), self._on_line, self._on_death
        )
        self.slots[slot] = asyncio.ensure_future(self._attend(slot))

    async def _attend(self, slot: WorkerSlot) -> None:
        """One actor from its beginning to its end."""
        try:
            why = await self._prepare(slot)
            if why:
                self._refuse(slot, why)
                return
            slot.ready = True
            self._on_change(None)
            while True:
                async with asyncio.timeout(SILENT_SECONDS):
                    await slot.exchange()
        except RayTaskError as error:  # raised in the actor: it will happen again
            self._refuse(slot, _line(error.cause))
        except (RayError, TimeoutError, ConnectionError, asyncio.CancelledError) as error:
            self._on_lost(slot, error)
        except Exception as error:
            self._on_change(error)
            raise
        finally:
            self.slots.pop(slot, None)
            self._before[slot.node_id] += slot.played
            slot.lose()
            self._count()
            self._on_change(None)

    async def _prepare(self, slot: WorkerSlot) -> str:
        """Send an actor what it needs. Returns why its machine cannot be used; empty if it can."""
        actor, pieces = slot.actor, self.payload.pieces
        theirs, lacks = await await_call(actor.greet.remote(pieces))
        differs = [
            f"{name} is {theirs[name]}, not {ours}" for name, ours in self._identity.items() if theirs[name] != ours
        ]
        if differs:
            return f"{', '.join(differs)}: install the same version"
        for sha256 in lacks:
            if sha256 not in self._blobs:
                content = self.payload.paths[sha256].read_bytes()
                self._blobs[sha256] = await asyncio.to_thread(ray.put, content)
            await await_call(actor.keep.remote(sha256, self._blobs[sha256]))
        await await_call(actor.begin.remote(self.settings, pieces))
        if slot.node_id not in self._checked:
            checking = await_call(actor.problem.remote(self.fingerprints, self.formats))
            self._checked[slot.node_id] = asyncio.ensure_future(checking)
        try:
            return await asyncio.shield(self._checked[slot.node_id])
        except RayError:
            del self._checked[slot.node_id]
            raise

    def _refuse(self, slot: WorkerSlot, why: str) -> None:
        if slot.node_id not in self.refused:
            self.refused[slot.node_id] = f"machine {slot.node}: {why}"
            self._remark()
        ray.kill(slot.actor)

    def _remark(self) -> None:
        """Write `remarks`, in place: the display has them, too."""
        self.remarks[:] = [
            f"workers lost on machine {name}: {workers}; their {self._replayed[name]} battles in progress were played again"
            for name, workers in self._lost_workers.items()
        ]
        self.remarks += [f"not used: {why}" for why in self.refused.values()]

    def _on_lost(self, slot: WorkerSlot, error: BaseException) -> None:
        if self._closing:
            return
        if slot.ready:
            self._lost_workers[slot.node] += 1
            self._replayed[slot.node] += sum(len(worker.fixtures) for worker in slot.workers.values())
            self._remark()
        if not slot.played:
            self._early[slot.node_id] += 1
            if self._early[slot.node_id] >= EARLY_LOSSES:
                self._refuse(slot, f"{EARLY_LOSSES} workers were lost before their first battle: {_line(error)}")

    def _count(self) -> None:
        """Update `nodes`, in place: the display has it, too."""
        if self._closing:  # what the display shows last is who has played
            return
        self.nodes.clear()
        for node_id, name in self._names.items():
            slots = [slot for slot in self.slots if slot.node_id == node_id]
            played = self._before[node_id] + sum(slot.played for slot in slots)
            self.nodes[name] = (sum(slot.ready for slot in slots), played)


def _alive(nodes: list[dict[str, Any]]) -> list[Node]:
    """Id, host name and CPUs of the machines that take work."""
    return [
        (node["NodeID"], node["NodeManagerHostname"], int(node["Resources"].get("CPU", 0)))
        for node in nodes
        if node["Alive"] and node["Resources"].get("CPU", 0) >= 1
    ]


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".split("\n", 1)[0][:300]
