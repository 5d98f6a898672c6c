"""What `--on` accepts, and what it says without Ray."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from arena.cluster import connecting
from arena.cluster.connecting import ThisMachine, reached
from teamsets.errors import BadInput, MissingTool


def test_without_it_workers_are_processes_here() -> None:
    with reached(None, 3) as cluster:
        assert isinstance(cluster, ThisMachine) and cluster.workers == 3


@pytest.mark.parametrize("on", ["slurm", "ray://", "ray://host", "ray://host:1/x", "ray:auto", ""])
def test_other_values_are_refused_in_one_line(on: str) -> None:
    with (
        pytest.raises(BadInput, match=r"^--on .*: give ray, .* or ray://HOST:PORT \(docs/scale.md\)$"),
        reached(on, None),
    ):
        pass


def test_commands_without_the_option_read_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_ON", "rays")
    with pytest.raises(BadInput, match=r"^ARENA_ON=rays: give ray"), reached(None, None):
        pass


def test_without_ray_the_option_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "find_spec", lambda name: None if name == "ray" else importlib.util.find_spec(name))
    with pytest.raises(MissingTool, match=r"uv pip install -e .\[ray\]"), reached("ray", None):
        pass


def test_the_commands_check_it_before_they_record_a_run(arena: Any, tmp_path: Any) -> None:
    for command in ("evaluate", "match"):
        said = arena(command, "random", "heuristic:max-damage", "--on", "rays", "--db", tmp_path / "a.duckdb")
        assert said.code == 2 and "--on rays: give ray" in said.err
    assert not (tmp_path / "a.duckdb").exists()
