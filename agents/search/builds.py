"""Where poke-engine's builds lie. One build serves one generation; `make search` puts them side by side."""

from __future__ import annotations

import os
from pathlib import Path

#: The generations for which `make search` makes a build.
GENERATIONS = (1, 2, 3, 4, 9)
#: Names another folder for the builds than `.cache/poke-engine` of the project.
FOLDER_VARIABLE = "ARENA_POKE_ENGINE"
_MEND = "run `make search` (it needs cargo, from rustup.rs or your system's package)"


def folder() -> Path:
    """The folder that holds a folder `genN` for each build."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen) if chosen else Path(__file__).parents[2] / ".cache" / "poke-engine"


def site(gen: int) -> Path:
    """The folder from which a generation's poke-engine is imported, whether it is there or not."""
    return folder() / f"gen{gen}"


def missing(gen: int | None = None) -> str:
    """Why poke-engine cannot serve a generation (None: any at all), with the mend; empty when it can."""
    built = [g for g in GENERATIONS if (site(g) / ".ready").is_file()]
    if gen is None:
        return "" if built else f"poke-engine is not built: {_MEND}"
    if gen in built:
        return ""
    if gen not in GENERATIONS:
        return f"poke-engine is not used for generation {gen} here: generations {', '.join(map(str, GENERATIONS))} are"
    return f'poke-engine is not built for generation {gen}: {_MEND}, for this one alone `make search ARGS="{gen}"`'
