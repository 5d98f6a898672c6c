"""Configurations that come with the project, by name or by path: `train curriculum run gen1ou-cpu`.

training/presets/NAME.yaml             training runs
training/presets/curricula/NAME.yaml   curricula
training/presets/ablations/NAME.yaml   ablations
"""

from __future__ import annotations

import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from training.config import PRESETS, BadConfig

Kind = Literal["preset", "curriculum", "ablation"]
FOLDERS: dict[Kind, Path] = {
    "preset": PRESETS,
    "curriculum": PRESETS / "curricula",
    "ablation": PRESETS / "ablations",
}


def names(kind: Kind) -> list[str]:
    """The names of the shipped configurations of a kind."""
    return sorted(path.stem for path in FOLDERS[kind].glob("*.yaml"))


def located(word: str, kind: Kind) -> Path:
    """The file that `word` means: a path, or the name of a shipped configuration.

    A file of that name wins over a shipped one. The places where shipped files once lay (scripts/curricula/NAME.yaml,
    scripts/ablations/NAME.yaml) are understood, with a note on stderr. Raises BadConfig that lists the shipped names.
    """
    path, known = Path(word), names(kind)
    if path.is_file():
        return path
    if word in known:
        return FOLDERS[kind] / f"{word}.yaml"
    if path.stem in known and path.parts[-3:-1] == ("scripts", FOLDERS[kind].name):
        print(f"note: {word} is now the shipped {kind} `{path.stem}`: use this name", file=sys.stderr)
        return FOLDERS[kind] / f"{path.stem}.yaml"
    near = get_close_matches(path.stem, known, 1)
    meant = f"did you mean {near[0]}? " if near else ""
    raise BadConfig(f"{word}: no such file, and no shipped {kind} of that name: {meant}shipped are {', '.join(known)}")
