"""Evaluation in pairs in gen9ou: the scores are those of the same battles on Showdown, for every kind of player."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.compilers import need_compiler

torch = pytest.importorskip("torch")
pytest.importorskip("numba")


need_compiler()

from teamsets.errors import BadInput  # noqa: E402
from training.runs.common_settings import EvaluationBattles  # noqa: E402
from training.runs.evaluation import paired_blocks  # noqa: E402


def scores(tmp_path: Path, spec: str, *opponents: str, venue: str, battles: int = 4) -> list[list[float | None]]:
    evaluation = EvaluationBattles(
        venue=venue,
        opponents=list(opponents),
        formats=["gen9ou"],
        teams=["competitive"],
        battles=battles,
        seed=5,
        workers=1,
        database=str(tmp_path / "arena.duckdb"),
    )
    return [block.scores for block in paired_blocks(evaluation, spec)]


@pytest.mark.parametrize(
    ("spec", "opponents", "battles"),
    [
        pytest.param("array:max-damage", ["array:set-up", "heuristic:max-damage"], 4, id="rules"),
        pytest.param(
            "policy:gen9ou",
            ["array:set-up", "policy:gen9ou-tiny", "heuristic:expert", "search:exact?iterations=20"],
            8,
            id="networks-and-search",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "heuristic:max-damage",
            ["search:exact?iterations=20", "heuristic:red-blue"],
            4,
            id="both-alone",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_scores_are_those_of_the_same_battles_on_showdown(
    tmp_path: Path, spec: str, opponents: list[str], battles: int
) -> None:
    on_engine, on_showdown = (
        scores(tmp_path, spec, *opponents, venue=venue, battles=battles) for venue in ("engine", "showdown")
    )
    assert on_engine == on_showdown
    assert len({score for block in on_showdown for score in block}) > 1


@pytest.mark.parametrize(
    ("opponent", "problem"),
    [("foul-play:", "agent 'foul-play.*does not play on the engine"), ("search:omniscient", "both teams")],
)
def test_what_cannot_play_there_is_named(tmp_path: Path, opponent: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        scores(tmp_path, "array:max-damage", opponent, venue="engine")


def test_a_team_that_the_engine_does_not_play_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "teams" / "gen9ou"
    folder.mkdir(parents=True)
    (folder / "zoroark.txt").write_text(
        "Zoroark @ Leftovers\nAbility: Illusion\nTera Type: Ghost\nEVs: 252 Atk / 4 Def / 252 Spe\nJolly Nature\n- Taunt\n"
    )
    evaluation = EvaluationBattles(
        venue="engine",
        opponents=["array:set-up"],
        formats=["gen9ou"],
        teams=[str(folder)],
        battles=2,
        seed=5,
        workers=1,
        database="",
    )
    with pytest.raises(BadInput, match=r"cannot play one of its teams: .*does not play .Illusion.*another set"):
        paired_blocks(evaluation, "array:max-damage")
