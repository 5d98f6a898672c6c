"""The engine's rules as a shared library: compiled from src/ by a C++ compiler at first use, kept in the user's cache.

Each source file is compiled by itself, on all cores, and kept under the hash of its own text, of all headers and of the
compiler: after a change of one file, that one is compiled again and the library is linked.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from agents.engine.gen9.layout import SHOWN_WORDS, SOURCES, WORDS
from teamsets import cache
from teamsets.errors import MissingTool
from teamsets.locking import file_lock

# No contraction: estimates of damage are Python's bit by bit (src/shown/estimates.cpp).
FLAGS = (
    "-std=c++20",
    "-O3",
    "-ffp-contract=off",
    "-fPIC",
    "-fno-semantic-interposition",
    "-fno-exceptions",
    "-fno-rtti",
    "-Wall",
    "-Wextra",
)


class CompilerMissing(MissingTool):
    """There is no C++ compiler, or it cannot compile the engine."""


def compiler() -> list[str]:
    """The command of a C++ compiler: that of CXX, a usual one, or the PyPI package ziglang's. Raises CompilerMissing."""
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        if name and shutil.which(name):
            return [name]
    if find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "c++"]
    raise CompilerMissing(
        "the generation-9 engine needs a C++ compiler: install one (Debian: apt-get install g++; macOS: xcode-select "
        "--install), or run `uv pip install ziglang`; CXX names another."
    )


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise CompilerMissing(
            f"the generation-9 engine was not compiled: {' '.join(command)}: {done.stderr.strip()[:2000]}"
        )


def _made(target: Path, command: Callable[[str], list[str]]) -> Path:
    """`target`, made by a command that writes to another name first: several processes may do so at once."""
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            made = Path(folder) / target.name
            _run(command(str(made)))
            made.replace(target)
    return target


def digest() -> str:
    """A hash of the sources of the game: which engine it is. What only looks at battles stands in folders of src."""
    return _digest(*(path.read_bytes() for path in sorted(SOURCES.glob("*")) if path.is_file()))


def build(folder: Path | None = None) -> Path:
    """Compile what the cache lacks; returns the library's path. folder: None: in the user's cache folder.

    The variable CXXFLAGS adds options, such as -fsanitize=address or -DCOVERAGE (src/coverage.h). Raises CompilerMissing.
    """
    folder = folder or cache.folder() / "engine-gen9"
    headers = b"".join(path.read_bytes() for path in sorted(SOURCES.rglob("*.h")))
    files = sorted(SOURCES.rglob("*.cpp"))
    flags = (*FLAGS, *os.environ.get("CXXFLAGS", "").split())
    settings = " ".join((*flags, sys.platform, os.environ.get("CXX", ""))).encode()
    digests = [_digest(settings, headers, path.read_bytes()) for path in files]
    library = folder / f"gen9-{_digest(*(digest.encode() for digest in digests))}.so"
    if library.exists():
        return library
    folder.mkdir(parents=True, exist_ok=True)
    with file_lock(folder / "lock"):  # of several processes one compiles
        return library if library.exists() else _compiled(files, digests, flags, folder, library)


def _compiled(files: list[Path], digests: list[str], flags: tuple[str, ...], folder: Path, library: Path) -> Path:
    cxx = compiler()

    def object_of(path: Path, digest: str) -> Path:
        return _made(
            folder / f"{path.stem}-{digest}.o",
            lambda out: [*cxx, *flags, "-I", str(SOURCES), "-c", str(path), "-o", out],
        )

    with ThreadPoolExecutor(
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    ) as pool:
        objects = [str(path) for path in pool.map(object_of, files, digests)]
    # ziglang's first link would compile C++'s runtime, which the engine does not need.
    runtime = ["-nostdlib++"] if "ziglang" in cxx else []
    return _made(library, lambda out: [*cxx, *flags, "-shared", *runtime, *objects, "-o", out, "-lpthread"])


def address(array: NDArray[Any]) -> ctypes.c_void_p:
    """Where an array begins, for the library. It keeps the array."""
    return array.ctypes.data_as(ctypes.c_void_p)


@functools.cache
def library() -> ctypes.CDLL:
    """The compiled engine. Raises CompilerMissing."""
    loaded = ctypes.CDLL(str(build()))
    for file, here, there in (
        ("layout.h", WORDS, loaded.gen9_words()),
        ("shown/shown.h", SHOWN_WORDS, loaded.gen9_shown_words()),
    ):
        if here != there:
            raise AssertionError(f"src/{file} has {there} words for C++ and {here} for Python")
    return loaded
