"""What a run needs to continue besides its weights: optimizer, random states, place in the data; kept with a checkpoint.

CHECKPOINT/training/optimizer.bin          AdamW's state
CHECKPOINT/training/random_states_N.pkl    the random number generators of process N
CHECKPOINT/training/position.pt            the step, the place in the data, the reference's coefficient
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

from teamsets.errors import ArenaError

#: The folder in a checkpoint.
STATE = "training"
POSITION, OPTIMIZER = "position.pt", "optimizer.bin"
#: What a reader of one of these files may raise, whatever is in it.
_UNREADABLE = (
    OSError, RuntimeError, ValueError, KeyError, TypeError, EOFError, AttributeError, IndexError, pickle.UnpicklingError,
)  # fmt: skip
#: Free bytes below which a file that could not be written is put down to a full disk.
_FULL = 1 << 20


class TrainingFailed(ArenaError):
    """Training cannot continue. The message says why, and which checkpoint is the last good one."""


class DiskFull(Exception):
    """There is no room left for what was being written."""


def save_state(accelerator: Accelerator, temporary: Path | None, position: dict[str, Any]) -> None:
    """Writes the state into the folder that the main process names; the others (None) receive its name."""
    (named,) = broadcast_object_list([str(temporary)])
    state = Path(named) / STATE
    with disk_full_told(Path(named)):  # here, as what was written is removed after an error, and there is room again
        accelerator.save_state(str(state))
        if accelerator.is_main_process:
            torch.save(position, state / POSITION)


def restore_state(accelerator: Accelerator, folder: Path) -> dict[str, Any]:
    """Brings back the state of the checkpoint `folder`; returns its position.

    Raises TrainingFailed that names the file which is missing or damaged. accelerate itself resumes without a word where
    random states are missing, and dropout would be another one.
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
    if not (state / OPTIMIZER).exists():
        _read(state / OPTIMIZER, folder)
    try:
        accelerator.load_state(str(state))
    except _UNREADABLE as error:
        for path in sorted(state.iterdir()):
            _read(path, folder)
        raise TrainingFailed(
            f"{state / OPTIMIZER}: does not fit this run ({_words(error)}): {_instead(folder)}"
        ) from error
    return position


def _read(path: Path, folder: Path) -> Any:
    """The contents of a file of the state. Raises TrainingFailed that names it."""
    if not path.exists():
        raise TrainingFailed(f"{path}: is missing, so the run cannot be resumed as it was: {_instead(folder)}")
    try:
        return load(path, map_location="cpu")
    except _UNREADABLE as error:
        raise TrainingFailed(f"{path}: is damaged ({_words(error)}): {_instead(folder)}") from error


def _instead(folder: Path) -> str:
    return (
        f"delete {folder} to resume from the checkpoint before it, or start another run from its weights "
        f"(network.start_from: {folder})"
    )


def _words(error: BaseException) -> str:
    return (" ".join(str(error).split()) or type(error).__name__)[:160]


@contextmanager
def disk_full_told(folder: Path) -> Iterator[None]:
    """Turns what the writers of OSError, safetensors and torch say of a full disk into DiskFull; lets the rest pass."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise DiskFull(_words(error)) from error
    except (SafetensorError, RuntimeError) as error:
        words = str(error)
        told = any(part in words for part in ("No space left", "os error 28", "Disk quota", "os error 122"))
        # torch's writer does not say why it failed.
        mute = "PytorchStreamWriter" in words or "inline_container" in words
        if not told and not (mute and shutil.disk_usage(folder).free < _FULL):
            raise
        raise DiskFull(_words(error)) from error


def finite(network: nn.Module) -> bool:
    """Whether every weight is a finite number."""
    return all(bool(torch.isfinite(tensor).all()) for tensor in network.state_dict().values())
