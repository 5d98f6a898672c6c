"""Forks on Showdown: a battle is played again to its decision, and continues with other chance; in any format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from arena.venues.simulator.replaying import replay_all
from teamsets.errors import ArenaError, BadInput
from training.commands.preferences import preferences
from training.envs.fixtures import FixtureSampler
from training.envs.showdown_battles import ShowdownBattles
from training.envs.venue import UNDECIDED

SEEDS = ["gen5,0123456789abcdef", "gen5,0123456789abcdef", "gen5,00000000000000ff"]


@pytest.mark.parametrize("format_id", ["gen1ou", "gen9ou"])
def test_a_copy_is_the_same_battle_with_chance_of_its_own(format_id: str) -> None:
    battles = ShowdownBattles(4, format_id)
    every, leader = np.arange(4), np.array([0])
    battles.begin(
        leader,
        [FixtureSampler(format_id, "competitive", "p1", packed=False).game(5, 0, {"x": 1.0}).fixture],
        [(None, None)],
    )

    def play(rows: np.ndarray) -> None:
        asked = battles.needs_decision(rows)
        place, seats = np.nonzero(asked)
        actions = np.full((len(rows), 2), -1)
        actions[place, seats] = battles.masks(rows[place], seats).argmax(1)
        battles.play(rows, actions)

    for _ in range(12):
        play(leader)
    battles.copy(leader.repeat(3), every[1:], SEEDS)
    (seats,) = np.nonzero(battles.needs_decision(leader)[0])
    for row in every[1:]:
        one, other = battles.observe(leader.repeat(len(seats)), seats), battles.observe(np.full(len(seats), row), seats)
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    while (active := every[1:][battles.winners[1:] == UNDECIDED]).size:
        play(active)
    logs = [battles.rows[row].seats[0].log for row in every[1:]]  # type: ignore[union-attr]
    assert logs[0] == logs[1] != logs[2]
    battles.close()


def test_a_forks_input_log_is_played_again(played: Path) -> None:
    from arena.record import unpacked
    from arena.store import rows

    ((log,),) = rows(
        "SELECT input_log FROM battles WHERE format = 'gen1ou' AND reason = 'win' ORDER BY key LIMIT 1", played
    )
    plain = unpacked(log)
    forked = [*plain[:9], f">reseed {SEEDS[0]}", *plain[9:]]
    first, second = replay_all([plain, forked])
    assert not isinstance(first, ArenaError) and not isinstance(second, ArenaError)
    assert first.logs[0][:20] == second.logs[0][:20] and first.logs != second.logs


def pairs_of(db: Path, out: Path, player: str, venue: str, *words: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The tries of a decision a side, without their times, and the counts."""
    tries = ["--decisions", "1", "--choices", "2", "--playouts", "2", "--play-on", player, "--baseline", "position"]
    few = "battle_id IN (SELECT battle_id FROM battles WHERE format = 'gen9ou' ORDER BY key LIMIT 4)"
    where = ["--where", few, "--venue", venue, "--max-turns", "60"]
    result = CliRunner().invoke(preferences, ["build", "--db", str(db), "--out", str(out), *where, *tries, *words])
    assert result.exit_code == 0, (result.output, result.exception)
    lines = [json.loads(line) for line in (out / "attempts.jsonl").read_text().splitlines()]
    return lines[1:], json.loads((out / "counts.json").read_text())


@pytest.mark.slow
@pytest.mark.parametrize("player", ["array:max-damage", "heuristic:max-power"])
def test_forks_of_generation_nine_are_the_same_battles_on_its_engine(player: str, played: Path, tmp_path: Path) -> None:
    """Of a player in batches: copies of rows; of another: battles behind Showdown's messages."""
    pytest.importorskip("numba")
    on_showdown, counts = pairs_of(played, tmp_path / "showdown", player, "showdown")
    on_engine, _ = pairs_of(played, tmp_path / "engine", player, "engine")
    assert on_showdown == on_engine and counts["decisions_played"] > 100 and not counts["by"]["skipped"]


@pytest.mark.slow
def test_a_team_that_the_engine_does_not_play_is_forked_on_showdown(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from training.envs.gen9_battles import Gen9Battles

    def refuse(self: Gen9Battles, *_: object) -> None:
        raise BadInput("Pikachu is not played")

    monkeypatch.setattr(Gen9Battles, "begin", refuse)
    with pytest.raises(AssertionError, match="not on the engine: Pikachu is not played"):
        pairs_of(played, tmp_path / "engine", "random", "engine")
    tried, counts = pairs_of(played, tmp_path / "auto", "random", "auto")
    assert tried and counts["decisions_played"] > 0 and not counts["by"]["skipped"]
