"""Team preview as a decision: the expert brings those that fare best against what the opponent has shown."""

from __future__ import annotations

import random
from typing import Any

import pytest
from support.double_requests import TEAM_MOVES, previewed

from agents.rules.expert import Expert
from teamsets.errors import BadInput

FLYING_WATERS = ("Gyarados", "Pelipper", "Mantine", "Cramorant", "Gyarados", "Swanna")
GRASSES = ("Celebi", "Meganium", "Tangela", "Sceptile", "Leafeon", "Bellossom")


def chosen(format_id: str, theirs: tuple[str, ...], brought: int | None = None, **options: Any) -> list[str]:
    agent = Expert(**options)
    agent.rng = random.Random(1)
    battle = previewed(format_id, theirs, brought)
    choice = agent.team_preview(battle)
    assert choice in battle.legal
    return [list(TEAM_MOVES)[int(digit) - 1] for digit in choice.label.removeprefix("team ")]


@pytest.mark.parametrize(("format_id", "brought"), [("gen9doublesou", None), ("gen9championsvgc2026regma", 4)])
def test_who_fares_well_leads(format_id: str, brought: int | None) -> None:
    waters, grasses = (chosen(format_id, theirs, brought) for theirs in (FLYING_WATERS, GRASSES))
    assert "Raichu" in waters[:2] and "Charizard" not in waters[:2]
    assert "Charizard" in grasses[:2] and "Raichu" not in grasses[:2]
    assert len(waters) == len(grasses) == (brought or len(TEAM_MOVES))


def test_who_fares_badly_is_left_at_home() -> None:
    """Torkoal does not meet Water."""
    brought = chosen("gen9championsvgc2026regma", FLYING_WATERS, 4)
    assert "Torkoal" not in brought


def test_a_random_preview_does_not_look_at_the_opponent() -> None:
    drawn = [chosen("gen9championsvgc2026regma", theirs, 4, preview="random") for theirs in (FLYING_WATERS, GRASSES)]
    assert drawn[0] == drawn[1]


def test_an_unknown_way_is_refused() -> None:
    with pytest.raises(BadInput, match=r"preview=best: choose one of matchup, random"):
        Expert(preview="best")
