"""Damage in doubles: values of Showdown, kept by scripts/parity/damage_parity.py, and a run of that script."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.damage_cases import built, types
from support.rule_matches import fighter, open_field

from agents.mechanics.bystanders import Beside
from agents.mechanics.damage import damage, rolls
from agents.mechanics.fighters import Conditions, Fighter
from agents.mechanics.moves import move_facts
from agents.mechanics.targets import beside

ROOT = Path(__file__).parents[3]
KEPT = Path(__file__).parent / "damage_doubles.jsonl"


def bystander(gen: int, side: dict[str, Any] | None) -> Fighter | None:
    if side is None:
        return None
    one = fighter(side["species"], gen, (100,) * 6, types("Normal"))
    return replace(one, ability=side["ability"], item=side.get("item", ""), effects=frozenset(side.get("effects", ())))


def test_damage_among_others_is_showdowns():
    """Spread moves, hits on the ally, auras, ruin, Friend Guard, Power Spot, Neutralizing Gas … of generations 3 to 9."""
    wrong = []
    cases = [json.loads(line) for line in KEPT.read_text().splitlines()]
    for case in cases:
        gen = case["gen"]
        one, other = (built(gen, side) for side in case["sides"])
        field = Conditions(
            gen, case.get("weather", ""), case.get("terrain", ""), False, ({}, {}), frozenset(case.get("rooms", ()))
        )
        screens, own_side = dict.fromkeys(case.get("screens", ()), 1), dict.fromkeys(case.get("ownSide", ()), 1)
        move = move_facts(case["move"], gen)
        first, second = (bystander(gen, side) for side in case["others"])
        ally = other if case["hitsAlly"] else first
        foes = [foe for foe in ((first, second) if case["hitsAlly"] else (other, second)) if foe is not None]
        by = beside(move, one, other, ally, foes, field)
        plain, critical = (rolls(one, other, move, field, screens, own_side, sure, by) for sure in (False, True))
        if [plain[0], plain[-1], critical[0], critical[-1]] != case["damage"]:
            wrong.append(case)
    assert len(cases) >= 200 and not wrong


@pytest.mark.parametrize(
    ("move", "foes", "with_ally", "share"),
    [
        ("rockslide", 2, False, 0.75),
        ("rockslide", 1, True, 1.0),
        ("earthquake", 1, True, 0.75),
        ("earthquake", 1, False, 1.0),
        ("tackle", 2, True, 1.0),
    ],
)
def test_a_move_that_hits_several_deals_three_quarters(move: str, foes: int, with_ally: bool, share: float):
    mew = fighter("mew", 9, (341, 236, 236, 236, 236, 236), ("PSYCHIC",))
    targets = [replace(mew, species="snorlax") for _ in range(foes)]
    facts, field = move_facts(move, 9), open_field(9)
    by = beside(facts, mew, targets[0], replace(mew) if with_ally else None, targets, field)
    alone = damage(mew, targets[0], facts, field, {})
    assert damage(mew, targets[0], facts, field, {}, beside=by).mean == pytest.approx(share * alone.mean, rel=0.03)


def test_telepathy_and_dazzling_stop_what_they_stop():
    """An ally with Telepathy is not hit; a priority move fails before Dazzling of either opponent, not of one's ally."""
    mew = fighter("mew", 9, (341, 236, 236, 236, 236, 236), ("PSYCHIC",))
    foe, field = replace(mew, species="snorlax"), open_field(9)
    ally = replace(mew, ability="telepathy")
    quake, quick = move_facts("earthquake", 9), move_facts("quickattack", 9)
    assert not rolls(mew, ally, quake, field, {}, beside=beside(quake, mew, ally, ally, [foe], field))
    dazzling = replace(foe, ability="dazzling")
    assert not rolls(mew, foe, quick, field, {}, beside=beside(quick, mew, foe, None, [foe, dazzling], field))
    friend = replace(mew, ability="dazzling")
    assert rolls(mew, friend, quick, field, {}, beside=Beside(friend, None, (foe,), True, False, mew))


@pytest.mark.slow
@pytest.mark.parametrize("gen", range(3, 10))
def test_damage_in_doubles_equals_showdowns(gen: int):
    script = ROOT / "scripts" / "parity" / "damage_parity.py"
    command = [sys.executable, str(script), "--gen", str(gen), "--doubles", "--cases", "500", "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_neutralizing_gas_silences_who_stands_by():
    """Friend Guard beside a target takes a quarter, unless the target, or anybody else, emits the gas."""
    mew = fighter("mew", 9, (341, 236, 236, 236, 236, 236), ("PSYCHIC",))
    foe, guard, field = replace(mew, species="snorlax"), replace(mew, ability="friendguard"), open_field(9)
    move = move_facts("psychic", 9)

    def dealt(user: Fighter, target: Fighter, ally: Fighter | None = None) -> int:
        return rolls(user, target, move, field, {}, beside=beside(move, user, target, ally, [target, guard], field))[0]

    plain, gas = rolls(mew, foe, move, field, {})[0], {"ability": "neutralizinggas"}
    assert dealt(mew, foe) == pytest.approx(0.75 * plain, abs=1)
    assert dealt(mew, replace(foe, **gas)) == dealt(replace(mew, **gas), foe) == plain
    assert dealt(mew, foe, replace(mew, **gas)) == plain
