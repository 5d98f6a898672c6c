"""What is compiled says so, part by part: an environment that stands still for minutes looks like one that hangs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba")
from agents.engine import compiled, engine


def first() -> None: ...


def second() -> None: ...


def test_each_part_that_the_cache_lacks_is_announced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(compiled, "_cache", tmp_path)
    lines: list[str] = []

    def part(function: Any) -> tuple[Any, Any]:
        return function, lambda: lines.append(function.__name__)

    parts = {"beginnings": part(first), "turns": part(second)}
    compiled.compile_missing(parts, lines.append)
    said = "compiling the engine, once on this machine: part {} ..."
    assert lines == [said.format("1 of 2 (beginnings)"), "first", said.format("2 of 2 (turns)"), "second"]
    lines.clear()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "test_compiling.first-17.py311.nbi").touch()
    compiled.compile_missing(parts, lines.append)
    assert lines == [said.format("1 of 1 (turns)"), "second"], "one that was interrupted goes on where it was"


def test_an_environment_compiles_all_that_it_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[str, Any] = {}
    monkeypatch.setattr(engine, "compile_missing", lambda parts, say: found.update(parts))
    engine.compile_engine(print)
    assert [kernel for kernel, _ in found.values()] == [
        engine._start, engine._legal, engine._step, engine.translate, engine.observe,
    ]  # fmt: skip


def test_a_kernel_is_known_in_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(compiled, "_cache", tmp_path)
    assert not compiled.is_cached(engine._step)
    (tmp_path / "engine._step-57.py311.nbi").touch()
    assert compiled.is_cached(engine._step) and not compiled.is_cached(engine._start)
