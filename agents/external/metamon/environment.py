"""Where metamon is: the Python of its environment, its code, its weights."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from functools import cache
from pathlib import Path

from agents.external.settings import VARIABLES, program_path
from teamsets import cache as cache_folder
from teamsets.checksums import sha256_of

#: Environment variable of metamon itself: the folder of its weights and data.
CACHE_VARIABLE = "METAMON_CACHE_DIR"
#: The file in a run's folder with the arguments of metamon.rl.train that its network was made with.
OWN_SETTINGS = "metamon.json"
SET_UP = "run `arena agents setup metamon` (--help shows how it installs from a folder), or name its Python in " + (
    f'{VARIABLES["metamon"]}, or in arena.toml: [external] metamon = "ENVIRONMENT/bin/python"'
)
#: Larger files are identified by size and date: hashing a model's weights would take as long as loading them.
_HASHED_BYTES = 16 << 20
_CHECKPOINT = re.compile(r"policy_epoch_(\d+)\.pt")


def home() -> Path:
    """Return the folder into which `arena agents setup metamon` installs, whether it exists or not."""
    return cache_folder.folder() / "metamon"


def python() -> Path | None:
    """Return the Python of metamon's environment: the configured one, else that of `setup`; None if there is neither."""
    own = home() / "environment" / "bin" / "python"
    return program_path("metamon") or (own if own.is_file() else None)


def cache_dir() -> Path:
    """Return the folder of metamon's weights and data."""
    return Path(os.environ.get(CACHE_VARIABLE) or home() / "cache")


@cache
def package(interpreter: Path) -> Path | None:
    """Return the folder of the package `metamon` in a Python environment, if it has pretrained models."""
    look = "import importlib.util as u; s = u.find_spec('metamon'); print(s.submodule_search_locations[0] if s else '')"
    command = [str(interpreter), "-c", look]
    try:
        out = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    folder = Path(out.strip() or "/nowhere")
    return folder if (folder / "rl" / "pretrained.py").is_file() else None


@cache
def code_digest(folder: Path) -> str:
    """Return a hash of metamon's code, network configurations and vocabularies."""
    digest = hashlib.sha256()
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.gin"), *(folder / "tokenizer").glob("*.json")]):
        digest.update(str(path.relative_to(folder)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def checkpoints(folder: Path) -> dict[int, Path]:
    """Return the checkpoints of a run's folder, as amago writes it: number -> file of the weights."""
    found = (folder / "ckpts" / "policy_weights").glob("policy_epoch_*.pt")
    return {int(match[1]): path for path in found if (match := _CHECKPOINT.fullmatch(path.name))}


def file_identity(path: Path) -> str:
    """Return a hash of a file's content; of its size and date where it is large."""
    about = path.stat()
    return _file_identity(path.absolute(), about.st_size, about.st_mtime_ns)


@cache
def _file_identity(path: Path, size: int, changed: int) -> str:
    """Kept, because each battle's agent needs it. changed: when the content was, in ns."""
    return sha256_of(path) if size <= _HASHED_BYTES else hashlib.sha256(f"{size} {changed}".encode()).hexdigest()
