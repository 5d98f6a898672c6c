"""Installs the pinned simulator into the user's cache folder: what `arena setup` does where there is no checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from teamsets import cache, showdown
from teamsets.atomic import atomic_folder
from teamsets.errors import MissingTool
from teamsets.locking import file_lock

#: npm's codes for a registry that could not be reached. A test that needs the registry is skipped at these.
_OFFLINE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH", "ENOTCACHED")
#: What is said then.
NOT_REACHED = "npm's registry could not be reached"
#: Seconds after which npm is stopped.
_LIMIT = 1800
_OPTIONS = (
    "--omit=optional",
    "--omit=dev",
    "--ignore-scripts",
    "--prefer-offline",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
)


def npm() -> str:
    """The npm binary: beside node, or on the PATH. Raises MissingTool."""
    binary = shutil.which("npm", path=os.path.dirname(showdown.node())) or shutil.which("npm")
    if binary is None:
        raise MissingTool("npm: not found beside node or on the PATH: install it (Debian: apt-get install npm)")
    return binary


def pinned_version() -> str:
    """The version of pokemon-showdown that package.json pins."""
    return json.loads((showdown.PINNED / "package.json").read_text(encoding="utf-8"))["dependencies"][
        "pokemon-showdown"
    ]


def install(say: Callable[[str], None]) -> Path:
    """Installs the pinned simulator into `showdown.cached()` unless it is there already; returns the package's folder.

    npm works in a folder of its own, which gets its final name when it is whole: half an installation is never taken for
    one. A second call meanwhile waits for the first. say: called with a line before npm starts.

    Raises:
        MissingTool: node or npm is missing or too old, the cache folder cannot be written, or npm failed. One line.
    """
    target = showdown.cached()
    package = target / "node_modules" / "pokemon-showdown"
    if showdown.is_package(package):
        return package
    node, tool = showdown.node(), npm()
    showdown.node_version()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with file_lock(target.parent / f".{target.name}.lock"):
            if not showdown.is_package(package):  # another process may have installed it while this one waited
                say(
                    f"installing pokemon-showdown {pinned_version()} into {target} (32 MB to download, 154 MB on disk) ..."
                )
                _install_into(target, node, tool)
    except OSError as error:
        raise cache.not_writable(target.parent, error) from None
    showdown.package.cache_clear()
    return package


def _install_into(target: Path, node: str, tool: str) -> None:
    with atomic_folder(target, replace=True) as part:  # there may be one of which somebody has removed a part
        for name in ("package.json", "package-lock.json"):
            shutil.copyfile(showdown.PINNED / name, part / name)
        _npm_ci(part, node, tool)
        if not showdown.is_package(part / "node_modules" / "pokemon-showdown"):
            raise MissingTool(
                "npm ci ended without an error but installed no pokemon-showdown: run `arena setup` again"
            )


def _npm_ci(folder: Path, node: str, tool: str) -> None:
    """Runs `npm ci` in a folder, with our node first on the PATH (npm is a script for `node`)."""
    path = os.pathsep.join(filter(None, [os.path.dirname(node), os.environ.get("PATH")]))
    try:
        done = subprocess.run(
            [tool, "ci", *_OPTIONS],
            cwd=folder,
            env={**os.environ, "PATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LIMIT,
        )
    except subprocess.TimeoutExpired:
        raise MissingTool(f"npm ci: not ready after {_LIMIT} seconds: run `arena setup` again") from None
    if done.returncode != 0:
        raise MissingTool(_why(done.returncode, done.stderr))


def _why(code: int, stderr: str) -> str:
    """npm's error in one line, and what to do about it."""
    lines = [line.partition("npm error")[2].strip() for line in stderr.splitlines() if line.startswith("npm error")]
    message = "; ".join([line for line in lines if line and "complete log" not in line.lower()][:3])[:300]
    message = message or stderr.strip()[-200:].replace("\n", " ") or f"exit code {code}"
    if any(word in stderr for word in _OFFLINE):
        return f"{NOT_REACHED} (npm ci: {message}): check the network and npm's registry, then run `arena setup` again"
    return f"npm ci failed ({message}): fix the problem, then run `arena setup` again"
