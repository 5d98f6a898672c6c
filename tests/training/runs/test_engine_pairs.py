"""Evaluation in pairs on the engine: against Showdown itself, and where the result is known."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

from click.testing import CliRunner  # noqa: E402

from teamsets.errors import BadInput  # noqa: E402
from training.cli import cli  # noqa: E402
from training.runs.common_settings import EvaluationBattles  # noqa: E402
from training.runs.engine_pairs import play_pairs  # noqa: E402
from training.runs.evaluation import BattleBlock, paired_blocks, score_of, score_text  # noqa: E402

#: A network that decides in a fraction of the time of `gen1ou`.
NETWORK = "policy:gen1ou-tiny"


def played(spec: str, *opponents: str, battles: int = 8, **options: Any) -> list[BattleBlock]:
    settings = {"formats": ["gen1ou"], "team_sets": ["competitive"], "seed": 3, "rows": 8, **options}
    return play_pairs(spec, opponents, battles=battles, **settings)


@pytest.fixture
def evaluation(tmp_path: Path) -> EvaluationBattles:
    return EvaluationBattles(
        venue="engine",
        opponents=["array:set-up", "heuristic:max-power"],
        formats=["gen1ou"],
        teams=["competitive"],
        battles=6,
        seed=5,
        workers=1,
        database=str(tmp_path / "arena.duckdb"),
    )


@pytest.mark.parametrize("spec", ["array:max-damage", pytest.param(NETWORK, marks=pytest.mark.slow)])
def test_the_scores_are_those_of_the_same_battles_on_showdown(evaluation: EvaluationBattles, spec: str) -> None:
    on_showdown = paired_blocks(evaluation.model_copy(update={"venue": "showdown"}), spec)
    assert paired_blocks(evaluation, spec) == on_showdown
    assert {score for block in on_showdown for score in block.scores} > {0.5}


def test_teams_that_showdown_draws_are_the_same_too(evaluation: EvaluationBattles) -> None:
    drawn = evaluation.model_copy(update={"formats": ["gen1randombattle"], "opponents": ["heuristic:max-power"]})
    on_showdown = paired_blocks(drawn.model_copy(update={"venue": "showdown"}), "array:max-damage")
    assert paired_blocks(drawn, "array:max-damage") == on_showdown


@pytest.mark.parametrize("spec", ["array:max-damage", NETWORK])
def test_a_player_without_chance_splits_every_pair_with_itself(spec: str) -> None:
    (block,) = played(spec, spec, battles=4)
    assert block.scores == [0.5] * 2


def test_the_number_of_battles_at_once_changes_nothing() -> None:
    few = played("array:max-damage", "array:set-up", "random", rows=3)
    assert few == played("array:max-damage", "array:set-up", "random", rows=100)
    assert few != played("array:max-damage", "array:set-up", "random", rows=100, seed=4)


def test_every_block_has_its_own_pairs_of_its_own_opponent() -> None:
    both = played("array:max-damage", "array:set-up", "random", team_sets=["competitive", "variety:40"])
    assert [(block.opponent, block.team_set) for block in both] == [
        (opponent, team_set) for opponent in ("array:set-up", "random") for team_set in ("competitive", "variety:40")
    ]
    assert both[:1] == played("array:max-damage", "array:set-up")
    assert both[3:] == played("array:max-damage", "random", team_sets=["variety:40"])


def test_a_network_twice_in_an_ensemble_plays_as_it_does_alone() -> None:
    name = NETWORK.partition(":")[2]
    alone, twice = (played(spec, "array:set-up", battles=4)[0] for spec in (NETWORK, f"ensemble:{name},{name}"))
    assert alone.scores == twice.scores


def test_sampled_actions_are_those_of_the_seed_and_differ_between_the_seats() -> None:
    warm = f"{NETWORK}?temperature=1"
    first = played(warm, warm, battles=8)
    assert first == played(warm, warm, battles=8)
    assert first[0].scores != [0.5] * 4


@pytest.mark.parametrize(
    ("opponent", "format_id", "problem"),
    [
        (
            "foul-play",
            "gen1ou",
            r"agent 'foul-play': an external program, which does not play on the engine: set evaluation.venue: showdown",
        ),
        ("search:omniscient", "gen1ou", "search:omniscient"),
        ("array:set-up", "gen4ou", r"format 'gen4ou': the engines play gen1ou, .* and gen9ou: set .*venue: showdown"),
    ],
)
def test_what_cannot_play_there_is_named_with_the_way_out(
    evaluation: EvaluationBattles, opponent: str, format_id: str, problem: str
) -> None:
    asked = evaluation.model_copy(update={"opponents": [opponent], "formats": [format_id]})
    with pytest.raises(BadInput, match=problem):
        paired_blocks(asked, "array:max-damage")


@pytest.mark.parametrize(
    ("options", "device", "problem"),
    [("?temperature=-1", "auto", "temperature=-1.0: must be 0"), ("", "gpu9", "device gpu9: torch cannot use it")],
)
def test_a_networks_options_are_checked_before_it_plays(options: str, device: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        played(f"{NETWORK}{options}", "random", device=device)


def test_the_interval_is_that_of_the_spread_between_pairs() -> None:
    block = BattleBlock("gen1ou", "competitive", "random", [1.0] * 30 + [0.5] * 60 + [0.0] * 10 + [None])
    score = score_of([block])
    assert score.score == 0.6 and score.pairs == 100
    deviation = (sum((one - 0.6) ** 2 for one in block.scores if one is not None) / 100) ** 0.5
    assert score.interval == pytest.approx((0.6 - 1.96 * deviation / 10, 0.6 + 1.96 * deviation / 10), abs=1e-5)


def test_the_command_prints_the_score_or_every_pair() -> None:
    words = ["evaluate", "array:max-damage", "array:set-up", "--battles", "8", "--seed", "3", "--threads", "1"]
    (block,) = played("array:max-damage", "array:set-up")
    score = score_of([block])
    told = CliRunner().invoke(cli, words, catch_exceptions=False).stdout
    assert told.startswith(
        f"array:set-up, gen1ou competitive: {score_text(score)} in 8 battles; pairs with 0, 0.5, 1, 1.5, 2 "
    )
    told = CliRunner().invoke(cli, [*words, "--json"], catch_exceptions=False).stdout
    assert json.loads(told) == [asdict(block)]
