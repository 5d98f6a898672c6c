"""The damage formula: against numbers worked out by hand, against poke-env's calculator, and its special cases."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle, islice

import pytest
from poke_env.data import GenData, to_id_str
from support.players import comparing_agents
from support.rule_matches import fighter, open_field, pair_of_fixtures, play_all

from agents.mechanics.damage import Damage, Target, WellStrike, critical_chance, damage, empty_field
from agents.mechanics.fighters import Fighter
from agents.mechanics.moves import MoveFacts, move_facts
from agents.mechanics.type_chart import effectiveness

# Level 100 with full DVs and EVs, as Showdown shows them in gen1ou.
TAUROS = fighter("tauros", 1, (353, 298, 288, 238, 238, 318), ("NORMAL",))
SNORLAX = fighter("snorlax", 1, (523, 318, 228, 228, 228, 158), ("NORMAL",))
GENGAR = fighter("gengar", 1, (323, 228, 218, 358, 358, 318), ("GHOST", "POISON"))


def hp_of(attacker: Fighter, defender: Fighter, move: str, weather: str = "") -> Damage:
    """The damage in HP."""
    gen = attacker.gen
    part = damage(attacker, defender, move_facts(move, gen), open_field(gen, weather), {})
    hp = defender.stats[0]
    return Damage(part.low * hp, part.high * hp, part.mean * hp)


def test_body_slam_by_hand():
    """((2·100/5 + 2) · 85 · 298/228 / 50 + 2) · 1.5 = 142.9, times 217/255 at the least."""
    hit = hp_of(TAUROS, SNORLAX, "bodyslam")
    assert hit.high == pytest.approx(142.9, abs=0.2)
    assert hit.low == pytest.approx(142.9 * 217 / 255, abs=0.2)


def test_critical_hits_of_generation_1_hang_on_base_speed():
    """Tauros has base speed 110: 55 of 256; Razor Leaf and the like eight times as much, at most 255 of 256."""
    assert critical_chance(TAUROS, move_facts("bodyslam", 1)) == 55 / 256
    assert critical_chance(TAUROS, move_facts("slash", 1)) == 255 / 256
    hit = hp_of(TAUROS, SNORLAX, "bodyslam")
    assert hit.mean > (hit.low + hit.high) / 2


def test_explosion_halves_the_defence_until_generation_4():
    high = hp_of(SNORLAX, TAUROS, "selfdestruct").high
    assert high == pytest.approx(((42 * 130 * 318 / (288 / 2)) / 50 + 2) * 1.5, rel=0.01)


@pytest.mark.parametrize(
    ("move", "expected"), [("seismictoss", 100), ("nightshade", 100), ("sonicboom", 20), ("bodyslam", 0)]
)
def test_fixed_damage_and_immunity(move: str, expected: int):
    """Seismic Toss hits Ghosts in generation 1; Body Slam does not."""
    assert hp_of(TAUROS, GENGAR, move).high == pytest.approx(expected)


def test_half_of_what_is_left():
    worn = fighter("snorlax", 1, SNORLAX.stats, SNORLAX.types, hp=0.5)
    assert damage(TAUROS, worn, move_facts("superfang", 1), open_field(1), {}).mean == 0.25


MODERN = (301, 299, 299, 299, 299, 299)


@pytest.mark.parametrize(
    ("attacker", "defender", "move", "weather", "factor"),
    [
        ({"item": "choiceband"}, {}, "earthquake", "", 1.5),
        ({"item": "lifeorb"}, {}, "earthquake", "", 1.3),
        ({"status": "brn"}, {}, "earthquake", "", 0.5),
        ({"boosts": (("atk", 2),)}, {}, "earthquake", "", 2.0),
        ({}, {"boosts": (("def", 2),)}, "earthquake", "", 0.5),
        ({}, {"item": "assaultvest"}, "icebeam", "", 1 / 1.5),
        ({}, {"ability": "multiscale"}, "icebeam", "", 0.5),
        ({}, {"ability": "levitate"}, "earthquake", "", 0.0),
        ({"ability": "moldbreaker"}, {"ability": "levitate"}, "earthquake", "", 1.0),
        ({}, {}, "surf", "raindance", 1.5),
        ({"terastallized": True, "tera": "ICE"}, {}, "icebeam", "", 1.5),
        ({}, {"item": "leftovers"}, "knockoff", "", 1.5),
    ],
)
def test_what_changes_damage(attacker: dict, defender: dict, move: str, weather: str, factor: float):
    """Each modifier alone, against the same hit without it (generation 9; the constant 2 of the formula blurs 2%)."""
    plain = hp_of(fighter("mew", 9, MODERN, ("PSYCHIC",)), fighter("muk", 9, MODERN, ("NORMAL",)), move)
    one, other = fighter("mew", 9, MODERN, ("PSYCHIC",), **attacker), fighter("muk", 9, MODERN, ("NORMAL",), **defender)
    assert hp_of(one, other, move, weather).high == pytest.approx(plain.high * factor, rel=0.025)


def test_type_chart_by_generation():
    assert effectiveness(1, "GHOST", ("PSYCHIC",)) == 0
    assert effectiveness(9, "GHOST", ("PSYCHIC",)) == 2
    assert effectiveness(1, "ICE", ("DRAGON", "FLYING")) == 4
    assert effectiveness(5, "DARK", ("STEEL",)) == 0.5
    assert effectiveness(9, "DARK", ("STEEL",)) == 1


def test_chance_to_knock_out():
    hit = Damage(0.4, 0.5, 0.45)
    assert hit.knocks_out(0.4) == 1
    assert hit.knocks_out(0.45) == pytest.approx(0.5)
    assert hit.knocks_out(2.0) == 0


ITEMS = (
    "", "leftovers", "lifeorb", "choiceband", "choicespecs", "choicescarf", "airballoon", "assaultvest", "eviolite",
    "silkscarf", "charcoal", "mysticwater", "thickclub", "lightball", "scopelens", "hearthflamemask",
)  # fmt: skip


CHART = {gen: sorted(GenData.from_gen(gen).type_chart) for gen in range(1, 10)}


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
    species = sorted(name for name, entry in dex.items() if entry.get("baseStats") and entry["num"] > 0)
    for ability, item in zip(cycle(rng.sample(known, len(known))), cycle(ITEMS), strict=False):
        types, tera = tuple(rng.sample(CHART[gen], rng.choice((1, 2)))), rng.choice(CHART[gen])
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


def hits_the_same(strike: WellStrike, attacker: Fighter, defender: Fighter, move: MoveFacts) -> bool:
    """Whether it does anything, by both ways."""
    hit = strike.against(Target(defender))
    assert hit == damage(attacker, defender, move, empty_field(attacker.gen), {}), (attacker, defender, move)
    return hit[1] > 0


@pytest.mark.parametrize("gen", range(1, 10))
def test_the_quick_way_between_well_pokemon_gives_the_same_damage(gen: int):
    """Each damaging move of a generation, and each ability of who uses one; types, items and the rest at random."""
    rng = random.Random(gen)
    attackers, defenders, moves = anybody(gen, rng), anybody(gen, rng), damaging(gen)
    hits = tried = 0
    for move in moves * 3 + rng.choices(moves, k=3 * len(abilities(gen))):
        attacker = next(attackers)
        strike = WellStrike(attacker, move)
        for defender in islice(defenders, 6):
            hits += hits_the_same(strike, attacker, defender, move)
            tried += 1
    assert hits > tried / 2


def test_the_quick_way_knows_every_ability_of_a_target():
    """Each ability of generation 9 against each damaging move, once against a target of a type that it hits."""
    rng = random.Random(0)
    (attacker, defender), moves = islice(anybody(9, rng), 2), damaging(9)
    attacker = replace(attacker, ability="", item="", terastallized=False)
    strikes = [(WellStrike(attacker, move), move) for move in moves]
    for ability in abilities(9):
        target = replace(defender, ability=ability, item="", types=(rng.choice(("WATER", "BUG", "FAIRY")),))
        for strike, move in strikes:
            hits_the_same(strike, attacker, target, move)


def test_the_quick_way_knows_the_moves_and_users_that_see_types_otherwise():
    chart = [(kind,) for kind in CHART[9]]
    attacker = replace(next(anybody(9, random.Random(0))), item="", terastallized=False)
    for ability in abilities(9):
        user = replace(attacker, ability=ability)
        for move in (
            move_facts(name, 9) for name in ("bodyslam", "closecombat", "earthquake", "freezedry", "waterfall")
        ):
            strike = WellStrike(user, move)
            for types in chart:
                hits_the_same(strike, user, replace(attacker, ability="", types=types), move)


# Where poke-env's calculator is known to differ: powers that it does not compute (Return counts 0), hits that it counts
# otherwise, and items that it takes to be there before they are seen.
GAPS = {"return", "frustration", "present", "knockoff", "acrobatics", "doublekick", "iciclespear", "scaleshot"}


@pytest.mark.slow
@pytest.mark.parametrize("gen", [1, 2, 9])
def test_agrees_with_poke_envs_calculator(gen: int):
    """On what happens in real battles the highest rolls differ by less than 3% (2 HP) in 19 of 20 cases at least.

    It was 99% or more in each of these generations when this was written. And the calculator leaves the battle as it was.
    """
    comparing_agents.SEEN.clear()
    play_all(pair_of_fixtures("support.players.comparing_agents:Comparing", "random", f"gen{gen}randombattle", 3))
    seen = [s for s in comparing_agents.SEEN if s[1] not in GAPS]
    assert len(seen) > 100
    close = [abs(ours - theirs) <= max(2.0, 0.03 * theirs) for _, _, ours, theirs, _ in seen]
    assert statistics.mean(close) > 0.95
    assert all(untouched for *_, untouched in comparing_agents.SEEN)
