"""torch, the driver, NCCL and the GPUs."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator

import torch

from training.machines.diagnosis.finding import Finding


def device_findings() -> Iterator[Finding]:
    """Yield one finding per check."""
    built = torch.version.cuda
    driver = _driver()
    yield torch_finding(str(torch.__version__), built, driver, torch.cuda.is_available())
    if not torch.cuda.is_available():
        yield Finding("note", "devices", "no GPU that torch can use", "the test below runs over gloo on the CPU")
        return
    count = torch.cuda.device_count()
    names = sorted({torch.cuda.get_device_name(index) for index in range(count)})
    level = "ok" if len(names) == 1 else "note"
    fix = "" if len(names) == 1 else "a run is as fast as the slowest, and the batch must fit the smallest"
    yield Finding("ok" if level == "ok" else "note", "devices", f"{count} x {' and '.join(names)}", fix)
    yield Finding("ok", "NCCL", ".".join(map(str, torch.cuda.nccl.version())))
    blocked = [
        f"{first}-{second}"
        for first in range(count)
        for second in range(count)
        if first != second and not torch.cuda.can_device_access_peer(first, second)
    ]
    if blocked:
        fix = "slower; if the test below hangs, export NCCL_P2P_DISABLE=1 (usual in virtual machines)"
        yield Finding("note", "peer access", f"none between {', '.join(blocked[:6])}", fix)
    elif count > 1:
        yield Finding("ok", "peer access", f"between all {count} GPUs")


def torch_finding(version: str, built: str | None, driver: str, available: bool) -> Finding:
    """Check torch's CUDA against the driver. built: CUDA version of torch; driver: version, "" without a driver."""
    text = f"torch {version}, built for {'CUDA ' + built if built else 'CPU only'}; driver {driver or 'none'}"
    if driver and not built:
        return Finding("NO", "torch", text, "this build cannot use the GPU: install torch with CUDA (docs/install.md)")
    if driver and not available:
        fix = "the driver is too old for this CUDA, or CUDA_VISIBLE_DEVICES hides all: update it, or install an older torch"
        return Finding("NO", "torch", text, fix)
    return Finding("ok", "torch", text)


def _driver() -> str:
    program = shutil.which("nvidia-smi")
    if program is None:
        return ""
    command = [program, "--query-gpu=driver_version", "--format=csv,noheader"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    return result.stdout.splitlines()[0].strip() if result.returncode == 0 and result.stdout.strip() else ""
