"""What the operating system allows: shared memory, limits, interfaces, ports, clock, disk. Nothing here needs torch."""

from __future__ import annotations

import os
import resource
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from training.machines.diagnosis.finding import Finding

#: Below these, in bytes: NCCL and data loading fail in /dev/shm; a checkpoint of the largest network fills the disk.
_SHM, _DISK = 1 << 30, 10 << 30
_FILES = 4096
_LOCKED = 64 << 10
#: Prefixes of interfaces that NCCL does not take by default, or that lead nowhere.
_VIRTUAL = ("lo", "docker", "veth", "br-", "virbr")
#: Earlier than this project's first version: a clock that was never set. Unix time in seconds.
_PAST = 1_735_689_600.0


def machine_findings(out: Path) -> Iterator[Finding]:
    """Yield one finding per check. out: the folder in which runs are written."""
    yield shared_memory(shutil.disk_usage("/dev/shm").total if Path("/dev/shm").exists() else 0)
    yield open_files(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    yield locked_memory(resource.getrlimit(resource.RLIMIT_MEMLOCK)[0])
    yield interfaces([name for _, name in socket.if_nameindex()], os.environ.get("NCCL_SOCKET_IFNAME", ""), _is_up)
    yield _port()
    yield clock(time.time())
    yield disk(out, shutil.disk_usage(out).free)


def shared_memory(size: int) -> Finding:
    text = f"/dev/shm has {_gib(size)}"
    if size < _SHM:
        fix = (
            "start the container with --shm-size=8g or --ipc=host (NCCL fails with `unhandled system error` otherwise)"
        )
        return Finding("NO", "shared memory", text, fix)
    return Finding("ok", "shared memory", text)


def open_files(limit: int) -> Finding:
    text = "open files: no limit" if limit == resource.RLIM_INFINITY else f"open files: {limit:,}"
    if limit != resource.RLIM_INFINITY and limit < _FILES:
        return Finding("note", "ulimit -n", text, f"raise it with `ulimit -n {_FILES * 16}`")
    return Finding("ok", "ulimit -n", text)


def locked_memory(limit: int) -> Finding:
    if limit != resource.RLIM_INFINITY and limit <= _LOCKED:
        fix = "InfiniBand needs `ulimit -l unlimited` (--ulimit memlock=-1 in a container), or set NCCL_IB_DISABLE=1"
        return Finding("note", "ulimit -l", f"locked memory: {limit >> 10} KiB", fix)
    shown = "no limit" if limit == resource.RLIM_INFINITY else f"{limit >> 10:,} KiB"
    return Finding("ok", "ulimit -l", f"locked memory: {shown}")


def interfaces(names: list[str], wanted: str, is_up: Callable[[str], bool]) -> Finding:
    """Check which interface NCCL would take. wanted: NCCL_SOCKET_IFNAME, prefixes separated by commas."""
    listed = ", ".join(names)
    real = [name for name in names if not name.startswith(_VIRTUAL) and is_up(name)]
    if wanted:
        exact, excluded = wanted.startswith("="), wanted.startswith("^")
        parts = wanted.lstrip("=^").split(",")
        if excluded:
            match = [name for name in names if not name.startswith(tuple(parts))]
        else:
            match = [name for name in names if (name in parts if exact else name.startswith(tuple(parts)))]
        if not match:
            fix = f"set it to one of {listed}, or unset it"
            return Finding("NO", "interface", f"NCCL_SOCKET_IFNAME={wanted} matches no interface", fix)
        return Finding("ok", "interface", f"NCCL would take {match[0]} (NCCL_SOCKET_IFNAME={wanted}) of {listed}")
    if not real:
        return Finding(
            "note", "interface", f"only {listed}", "one machine works; several machines need a network interface"
        )
    if len(real) > 1:
        fix = f"if it is the wrong one for several machines, export NCCL_SOCKET_IFNAME={real[1]}"
        return Finding("note", "interface", f"NCCL would take {real[0]} of {listed}", fix)
    return Finding("ok", "interface", f"NCCL would take {real[0]} of {listed}")


def clock(now: float) -> Finding:
    text = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now))
    if now < _PAST:
        return Finding("NO", "clock", text, "it was never set: start chrony or ntpd (TLS and wandb fail otherwise)")
    return Finding("ok", "clock", text)


def disk(folder: Path, free: int) -> Finding:
    text = f"{_gib(free)} free in {folder.resolve()}"
    if free < _DISK:
        return Finding(
            "note", "disk", text, "a checkpoint of `large` needs 2.5 GB with its optimizer: set `out` to a larger disk"
        )
    return Finding("ok", "disk", text)


def _port() -> Finding:
    wanted = int(os.environ.get("MASTER_PORT", "29500"))
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted))
        except OSError as error:
            fix = "another run has it: give `accelerate launch` another --main_process_port (--processes takes a free one)"
            return Finding("note", "port", f"{wanted} cannot be used ({error.strerror})", fix)
    return Finding("ok", "port", f"{wanted} is free")


def _is_up(name: str) -> bool:
    state = Path(f"/sys/class/net/{name}/operstate")
    return not state.exists() or state.read_text().strip() in ("up", "unknown")


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB"
