import random
from dataclasses import replace

import pytest

from teamsets.builder import competitive
from teamsets.builder.pool import Pool
from teamsets.builder.published import Member, as_text, pool, published_sets
from teamsets.builder.recipes import formats, recipe
from teamsets.builder.roles import roles
from teamsets.errors import BadInput
from teamsets.formats import LADDER_FORMATS, get_format
from teamsets.validator import TeamValidator


def published(gen: int, species: str, name: str):
    return next(each for each in published_sets(gen, "ou") if (each.species, each.name) == (species, name))


def test_every_ladder_format_has_a_recipe() -> None:
    assert formats() == sorted([*LADDER_FORMATS, "gen9doublesou"])


@pytest.mark.parametrize("format_id", LADDER_FORMATS)
def test_a_recipe_names_only_what_is_published(format_id: str) -> None:
    plan = recipe(format_id)
    sets = {(each.species, each.name) for each in published_sets(int(format_id[3]), "ou")}
    assert plan.species == {species for species, name in sets if plan.uses(species, name)}
    assert {(species, name) for species, names in plan.sets.items() for name in names} <= sets


@pytest.mark.parametrize("format_id", LADDER_FORMATS)
def test_a_recipe_asks_only_for_roles_that_its_sets_can_fill(format_id: str) -> None:
    plan = recipe(format_id)
    rng = random.Random(0)
    usable = [each for each in published_sets(int(format_id[3]), "ou") if plan.uses(each.species, each.name)]
    filled = {role for each in usable for _ in range(20) for role in roles(each.draw(rng, 0.0, ""), 100)}
    assert {*plan.at_least, *plan.at_most} <= filled


def test_a_draw_takes_each_move_once_and_the_first_where_told() -> None:
    gengar = published(1, "Gengar", "Sleeper")  # its last two slots have the same alternatives
    for seed in range(50):
        assert len(set(gengar.draw(random.Random(seed), 0.0, "").moves)) == 4
    assert gengar.draw(random.Random(0), 1.0, "").moves == ("Hypnosis", "Explosion", "Psychic", "Thunderbolt")


def test_a_nature_keeps_its_own_spread() -> None:
    dragapult = published(9, "Dragapult", "Boots Pivot")
    pairs = {(drawn.nature, drawn.evs.get("atk", 0)) for drawn in _draws(dragapult, 50)}
    assert pairs == {("Naive", 4), ("Timid", 0)}


def _draws(each, number: int) -> list[Member]:
    return [each.draw(random.Random(seed), 0.0, "") for seed in range(number)]


def test_the_text_of_a_member_says_all_of_it(validator: TeamValidator) -> None:
    member = published(9, "Gholdengo", "Choice Scarf").draw(random.Random(0), 1.0, "Good as Gold")
    fields = validator.validate("gen9ou", as_text([member])).packed.split("|")
    assert fields[0] == "Gholdengo"
    assert fields[2:6] == ["ChoiceScarf", "GoodasGold", "ShadowBall,MakeItRain,Trick,FocusBlast", "Timid"]
    assert fields[6] == ",,,252,4,252"
    assert fields[-1].endswith(",Fighting")


def test_roles_are_judged_by_what_is_carried() -> None:
    plain = Member("Snorlax", ("Body Slam",))
    assert roles(plain, 30) == set()
    assert roles(plain, 115) == {"speed"}
    assert roles(replace(plain, item="Choice Scarf"), 30) == {"choice", "scarf", "speed"}
    assert roles(replace(plain, moves=("Curse", "Rest")), 30) == {"boosting", "recovery", "breaker"}
    assert roles(replace(plain, moves=("Curse", "Rest"), evs={"hp": 252}), 30) == {"boosting", "recovery", "wall"}
    assert roles(replace(plain, moves=("Spikes", "Rapid Spin")), 30) == {"spikes", "removal", "control"}


def test_a_pool_shares_no_species_and_few_weaknesses(validator: TeamValidator) -> None:
    drawn_from = Pool.of(4, published_sets(4, "ou"), validator)
    weights = dict.fromkeys(drawn_from.sets, 1.0)
    for seed in range(20):
        team = drawn_from.fill(["Tyranitar"], weights, 2, random.Random(seed))
        assert team is not None
        assert team[0] == "Tyranitar"
        assert len({drawn_from.facts[name]["base"] for name in team}) == 6  # two Rotoms are one species
        for attack in drawn_from.facts["Tyranitar"]["takes"]:
            assert sum(drawn_from.facts[name]["takes"][attack] > 1 for name in team) <= 2
    assert drawn_from.fill([], {"Tyranitar": 1.0}, 2, random.Random(0)) is None


def test_a_lower_tier_draws_on_no_higher_one() -> None:
    assert {each.tier for each in pool(4, "uu")} == {"uu", "nu", "pu"}
    with pytest.raises(BadInput, match="no published sets"):
        pool(4, "nfe")


@pytest.mark.slow
def test_competitive_teams_follow_the_recipe_and_the_seed() -> None:
    made = competitive.make(get_format("gen1ou"), 6, seed=2)
    assert competitive.make(get_format("gen1ou"), 4, seed=2) == made[:4]
    assert competitive.make(get_format("gen1ou"), 1, seed=3)[0].packed != made[0].packed
    assert all(team.species[0] in recipe("gen1ou").leads for team in made)
    assert all("Tauros" in team.species for team in made)
    with pytest.raises(BadInput, match="no recipe"):
        competitive.make(get_format("gen7uu"), 1, seed=0)


@pytest.mark.parametrize(
    ("item", "role"),
    [
        ("Charizardite X", "mega"),
        ("Scizorite", "mega"),
        ("Eviolite", ""),
        ("Flyinium Z", "zmove"),
        ("Leftovers", ""),
        ("Choice Scarf", ""),
    ],
)
def test_a_mega_stone_and_a_z_crystal_are_roles_of_their_own(item: str, role: str) -> None:
    found = roles(Member("Charizard", ("Roost",), item=item), 100)
    assert found & {"mega", "zmove"} == ({role} if role else set())
