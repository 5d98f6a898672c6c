"""The unrounded damage formula of observations: its quick way gives what the whole one gives, near the exact damage."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle, islice

import pytest
from poke_env.data import GenData, to_id_str
from support.rule_matches import fighter

from agents.mechanics.damage import damage
from agents.mechanics.fighters import Fighter, empty_field
from agents.mechanics.moves import MoveFacts, move_facts
from agents.observation.unrounded_damage import CachedStrike, StrikeTarget, UnroundedStrike

ITEMS = (
    "", "leftovers", "lifeorb", "choiceband", "choicespecs", "choicescarf", "airballoon", "assaultvest", "eviolite",
    "silkscarf", "charcoal", "mysticwater", "thickclub", "lightball", "scopelens", "hearthflamemask",
)  # fmt: skip


def type_names(gen: int) -> list[str]:
    return sorted(GenData.from_gen(gen).type_chart)


def damaging(gen: int) -> list[MoveFacts]:
    moves = [move_facts(name, gen) for name in sorted(GenData.from_gen(gen).moves)]
    return [move for move in moves if move.damages]


def abilities(gen: int) -> list[str]:
    dex = GenData.from_gen(gen).pokedex.values()
    return (
        sorted({to_id_str(name) for entry in dex for name in entry.get("abilities", {}).values()}) if gen >= 3 else [""]
    )


def anybody(gen: int, rng: random.Random) -> Iterator[Fighter]:
    """Fighters of a generation at random, well and unboosted; each ability and each item in turn."""
    dex, known = GenData.from_gen(gen).pokedex, abilities(gen)
    chart = type_names(gen)
    species = sorted(name for name, entry in dex.items() if entry.get("baseStats") and entry["num"] > 0)
    for ability, item in zip(cycle(rng.sample(known, len(known))), cycle(ITEMS), strict=False):
        types, tera = tuple(rng.sample(chart, rng.choice((1, 2)))), rng.choice(chart)
        one = fighter(rng.choice(species), gen, tuple(rng.randint(1, 700) for _ in range(6)), types)
        yield replace(
            one,
            level=rng.choice((1, 50, 100)),
            item=item if gen >= 2 else "",
            ability=ability,
            weight=rng.uniform(0.1, 900),
            tera=tera if gen == 9 else "",
            terastallized=gen == 9 and rng.random() < 0.3,
        )


def hits_the_same(strike: CachedStrike, attacker: Fighter, defender: Fighter, move: MoveFacts) -> bool:
    """Whether it does anything, by both ways."""
    hit = strike.against(StrikeTarget(defender))
    assert hit == UnroundedStrike(attacker, move).on(defender), (attacker, defender, move)
    return hit[1] > 0


@pytest.mark.parametrize("gen", range(1, 10))
def test_the_quick_way_between_well_pokemon_gives_the_same_damage(gen: int):
    """Each damaging move of a generation, and each ability of who uses one; types, items and the rest at random."""
    rng = random.Random(gen)
    attackers, defenders, moves = anybody(gen, rng), anybody(gen, rng), damaging(gen)
    hits = tried = 0
    for move in moves * 3 + rng.choices(moves, k=3 * len(abilities(gen))):
        attacker = next(attackers)
        strike = CachedStrike(attacker, move)
        for defender in islice(defenders, 6):
            hits += hits_the_same(strike, attacker, defender, move)
            tried += 1
    assert hits > tried / 2


@pytest.mark.slow
def test_the_quick_way_knows_every_ability_of_a_target():
    """Each ability of generation 9 against each damaging move, once against a target of a type that it hits."""
    rng = random.Random(0)
    (attacker, defender), moves = islice(anybody(9, rng), 2), damaging(9)
    attacker = replace(attacker, ability="", item="", terastallized=False)
    strikes = [(CachedStrike(attacker, move), move) for move in moves]
    for ability in abilities(9):
        target = replace(defender, ability=ability, item="", types=(rng.choice(("WATER", "BUG", "FAIRY")),))
        for strike, move in strikes:
            hits_the_same(strike, attacker, target, move)


def test_the_quick_way_knows_the_moves_and_users_that_see_types_otherwise():
    chart = [(kind,) for kind in type_names(9)]
    attacker = replace(next(anybody(9, random.Random(0))), item="", terastallized=False)
    for ability in abilities(9):
        user = replace(attacker, ability=ability)
        for move in (
            move_facts(name, 9) for name in ("bodyslam", "closecombat", "earthquake", "freezedry", "waterfall")
        ):
            strike = CachedStrike(user, move)
            for types in chart:
                hits_the_same(strike, user, replace(attacker, ability="", types=types), move)


def test_it_is_near_the_exact_damage_in_generation_1():
    rng = random.Random(3)
    one, other = islice(anybody(1, rng), 2)
    near = [
        abs(CachedStrike(one, move).against(StrikeTarget(other))[1] - damage(one, other, move, empty_field(1), {}).high)
        for move in damaging(1)
    ]
    assert sorted(near)[len(near) * 9 // 10] < 0.03
