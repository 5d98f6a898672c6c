"""`--on`: the machines on which a run's workers live. Imports Ray only where it is asked for."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Protocol

from agents import AgentSource
from arena.runner.here import Here, default_workers
from arena.runner.place import Place
from arena.runner.settings import WorkerSettings
from teamsets.errors import ArenaError, BadInput, MissingTool

#: Environment variable: what `--on` would say, for commands that have no such option (docs/scale.md).
ON = "ARENA_ON"
#: Ray's object store in a cluster of this machine, in bytes: only the files that travel are in it.
STORE_BYTES = 200 << 20
#: Set before Ray is imported. A cluster of this machine uses the loopback only; Ray sends nothing about its use.
#: On a busy machine its processes may need longer to start than the 30 s that Ray waits for them.
_LOCAL = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_raylet_start_wait_time_s": "120"}
_ALWAYS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_IGNORE_UNHANDLED_ERRORS": "1"}


class Cluster(Protocol):
    """Machines that have been reached. place(settings, sources, formats): where the workers of a run live there."""

    def place(
        self, settings: WorkerSettings, sources: Callable[[], list[AgentSource]], formats: tuple[str, ...]
    ) -> Place:
        """Return a place for one run. sources: its agents; called only where they have to travel."""


class ThisMachine:
    """Worker processes of this machine: no cluster."""

    def __init__(self, workers: int | None) -> None:
        self.workers = workers or default_workers()

    def place(
        self, settings: WorkerSettings, sources: Callable[[], list[AgentSource]], formats: tuple[str, ...]
    ) -> Place:
        return Here(settings, self.workers)


class RayCluster:
    """A Ray cluster to which this process is connected. workers: at most so many; None: one for each CPU."""

    def __init__(self, workers: int | None) -> None:
        self.workers = workers

    def place(
        self, settings: WorkerSettings, sources: Callable[[], list[AgentSource]], formats: tuple[str, ...]
    ) -> Place:
        from arena.cluster.payload import pack
        from arena.cluster.ray_place import RayPlace

        found = sources()
        fingerprints = {source.spec: source.fingerprint for source in found}
        return RayPlace(settings, self.workers, pack(fingerprints), fingerprints, formats)


@contextmanager
def reached(on: str | None, workers: int | None) -> Iterator[Cluster]:
    """Connects to what `--on` names, and disconnects.

    on: None, what ARENA_ON says, or else this machine; "ray", a Ray cluster of this machine, or the one that RAY_ADDRESS
    names; "ray://HOST:PORT", the Ray cluster that answers there. workers: None for one per core. Raises BadInput for
    another value, or without an answer; MissingTool without Ray.
    """
    named = f"--on {on}"
    if on is None:
        on = os.environ.get(ON)
        named = f"{ON}={on}"
    if on is None:
        yield ThisMachine(workers)
        return
    if not re.fullmatch(r"ray(://[^/\s:]+:\d{1,5})?", on):
        raise BadInput(f"{named}: give ray, for a cluster of this machine, or ray://HOST:PORT (docs/scale.md)")
    if find_spec("ray") is None:
        raise MissingTool(f"{named}: needs Ray, which is not installed: uv pip install -e .[ray]")
    address = os.environ.get("RAY_ADDRESS") if on == "ray" else on
    os.environ.update(_ALWAYS if address else {**_ALWAYS, **_LOCAL})
    import ray

    if ray.is_initialized():  # in a notebook, or a job of the cluster
        yield RayCluster(workers)
        return
    try:
        if address:
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
        else:
            ray.init(
                "local",
                num_cpus=workers or default_workers(),
                num_gpus=0,
                object_store_memory=STORE_BYTES,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
                _node_ip_address="127.0.0.1",
            )
    except Exception as error:  # Ray raises Exception itself, e.g. if its processes need more than 30 s to start
        line = str(error).strip().split("\n", 1)[0]
        if address:
            raise BadInput(f"{named}: no Ray cluster answers at {address}: {line}") from None
        raise ArenaError(f"{named}: Ray could not start here: {line}") from None
    try:
        yield RayCluster(workers)
    finally:
        ray.shutdown()
