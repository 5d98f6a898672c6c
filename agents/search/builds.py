"""Where poke-engine's builds lie. One build serves one generation; `make search` puts them side by side."""

from __future__ import annotations

import os
from pathlib import Path

#: The generations for which `make search` makes a build.
GENERATIONS = (1, 2, 3, 4, 9)
#: What our part of a build is asked by; the same number stands in scripts/setup_search.sh. A build with another is too old.
INTERFACE = "2"
#: Names another folder for the builds than `.cache/poke-engine` of the project.
FOLDER_VARIABLE = "ARENA_POKE_ENGINE"
#: The script of `make search`: in a checkout only.
_SCRIPT = Path(__file__).parents[2] / "scripts" / "setup_search.sh"


def folder() -> Path:
    """The folder that holds a folder `genN` for each build."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen) if chosen else Path(__file__).parents[2] / ".cache" / "poke-engine"


def site(gen: int) -> Path:
    """The folder from which a generation's poke-engine is imported, whether it is there or not."""
    return folder() / f"gen{gen}"


def builds() -> list[str]:
    """For each build that is there what made it: poke-engine's version, our changes to it, the Python that loads it."""
    return [f"gen{gen} {_mark(gen)}" for gen in GENERATIONS if _mark(gen)]


def _mark(gen: int) -> str:
    """What made the build of a generation; empty where there is none, or one that does not fit."""
    try:
        mark = (site(gen) / ".ready").read_text()
    except FileNotFoundError:
        return ""
    return mark if mark.split(" ", 1)[0] == INTERFACE else ""


def _mend(gen: int | None = None) -> str:
    """What builds poke-engine here."""
    cargo = "(it needs cargo, from rustup.rs or your system's package)"
    if not _SCRIPT.is_file():  # installed from a wheel
        return (
            f"run `make search` in a checkout of this version {cargo} and set {FOLDER_VARIABLE} to the checkout's "
            ".cache/poke-engine"
        )
    return f"run `make search` {cargo}" + (f', for this one alone `make search ARGS="{gen}"`' if gen else "")


def missing(gen: int | None = None) -> str:
    """Why poke-engine cannot serve a generation (None: any at all), with the mend; empty when it can."""
    built = [g for g in GENERATIONS if _mark(g)]
    if gen is None:
        return "" if built else f"poke-engine is not built: {_mend()}"
    if gen in built:
        return ""
    if gen not in GENERATIONS:
        return f"search does not support generation {gen}: it supports generations {', '.join(map(str, GENERATIONS))}"
    return f"poke-engine is not built for generation {gen}: {_mend(gen)}"
