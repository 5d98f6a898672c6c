"""What is compiled says so, part by part: an environment that stands still for minutes looks like one that hangs."""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("numba")
from agents.engine import compiled
from agents.engine.gen1 import engine
from agents.observation import engine_observation
from teamsets.locking import file_lock


def first() -> None: ...


def second() -> None: ...


def test_each_part_that_the_cache_lacks_is_announced(tmp_path: Path) -> None:
    lines: list[str] = []
    kernels = {"beginnings": compiled._cached_in(tmp_path, first), "turns": compiled._cached_in(tmp_path, second)}

    def call(name: str) -> None:
        lines.append(name)
        kernels[name]()

    parts = {name: (kernel, functools.partial(call, name)) for name, kernel in kernels.items()}
    compiled.compile_missing(parts, lines.append)
    said = "compiling the engine, once on this machine: part {} ..."
    assert lines == [said.format("1 of 2 (beginnings)"), "beginnings", said.format("2 of 2 (turns)"), "turns"]
    lines.clear()
    compiled.compile_missing(parts, lines.append)
    assert lines == []
    for file in tmp_path.rglob("*second*"):
        file.unlink()
    compiled.compile_missing(parts, lines.append)
    assert lines == [said.format("1 of 1 (turns)"), "turns"], "one that was interrupted goes on where it was"


def test_while_another_process_compiles_a_kernel_it_is_waited_for(tmp_path: Path) -> None:
    lock = tmp_path / "first.lock"
    kernel, again = (compiled.compiled_by_one(compiled._cached_in(tmp_path, first), lock) for _ in range(2))
    with ThreadPoolExecutor(1) as pool:
        with file_lock(lock):
            waiting = pool.submit(kernel)
            with pytest.raises(TimeoutError):
                waiting.result(0.5)
            assert not list(tmp_path.rglob("*.nbi"))
        waiting.result(60)
    assert list(tmp_path.rglob("*.nbi"))
    with file_lock(lock):
        again()  # from the cache, without the lock


def test_an_environment_compiles_all_that_it_calls() -> None:
    assert [kernel for kernel, _ in engine_observation.all_kernels().values()] == [
        engine._start, engine._legal, engine._step, engine.translate, engine_observation._observe,
    ]  # fmt: skip


def test_a_kernel_is_asked_for_behind_its_guard() -> None:
    cache = SimpleNamespace(_cache_file=SimpleNamespace(_load_index=lambda: {"signature": "file"}))
    assert compiled.is_cached(SimpleNamespace(compiled=SimpleNamespace(_cache=cache)))
    assert hasattr(engine._step.compiled, "py_func")
