"""Damage to the HP: right values of Showdown, from scripts/parity/damage_parity.py --freeze, and a run of that script."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.damage_cases import built, types
from support.rule_matches import fighter, open_field

from agents.mechanics.damage import damage, rolls
from agents.mechanics.fighters import Conditions, Fighter
from agents.mechanics.moves import move_facts

ROOT = Path(__file__).parents[3]


@cache
def kept(gen: int) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (Path(__file__).parent / f"damage_gen{gen}.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("gen", range(1, 10))
def test_damage_is_showdowns(gen: int):
    """Random moves, abilities, items, fields: the least and the greatest damage, without and with a critical hit."""
    wrong = []
    for case in kept(gen):
        one, other = (built(gen, side) for side in case["sides"])
        field = Conditions(
            gen, case.get("weather", ""), case.get("terrain", ""), False, ({}, {}), frozenset(case.get("rooms", ()))
        )
        screens, own_side = dict.fromkeys(case.get("screens", ()), 1), dict.fromkeys(case.get("ownSide", ()), 1)
        move = move_facts(case["move"], gen)
        plain, critical = (rolls(one, other, move, field, screens, own_side, sure) for sure in (False, True))
        if [plain[0], plain[-1], critical[0], critical[-1]] != case["damage"]:
            wrong.append(case)
        hit = damage(one, other, move, field, screens, own_side)
        assert (round(hit.low * other.stats[0]), round(hit.high * other.stats[0])) == (plain[0], plain[-1])
    assert len(kept(gen)) >= 150 and not wrong


MEW = fighter("mew", 9, (341, 236, 236, 236, 236, 236), ("PSYCHIC",))
FOE = fighter("snorlax", 9, (461, 256, 166, 166, 256, 96), ("NORMAL",))


@pytest.mark.parametrize(
    ("move", "attacker", "defender", "estimate"),
    [
        ("psychic", {}, {}, False),
        ("payback", {}, {}, True),
        ("bulletseed", {}, {}, True),
        ("psychic", {"ability": "analytic"}, {}, True),
        ("psychic", {"item": "metronome"}, {}, True),
        ("bulletseed", {"ability": "skilllink"}, {}, False),
        ("psychic", {"ability": "libero"}, {}, True),
        ("psychic", {"tera": "STELLAR", "terastallized": True}, {}, True),
        ("psychic", {"ability": "stancechange"}, {}, False),
        ("psychic", {"ability": "stancechange", "species": "aegislash"}, {}, True),
        ("dualwingbeat", {}, {"ability": "disguise", "species": "mimikyu"}, True),
        ("psychic", {}, {"guessed": True}, True),
        ("psychic", {"effects": frozenset({"dynamax"})}, {}, True),
    ],
)
def test_what_is_not_known_is_flagged(move: str, attacker: dict, defender: dict, estimate: bool):
    hit = damage(replace(MEW, **attacker), replace(FOE, **defender), move_facts(move, 9), open_field(9), {})
    assert hit.estimate is estimate and hit.high > 0


MEW_STATS, MIMIKYU_STATS = (341, 236, 236, 236, 236, 236), (251, 216, 196, 136, 246, 228)
STATS_OF = {
    "mew": (MEW_STATS, "Psychic"), "snorlax": ((461, 256, 166, 166, 256, 96), "Normal"),
    "mimikyu": (MIMIKYU_STATS, "Ghost/Fairy"), "mimikyubusted": (MIMIKYU_STATS, "Ghost/Fairy"),
    "eiscue": ((291, 196, 256, 166, 216, 136), "Ice"), "shuckle": ((181, 56, 496, 56, 496, 46), "Bug/Rock"),
    "slowbrogalar": ((331, 236, 226, 236, 176, 96), "Poison/Psychic"),
    "cloyster": ((241, 226, 396, 206, 126, 176), "Water/Ice"),
    "aegislash": ((261, 136, 316, 136, 316, 156), "Steel/Ghost"),
    "sirfetchd": ((265, 306, 226, 172, 200, 166), "Fighting"),
    "chansey": ((640, 45, 45, 105, 245, 135), "Normal"), "tauros": ((290, 235, 225, 175, 175, 255), "Normal"),
}  # fmt: skip


def one_of(name: str, gen: int, **more: Any) -> Fighter:
    stats, names = STATS_OF[name]
    return replace(fighter(name, gen, stats, types(names)), **more)


@pytest.mark.parametrize(
    ("gen", "move", "attacker", "defender", "damages"),
    [
        # Its blade has other stats (without EVs, of a neutral nature).
        (9, "ironhead", ("aegislash", {"ability": "stancechange"}), ("mew", {}), (115, 136)),
        # Who wears a disguise loses an eighth, or nothing; not to Mold Breaker, nor once it is broken.
        (9, "shadowball", ("mew", {}), ("mimikyu", {"ability": "disguise"}), (31, 31)),
        (7, "shadowball", ("mew", {}), ("mimikyu", {"ability": "disguise"}), (0, 0)),
        (9, "shadowball", ("mew", {"ability": "moldbreaker"}), ("mimikyu", {"ability": "disguise"}), (112, 132)),
        (9, "shadowball", ("mew", {}), ("mimikyubusted", {"ability": "disguise"}), (112, 132)),
        (9, "dualwingbeat", ("mew", {}), ("mimikyu", {"ability": "disguise"}), (66, 73)),
        (9, "waterfall", ("mew", {}), ("eiscue", {"ability": "iceface"}), (0, 0)),
        (9, "surf", ("mew", {}), ("eiscue", {"ability": "iceface"}), (71, 84)),
        (9, "tackle", ("mew", {"ability": "rivalry", "gender": "M"}), ("mew", {"gender": "M"}), (37, 44)),
        (9, "tackle", ("mew", {"ability": "rivalry", "gender": "F"}), ("mew", {"gender": "M"}), (22, 27)),
        (9, "tackle", ("mew", {"ability": "rivalry"}), ("mew", {"gender": "M"}), (29, 35)),
        (8, "shellsidearm", ("slowbrogalar", {}), ("snorlax", {}), (138, 163)),
        (8, "shellsidearm", ("slowbrogalar", {}), ("cloyster", {}), (181, 214)),
        (8, "shellsidearm", ("slowbrogalar", {}), ("shuckle", {"effects": frozenset({"powertrick"})}), (204, 240)),
        (5, "bodyslam", ("shuckle", {"effects": frozenset({"powertrick"})}), ("mew", {}), (129, 152)),
        (5, "bodyslam", ("mew", {}), ("shuckle", {"effects": frozenset({"powertrick"})}), (128, 151)),
        (
            2,
            "stomp",
            ("tauros", {}),
            ("mew", {"stats": (340, 235, 235, 235, 235, 235), "effects": frozenset({"minimize"})}),
            (140, 165),
        ),
        # What the first hit changes for the next ones.
        (9, "dualwingbeat", ("mew", {}), ("snorlax", {"ability": "stamina"}), (69, 82)),
        (9, "dualwingbeat", ("mew", {"ability": "moldbreaker"}), ("snorlax", {"ability": "stamina"}), (69, 82)),
        (9, "dualwingbeat", ("mew", {"ability": "hugepower"}), ("snorlax", {"ability": "mummy"}), (123, 146)),
        (
            9,
            "dualwingbeat",
            ("mew", {"ability": "hugepower", "item": "protectivepads"}),
            ("snorlax", {"ability": "mummy"}),
            (164, 194),
        ),
        (9, "tripleaxel", ("mew", {}), ("snorlax", {"ability": "weakarmor"}), (206, 244)),
        (9, "surgingstrikes", ("mew", {}), ("snorlax", {"ability": "watercompaction"}), (117, 138)),
        (9, "bulletseed", ("mew", {"ability": "skilllink"}), ("snorlax", {"ability": "seedsower"}), (162, 195)),
        (4, "doublekick", ("mew", {}), ("snorlax", {"ability": "colorchange"}), (93, 111)),
        (9, "struggle", ("mew", {"tera": "STELLAR", "terastallized": True}), ("mew", {}), (44, 52)),
        # Protean's new type is the one that counts.
        (
            8,
            "synchronoise",
            ("tauros", {"ability": "protean", "stats": (291, 236, 226, 116, 176, 256)}),
            ("mew", {}),
            (32, 38),
        ),
        (8, "surf", ("mew", {"ability": "protean"}), ("snorlax", {}), (90, 106)),
        # Mold Breaker ignores the other's aura before generation 8.
        (7, "moonblast", ("mew", {"ability": "moldbreaker"}), ("snorlax", {"ability": "fairyaura"}), (63, 75)),
        (8, "moonblast", ("mew", {"ability": "moldbreaker"}), ("snorlax", {"ability": "fairyaura"}), (84, 99)),
        (
            9,
            "moonblast",
            ("mew", {"ability": "noability"}),
            ("snorlax", {"ability": "fairyaura", "effects": frozenset({"gastroacid"})}),
            (63, 75),
        ),
        (9, "moonblast", ("mew", {"ability": "noability"}), ("snorlax", {"ability": "fairyaura"}), (84, 99)),
        (5, "spitup", ("mew", {"effects": frozenset({"stockpile2"})}), ("mew", {}), (144, 170)),
    ],
)
def test_what_was_an_estimate_is_showdowns(gen: int, move: str, attacker: tuple, defender: tuple, damages: tuple):
    """Formes, disguises, genders and the like are known in a battle: values of Showdown, by damage_oracle.mjs."""
    one, other = (one_of(name, gen, **more) for name, more in (attacker, defender))
    found = rolls(one, other, move_facts(move, gen), open_field(gen), {})
    assert (found[0], found[-1]) == damages if found else damages == (0, 0)


@pytest.mark.parametrize(
    ("gen", "move", "attacker", "field", "damages"),
    [
        # Normalize leaves what is Normal by itself in generations 5 and 6.
        (5, "weatherball", ("mew", {"ability": "normalize"}), {"weather": "raindance"}, (100, 118)),
        (4, "weatherball", ("mew", {"ability": "normalize"}), {"weather": "raindance"}, (67, 79)),
        # Wonder Room swaps the stages that Body Press uses, not the stat.
        (8, "bodypress", ("shuckle", {"boosts": (("spd", 2),)}), {"rooms": frozenset({"wonderroom"})}, (444, 524)),
        (8, "bodypress", ("mew", {"boosts": (("def", 2),)}), {"rooms": frozenset({"wonderroom"})}, (106, 126)),
        # Each Pokémon's own Water Sport counts, before generation 6.
        (5, "ember", ("mew", {"effects": frozenset({"watersport"})}), {}, (4, 5)),
    ],
)
def test_the_field_changes_what_showdown_lets_it(gen: int, move: str, attacker: tuple, field: dict, damages: tuple):
    target = one_of("snorlax", gen, effects=frozenset({"watersport"}))
    found = rolls(
        one_of(attacker[0], gen, **attacker[1]), target, move_facts(move, gen), replace(open_field(gen), **field), {}
    )
    assert (found[0], found[-1]) == damages


@pytest.mark.parametrize(
    ("gen", "move", "attacker", "low_high_mean"),
    [
        (9, "tackle", ("mew", {}), (29, 35, 32 + 16 / 24)),
        (9, "tackle", ("mew", {"item": "scopelens"}), (29, 35, 32 + 16 / 8)),
        (9, "tackle", ("mew", {"item": "scopelens", "ability": "klutz"}), (29, 35, 32 + 16 / 24)),
        (9, "leafblade", ("sirfetchd", {"item": "leek"}), (127, 150, 138.5)),
        (7, "tackle", ("mew", {"effects": frozenset({"laserfocus"})}), (44, 52, 48)),
        (2, "tackle", ("chansey", {"item": "luckypunch"}), (8, 10, 9 + 7.5 / 4)),
        (2, "slash", ("mew", {"effects": frozenset({"focusenergy"})}), (51, 60, 55.5 + 53.5 * 85 / 256)),
        (1, "tackle", ("tauros", {"effects": frozenset({"focusenergy"})}), (39, 46, 42.5 + 38.5 * 13 / 256)),
        (1, "slash", ("tauros", {"effects": frozenset({"focusenergy"})}), (76, 90, 83 + 78 * 108 / 256)),
    ],
)
def test_the_mean_has_the_probability_of_a_critical_hit(gen: int, move: str, attacker: tuple, low_high_mean: tuple):
    """Items of one species, Klutz, Laser Focus, and Focus Energy, which harms in generation 1: values of Showdown."""
    target = one_of("mew", gen, stats=MEW_STATS if gen >= 3 else (340, 235, 235, 235, 235, 235))
    user = one_of(attacker[0], gen, **attacker[1])
    hit = damage(
        replace(user, stats=target.stats) if user.species == "mew" else user,
        target,
        move_facts(move, gen),
        open_field(gen),
        {},
    )
    assert [value * target.stats[0] for value in hit[:3]] == pytest.approx(low_high_mean)


@pytest.mark.slow
@pytest.mark.parametrize("gen", range(1, 10))
def test_damage_equals_showdowns_and_the_calculators(gen: int):
    """500 random cases against a Showdown battle and @smogon/calc (`make setup-dev` installs it): equal, or a reason."""
    if not (ROOT / "node_modules" / "@smogon" / "calc").is_dir():
        pytest.skip("@smogon/calc is not installed")
    script = ROOT / "scripts" / "parity" / "damage_parity.py"
    done = subprocess.run(
        [sys.executable, str(script), "--gen", str(gen), "--cases", "500", "--seed", "7"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "move", ["clearsmog", "covet", "thief", "knockoff", "smellingsalts", "wakeupslap", "coreenforcer", "punishment"]
)
def test_what_the_first_of_two_bonded_hits_changes_makes_the_second_an_estimate(move: str) -> None:
    """The stages, the item, the status, the ability that the second hit meets: Showdown deals something else then."""
    for ability, estimate in (("parentalbond", True), ("", False)):
        one, other = one_of("mew", 7, ability=ability), one_of("snorlax", 7)
        assert damage(one, other, move_facts(move, 7), open_field(7), {}).estimate is estimate
