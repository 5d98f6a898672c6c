"""The provenance of a run: the commit and the versions of everything that a battle depends on."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import subprocess
from collections.abc import Sequence
from importlib.metadata import version

from teamsets import showdown


def git_state() -> str | None:
    """The commit of our own checkout, "+" behind it when files have changed; None where git does not track our code.

    Installed packages may lie inside a repository of the user's, whose commit says nothing about ours. An image has no git:
    its build has noted the commit in ARENA_COMMIT (Dockerfile).
    """
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        _git("ls-files", "--error-unmatch", "arena/provenance.py")
        commit = _git("rev-parse", "HEAD")
        return commit + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")
    return os.environ.get("ARENA_COMMIT") or None


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(showdown.PROJECT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def code_hash(packages: Sequence[str] = ("agents", "arena", "teamsets")) -> str:
    """A hash of the code of packages, 16 hex digits; by default of those that play battles."""
    hasher = hashlib.sha256()
    for package in packages:
        for path in sorted((showdown.PROJECT / package).rglob("*")):
            if path.suffix in (".py", ".mjs"):
                hasher.update(f"{path.relative_to(showdown.PROJECT).as_posix()}\n".encode() + path.read_bytes())
    return hasher.hexdigest()[:16]


def versions() -> dict[str, str]:
    """The versions that a battle depends on."""
    return {
        "arena": version("battle-arena"),
        "python": platform.python_version(),
        "node": showdown.node_version(),
        "pokemon-showdown": showdown.version(),
        "poke-env": version("poke-env"),
    }
