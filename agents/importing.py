"""Import what a user names as MODULE:NAME, from an installed package or from a file in the current folder."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from teamsets.errors import BadInput


class NoSuchModule(BadInput):
    """The module that is named, or a package of it, does not exist."""


def imported(module: str, name: str) -> Any:
    """Import `name` from `module`. Raises BadInput with one clause that says what failed; NoSuchModule is a kind of it."""
    if "" not in sys.path:  # console scripts do not search the current folder, where a newcomer's file lies
        sys.path.insert(0, "")
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name and module.startswith(error.name):
            raise NoSuchModule(f"there is no module '{module}' in the current folder or installed") from None
        raise BadInput(f"module '{module}' could not be imported: {error}") from error
    except AttributeError:
        raise BadInput(f"module '{module}' has no '{name}'") from None
    except Exception as error:  # a user's module may fail in any way while it is imported; the user must see which
        raise BadInput(f"importing '{module}' failed: {type(error).__name__}: {error}") from error
