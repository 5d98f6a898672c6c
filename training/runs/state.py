"""The state that a resumed run needs besides its weights: optimizer, random states and position in the data.

CHECKPOINT/training/optimizer.bin          AdamW's state
CHECKPOINT/training/optimizer_0/           with FSDP2: the same, a file per process; pytorch_model_fsdp_0/: their weights
CHECKPOINT/training/random_states_N.pkl    the random number generators of process N
CHECKPOINT/training/position.pt            the step, the position in the data, the KL coefficient
CHECKPOINT/checksums.json                  of these files and the weights, by which a changed byte is noticed
"""

from __future__ import annotations

import errno
import pickle
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import broadcast_object_list
from accelerate.utils.other import load
from safetensors import SafetensorError
from torch import nn

from teamsets.checksums import differing
from teamsets.errors import ArenaError

#: The folder in a checkpoint.
STATE = "training"
POSITION, OPTIMIZER, SHARDED_OPTIMIZER = "position.pt", "optimizer.bin", "optimizer_0"
#: Exceptions that reading one of these files may raise if it is damaged.
UNREADABLE = (
    OSError, RuntimeError, ValueError, KeyError, TypeError, EOFError, AttributeError, IndexError, pickle.UnpicklingError,
    ImportError, MemoryError, AssertionError,
)  # fmt: skip
#: If a write fails without a reason and fewer bytes than this are free, the disk is taken to be full.
_FULL = 1 << 20


class TrainingFailed(ArenaError):
    """Training cannot continue. The message says why, and which checkpoint is the last good one."""


class DiskFull(ArenaError):
    """The disk is full."""


def save_state(accelerator: Accelerator, temporary: Path | None, position: dict[str, Any]) -> None:
    """Write the state to CHECKPOINT/training.

    temporary: the folder of the checkpoint in the main process; None in other processes, which receive its path. Raises
    DiskFull.
    """
    (named,) = broadcast_object_list([str(temporary)])
    state = Path(named) / STATE
    with report_disk_full(Path(named)):  # before the partial checkpoint is removed, which would free the space again
        accelerator.save_state(str(state))
        if accelerator.is_main_process:
            torch.save(position, state / POSITION)
        accelerator.wait_for_everyone()  # the caller renames the folder, in which others may still have to write


def restore_state(accelerator: Accelerator, folder: Path) -> dict[str, Any]:
    """Restore the state of the checkpoint `folder`, and return its position (the content of position.pt).

    Raises TrainingFailed that names the missing or damaged file. accelerate itself resumes silently if random states are
    missing, with other dropout masks.
    """
    state = folder / STATE
    random_states = state / f"random_states_{accelerator.process_index}.pkl"
    if not random_states.exists() and accelerator.process_index and (state / "random_states_0.pkl").exists():
        written = len(list(state.glob("random_states_*.pkl")))
        raise TrainingFailed(
            f"{random_states}: is missing: the run had {written} processes: start the same number, {_instead(folder)}"
        )
    position: dict[str, Any] = _read(state / POSITION, folder)
    _read(random_states, folder)
    optimizer = state / (SHARDED_OPTIMIZER if accelerator.is_fsdp2 else OPTIMIZER)
    if not optimizer.exists():
        _read(optimizer, folder)
    if accelerator.is_main_process:
        check_files(folder)
    try:
        accelerator.load_state(str(state))
    except UNREADABLE as error:
        for path in sorted(path for path in state.iterdir() if path.is_file()):
            _read(path, folder)
        raise TrainingFailed(f"{optimizer}: does not fit this run ({_message(error)}): {_instead(folder)}") from error
    return position


def check_files(folder: Path, setting: str = "network.start_from") -> None:
    """Raise TrainingFailed if a file of a checkpoint is not as it was written. Older checkpoints have no checksums.

    setting: by which another run starts from the checkpoint's weights.
    """
    for path, how in differing(folder):
        raise TrainingFailed(f"{path}: is damaged ({how}): {_instead(folder, setting)}")


def _read(path: Path, folder: Path) -> Any:
    """Return the contents of a file of the state. Raises TrainingFailed that names it."""
    if not path.exists():
        raise TrainingFailed(f"{path}: is missing, so the run cannot be resumed as it was: {_instead(folder)}")
    try:
        return load(path, map_location="cpu")
    except UNREADABLE as error:
        raise TrainingFailed(f"{path}: is damaged ({_message(error)}): {_instead(folder)}") from error


def _instead(folder: Path, setting: str = "network.start_from") -> str:
    return (
        f"delete {folder} to resume from the checkpoint before it, or start another run from its weights "
        f"({setting}: {folder})"
    )


def _message(error: BaseException) -> str:
    return (" ".join(str(error).split()) or type(error).__name__)[:160]


@contextmanager
def report_disk_full(folder: Path) -> Iterator[None]:
    """Convert the errors with which the OS, safetensors and torch report a full disk to DiskFull; let others pass."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise DiskFull(_message(error)) from error
    except (SafetensorError, RuntimeError) as error:
        text = str(error)
        says_full = any(part in text for part in ("No space left", "os error 28", "Disk quota", "os error 122"))
        # torch's writer does not report why it failed.
        no_reason = "PytorchStreamWriter" in text or "inline_container" in text
        if not says_full and not (no_reason and shutil.disk_usage(folder).free < _FULL):
            raise
        raise DiskFull(_message(error)) from error


def finite(network: nn.Module) -> bool:
    """Return whether all weights are finite."""
    return all(bool(torch.isfinite(tensor).all()) for tensor in network.state_dict().values())
