"""Checkpoints: a network on disk, with what it was made for and how it came about.

    RUN/checkpoints/step-000001000/model.safetensors   the weights
    RUN/checkpoints/step-000001000/checkpoint.json     what they are: shape, versions, step, lineage, config, metrics
    RUN/best.json                                      {"step": 1000}: which one `@best` is

A folder with such a name is whole: it is written under another name, flushed to the disk and then renamed. What was made
for another observation, vocabulary or set of actions is refused, since its network would read nonsense without a word.
Nothing here loads torch before weights are written or read.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.policy import observation
from agents.policy.actions import ACTIONS
from agents.policy.vocabulary import vocabulary
from teamsets.errors import BadInput

if TYPE_CHECKING:
    from agents.policy.network import Network

#: Of the files themselves; changes when they are laid out otherwise.
FORMAT = 1
#: Checkpoints that come with the project, by their names.
SHIPPED = Path(__file__).with_name("shipped")
WEIGHTS, ABOUT = "model.safetensors", "checkpoint.json"


@dataclass(frozen=True)
class About:
    """What a checkpoint says of itself. shape: the fields of `network.Shape`. lineage, config, metrics: the trainer's.

    observation: the version of the observations that it was trained on (agents/policy/observation.py).
    """

    shape: dict[str, Any]
    step: int
    lineage: list[Any] = field(default_factory=list)
    config: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, Any] = field(default_factory=dict)
    observation: int = observation.VERSION

    def unfit_for(self, gen: int) -> str:
        """Why its network cannot read battles of a generation, with the fix, in one line; empty when it can."""
        if not observation.unlike(self.observation, gen):
            return ""
        return (
            f"made for observation {self.observation}, which does not know Hidden Power's type: in generation {gen} "
            f"it would misread observation {observation.VERSION}: use the version that trained it, or train it again"
        )


def folder_of(run: Path, step: int) -> Path:
    """Where the checkpoint of a step of a run lies."""
    return run / "checkpoints" / f"step-{step:09d}"


@contextmanager
def writing(folder: Path) -> Iterator[Path]:
    """A folder to write into, which becomes `folder` when the block ends, flushed to the disk; after an error it is gone.

    What a killed process left of the same folder is cleared away first. Raises BadInput where `folder` is there already.
    """
    if folder.exists():
        raise BadInput(f"checkpoint {folder}: exists already: delete it, or give the run another folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    for left in folder.parent.glob(f".{glob.escape(folder.name)}.*"):
        shutil.rmtree(left)
    temporary = folder.parent / f".{folder.name}.{os.getpid()}"
    temporary.mkdir()
    try:
        yield temporary
        for path in [*(path for path in temporary.rglob("*") if path.is_file()), temporary]:
            _flush(path)
        temporary.rename(folder)
        _flush(folder.parent)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def save(
    folder: Path,
    network: Network,
    step: int,
    *,
    lineage: list[Any] | None = None,
    config: dict[str, Any] | None = None,
    metrics: dict[str, Any] | None = None,
    extra: Callable[[Path], None] | None = None,
) -> Path:
    """Writes a checkpoint whole or not at all; returns `folder`.

    lineage, config, metrics: kept as they are, JSON-able. extra: is given the temporary folder, for files of its own
    (the optimiser's state), which are then there exactly when the checkpoint is.
    """
    from safetensors.torch import save_file

    with writing(folder) as temporary:
        weights = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
        save_file(weights, temporary / WEIGHTS)
        (temporary / WEIGHTS).chmod(temporary.stat().st_mode & 0o666)  # safetensors keeps it from everybody else
        about = About(asdict(network.shape), step, lineage or [], config or {}, metrics or {})
        (temporary / ABOUT).write_text(json.dumps({**_needed(), **asdict(about)}, indent=1) + "\n", encoding="utf-8")
        if extra is not None:
            extra(temporary)
    return folder


def load(folder: Path, device: Any = "cpu") -> tuple[Network, About]:
    """The network of a checkpoint, ready to be asked, and what it says of itself. Raises BadInput for one of no use here."""
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from agents.policy.network import Network, Shape

    about = read(folder)
    try:
        with torch.random.fork_rng(devices=[]):  # the first weights are thrown away, and nobody else's chance with them
            network = Network(Shape(**about.shape))
        network.load_state_dict(load_file(folder / WEIGHTS))
    except (SafetensorError, RuntimeError, TypeError, OSError) as error:
        words = " ".join(str(error).split())[:200]
        raise BadInput(f"checkpoint {folder}: its weights cannot be read ({words}): use another one") from error
    return network.to(device).eval(), about


def read(folder: Path) -> About:
    """What a checkpoint says of itself, once it is clear that it can be used here. Raises BadInput when not."""
    path = folder / ABOUT
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        for name, needed in _needed().items():
            if observation.unlike(told[name]) if name == "observation" else told[name] != needed:
                raise BadInput(
                    f"checkpoint {folder}: made for {name} {told[name]}, but this version has {needed}: "
                    "use the version that trained it, or train it again"
                )
        about = About(**{name: told[name] for name in About.__dataclass_fields__})
    except OSError:
        raise BadInput(f"checkpoint {folder}: has no {ABOUT}: give a folder that `train` has written") from None
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"checkpoint {folder}: {ABOUT} cannot be read ({error!r}): use another one") from None
    _check_size(folder)
    return about


def find(spec: str) -> Path:
    """The folder of a checkpoint: `PATH[@last|@best|@STEP]`, PATH a run, or a checkpoint's own folder without more.

    A name without a folder here may be one of the shipped checkpoints. `@best` of a run in which nothing was measured is
    its last one, with a note on stderr. Raises BadInput, with what is there, when there is none.
    """
    named = re.fullmatch(r"(.+)@(last|best|\d+)", spec)
    path, which = (Path(named[1]), named[2]) if named else (Path(spec), "last")
    if not path.exists() and (SHIPPED / path / ABOUT).is_file():
        return SHIPPED / path
    if not named and (path / ABOUT).is_file():
        return path
    steps = sorted(steps_of(path))
    if not steps:
        raise BadInput(f"checkpoint '{spec}': {path} has no checkpoints: give a run's folder or a checkpoint's folder")
    if which == "last":
        return folder_of(path, steps[-1])
    step = _best(path, spec) if which == "best" else int(which)
    if step not in steps:
        shown = ", ".join(map(str, steps[-20:]))
        raise BadInput(f"checkpoint '{spec}': no checkpoint of step {step}; there are {shown}")
    return folder_of(path, step)


def steps_of(run: Path) -> list[int]:
    """The steps of a run that have a checkpoint, in no order."""
    names = (re.fullmatch(r"step-(\d+)", path.name) for path in (run / "checkpoints").glob("step-*"))
    return [int(name[1]) for name in names if name]


def set_best(run: Path, step: int, **why: Any) -> None:
    """Makes a step the run's `@best`. why: kept beside it, JSON-able."""
    temporary = run / f".best.json.{os.getpid()}"
    temporary.write_text(json.dumps({"step": step, **why}) + "\n", encoding="utf-8")
    _flush(temporary)
    temporary.replace(run / "best.json")


def identity(folder: Path) -> str:
    """64 hex digits over what decides how a checkpoint plays: its weights and its shape, not its history."""
    weights, about = (folder / WEIGHTS).stat(), (folder / ABOUT).stat()
    return _identity(folder, weights.st_mtime_ns, weights.st_size, about.st_mtime_ns)


@lru_cache(maxsize=64)
def _identity(folder: Path, *when: int) -> str:
    digest = hashlib.sha256(json.dumps(json.loads((folder / ABOUT).read_text(encoding="utf-8"))["shape"]).encode())
    with (folder / WEIGHTS).open("rb") as file:
        while block := file.read(1 << 22):
            digest.update(block)
    return digest.hexdigest()


def _needed() -> dict[str, Any]:
    """What a checkpoint must have been made for."""
    return {
        "format": FORMAT,
        "observation": observation.VERSION,
        "vocabulary": vocabulary().version,
        "actions": ACTIONS,
    }


def _best(run: Path, spec: str) -> int:
    """The step that best.json names; the last one where the run has no best.json, as nothing was measured in it."""
    file = run / "best.json"
    if not file.exists():
        last = max(steps_of(run))
        _note_once(
            f"note: {run} has no best checkpoint, as it was not evaluated: '{spec}' is its last one, step {last}"
        )
        return last
    try:
        return int(json.loads(file.read_text(encoding="utf-8"))["step"])
    except (OSError, ValueError, KeyError, TypeError):
        raise BadInput(f"checkpoint '{spec}': {file} names no step: use @last or @STEP") from None


@lru_cache(maxsize=64)
def _note_once(words: str) -> None:
    """A line on stderr, once a process: a checkpoint is looked up again and again."""
    print(words, file=sys.stderr)


def _check_size(folder: Path) -> None:
    """Raises BadInput where the file of weights is shorter or longer than its own head says."""
    path = folder / WEIGHTS
    try:
        with path.open("rb") as file:
            head = int.from_bytes(file.read(8), "little")
            listed = json.loads(file.read(head))
        size = 8 + head + max(entry["data_offsets"][1] for name, entry in listed.items() if name != "__metadata__")
        whole = path.stat().st_size == size
    except OSError:
        raise BadInput(f"checkpoint {folder}: has no {WEIGHTS}: use another one") from None
    except (ValueError, KeyError, TypeError, OverflowError, MemoryError):
        whole = False
    if not whole:
        raise BadInput(f"checkpoint {folder}: {WEIGHTS} is truncated or damaged: use another one")


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
