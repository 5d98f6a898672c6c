"""The pool file: who `--all` means, and who plays only where he can."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command_line import Said

from arena.run.pool import SHIPPED, load_defaults
from teamsets.errors import BadInput

POOL = """
[evaluate]
agents = ["random"]
[evaluate.optional]
gen1ou = ["heuristic:max-power", "policy:nowhere"]
gen9ou = ["heuristic:max-power"]
"""


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    path = tmp_path / "pool.toml"
    path.write_text(POOL)
    return path


def test_who_lacks_something_is_left_out_with_the_reason(pool: Path) -> None:
    players, lines = load_defaults(pool).pool(("gen1ou",))
    assert players == ("random", "heuristic:max-power")
    assert len(lines) == 1 and lines[0].startswith("policy:nowhere is left out: ")


def test_an_optional_agent_plays_only_in_formats_that_name_it(pool: Path) -> None:
    assert load_defaults(pool).pool(("gen1ou", "gen9ou")) == (("random", "heuristic:max-power"), ())
    assert load_defaults(pool).pool(("gen4ou",)) == (("random",), ())


def test_who_plays_singles_only_is_left_out_of_doubles(tmp_path: Path) -> None:
    path = tmp_path / "pool.toml"
    path.write_text('[evaluate]\nagents = ["random", "heuristic:emerald", "heuristic:expert", "heuristic:staller"]\n')
    players, lines = load_defaults(path).pool(("gen9doublesou",))
    assert players == ("random", "heuristic:expert")
    assert lines == (
        "gen9doublesou is doubles: left out are heuristic:emerald, heuristic:staller, which play singles only",
    )
    assert load_defaults(path).pool(("gen9ou",))[1] == ()


@pytest.mark.slow
def test_a_run_says_who_is_left_out_and_goes_on(arena: Callable[..., Said], pool: Path, tmp_path: Path) -> None:
    words = ("evaluate", "--all", "--pool", pool, "--format", "gen1ou", "--teams", "competitive", "--battles", 2)
    said = arena(*words, "--db", tmp_path / "a.duckdb")
    assert said.code == 0, said.err
    assert "policy:nowhere is left out: " in said.out
    asked = arena("sql", "SELECT DISTINCT agent FROM results ORDER BY 1", "--db", tmp_path / "a.duckdb", "--json")
    assert [row["agent"] for row in json.loads(asked.out)] == ["heuristic:max-power", "random"]


@pytest.mark.parametrize("told", ["3", '["random"]', '{gen1ou = "random"}', "{gen1ou = [3]}"])
def test_an_odd_table_is_refused(tmp_path: Path, told: str) -> None:
    path = tmp_path / "pool.toml"
    path.write_text(f'[evaluate]\nagents = ["random"]\noptional = {told}\n')
    with pytest.raises(BadInput, match="must be formats, each with a list of agents"):
        load_defaults(path)


def test_the_shipped_pool_can_be_read() -> None:
    assert len(load_defaults(SHIPPED).pool(("gen1ou",))[0]) > 10


@pytest.mark.parametrize(
    "line",
    [
        "minutes = nan",
        "minutes = inf",
        "minutes = 0",
        "minutes = 1e300",
        "think_limit = nan",
        "think_limit = -inf",
        "think_limit = 1e12",
        "battles = 0",
        "battles = 10000000000000000000000",
        "budget = 1",
        "max_turns = 1001",
        "seed = 100000000000000000000",
    ],
)
def test_a_number_out_of_range_is_refused_in_one_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "pool.toml"
    path.write_text(f'[evaluate]\nagents = ["random"]\n{line}\n')
    with pytest.raises(BadInput) as caught:
        load_defaults(path)
    key = line.partition(" ")[0]
    assert f"[evaluate] {key} is " in str(caught.value) and ": must be " in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "line", ["minutes = 0.5", "minutes = 90", "think_limit = 0.01", "seed = -3", "max_turns = 1000"]
)
def test_a_number_in_range_is_taken(tmp_path: Path, line: str) -> None:
    path = tmp_path / "pool.toml"
    path.write_text(f'[evaluate]\nagents = ["random"]\n{line}\n')
    key, _, value = line.partition(" = ")
    assert getattr(load_defaults(path), key) == float(value)
