"""A real all-reduce and broadcast over all devices, in a process each, with a time limit; NCCL's messages are read."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from training.machines.diagnosis.finding import Finding
from training.runs.distributed.ports import reserved_port

#: Line of NCCL or torch (regular expression) -> what to do.
KNOWN = {
    r"unhandled system error|No space left on device.*shm|shm_open": "enlarge /dev/shm (--shm-size=8g, --ipc=host)",
    r"NET/Socket.*no (socket )?interface found|Bootstrap : no socket interface": "export NCCL_SOCKET_IFNAME=NAME",
    r"ibv_|NET/IB.*(fail|error)|Call to ibv": "export NCCL_IB_DISABLE=1, or raise `ulimit -l`",
    r"p2p.*(fail|error)|peer access.*(not|fail)|P2P is disabled": "export NCCL_P2P_DISABLE=1",
    r"Duplicate GPU detected": "two processes have the same GPU: start as many processes as there are GPUs",
    r"invalid device ordinal": "more processes than GPUs: see CUDA_VISIBLE_DEVICES",
    r"driver version is insufficient|forward compatibility": "update the driver, or install a torch for an older CUDA",
    r"out of memory": "another process uses the GPU: `nvidia-smi` lists it",
    r"Address already in use": "another run has the port: end it, or set MASTER_PORT",
    r"Connection refused|Connection timed out|No route to host": "a firewall or the wrong interface: see NCCL_SOCKET_IFNAME",
}
_CHECK = "training.machines.diagnosis.collective_check"


def collective_findings(processes: int, backend: str, limit: float, logs: Path) -> list[Finding]:
    """Run the check in so many processes, and return its findings. limit: seconds; logs: folder of a log per process."""
    logs.mkdir(parents=True, exist_ok=True)
    late: list[int] = []
    with reserved_port() as port:
        running = _start(processes, backend, port, logs)
        began = time.monotonic()
        for rank, process in enumerate(running):
            try:
                process.wait(max(0.1, limit - (time.monotonic() - began)))
            except subprocess.TimeoutExpired:
                late.append(rank)
    for process in running:
        if process.poll() is None:
            process.kill()
            process.wait()
    texts = [(logs / f"check-{rank}.log").read_text(errors="replace") for rank in range(processes)]
    return read_check(texts, [process.returncode for process in running], late, backend, limit, logs)


def _start(processes: int, backend: str, port: int, logs: Path) -> list[subprocess.Popen[bytes]]:
    shared = {**os.environ, "WORLD_SIZE": str(processes), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    shared.setdefault("NCCL_DEBUG", "INFO")
    shared.setdefault("OMP_NUM_THREADS", "1")
    running = []
    for rank in range(processes):
        with (logs / f"check-{rank}.log").open("wb") as log:
            environment = {**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)}
            command = [sys.executable, "-m", _CHECK, backend]
            running.append(subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT))
    return running


def read_check(
    texts: list[str], codes: list[int], late: list[int], backend: str, limit: float, logs: Path
) -> list[Finding]:
    """Return the findings of a check. texts: each process's log; codes: exit codes; late: ranks that the limit ended."""
    name = f"{backend} collectives"
    if not any(codes):
        done = re.search(r"^check: (.*)$", texts[0], re.MULTILINE)
        return [Finding("ok", name, done[1] if done else "done")]
    fixes = list(dict.fromkeys(fix for text in texts for fix in known_fixes(text)))
    fix = "; ".join([*fixes, f"the lines are in {logs}/check-*.log"])
    if late:
        reached = [(re.findall(r"^at: (.*)$", text, re.MULTILINE) or ["the start"])[-1] for text in texts]
        where = ", ".join(f"rank {rank} in {place}" for rank, place in enumerate(reached))
        return [Finding("NO", name, f"not finished after {limit:g} s ({where})", fix)]
    bad = next(rank for rank, code in enumerate(codes) if code)
    last = (texts[bad].strip().splitlines() or [f"exit code {codes[bad]}"])[-1]
    return [Finding("NO", name, f"rank {bad} failed: {last[:200]}", fix)]


def known_fixes(text: str) -> list[str]:
    """Return what to do about the known failures in a log."""
    return [fix for pattern, fix in KNOWN.items() if re.search(pattern, text, re.IGNORECASE)]
