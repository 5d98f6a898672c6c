"""Shared by the tests of team sets: an empty cache folder, one validator."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from teamsets.validator import TeamValidator


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh cache folder for one test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def validator() -> Iterator[TeamValidator]:
    with TeamValidator() as running:
        yield running


@pytest.fixture
def forbid_node(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it, and from then on starting any program fails the test."""

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError(f"started a program: {arguments}")

    return lambda: monkeypatch.setattr(subprocess, "Popen", refuse)
