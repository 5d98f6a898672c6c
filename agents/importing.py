"""Import what a user names as MODULE:NAME, from an installed package or from a file in the current folder."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from teamsets.errors import BadInput

#: Names of the modules that users have named, which may have started processes when they were imported.
foreign: set[str] = set()


class NoSuchModule(BadInput):
    """The module that is named, or a package of it, does not exist."""


def imported(module: str, name: str) -> Any:
    """Import `name` from `module`. Raises BadInput with one clause that says what failed; NoSuchModule is a kind of it."""
    search_here()
    foreign.add(module)
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name and module.startswith(error.name):
            meant = did_you_mean(module, modules_here())
            raise NoSuchModule(f"there is no module '{module}' in the current folder or installed{meant}") from None
        raise BadInput(f"module '{module}' could not be imported: {error}") from error
    except Exception as error:  # a user's module may fail in any way while it is imported; the user must see which
        raise BadInput(f"importing '{module}' failed: {type(error).__name__}: {error}") from error
    if not hasattr(loaded, name):
        meant = did_you_mean(name, [known for known in vars(loaded) if not known.startswith("_")])
        raise BadInput(f"module '{module}' has no '{name}'{meant}")
    return getattr(loaded, name)


def search_here() -> None:
    """Let imports find modules in the current folder, where a newcomer's file lies: console scripts do not search it."""
    if "" not in sys.path:
        sys.path.insert(0, "")


def modules_here() -> list[str]:
    """The modules that are files in the current folder."""
    return sorted(file.stem for file in Path().glob("*.py"))


def did_you_mean(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """ ": did you mean …?" with up to two known words that look like `word`; "" if none does. cutoff: likeness, 0 to 1."""
    close = get_close_matches(word, list(known), n=2, cutoff=cutoff)
    return f": did you mean {' or '.join(close)}?" if close else ""
