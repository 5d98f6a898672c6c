"""What a machine of the cluster does with a training run: files in, `train` in its own process, the run's folder out."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from arena.provenance import code_hash
from arena.workers.cluster import payload
from arena.workers.cluster.connection import ON
from arena.workers.cluster.payload import Piece
from training.runs.process import last_words, train_arguments


@dataclass(frozen=True)
class RemoteOutcome:
    """problem: why the machine takes no runs. failed: the last words of a run that failed. archive: else, its folder."""

    problem: str = ""
    failed: str = ""
    archive: bytes = b""


def identity() -> dict[str, str]:
    """What must be the same where a run is trained and where it was started."""
    return {"code": code_hash(("agents", "arena", "teamsets", "training")), "torch": version("torch")}


def train_there(
    command: str,
    settings: str,
    out: str,
    pieces: Sequence[Piece],
    blobs: Mapping[str, Any],
    expected: Mapping[str, str],
    threads: str | None,
) -> RemoteOutcome:
    """Train a run to its end on this machine.

    command: "base" or "online". settings: its YAML. out: its folder, below the working folder. blobs: sha256 -> an object of
    Ray's store with the file. expected: of `identity`. threads: OMP_NUM_THREADS where the run was started, which Ray sets.
    """
    import ray

    if lacking := [name for name in ("torch", "accelerate", "wandb") if find_spec(name) is None]:
        return RemoteOutcome(problem=f"{', '.join(lacking)} not installed: install the extra `training` there")
    found = identity()
    if differs := [f"{name} is {found[name]}, not {here}" for name, here in expected.items() if found[name] != here]:
        return RemoteOutcome(problem=f"{', '.join(differs)}: install the same version")
    for sha256 in payload.missing_files(pieces):
        payload.keep(sha256, ray.get(blobs[sha256]))
    with tempfile.TemporaryDirectory(prefix="train-") as name:
        folder = Path(name)
        payload.write_files(pieces, folder)
        (folder / "settings.yaml").write_text(settings, "utf-8")
        last_lines = _train(command, folder, threads)
        return RemoteOutcome(failed=last_lines) if last_lines else RemoteOutcome(archive=_packed(folder / out))


def _train(command: str, folder: Path, threads: str | None) -> str:
    """Run `train COMMAND settings.yaml` in a folder. Returns its last words if it fails."""
    surroundings = {name: value for name, value in os.environ.items() if name not in (ON, "OMP_NUM_THREADS")}
    if threads is not None:
        surroundings["OMP_NUM_THREADS"] = threads
    if not surroundings.get("CUDA_VISIBLE_DEVICES", "none"):
        surroundings["CUDA_VISIBLE_DEVICES"] = "-1"
    surroundings["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)  # the code that this process has
    log = folder / "train.log"
    with log.open("wb") as file:
        done = subprocess.run(
            train_arguments(command, "settings.yaml"),
            cwd=folder,
            env=surroundings,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            check=False,
        )
    return last_words(log, done.returncode)


def _packed(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(folder, ".")
    return buffer.getvalue()
