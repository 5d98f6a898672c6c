"""Checkpoints: the weights of a network on disk, with metadata.

    RUN/checkpoints/step-000001000/model.safetensors   the weights
    RUN/checkpoints/step-000001000/checkpoint.json     metadata: shape, versions, step, lineage, config, metrics
    RUN/checkpoints/step-000001000/checksums.json      the SHA-256 of each of its files
    RUN/best.json                                      {"step": 1000}: the checkpoint of `@best`

A checkpoint is written atomically: to a temporary folder, flushed to disk and renamed. Checkpoints for another version of
the observation, the vocabulary or the action space are refused, because their networks would silently misread their inputs.
torch is imported only when weights are written or read.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.importing import did_you_mean
from agents.observation import observation
from agents.observation.layout import Layout, layout_of
from agents.observation.vocabulary import vocabulary
from agents.paths import resolve_path
from agents.policy.hub import fetch, is_on_hub
from agents.policy.shape import Shape
from teamsets.atomic import atomic_folder, write_atomic
from teamsets.checksums import differing, write_checksums
from teamsets.errors import BadInput
from teamsets.reading import is_no_file, read_text

if TYPE_CHECKING:
    from agents.policy.network import Network

#: Version of the file layout.
FORMAT = 1
#: Checkpoints that are shipped with the project, by name.
SHIPPED = Path(__file__).with_name("shipped")
#: The longest best.json that is read, in bytes.
_MAX_BEST = 1 << 16
#: The longest header of a file of weights, as safetensors has it.
_MAX_HEADER = 100_000_000
WEIGHTS, ABOUT = "model.safetensors", "checkpoint.json"


@dataclass(frozen=True)
class About:
    """A checkpoint's metadata. shape: the fields of a `Shape`. lineage, config, metrics: from the trainer.

    observation: version of the observations that it was trained on (agents/observation/layout.py).
    """

    shape: dict[str, Any]
    step: int
    lineage: list[Any] = field(default_factory=list)
    config: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, Any] = field(default_factory=dict)
    observation: int = observation.VERSION

    @property
    def layout(self) -> Layout:
        """The layout of the observations that it reads."""
        return layout_of(self.shape.get("slots", 1))

    @property
    def decides_previews(self) -> bool:
        """Whether the network chooses its lead at the team preview of singles."""
        return bool(self.shape.get("team_preview", False))

    def unfit_for(self, gen: int, *, doubles: bool = False) -> str:
        """Return why the network cannot play a generation's singles or doubles, and the fix, in one line; "" if it can."""
        if self.layout is not layout_of(2 if doubles else 1):
            plays, other = ("singles", "doubles") if doubles else ("doubles", "singles")
            return (
                f"plays {plays} only, not {other}: choose a format of {plays}, or a network that was trained on {other}"
            )
        if not observation.unlike(self.observation, gen, self.layout):
            return ""
        return (
            f"made for observation {self.observation}, which does not know Hidden Power's type: in generation {gen} "
            f"it would misread observation {observation.VERSION}: use the version that trained it, or train it again"
        )

    def unfit_as_reference(self, *, team_preview: bool) -> str:
        """Return why it cannot be the reference of a network, and the fix; "" if it can. team_preview: of its shape."""
        if not team_preview or self.decides_previews:
            return ""
        return (
            "does not decide team previews, and the network does: set its team_preview: false, reference.coefficient: 0, or "
            "another reference"
        )


def folder_of(run: Path, step: int) -> Path:
    """Return the folder of a run's checkpoint of a step."""
    return run / "checkpoints" / f"step-{step:09d}"


