"""Samples of hidden sets: those of the forme that was chosen for the team."""

from __future__ import annotations

import random

import pytest

from agents.battle import SeatBattle
from agents.mechanics.set_sampling import chosen_forme, draw


@pytest.mark.parametrize(
    ("species", "forme"),
    [
        ("ogerponwellspringtera", "ogerponwellspring"),
        ("mimikyubusted", "mimikyu"),
        ("samurotthisui", "samurotthisui"),
        ("dragonite", "dragonite"),
    ],
)
def test_a_forme_of_battles_alone_is_that_of_the_team(species: str, forme: str) -> None:
    assert chosen_forme(species, 9) == forme


def test_a_forme_that_has_been_out_is_drawn_from_its_own_sets() -> None:
    """By its base species Samurott-Hisui had no set at all, and Slowking-Galar those of Slowking."""
    battle = SeatBattle("battle-gen9ou-1", "p1", "p1", 9, "gen9ou", random.Random(1))
    battle.feed(["|poke|p2|Samurott-Hisui, M|", "|switch|p2a: Samurott|Samurott-Hisui, M|100/100"])
    drawn = draw(battle.opponent_team["p2: Samurott"], battle, random.Random(1))
    assert len(drawn.moves) == 4 and drawn.species == "samurotthisui" and drawn.item
