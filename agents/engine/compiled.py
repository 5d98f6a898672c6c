"""Compilation of the engine's rules by Numba, cached in the user's cache folder under the content of its sources.

Numba's own cache looks at the file of a function only, not at those whose functions it calls. So the folder is named by the
hash of all of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

from teamsets import cache

_HERE = Path(__file__).parent
_sources = sorted([*_HERE.glob("*.py"), *_HERE.glob("*.json")])
DIGEST = hashlib.sha256(b"".join(path.read_bytes() for path in _sources)).hexdigest()[:16]
_cache = cache.folder() / "engine" / DIGEST

F = TypeVar("F", bound=Callable[..., Any])


def _cached_in(folder: Path, function: F, **settings: Any) -> F:
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        return cast(F, numba.njit(function, cache=True, **settings))
    finally:
        config.CACHE_DIR = before


def compiled_before() -> bool:
    """Whether the cache has kernels of these sources; without, the first call compiles for a minute or two."""
    return any(_cache.rglob("*.nbi"))


def rule(function: F) -> F:
    """A rule of the game, called from kernels."""
    return cast(F, numba.njit(function))


def kernel(function: F) -> F:
    """A loop over battles, on all cores; compiled once and then read from the cache."""
    return _cached_in(_cache, function, parallel=True)


def serial(*sources: Path) -> Callable[[F], F]:
    """A function on one core that lets other threads run meanwhile; cached as a kernel is.

    sources: files outside this package whose rules it calls; it is compiled anew when one of them changes.
    """
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(sources))).hexdigest()[:16]
    return lambda function: _cached_in(_cache / digest, function, nogil=True)
