"""Where the Showdown simulator lies on this machine: node and the npm package `pokemon-showdown`."""

from __future__ import annotations

import json
import os
import shutil
from functools import cache
from pathlib import Path

from teamsets.errors import MissingTool

PROJECT = Path(__file__).resolve().parent.parent


@cache
def node() -> str:
    """The node binary: $ARENA_NODE, or `node` on the PATH. Raises MissingTool."""
    wanted = os.environ.get("ARENA_NODE", "node")
    found = shutil.which(wanted)
    if found is None:
        raise MissingTool(f"node: '{wanted}' was not found: install Node.js 20 or newer, or set ARENA_NODE")
    return found


@cache
def package() -> Path:
    """The folder of the npm package `pokemon-showdown`: $ARENA_SHOWDOWN, or node_modules beside the project.

    Raises MissingTool when it is not installed.
    """
    folder = Path(os.environ.get("ARENA_SHOWDOWN", PROJECT / "node_modules" / "pokemon-showdown"))
    if not (folder / "dist" / "sim" / "index.js").is_file():
        raise MissingTool(f"pokemon-showdown: not found in {folder}: run `make setup` (or npm ci)")
    return folder


def version() -> str:
    """The simulator's version, as in its package.json, e.g. "0.11.11"."""
    return json.loads((package() / "package.json").read_text())["version"]
