"""Tests that need what turns the generation-9 engine into machine code."""

from __future__ import annotations

import pytest

from agents.engine.gen9 import library


def need_compiler() -> None:
    """Skip the test, or the whole file where it is called outside of one, if there is no C++ compiler."""
    try:
        library.compiler()
    except library.CompilerMissing as missing:
        pytest.skip(str(missing), allow_module_level=True)
