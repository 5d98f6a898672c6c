"""Compilation of the engine's rules by Numba, cached in the user's cache folder under the content of its sources.

Numba's own cache looks at the file of a function only, not at those whose functions it calls. So the folder is named by the
hash of all of them.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

from teamsets import cache
from teamsets.errors import ArenaError
from teamsets.locking import file_lock

_HERE = Path(__file__).parent


def _digest(sources: Iterable[Path]) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(sources))).hexdigest()[:16]


#: Of what Numba compiles here: this file, and generation 1.
DIGEST = _digest([Path(__file__), *_HERE.glob("gen1/*.py"), *_HERE.glob("gen1/*.json")])
_cache = cache.folder() / "engine" / DIGEST


class EngineUnusable(ArenaError):
    """The engine is called in a process that was forked after its first call."""


F = TypeVar("F", bound=Callable[..., Any])


def _cached_in(folder: Path, function: F, **settings: Any) -> F:
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        return cast(F, numba.njit(function, cache=True, **settings))
    finally:
        config.CACHE_DIR = before


def is_cached(kernel: Any) -> bool:
    """Whether Numba's cache has a kernel of these sources in this folder; without, its first call compiles it."""
    dispatcher = getattr(kernel, "compiled", kernel)
    try:
        return bool(dispatcher._cache._cache_file._load_index())
    except AttributeError:  # another version of Numba keeps it elsewhere: then it is compiled, for all that is known
        return False


def compile_missing(parts: Mapping[str, tuple[Any, Callable[[], Any]]], say: Callable[[str], None]) -> None:
    """Compile the kernels that the cache lacks, one after the other, with a line for each.

    parts: what a kernel does -> the kernel, and a call of it on nothing. say: called with a line before each.
    """
    missing = {name: call for name, (compiled, call) in parts.items() if not is_cached(compiled)}
    for number, (name, call) in enumerate(missing.items(), 1):
        say(f"compiling the engine, once on this machine: part {number} of {len(missing)} ({name}) ...")
        call()


def compiled(function: F) -> F:
    """A rule of the game, called from kernels."""
    return cast(F, numba.njit(function))


class _Threads:
    """Whether this process has started the threads of kernels, or is a fork of one that had: they do not survive a fork."""

    started = lost = False

    @classmethod
    def forked(cls) -> None:
        cls.lost = cls.started


os.register_at_fork(after_in_child=_Threads.forked)


def compiled_by_one(jitted: F, lock: Path) -> F:
    """The same function; of several processes that call it first, one compiles it and the others wait for the cache.

    lock: a file, whose folder is made.
    """
    called = False

    @functools.wraps(jitted)
    def call(*arguments: Any) -> Any:
        nonlocal called
        if called or is_cached(jitted):
            called = True
            return jitted(*arguments)
        lock.parent.mkdir(parents=True, exist_ok=True)
        with file_lock(lock):
            result = jitted(*arguments)
        called = True
        return result

    call.compiled = jitted  # type: ignore[attr-defined]
    return cast(F, call)


def kernel(function: F) -> F:
    """A loop over battles, on all cores; compiled once and then read from the cache.

    In a process that was forked after a call of any kernel, it raises EngineUnusable: Numba would end the process.
    """
    return _guarded(function, _cache)


def kernel_with(*sources: Path) -> Callable[[F], F]:
    """As `kernel`. sources: files outside this package whose rules or data it uses; a change compiles it anew."""
    return lambda function: _guarded(function, _cache / _digest(sources))


def _guarded(function: F, folder: Path) -> F:
    jitted = _cached_in(folder, function, parallel=True)
    unguarded = compiled_by_one(jitted, folder / f"{function.__name__}.lock")

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        if _Threads.lost:
            raise EngineUnusable(
                "the engine cannot be used here: this process was forked after the engine had been used in its parent: "
                "start it with multiprocessing.get_context('spawn'), or fork before the first call of the engine"
            )
        _Threads.started = True
        return unguarded(*arguments)

    call.compiled = jitted  # type: ignore[attr-defined]
    return cast(F, call)


def serial(*sources: Path) -> Callable[[F], F]:
    """A function on one core that lets other threads run meanwhile; cached as a kernel is.

    sources: files outside this package whose rules it calls; it is compiled anew when one of them changes.
    """
    return lambda function: _cached_in(_cache / _digest(sources), function, nogil=True)


def serial_entry(*sources: Path) -> Callable[[F], F]:
    """As `serial`, of a function that Python calls: of several processes that call it first, one compiles it."""
    folder = _cache / _digest(sources)
    return lambda function: compiled_by_one(serial(*sources)(function), folder / f"{function.__name__}.lock")
