"""A script of scripts/ as a module, so that a test can call its functions."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from types import ModuleType

from support.command_line import PROJECT


@cache
def script(path: str) -> ModuleType:
    """Loads `scripts/PATH` without running it. The modules beside it can be imported while it loads, as when it is run."""
    file = PROJECT / "scripts" / path
    spec = importlib.util.spec_from_file_location(f"scripts_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    sys.path.insert(0, str(file.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(file.parent))
    return module
