"""Samples of hidden sets: those of the forme that was chosen for the team. The spread behind one's own stats."""

from __future__ import annotations

import random

import pytest

from agents.battle import SeatBattle
from agents.mechanics.fighters import stats_of
from agents.mechanics.set_sampling import chosen_forme, draw
from agents.mechanics.spreads import spread_of


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


@pytest.mark.parametrize(
    ("gen", "details", "nature", "evs"),
    [
        (9, "Dragapult, F", "timid", (0, 0, 4, 252, 0, 252)),
        (9, "Kingambit, M", "adamant", (216, 252, 0, 0, 36, 4)),
        (9, "Landorus-Therian, L50, M", "impish", (252, 0, 164, 0, 92, 0)),
        (4, "Blissey, F", "calm", (252, 0, 252, 0, 4, 0)),
        (4, "Heatran, L78", "serious", (84, 84, 84, 84, 84, 84)),
    ],
)
def test_a_spread_is_found_behind_the_stats_of_a_request(
    gen: int, details: str, nature: str, evs: tuple[int, ...]
) -> None:
    species = details.split(",")[0].lower().replace("-", "")
    level = int(details.split("L")[-1].split(",")[0]) if ", L" in details else 100
    stats = dict(stats_of(gen, species, level, nature, evs))
    entry = {"details": details, "condition": f"1/{stats.pop('hp')}"}
    found = spread_of(gen, {**entry, "stats": stats})
    assert stats_of(gen, species, level, *found) == stats_of(gen, species, level, nature, evs)
    assert found[0] == nature and (level < 100 or found[1] == evs)


def test_without_a_spread_behind_the_stats_there_is_none() -> None:
    tauros = {
        "details": "Tauros",
        "condition": "353/353",
        "stats": dict.fromkeys(("atk", "def", "spa", "spd", "spe"), 298),
    }
    nothing = ("serious", (0,) * 6)
    assert spread_of(1, tauros) == spread_of(9, {**tauros, "details": "Nobody"}) == nothing
    assert spread_of(9, {**tauros, "stats": {**tauros["stats"], "spe": 9}}) == nothing
