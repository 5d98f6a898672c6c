"""Where a local language model lies: a folder that transformers or peft wrote, or a hub's name in the local cache."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from pathlib import Path

from agents.paths import resolve_path
from teamsets.errors import BadInput

CONFIG, ADAPTER = "config.json", "adapter_config.json"
#: Where a run of `train llm-dpo` keeps what it made.
OUTPUT = "model"
NOT_INSTALLED = (
    "transformers is not installed: `make llm` installs it (from a wheel: pip install 'battle-arena[training,llm]'); "
    "llm:openai needs nothing"
)
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
#: Larger files are identified by size and date: hashing a model's weights would take as long as loading them.
_HASHED_BYTES = 64 << 20


def not_installed(*packages: str) -> list[str]:
    """Return which packages are not installed, without importing them."""
    return [name for name in packages if importlib.util.find_spec(name) is None]


def folder_of(path: str) -> Path:
    """Return the folder of a model: PATH, PATH/model of a run, or the snapshot of a hub's name in the local cache.

    Nothing is downloaded. Raises BadInput; transformers must be installed for a hub's name.
    """
    local = resolve_path(path).expanduser()
    if local.is_dir():
        model_folder = next((folder for folder in (local, local / OUTPUT) if is_model(folder)), None)
        if model_folder is None:
            unfinished = (local / "checkpoints").is_dir()
            fix = "its run has not finished" if unfinished else f"it has no {CONFIG} and no {ADAPTER}"
            raise BadInput(f"model {path}: {fix}: give a folder that transformers or peft saved")
        return model_folder
    if path.startswith((".", "/", "~")) or not _HUB_NAME.fullmatch(path):
        raise BadInput(f"model {path}: no such folder: give a folder that transformers or peft saved, or a hub's name")
    from huggingface_hub import try_to_load_from_cache

    for name in (CONFIG, ADAPTER):
        cached = try_to_load_from_cache(path, name)
        if isinstance(cached, str):
            return Path(cached).parent
    raise BadInput(
        f"model {path}: no such folder here, and not in the Hugging Face cache: download it first (`hf download {path}`)"
    )


def is_model(folder: Path) -> bool:
    """Return whether a folder has a model or an adapter."""
    return (folder / CONFIG).is_file() or (folder / ADAPTER).is_file()


def base_of(folder: Path) -> str:
    """Return the base model of an adapter's folder; "" for a whole model. Raises BadInput."""
    if not (folder / ADAPTER).is_file():
        return ""
    try:
        base = json.loads((folder / ADAPTER).read_text(encoding="utf-8"))["base_model_name_or_path"]
    except (OSError, ValueError, KeyError, TypeError):
        base = None
    if not isinstance(base, str) or not base:
        raise BadInput(f"model {folder}: {ADAPTER} does not name its base model: save it again, or merge it")
    return base


def identity(folder: Path) -> str:
    """Return a hash of a model's files, its base model's included. Raises BadInput, OSError."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if not path.is_file() or path.name.startswith("."):
            continue
        state = path.stat()
        large = state.st_size > _HASHED_BYTES
        content = f"{state.st_size} {state.st_mtime_ns}" if large else hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"\n{path.name} {content}".encode())
    if base := base_of(folder):
        digest.update(identity(folder_of(base)).encode())
    return digest.hexdigest()[:16]
