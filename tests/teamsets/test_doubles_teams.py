"""Teams of doubles: by a recipe from published sets, and for VGC from Showdown's own sets for random doubles."""

from __future__ import annotations

import pytest

from teamsets import variety
from teamsets.builder import competitive
from teamsets.builder.doubles_sets import DoublesSets
from teamsets.builder.published import published_sets
from teamsets.builder.recipes import recipe
from teamsets.errors import BadInput
from teamsets.formats import get_format
from teamsets.loading import count_shipped, load_set

VGC = ("gen9vgc2025regi", "gen9championsvgc2026regma", "gen9championsvgc2026regmb")
SHIPPED = ("gen9doublesou", *VGC)


@pytest.mark.parametrize(
    "format_id", [pytest.param(one, marks=pytest.mark.slow) if one != "gen9doublesou" else one for one in SHIPPED]
)
def test_shipped_teams_are_legal_and_differ(format_id: str) -> None:
    teams = load_set("competitive", format_id).teams
    assert len(teams) == count_shipped("competitive", format_id) == 32
    assert len({frozenset(team.species) for team in teams}) == 32 and all(len(team.species) == 6 for team in teams)


def test_the_recipe_names_only_what_is_published_for_doubles() -> None:
    plan = recipe("gen9doublesou")
    sets = {(each.species, each.name) for each in published_sets(9, "doublesou")}
    assert plan.species == {species for species, name in sets if plan.uses(species, name)}
    assert {(species, name) for species, names in plan.sets.items() for name in names} <= sets


@pytest.mark.parametrize("format_id", VGC[:2])
def test_vgc_teams_follow_the_seed_and_have_no_item_twice(format_id: str) -> None:
    made = competitive.make(get_format(format_id), 3, seed=5)
    assert competitive.make(get_format(format_id), 2, seed=5) == made[:2]
    for team in made:
        items = [member.split("|")[2] for member in team.packed.split("]")]
        assert len(set(items)) == 6
        assert sum(item.endswith("ite") for item in items) <= 1  # one Mega Stone


def test_champions_has_its_own_points_and_mega_stones_and_the_other_format_neither() -> None:
    champions, scarlet = DoublesSets.of("gen9championsvgc2026regma"), DoublesSets.of("gen9vgc2025regi")
    assert champions.stat_points and not scarlet.stat_points
    assert any(each["stones"] for each in champions.sets) and not any(each["stones"] for each in scarlet.sets)
    assert len(champions.sets) > 200 and "Choice Scarf" in champions.items


def test_variety_has_teams_for_doubles_with_published_sets() -> None:
    (team,) = variety.teams(get_format("gen4doublesou"), 1, seed=1)
    assert len(team.species) == 6


def test_a_format_of_doubles_without_sets_asks_for_a_folder() -> None:
    with pytest.raises(BadInput, match="no recipe for competitive teams: bring a folder"):
        competitive.make(get_format("gen4doublesou"), 1, seed=0)
