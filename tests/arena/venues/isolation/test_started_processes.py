"""What an agent's module starts when it is imported ends with the run, with and without isolation."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from support.command_line import processes, run_arena, wait

from arena.venues.isolation.describing import describe_agents

SPEC = "starts_when_imported:First"
pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found through /proc")


def test_what_an_import_has_started_ends_when_the_agents_are_described(monkeypatch: pytest.MonkeyPatch) -> None:
    mark = uuid.uuid4().hex
    monkeypatch.setenv("STARTS_MARK", mark)
    (found,) = describe_agents([SPEC], ["gen1ou"])
    assert found.spec == SPEC
    assert not processes(mark, "while")


def test_what_an_import_has_started_ends_with_the_command(tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    shown = run_arena("agents", "show", SPEC, cwd=tmp_path, timeout=60, STARTS_MARK=mark)
    assert (shown.code, shown.err) == (0, "")
    assert not processes(mark, "while")


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--isolate",)])
def test_what_an_import_has_started_ends_with_the_run(tmp_path: Path, more: tuple[str, ...]) -> None:
    mark = uuid.uuid4().hex
    words = ("evaluate", SPEC, "random", "--format", "gen1randombattle", "--battles", 2, "--max-turns", 5, *more)
    assert run_arena(*words, cwd=tmp_path, timeout=120, STARTS_MARK=mark).code == 0
    wait(lambda: not processes(mark, "while"))
