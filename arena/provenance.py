"""What a run was made with: the commit and the versions of everything that a battle depends on."""

from __future__ import annotations

import contextlib
import platform
import subprocess
from importlib.metadata import version

from teamsets import showdown


def git_state() -> str | None:
    """The commit of the working folder, "+" behind it when files have changed; None outside a checkout."""
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        commit = _git("rev-parse", "HEAD")
        return commit + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")
    return None


def _git(*words: str) -> str:
    command = ["git", "-C", str(showdown.PROJECT), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def versions() -> dict[str, str]:
    """The versions that a battle depends on."""
    node = subprocess.run([showdown.node(), "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return {
        "arena": version("battle-arena"),
        "python": platform.python_version(),
        "node": node,
        "pokemon-showdown": showdown.version(),
        "poke-env": version("poke-env"),
    }
