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

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from teamsets.reading import is_no_file
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
#: What an error line calls one of a kind.
_CALLED: dict[Kind, str] = {
    "preset": "preset",
    "curriculum": "curriculum",
    "ablation": "ablation",
    "online": "configuration of online training",
    "population": "population",
    "sweep": "sweep",
    "llm": "configuration of language models",
}


def names(kind: Kind) -> list[str]:
    """Return the names of the shipped configurations of a kind."""
    return sorted(path.stem for path in FOLDERS[kind].glob("*.yaml"))


def resolve_path(name: str, *kinds: Kind, suggested: Sequence[str] = ()) -> Path:
    """Return the file of a configuration, by its path or by the name of a shipped one of these kinds.

    An existing file takes precedence over a shipped one. suggested: the names that an error line lists, where the command
    does not take all of the kinds. Raises BadConfig that lists the shipped names.
    """
    path, shipped = Path(name), {each: FOLDERS[kind] / f"{each}.yaml" for kind in kinds for each in names(kind)}
    known, called, problem = suggested or list(shipped), _CALLED[kinds[0]], is_no_file(path)
    if not problem and path.exists():
        return path
    if name in shipped:
        return shipped[name]
    if problem:
        written = path / "config.yaml"
        fix = f"give {written}" if not is_no_file(written) and written.exists() else "give a YAML file"
        raise BadConfig(f"{name}: {problem}: {fix}, or the name of a shipped {called}: {', '.join(known)}")
    near = get_close_matches(path.stem, known, 1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise BadConfig(f"{name}: no such file, and no shipped {called} of that name: {hint}shipped are {', '.join(known)}")


def text(name: str, kind: Kind) -> str:
    """Return the file of a configuration as text, with its comments. Raises BadConfig as `resolve_path`."""
    return resolve_path(name, kind).read_text(encoding="utf-8")
