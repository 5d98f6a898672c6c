"""A battle arena for Pokémon agents. `from arena import evaluate, match` is its Python interface (docs/python.md)."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.run.api import Evaluation, MatchResult, evaluate, match

__all__ = ["Evaluation", "MatchResult", "evaluate", "match"]


def __getattr__(name: str) -> Any:
    """Imports the interface when it is first used: every command and worker imports this package, and few need pandas."""
    if name in __all__:
        return getattr(importlib.import_module("arena.run.api"), name)
    raise AttributeError(f"module 'arena' has no attribute {name!r}")
