"""`arena agents setup foul-play`: creates its environment and builds poke-engine for each generation."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from agents.external.foul_play import FEATURES, FoulPlay, Home
from agents.external.processes import PIP, new_environment, run
from agents.external.settings import program_path
from teamsets.errors import BadInput, MissingTool

#: Generations that are built by default.
USUAL = (1, 2, 3, 4, 9)


def set_up(gens: Sequence[int], say: Callable[[str], None]) -> None:
    """Create what is missing. say: called with progress messages. Raises MissingTool, BadInput, ArenaError if pip fails."""
    checkout = program_path("foul-play")
    if checkout is None:
        raise MissingTool(f"foul-play: {FoulPlay.missing()}")
    if not (checkout / "requirements.txt").is_file():
        raise BadInput(f"foul-play: {FoulPlay.missing()}")
    for gen in gens:
        if gen not in FEATURES:
            raise BadInput(f"--gen {gen}: must be a generation from 1 to 9")
    home = Home(checkout)
    engine, others = _requirements(home.requirements)
    if not home.python.exists():
        say(f"creating its environment in {home.folder} ...")
        with new_environment(home.python):
            run([str(home.python), *PIP, *others])
    for gen in gens:
        if gen not in home.built():
            _build(home, engine, gen, say)
    say(f"ready for generations {', '.join(map(str, home.built()))}")


def _requirements(text: str) -> tuple[str, list[str]]:
    """Return poke-engine's requirement without its build options, and the other requirements."""
    lines = [line.split(" --", 1)[0].strip() for line in text.splitlines() if re.match(r"[\w-]", line)]
    engines = [line for line in lines if line.startswith("poke-engine")]
    if not engines:
        raise BadInput("foul-play: its requirements.txt does not list poke-engine: is it a checkout of foul-play?")
    return engines[0], [line for line in lines if line not in engines]


def _build(home: Home, engine: str, gen: int, say: Callable[[str], None]) -> None:
    if shutil.which("cargo") is None:
        raise MissingTool(
            "cargo: not found, but it is needed to build poke-engine: install Rust (rustup.rs, apt install cargo)"
        )
    say(f"building {engine} for generation {gen} (takes a few minutes) ...")
    folder = home.engine(gen)
    shutil.rmtree(folder, ignore_errors=True)
    options = f"build-args=--features poke-engine/{FEATURES[gen]} --no-default-features"
    # No cache: pip's cache ignores build options, and would install the first generation's build for all of them.
    build = ["--no-deps", "--no-cache-dir", "--no-binary", "poke-engine", "--config-settings", options]
    run([str(home.python), *PIP, *build, "--target", str(folder), engine])
    Path(folder, ".ready").write_text(engine, encoding="utf-8")
