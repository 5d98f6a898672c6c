"""The builds of poke-engine, one for each generation, which `make search` makes."""

from __future__ import annotations

import os
from pathlib import Path

#: Generations for which `make search` makes a build.
GENERATIONS = (1, 2, 3, 4, 9)
#: Version of our extension of poke-engine, as in scripts/setup_search.sh. A build with another one is outdated.
INTERFACE = "2"
#: Environment variable: folder of the builds; default: `.cache/poke-engine` of the project.
FOLDER_VARIABLE = "ARENA_POKE_ENGINE"
#: The script of `make search`, which exists in a checkout only.
SCRIPT = Path(__file__).parents[3] / "scripts" / "setup_search.sh"


def folder() -> Path:
    """Return the folder that contains a folder `genN` for each build."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen) if chosen else Path(__file__).parents[3] / ".cache" / "poke-engine"


def site(gen: int) -> Path:
    """Return the folder from which a generation's poke-engine is imported, whether it exists or not."""
    return folder() / f"gen{gen}"


def builds() -> list[str]:
    """Return a line for each existing build: its versions of poke-engine, of our changes to it, and of Python."""
    return [f"gen{gen} {_mark(gen)}" for gen in GENERATIONS if _mark(gen)]


def _mark(gen: int) -> str:
    """Return the versions of a generation's build; empty if there is none or it is outdated."""
    try:
        mark = (site(gen) / ".ready").read_text()
    except FileNotFoundError:
        return ""
    return mark if mark.split(" ", 1)[0] == INTERFACE else ""


def _fix(gen: int | None, script: Path) -> str:
    """Return the command that builds poke-engine."""
    cargo = "(it needs cargo, from rustup.rs or your system's package)"
    if not script.is_file():  # installed from a wheel
        return (
            f"run `make search` in a checkout of this version {cargo} and set {FOLDER_VARIABLE} to the checkout's "
            ".cache/poke-engine"
        )
    return f"run `make search` {cargo}" + (f', for this one alone `make search ARGS="{gen}"`' if gen else "")


def missing(gen: int | None = None, script: Path = SCRIPT) -> str:
    """Return why poke-engine is not available for a generation (None: for any), with the fix; empty if it is."""
    built = [g for g in GENERATIONS if _mark(g)]
    if gen is None:
        return "" if built else f"poke-engine is not built: {_fix(None, script)}"
    if gen in built:
        return ""
    if gen not in GENERATIONS:
        return f"search does not support generation {gen}: it supports generations {', '.join(map(str, GENERATIONS))}"
    return f"poke-engine is not built for generation {gen}: {_fix(gen, script)}"
