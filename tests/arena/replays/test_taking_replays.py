"""What is taken from replays: team sets by the command line, and training data by filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command_line import Said
from support.made_logs import replays

from teamsets.loading import load_set
from training.data.replay_import import Filters, import_replays


@pytest.mark.slow
def test_teams_from_replays_are_a_set_that_can_be_played(arena: Callable[..., Said], tmp_path: Path) -> None:
    out = tmp_path / "human"
    command = (
        "teams",
        "from-replays",
        replays(tmp_path / "replays"),
        "--set",
        "human",
        "--least-shown",
        2,
        "--out",
        out,
    )
    said = arena(*command)
    assert said.code == 0, said.err
    assert "truncated" in said.out
    teams = load_set(str(out), "gen1ou").teams
    assert f"{len(teams)} teams written to" in said.out
    assert {"Tauros", "Snorlax"} <= set(teams[0].species)
    assert "BodySlam" in teams[0].packed
    again = arena(*command)
    assert again.code == 2 and "is not empty" in again.err


def test_teams_that_were_hardly_shown_are_left_out(arena: Callable[..., Said], tmp_path: Path) -> None:
    said = arena("teams", "from-replays", replays(tmp_path / "replays"), "--set", "human", "--out", tmp_path / "human")
    assert said.code == 2
    assert "fewer than 4 Pokémon shown" in said.out


def test_battles_are_taken_by_filters(tmp_path: Path) -> None:
    folder = replays(tmp_path / "replays")
    refused: Counter[str] = Counter()
    found = list(import_replays(folder, Filters(format_id="gen1ou", least_rating=1500), refused))
    assert len(found) == 2 and refused == {"truncated: no end in the log": 1}
    battle, p1, p2 = found[0]
    assert (battle.result("p1"), p1.role, p2.role) == (1.0, "p1", "p2")
    assert (p1.choices, p2.choices) == (
        ["move bodyslam", "switch snorlax", None],
        ["move surf", "switch chansey", None],
    )
    for filters, reason in (
        (Filters(least_rating=1501), "rated below 1501"),
        (Filters(since=1.8e9), "outside the dates"),
        (Filters(until=1.6e9), "outside the dates"),
        (Filters(ends=("forfeit",)), "ended by win"),
        (Filters(least_turns=9), "fewer than 9 turns"),
        (Filters(format_id="gen9ou"), "another format"),
    ):
        refused.clear()
        assert not list(import_replays(folder, filters, refused))
        assert refused[reason] == 2
