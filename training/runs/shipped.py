"""The configurations that are shipped with the project, by name: `train curriculum run gen1ou-cpu`.

training/presets/NAME.yaml             training runs
training/presets/curricula/NAME.yaml   curricula
training/presets/ablations/NAME.yaml   ablations
training/presets/online/NAME.yaml      online training
training/presets/populations/NAME.yaml populations
training/presets/sweeps/NAME.yaml      sweeps
training/presets/llm/NAME.yaml         training of language models
"""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from training.runs.config_reader import PRESETS, BadConfig

Kind = Literal["preset", "curriculum", "ablation", "online", "population", "sweep", "llm"]
FOLDERS: dict[Kind, Path] = {
    "preset": PRESETS,
    "curriculum": PRESETS / "curricula",
    "ablation": PRESETS / "ablations",
    "online": PRESETS / "online",
    "population": PRESETS / "populations",
    "sweep": PRESETS / "sweeps",
    "llm": PRESETS / "llm",
}


def names(kind: Kind) -> list[str]:
    """Return the names of the shipped configurations of a kind."""
    return sorted(path.stem for path in FOLDERS[kind].glob("*.yaml"))


def resolve_path(name: str, kind: Kind) -> Path:
    """Return the file of a configuration, by its path or by the name of a shipped one.

    An existing file takes precedence over a shipped one. Raises BadConfig that lists the shipped names.
    """
    path, known = Path(name), names(kind)
    if path.is_file():
        return path
    if name in known:
        return FOLDERS[kind] / f"{name}.yaml"
    near = get_close_matches(path.stem, known, 1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise BadConfig(f"{name}: no such file, and no shipped {kind} of that name: {hint}shipped are {', '.join(known)}")


def text(name: str, kind: Kind) -> str:
    """Return the file of a configuration as text, with its comments. Raises BadConfig as `resolve_path`."""
    return resolve_path(name, kind).read_text(encoding="utf-8")
