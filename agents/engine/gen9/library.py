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
from typing import Any, NamedTuple

from numpy.typing import NDArray

from agents.engine.gen9.layout import SHOWN_WORDS, SOURCES, WORDS
from teamsets import cache
from teamsets.errors import MissingTool, last_error
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


def announce(line: str) -> None:
    """Prints a line to stderr, as `say` of `build`."""
    print(line, file=sys.stderr, flush=True)


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
    try:
        done = subprocess.run(command, capture_output=True, text=True)
        code, text = done.returncode, done.stderr
    except OSError as error:
        code, text = 126, f"cannot be run: {error.strerror}"
    if code:
        errors = [line.strip() for line in text.splitlines() if "error" in line]
        reason = errors[0][:300] if errors else last_error(text) or f"exit code {code}"
        raise CompilerMissing(
            f"the generation-9 engine was not compiled: {command[0]} for {command[-1]}: {reason}: CXX names another "
            "compiler."
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


class _Sources(NamedTuple):
    """What is compiled: the files, a digest of each with its settings, the compiler's options, the library's path."""

    files: list[Path]
    digests: list[str]
    flags: tuple[str, ...]
    library: Path


def _sources(folder: Path | None) -> _Sources:
    headers = b"".join(path.read_bytes() for path in sorted(SOURCES.rglob("*.h")))
    files = sorted(SOURCES.rglob("*.cpp"))
    flags = (*FLAGS, *os.environ.get("CXXFLAGS", "").split())
    settings = " ".join((*flags, sys.platform, os.environ.get("CXX", ""))).encode()
    digests = [_digest(settings, headers, path.read_bytes()) for path in files]
    name = f"gen9-{_digest(*(digest.encode() for digest in digests))}.so"
    return _Sources(files, digests, flags, (folder or cache.folder() / "engine-gen9") / name)


def check_compiler() -> None:
    """Raises CompilerMissing where the library is not in the cache and there is no compiler. Compiles nothing."""
    if not _sources(None).library.exists():
        compiler()


def build(folder: Path | None = None, say: Callable[[str], None] = lambda line: None) -> Path:
    """Compile what the cache lacks; returns the library's path. folder: None: in the user's cache folder.

    say: called with a line before it compiles. The variable CXXFLAGS adds options, such as -fsanitize=address or -DCOVERAGE
    (src/coverage.h). Raises CompilerMissing, and MissingTool where the folder cannot be written.
    """
    sources = _sources(folder)
    library = sources.library
    if library.exists():
        return library
    try:
        library.parent.mkdir(parents=True, exist_ok=True)
        with file_lock(library.parent / "lock"):  # of several processes one compiles
            if not library.exists():
                cxx = compiler()
                say("compiling the generation-9 engine, once on this machine (20 s of CPU time) ...")
                _compile(sources, cxx)
    except OSError as error:
        raise cache.not_writable(library.parent, error) from None
    return library


def _compile(sources: _Sources, cxx: list[str]) -> None:
    files, digests, flags, library = sources

    def object_of(path: Path, digest: str) -> Path:
        return _made(
            library.parent / f"{path.stem}-{digest}.o",
            lambda out: [*cxx, *flags, "-I", str(SOURCES), "-o", out, "-c", str(path)],
        )

    with ThreadPoolExecutor(
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    ) as pool:
        objects = [str(path) for path in pool.map(object_of, files, digests)]
    # ziglang's first link would compile C++'s runtime, which the engine does not need.
    runtime = ["-nostdlib++"] if "ziglang" in cxx else []
    _made(library, lambda out: [*cxx, *flags, "-shared", *runtime, *objects, "-lpthread", "-o", out])


def address(array: NDArray[Any]) -> ctypes.c_void_p:
    """Where an array begins, for the library. It keeps the array."""
    return array.ctypes.data_as(ctypes.c_void_p)


@functools.cache
def library() -> ctypes.CDLL:
    """The compiled engine. Raises CompilerMissing, and MissingTool for a cache folder that cannot be used."""
    path = build()
    try:
        loaded = ctypes.CDLL(str(path))
    except OSError as error:
        raise MissingTool(
            f"the generation-9 engine cannot be loaded: {error}: delete {path}, or set XDG_CACHE_HOME to another folder"
        ) from None
    for file, here, there in (
        ("layout.h", WORDS, loaded.gen9_words()),
        ("shown/shown.h", SHOWN_WORDS, loaded.gen9_shown_words()),
    ):
        if here != there:
            raise AssertionError(f"src/{file} has {there} words for C++ and {here} for Python")
    return loaded
