"""Locates the Showdown simulator: the node binary and the npm package `pokemon-showdown`."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from teamsets import cache as user_cache
from teamsets.errors import MissingTool

#: The folder of our packages: a checkout, or site-packages.
PROJECT = Path(__file__).resolve().parent.parent
#: package.json and package-lock.json, which pin the simulator. In a checkout these are links to the project's own.
PINNED = Path(__file__).resolve().parent / "simulator"
#: The oldest Node.js that runs the simulator and our scripts.
OLDEST_NODE = 20


@cache
def node() -> str:
    """The node binary: $ARENA_NODE, or `node` on the PATH. Raises MissingTool when it is not there, does not run or is old.

    Asked for once a process, before anything else is started with it: what a broken one writes would be taken for answers.
    """
    node_version()
    return _binary()


def _binary() -> str:
    wanted = os.environ.get("ARENA_NODE") or "node"
    binary = shutil.which(wanted)
    if binary is None:
        raise MissingTool(f"node: '{wanted}' was not found: install Node.js {OLDEST_NODE} or newer, or set ARENA_NODE")
    return binary


@cache
def node_version() -> str:
    """Return node's version, e.g. "v20.11.1". Raises MissingTool if it does not run or is too old."""
    try:
        done = subprocess.run([_binary(), "--version"], capture_output=True, text=True, timeout=60)
        version = done.stdout.strip()
        major = int(version.removeprefix("v").split(".")[0]) if done.returncode == 0 else None
    except (OSError, subprocess.SubprocessError, ValueError):
        major = None
    if major is None:
        raise MissingTool(
            f"node: '{_binary()} --version' printed no version: install Node.js {OLDEST_NODE} or newer, or set ARENA_NODE"
        )
    if major < OLDEST_NODE:
        raise MissingTool(f"node: {version} is too old: install Node.js {OLDEST_NODE} or newer, or set ARENA_NODE")
    return version


def cached() -> Path:
    """The folder in the user's cache into which `arena setup` installs this version of the simulator.

    It is named by the content of the lockfile, so that versions of the project that pin others lie side by side.
    """
    lock = hashlib.sha256((PINNED / "package-lock.json").read_bytes()).hexdigest()[:12]
    return user_cache.folder() / f"pokemon-showdown-{lock}"


def is_package(folder: Path) -> bool:
    """Return whether a folder is the npm package `pokemon-showdown`."""
    return (folder / "dist" / "sim" / "index.js").is_file()


@cache
def package() -> Path:
    """The folder of the npm package `pokemon-showdown`.

    It is $ARENA_SHOWDOWN, or node_modules of the checkout, or what `arena setup` has installed. Raises MissingTool.
    """
    chosen = os.environ.get("ARENA_SHOWDOWN")
    if chosen:
        if is_package(Path(chosen)):
            return Path(chosen)
        raise MissingTool(
            f"pokemon-showdown: not found in ARENA_SHOWDOWN={chosen}: name the folder of the npm package, or unset it and "
            "run `arena setup`"
        )
    places = [modules / "pokemon-showdown" for modules in (PROJECT / "node_modules", cached() / "node_modules")]
    for folder in places:
        if is_package(folder):
            return folder
    raise MissingTool(
        "pokemon-showdown: the simulator is not installed: run `arena setup` (in a checkout: `make setup`)"
    )


def version() -> str:
    """Return the simulator's version from its package.json, e.g. "0.11.11"."""
    return json.loads((package() / "package.json").read_text(encoding="utf-8"))["version"]
