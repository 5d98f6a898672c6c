"""Braces in specs: lists, ranges and all combinations, as a shell has them; other braces stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.braces import expand, expand_all
from arena.run.pool import load_defaults
from arena.run.settings import evaluate_settings, match_settings
from teamsets.errors import BadInput


@pytest.mark.parametrize(
    ("spec", "meant"),
    [
        ("random", ["random"]),
        ("policy:runs/x@{10..30..10}", ["policy:runs/x@10", "policy:runs/x@20", "policy:runs/x@30"]),
        ("a:B?t={0.5,1.0}", ["a:B?t=0.5", "a:B?t=1.0"]),
        ("a:{B,C}?t={1,2}", ["a:B?t=1", "a:B?t=2", "a:C?t=1", "a:C?t=2"]),
        ("x{3..1}", ["x3", "x2", "x1"]),
        ("x{0..10..4}", ["x0", "x4", "x8"]),
        ("x{0.5..1.5..0.5}", ["x0.5", "x1.0", "x1.5"]),
        ("x{1,}", ["x1", "x"]),
        ("external?command=bot {uri} {user}", ["external?command=bot {uri} {user}"]),
        ("x{a..c}", ["x{a..c}"]),
    ],
)
def test_what_a_spec_stands_for(spec: str, meant: list[str]) -> None:
    assert list(expand(spec)) == meant


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("x@{1..9..0}", "the step is 0"),
        ("x@{1..2000}", "stands for 2,000 agents"),
        ("x{1..90}?t={1..90}", "8,100 agents"),
    ],
)
def test_a_mistake_in_a_range_is_one_line(spec: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        expand_all([spec])


def test_runs_pool_files_and_challengers_take_braces(tmp_path: Path) -> None:
    pool = tmp_path / "pool.toml"
    pool.write_text(
        '[evaluate]\nagents = ["heuristic:max-damage?risk={0.1,0.2}"]\n'
        '[evaluate.optional]\ngen1ou = ["heuristic:{expert,staller}"]\n'
    )
    assert load_defaults(pool).pool(("gen1ou",))[0] == (
        "heuristic:max-damage?risk=0.1",
        "heuristic:max-damage?risk=0.2",
        "heuristic:expert",
        "heuristic:staller",
    )
    settings, _ = evaluate_settings(("random",), True, {"pool": pool, "challenger": ("x:{A,B}",), "format": "gen9ou"})
    assert settings.agents[-3:] == ("random", "x:A", "x:B")
    assert settings.challengers == ("x:A", "x:B")
    assert match_settings(("x:{A,B}",), None, {}).agents == ("x:A", "x:B")
