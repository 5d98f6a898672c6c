"""`--on`: the machines on which a run's workers live. Imports Ray only where it is asked for."""

from __future__ import annotations

import logging
import os
import re
import socket
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from agents import AgentSource
from arena.workers.local_pool import GRACE_SECONDS, LocalPool, default_workers
from arena.workers.worker_pool import WorkerPool
from arena.workers.worker_settings import WorkerSettings
from teamsets.errors import ArenaError, BadInput, MissingTool

#: Environment variable: what `--on` would say, for commands that have no such option (docs/scale.md).
ON = "ARENA_ON"
#: Ray's object store in a cluster of this machine, in bytes: only the files that travel are in it.
STORE_BYTES = 200 << 20
#: Set before Ray is imported. A cluster of this machine uses the loopback only; Ray sends nothing about its use.
#: On a busy machine its processes may need longer to start than the 30 s that Ray waits for them.
_LOCAL = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_raylet_start_wait_time_s": "120"}
_ALWAYS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_IGNORE_UNHANDLED_ERRORS": "1",
    # Ray's client tries three times; by default it waits 35 s for a server that is not Ray's
    "RAY_CLIENT_INITIAL_CONNECTION_TIMEOUT_S": "5",
    "RAY_CLIENT_MAX_CONNECTION_TIMEOUT_S": "5",
}
#: Ray's client is tried so often where the process that the head starts for it dies at once. That happens now and then
#: (github.com/ray-project/ray, issue 63202), and Ray says one of these.
ATTEMPTS, _DIED_AT_START = 3, ("Starting Ray client server failed", "ZombieProcess")
#: Seconds in which a machine must accept a connection.
ACCEPT_SECONDS = 10.0
#: Seconds in which its port must be open: a head may listen for clients only a moment after `ray start` has ended.
LISTEN_SECONDS = 3.0


class Cluster(Protocol):
    """Machines that have been reached. pool(settings, sources, formats): the workers of a run there."""

    def pool(
        self, settings: WorkerSettings, sources: Callable[[], list[AgentSource]], formats: tuple[str, ...]
    ) -> WorkerPool:
        """Return the worker pool of one run. sources: its agents; called only where they have to travel."""


class ThisMachine:
    """Worker processes of this machine: no cluster. grace: see `LocalPool`."""

    def __init__(self, workers: int | None, *, grace: float = GRACE_SECONDS) -> None:
        self.workers, self.grace = workers or default_workers(), grace

    def pool(
        self, settings: WorkerSettings, sources: Callable[[], list[AgentSource]], formats: tuple[str, ...]
    ) -> WorkerPool:
        return LocalPool(settings, self.workers, grace=self.grace)


class RayCluster:
    """A Ray cluster to which this process is connected. workers: at most so many; None: one for each CPU."""

    def __init__(self, workers: int | None) -> None:
        self.workers = workers

    def pool(
        self, settings: WorkerSettings, sources: Callable[[], list[AgentSource]], formats: tuple[str, ...]
    ) -> WorkerPool:
        from arena.workers.cluster.payload import pack
        from arena.workers.cluster.ray_pool import RayPool

        fingerprints = {source.spec: source.fingerprint for source in sources()}
        return RayPool(settings, self.workers, pack(fingerprints), fingerprints, formats)


@contextmanager
def connect_cluster(
    on: str | None,
    workers: int | None,
    say: Callable[[str], None] = lambda line: None,
    *,
    listen_seconds: float = LISTEN_SECONDS,
) -> Iterator[Cluster]:
    """Connects to what `--on` names, and disconnects.

    on: None, what ARENA_ON says, or else this machine; "ray", a Ray cluster of this machine, or the one that RAY_ADDRESS
    names; "ray://HOST:PORT", the Ray cluster that answers there. workers: None for one per core. say: gets a line before
    a wait of seconds. listen_seconds: how long a port that refuses is tried again. Raises BadInput for another value, or
    without an answer; MissingTool without Ray.
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
    address = os.environ.get("RAY_ADDRESS") if on == "ray" else on
    if on == "ray" and address:
        named = f"{named} with RAY_ADDRESS={address}"
    os.environ.update(_ALWAYS if address else {**_ALWAYS, **_LOCAL})
    if address and _has_token():
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    ray = _import_ray(named)
    if ray.is_initialized():  # in a notebook, or a job of the cluster
        yield RayCluster(workers)
        return
    if address:
        _check_port(named, address, listen_seconds)
    say(f"Connecting to the Ray cluster at {address}…" if address else "Starting Ray on this machine…")
    _connect(ray, named, address, workers or default_workers(), say)
    try:
        yield RayCluster(workers)
    finally:
        ray.shutdown()


def _connect(ray: Any, named: str, address: str | None, cpus: int, say: Callable[[str], None]) -> None:
    """Connects to the cluster at an address, or starts one of this machine with so many CPUs. Raises ArenaError."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            if address:
                with warnings.catch_warnings(action="ignore"):  # Ray's client has several lines; the error says it, too
                    ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
            else:
                ray.init(
                    "local",
                    num_cpus=cpus,
                    num_gpus=0,
                    object_store_memory=STORE_BYTES,
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                    _node_ip_address="127.0.0.1",
                )
            return
        except Exception as error:  # Ray raises Exception itself, e.g. if its processes need more than 30 s to start
            if attempt == ATTEMPTS or not _died_at_start(str(error)):
                raise _connection_error(named, address, error) from None
            say("The process that Ray starts for each client did not start; trying again…")


