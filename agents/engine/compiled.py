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


def rule(function: F) -> F:
    """A rule of the game, called from kernels."""
    return cast(F, numba.njit(function))


def kernel(function: F) -> F:
    """A loop over battles, on all cores; compiled once and then read from the cache."""
    settings: Any = numba.config
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(_cache)
    try:
        return cast(F, numba.njit(function, parallel=True, cache=True))
    finally:
        settings.CACHE_DIR = before
