"""Battles of doubles in every format that is played in tests."""

from __future__ import annotations

from arena.fixture import Fixture, FixtureTeam, showdown_seed
from teamsets.drawn import drawn_teams
from teamsets.formats import Format, get_format
from teamsets.loading import load_set


def doubles_fixtures(format_id: str, agents: tuple[str, str], number: int, *, drawn: bool = True) -> list[Fixture]:
    """Return battles of two agents in a format of doubles. drawn: the teams need not be legal there; else shipped ones."""
    chosen = get_format(format_id)
    seeds = [showdown_seed(format_id, index) for index in range(2 * number)]
    packed: list[str] | list[None] = [None] * len(seeds)
    if not chosen.random:
        shipped = [] if drawn else [team.packed for team in load_set("competitive", format_id).teams]
        packed = shipped[: len(seeds)] or drawn_teams(_generator(chosen), seeds)
    teams = [
        FixtureTeam(seed[-16:], seed[-4:], packed=team, seed=None if team else seed)
        for seed, team in zip(seeds, packed, strict=True)
    ]
    return [
        Fixture(
            format_id, agents, (teams[2 * n], teams[2 * n + 1]), showdown_seed(format_id, "battle", n), str(n), "drawn"
        )
        for n in range(number)
    ]


def _generator(chosen: Format) -> str:
    """Return the format whose generator makes the teams: for generation 9 that of doubles, else that of singles."""
    return "gen9randomdoublesbattle" if chosen.gen == 9 else f"gen{chosen.gen}randombattle"