@contextmanager
def writing(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder that gets checksums, is flushed and renamed to `folder`, or is deleted after an error.

    Raises BadInput if `folder` exists already.
    """
    if folder.exists():
        raise BadInput(f"checkpoint {folder}: exists already: delete it, or give the run another folder")
    with atomic_folder(folder, flush=True) as temporary:
        yield temporary
        write_checksums(temporary)


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
    """Write a checkpoint atomically; returns `folder`.

    lineage, config, metrics: stored as they are, JSON-serializable. extra: called with the temporary folder, to add further
    files (the optimizer's state) to the checkpoint.
    """
    from safetensors.torch import save_file

    with writing(folder) as temporary:
        weights = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
        save_file(weights, temporary / WEIGHTS)
        (temporary / WEIGHTS).chmod(temporary.stat().st_mode & 0o666)  # safetensors creates it with mode 0600
        shape, layout = asdict(network.shape), network.layout
        if layout.slots == 1:  # as before there were networks of doubles, so that a network's identity stays the same
            del shape["slots"]
        if shape["policies"] == 1:  # for the same reason
            del shape["policies"]
        if not shape["team_preview"]:  # likewise
            del shape["team_preview"]
        about = About(shape, step, lineage or [], config or {}, metrics or {}, layout.version)
        document = {**_needed(layout), **asdict(about)}
        (temporary / ABOUT).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        if extra is not None:
            extra(temporary)
    return folder


def load(folder: Path, device: Any = "cpu") -> tuple[Network, About]:
    """Load the network of a checkpoint, in evaluation mode, and its metadata. Raises BadInput if it cannot be used."""
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from agents.policy.network import Network

    about = read(folder)
    for path, how in differing(folder, (WEIGHTS,)):
        raise BadInput(f"checkpoint {folder}: {path.name} is damaged ({how}): use another one")
    try:
        with torch.random.fork_rng(devices=[]):  # the random initialization must not change the global generator
            network = Network(Shape(**about.shape))
        network.load_state_dict(load_file(folder / WEIGHTS))
    except (SafetensorError, RuntimeError, TypeError, OSError) as error:
        problem = " ".join(str(error).split())[:200]
        raise BadInput(f"checkpoint {folder}: its weights cannot be read ({problem}): use another one") from error
    return network.to(device).eval(), about


def read(folder: Path) -> About:
    """Read and check a checkpoint's metadata. Raises BadInput if the checkpoint cannot be used with this version."""
    path = folder / ABOUT
    for file in (path, folder / WEIGHTS):
        if problem := is_no_file(file):
            raise BadInput(f"checkpoint {folder}: {file.name} {problem}: use another one")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        layout = layout_of(document["shape"].get("slots", 1))
        for name, needed in _needed(layout).items():
            has = document[name]
            if observation.unlike(has, layout=layout) if name == "observation" else has != needed:
                raise BadInput(
                    f"checkpoint {folder}: made for {name} {has}, but this version has {needed}: "
                    "use the version that trained it, or train it again"
                )
        about = About(**{name: document[name] for name in About.__dataclass_fields__})
    except OSError:
        raise BadInput(f"checkpoint {folder}: has no {ABOUT}: give a folder that `train` has written") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadInput(f"checkpoint {folder}: {ABOUT} cannot be read ({error!r}): use another one") from None
    _check_size(folder)
    _check_shape(folder, about.shape)
    return about


def find(spec: str) -> Path:
    """Return the folder of a checkpoint: `RUN[@last|@best|@STEP]`, its folder, a shipped one's name, or hf://ORG/NAME[@REV].

    An existing path takes precedence over a shipped name. `@best` of a run without a measurement is its last checkpoint,
    with a note on stderr. Raises BadInput, which lists the run's checkpoints, if there is no such checkpoint.
    """
    if is_on_hub(spec):
        return fetch(spec)
    named = re.fullmatch(r"(.+)@(last|best|\d+)", spec)
    path, which = (resolve_path(named[1]), named[2]) if named else (resolve_path(spec), "last")
    if not path.exists() and (SHIPPED / path / ABOUT).is_file():
        return SHIPPED / path
    if not named and (path / ABOUT).is_file():
        return path
    steps = sorted(steps_of(path))
    if not steps:
        problem = f"{path} has no checkpoints:"
        if not path.exists():
            hint = did_you_mean(path.name, shipped()) or ":"
            problem = f"no such folder, and no shipped network of that name{hint}"
        fix = f"give a run's folder, a checkpoint's folder, or one of {', '.join(shipped())}"
        raise BadInput(f"checkpoint '{spec}': {problem} {fix}")
    if which == "last":
        return folder_of(path, steps[-1])
    step = _best(path, spec) if which == "best" else int(which)
    if step not in steps:
        shown = ", ".join(map(str, steps[-20:]))
        raise BadInput(f"checkpoint '{spec}': no checkpoint of step {step}; there are {shown}")
    return folder_of(path, step)


def shipped() -> list[str]:
    """Return the names of the shipped checkpoints."""
    return sorted(path.name for path in SHIPPED.iterdir() if path.is_dir())


def name_of(folder: Path) -> str:
    """A checkpoint's folder as a lineage names it; a shipped one by its name, for it lies elsewhere on other machines."""
    return folder.name if folder.parent == SHIPPED else str(folder)


def steps_of(run: Path) -> list[int]:
    """Return the steps of a run's checkpoints, unordered."""
    names = (re.fullmatch(r"step-(\d+)", path.name) for path in (run / "checkpoints").glob("step-*"))
    return [int(name[1]) for name in names if name]


def set_best(run: Path, step: int, **why: Any) -> None:
    """Make a step the run's `@best`. why: stored in best.json with it, JSON-serializable."""
    write_atomic(run / "best.json", json.dumps({"step": step, **why}) + "\n", flush=True)


def identity(folder: Path) -> str:
    """Return a hash of a checkpoint's weights and shape, 64 hex digits. Checkpoints with equal hashes play the same."""
    for file in (folder / WEIGHTS, folder / ABOUT):
        if problem := is_no_file(file):
            raise BadInput(f"checkpoint {folder}: {file.name} {problem}: use another one")
    weights, about = (folder / WEIGHTS).stat(), (folder / ABOUT).stat()
    return _identity(folder, weights.st_mtime_ns, weights.st_size, about.st_mtime_ns)


@lru_cache(maxsize=64)
def _identity(folder: Path, *when: int) -> str:
    try:
        shape = json.dumps(json.loads((folder / ABOUT).read_text(encoding="utf-8"))["shape"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadInput(f"checkpoint {folder}: {ABOUT} cannot be read ({error!r:.200}): use another one") from None
    digest = hashlib.sha256(shape.encode())
    with (folder / WEIGHTS).open("rb") as file:
        while block := file.read(1 << 22):
            digest.update(block)
    return digest.hexdigest()


def _needed(layout: Layout) -> dict[str, Any]:
    """The versions that a checkpoint must have."""
    return {
        "format": FORMAT,
        "observation": layout.version,
        "vocabulary": vocabulary().version,
        "actions": layout.actions,
    }


def best_of(run: Path) -> dict[str, Any] | None:
    """Return the content of best.json, {"step": …} and why; None if there is none. Raises BadInput if it is damaged."""
    file = run / "best.json"
    if not file.exists():
        return None
    try:
        if problem := is_no_file(file):
            raise ValueError(problem)
        content = json.loads(read_text(file, _MAX_BEST))
        return {**content, "step": int(content["step"])}
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise BadInput(
            f'{file}: damaged: names no step: write the best checkpoint\'s step into it, {{"step": 1000}}, or delete it'
        ) from None


def _best(run: Path, spec: str) -> int:
    """Return the step in best.json; the last step if the run has no best.json because it was never measured."""
    try:
        best = best_of(run)
    except BadInput:
        raise BadInput(f"checkpoint '{spec}': {run / 'best.json'} names no step: use @last or @STEP") from None
    if best is None:
        last = max(steps_of(run))
        _note_once(
            f"note: {run} has no best checkpoint, as it was not evaluated: '{spec}' is its last one, step {last}"
        )
        return last
    return int(best["step"])


@lru_cache(maxsize=64)
def _note_once(line: str) -> None:
    """Print a line on stderr, once per process."""
    print(line, file=sys.stderr)


def shape_of(folder: Path) -> Shape:
    """Return the shape of a checkpoint's network. Raises BadInput."""
    return Shape(**read(folder).shape)


def _check_shape(folder: Path, fields: dict[str, Any]) -> None:
    """Raise BadInput if the file of the weights is too small for a network of that shape: building it would fill the memory.

    A parameter has a byte or more.
    """
    try:
        shape = Shape(**fields)
    except TypeError:
        raise BadInput(f"checkpoint {folder}: {ABOUT} has no shape of a network: use another one") from None
    except BadInput as error:
        raise BadInput(f"checkpoint {folder}: {ABOUT}: {error}: it is damaged: use another one") from None
    if shape.layer_parameters > (folder / WEIGHTS).stat().st_size:
        raise BadInput(
            f"checkpoint {folder}: {ABOUT} says a network that is larger than {WEIGHTS}: it is damaged: use another one"
        )


def _check_size(folder: Path) -> None:
    """Raise BadInput if the size of the weights' file differs from the one in its header."""
    path = folder / WEIGHTS
    try:
        with path.open("rb") as file:
            header_size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(min(header_size, _MAX_HEADER)))
        end = max(entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__")
        complete = path.stat().st_size == 8 + header_size + end
    except OSError:
        raise BadInput(f"checkpoint {folder}: has no {WEIGHTS}: use another one") from None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, MemoryError, RecursionError):
        complete = False
    if not complete:
        raise BadInput(f"checkpoint {folder}: {WEIGHTS} is truncated or damaged: use another one")
