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
from support.rule_matches import fighter, open_field

from agents.mechanics.damage import damage, rolls
from agents.mechanics.fighters import Conditions, Fighter
from agents.mechanics.moves import move_facts

ROOT = Path(__file__).parents[3]


@cache
def kept(gen: int) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (Path(__file__).parent / f"damage_gen{gen}.jsonl").read_text().splitlines()]


def types(names: str) -> tuple[str, ...]:
    return tuple("THREE_QUESTION_MARKS" if name == "???" else name.upper() for name in names.split("/"))


def built(gen: int, side: dict[str, Any]) -> Fighter:
    tera = side.get("tera", "").upper()
    one = fighter(side["species"], gen, tuple(side["stats"]), types(side["types"]))
    return replace(
        one,
        level=side.get("level", 100),
        base_types=types(side.get("baseTypes", side["types"])),
        tera=tera,
        terastallized=bool(tera),
        boosts=tuple(sorted(side.get("boosts", {}).items())),
        hp=side.get("hp", side["stats"][0]) / side["stats"][0],
        weight=side.get("weight", one.weight),
        effects=frozenset(side.get("effects", ())),
        first_turn=True,
        **{key: side.get(key, "") for key in ("ability", "item", "status")},
    )


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
        ("psychic", {}, {"ability": "disguise"}, True),
        ("psychic", {}, {"guessed": True}, True),
        ("psychic", {"effects": frozenset({"dynamax"})}, {}, True),
    ],
)
def test_what_is_not_known_is_flagged(move: str, attacker: dict, defender: dict, estimate: bool):
    hit = damage(replace(MEW, **attacker), replace(FOE, **defender), move_facts(move, 9), open_field(9), {})
    assert hit.estimate is estimate and hit.high > 0


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