def _import_ray(named: str) -> Any:
    """Return the module `ray`. Raises MissingTool."""
    try:
        import ray
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name in ("ray", None):
            how = "`make ray` (from a wheel: pip install 'battle-arena[ray]')"
            raise MissingTool(f"{named}: needs Ray, which is not installed: {how}") from None
        raise MissingTool(
            f"{named}: Ray is installed but cannot be imported ({error}): uv pip install --reinstall -e .[ray]"
        ) from None
    return ray


def _has_token() -> bool:
    """Whether Ray would find a token here. `ray start` asks for it wherever there is one; Ray's client does not send it by
    itself. Ray makes the file when a cluster of this machine starts, with `--on ray`, too."""
    named = any(os.environ.get(name) for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"))
    return named or (Path.home() / ".ray" / "auth_token").is_file()


def _check_port(named: str, address: str, listen_seconds: float) -> None:
    """Raises BadInput if nothing listens at [ray://]HOST:PORT: Ray itself would try for minutes, and not say why."""
    host, _, number = address.removeprefix("ray://").rpartition(":")
    if not host or not number.isdecimal():  # e.g. "auto", which Ray resolves
        return
    port, option = int(number), "ray-client-server-port" if address.startswith("ray://") else "port"
    start = f"give the address of a cluster that `ray start --head --{option}={port}` has started"
    if not 0 < port < 65536:
        raise BadInput(f"{named}: port {port}: must be between 1 and 65535 (Ray's own choice is 10001)")
    try:
        _connection(host, port, listen_seconds).close()
    except socket.gaierror as error:
        raise BadInput(f"{named}: host '{host}' is not known here ({error.strerror}): {start}") from None
    except TimeoutError:
        raise BadInput(
            f"{named}: {host} does not answer in {ACCEPT_SECONDS:g} s: check the firewall between, or {start}"
        ) from None
    except OSError as error:
        raise BadInput(f"{named}: nothing listens there ({error.strerror}): {start}") from None


def _connection(host: str, port: int, listen_seconds: float) -> socket.socket:
    """Return a connection. A port that refuses is tried again for so many seconds. Raises OSError."""
    last = time.monotonic() + listen_seconds
    while True:
        try:
            return socket.create_connection((host, port), timeout=ACCEPT_SECONDS)
        except ConnectionRefusedError:
            if time.monotonic() > last:
                raise
        time.sleep(0.1)


def _died_at_start(error: str) -> bool:
    """Whether Ray says that its process for this client died at once."""
    return any(sign in error for sign in _DIED_AT_START)


def _connection_error(named: str, address: str | None, error: Exception) -> ArenaError:
    """Return what ends the command when Ray did not connect, or did not start here."""
    if not address:
        first_line = str(error).strip().split("\n", 1)[0]
        return ArenaError(f"{named}: Ray could not start here: {first_line}")
    lines = " ".join(str(error).split())
    if "ersion mismatch" in lines:  # Ray has no type for these two errors
        return BadInput(f"{named}: {lines}: install the same versions of Python and Ray on both sides")
    if "connection timeout" in lines:
        return BadInput(
            f"{named}: what listens there does not answer Ray's client: give the --ray-client-server-port of `ray start "
            "--head` (10001 if it was not set), not its --port; if it demands a token, copy its ~/.ray/auth_token here"
        )
    if _died_at_start(lines):
        return BadInput(
            f"{named}: the process that Ray starts for each client did not start in {ATTEMPTS} attempts: try again, or "
            "start the head with GRPC_ENABLE_FORK_SUPPORT=0 in its environment (docs/scale.md)"
        )
    return BadInput(f"{named}: no Ray cluster answers at {address}: {lines[-300:]}")  # a traceback has it last
