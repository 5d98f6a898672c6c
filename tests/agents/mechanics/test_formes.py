"""The estimate of an opponent is that of the forme on the field, and of what a transformed Pokémon has copied."""

from __future__ import annotations

import random

import pytest
from poke_env.data import GenData

from agents.battle import SeatBattle
from agents.mechanics.fighters import foe_fighter, stats_of

BEGIN = ["|start", "|switch|p1a: Mew|Mew|341/341", "|switch|p2a: Foe|{}|100/100", "|turn|1"]


def against(gen: int, details: str, *lines: str) -> SeatBattle:
    """A battle of p1's seat after some lines about p2's active Pokémon."""
    battle = SeatBattle("battle-x-1", "p1", "p1", gen, f"gen{gen}ou", random.Random(0))
    battle.feed([line.format(details) for line in BEGIN])
    battle.feed(list(lines))
    return battle


@pytest.mark.parametrize(
    ("gen", "details", "lines", "forme"),
    [
        (
            7,
            "Charizard, M",
            ["|detailschange|p2a: Foe|Charizard-Mega-X, M", "|-mega|p2a: Foe|Charizard|Charizardite X"],
            "charizardmegax",
        ),
        (8, "Aegislash, M", ["|-formechange|p2a: Foe|Aegislash-Blade|"], "aegislashblade"),
        (5, "Darmanitan, M", ["|-formechange|p2a: Foe|Darmanitan-Zen|"], "darmanitanzen"),
        (6, "Groudon", ["|detailschange|p2a: Foe|Groudon-Primal", "|-primal|p2a: Foe|Red Orb"], "groudonprimal"),
    ],
)
def test_the_stats_are_those_of_the_forme(gen: int, details: str, lines: list[str], forme: str):
    battle = against(gen, details, *lines)
    one = foe_fighter(battle.opponent_active_pokemon, battle)
    base = GenData.from_gen(gen).pokedex[forme]["baseStats"]
    for number, name in enumerate(("atk", "def", "spa", "spd", "spe"), 1):
        least, most = int((2 * base[name] + 31 + 5) * 0.9), int((2 * base[name] + 31 + 63 + 5) * 1.1)
        assert least <= one.stats[number] <= most, name
    assert one.species == forme and one.guessed


def test_a_transformed_pokemon_has_the_stats_that_it_copied():
    """Ditto copies our Mew: all of its stats but HP, which are known."""
    battle = against(9, "Ditto", "|-transform|p2a: Foe|p1a: Mew")
    own = battle.active_pokemon
    own._stats = {"atk": 236, "def": 237, "spa": 238, "spd": 239, "spe": 240}
    one = foe_fighter(battle.opponent_active_pokemon, battle)
    assert one.stats[1:] == (236, 237, 238, 239, 240) and one.types == ("PSYCHIC",)
    assert one.stats[0] < stats_of(9, "mew", 100, "serious", (0,) * 6)["hp"]
