"""What a run says before it plays: how many battles, and how they come about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from support.command_line import Said

from arena.commands.playing import battles_words
from arena.fixture import FixtureTeam
from arena.run.tournament import EvaluateSettings, Run
from arena.schedules.plan import Plan

Pools = Mapping[tuple[str, str], Sequence[FixtureTeam]]
ONE: Pools = {("gen1ou", "competitive"): ()}
TWO: Pools = {("gen1ou", "competitive"): (), ("gen1ou", "variety"): ()}
THREE: Pools = {**TWO, ("gen9ou", "variety"): ()}


@pytest.mark.parametrize(
    ("agents", "battles", "pools", "words"),
    [
        (2, 100, ONE, "100 battles"),
        (2, 100, TWO, "200 battles (100 battles x 2 team sets = 200 for each pairing)"),
        (3, 100, TWO, "600 battles (100 battles x 2 team sets = 200 for each of 3 pairings)"),
        (3, 2, ONE, "6 battles (2 for each of 3 pairings)"),
        (3, 1, THREE, "18 battles (2 battles x 3 combinations of format and team set = 6 for each of 3 pairings)"),
    ],
)
def test_battles_are_multiplied_out(agents: int, battles: int, pools: Pools, words: str) -> None:
    names = tuple("abc"[:agents])
    assert battles_words(Run("r", EvaluateSettings(agents=names), Plan(names, pools, battles, 0))) == words


@pytest.mark.slow
def test_a_run_and_a_match_say_it_in_their_first_line(arena: Callable[..., Said], tmp_path: Path) -> None:
    common = ("random", "heuristic:max-damage", "--battles", 100, "--minutes", 0.0001, "--db", tmp_path / "a.duckdb")
    for command, teams in (("evaluate", ()), ("match", ("--teams", "competitive", "--teams", "variety:4"))):
        first = arena(command, *common, *teams).out.splitlines()[0]
        assert "200 battles (100 battles x 2 team sets = 200 for each pairing)" in first, first
        assert "at most 0.0001 minutes" in first


@pytest.mark.parametrize("command", ["evaluate", "match"])
def test_the_help_says_it_too(arena: Callable[..., Said], command: str) -> None:
    assert "100 with two team sets are 200 battles" in " ".join(arena(command, "-h").out.split())
