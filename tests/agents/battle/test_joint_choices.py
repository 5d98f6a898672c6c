"""What two slots may choose together, against stock Showdown and case by case (sim/side.js)."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from support.command_line import PROJECT

from agents.battle.choices import Choice
from agents.battle.joint_choices import legal_joint_choices, slot_choices

Request = dict[str, Any]
TACKLE = {"move": "Tackle", "id": "tackle", "target": "normal"}
PROTECT = {"move": "Protect", "id": "protect", "target": "self"}


def mon(name: str, *, active: bool = False, condition: str = "100/100", **more: Any) -> Request:
    return {"ident": f"p1: {name}", "details": f"{name}, L50", "condition": condition, "active": active, **more}


def team(*bench: Request, first: Request | None = None, second: Request | None = None) -> Request:
    return {"pokemon": [first or mon("Abra", active=True), second or mon("Onix", active=True), *bench]}


def asked(one: Request, other: Request, *bench: Request, **more: Any) -> Request:
    return {"active": [one, other], "side": team(*bench, **more)}


def labels(request: Request) -> list[str]:
    return [choice.label for choice in legal_joint_choices(request)]


@pytest.mark.parametrize(
    ("target", "first", "second"),
    [
        ("normal", [1, 2, -2], [1, 2, -1]),
        ("any", [1, 2, -2], [1, 2, -1]),
        ("adjacentFoe", [1, 2], [1, 2]),
        ("adjacentAlly", [-2], [-1]),
        ("adjacentAllyOrSelf", [-1, -2], [-1, -2]),
        ("allAdjacentFoes", [0], [0]),
        ("randomNormal", [0], [0]),
        ("", [0], [0]),
    ],
)
def test_a_move_names_a_target_where_one_can_be_chosen_and_none_else(
    target: str, first: list[int], second: list[int]
) -> None:
    move = {"move": "Tackle", "id": "tackle", "target": target}
    slots = slot_choices(asked({"moves": [move]}, {"moves": [move]}))
    assert [choice.target for choice in slots.first] == first
    assert [choice.target for choice in slots.second] == second


def test_a_choice_says_what_each_slot_does_for_people_and_for_showdown() -> None:
    (choice, *_) = legal_joint_choices(asked({"moves": [PROTECT, TACKLE]}, {"moves": [TACKLE]}))
    assert (choice.label, choice.wire, choice.kind) == ("move protect, move tackle +1", "move 1, move 1 +1", "joint")
    assert [part.kind for part in choice.parts] == ["move", "move"]
    assert isinstance(choice, Choice)


def test_nobody_on_the_bench_comes_in_twice_and_the_fallen_slot_passes() -> None:
    both = asked({"moves": [PROTECT]}, {"moves": [PROTECT]}, mon("Eevee"), mon("Muk", condition="0 fnt"), mon("Mew"))
    assert "switch eevee, switch mew" in labels(both) and "switch eevee, switch eevee" not in labels(both)
    assert len(labels(both)) == 3 * 3 - 2 and not any("muk" in label for label in labels(both))
    fallen = mon("Onix", active=True, condition="0 fnt")
    alone = asked({"moves": [TACKLE]}, {"moves": [TACKLE]}, second=fallen)
    assert labels(alone) == ["move tackle +1, pass", "move tackle +2, pass", "move tackle -2, pass"]
    commanding = asked(
        {"moves": [PROTECT]}, {"moves": [PROTECT]}, mon("Mew"), first=mon("Abra", active=True, commanding=True)
    )
    assert labels(commanding) == ["pass, move protect", "pass, switch mew"]


def test_an_extra_is_for_one_slot_and_different_ones_go_together() -> None:
    slot = {"moves": [PROTECT], "canTerastallize": "Fire", "canMegaEvo": True}
    found = labels(asked(slot, {"moves": [PROTECT], "canTerastallize": "Water", "canMegaEvoX": True}))
    assert "move protect terastallize, move protect megax" in found
    assert "move protect terastallize, move protect terastallize" not in found
    assert "move protect mega, move protect megax" not in found


def test_z_moves_and_max_moves_have_targets_of_their_own() -> None:
    z_move = {"moves": [PROTECT, TACKLE], "canZMove": [None, {"move": "Breakneck Blitz", "target": "normal"}]}
    assert "move tackle -2 zmove, move protect" in labels(asked(z_move, {"moves": [PROTECT]}))
    high = {"moves": [PROTECT, TACKLE], "canDynamax": True}
    high["maxMoves"] = {
        "maxMoves": [{"move": "maxguard", "target": "self"}, {"move": "maxstrike", "target": "adjacentFoe"}]
    }
    found = labels(asked(high, {"moves": [PROTECT]}))
    assert "move tackle +2 dynamax, move protect" in found and "move tackle -2 dynamax, move protect" not in found
    assert "move tackle -2, move protect" in found and "move protect dynamax, move protect" in found


def test_replacements_as_many_as_can_come_in() -> None:
    fallen = {
        "first": mon("Abra", active=True, condition="0 fnt"),
        "second": mon("Onix", active=True, condition="0 fnt"),
    }
    both = {"forceSwitch": [True, True], "side": team(mon("Mew"), mon("Muk"), **fallen)}
    assert labels(both) == ["switch mew, switch muk", "switch muk, switch mew"]
    one = {"forceSwitch": [True, True], "side": team(mon("Mew"), **fallen)}
    assert labels(one) == ["switch mew, pass", "pass, switch mew"]
    second = {"forceSwitch": [False, True], "side": team(mon("Mew"), mon("Muk"), second=fallen["second"])}
    assert labels(second) == ["pass, switch mew", "pass, switch muk"]


def test_a_slots_choices_are_those_that_occur_in_joint_choices() -> None:
    fallen = mon("Onix", active=True, condition="0 fnt")
    must = slot_choices({"forceSwitch": [False, True], "side": team(mon("Mew"), mon("Muk"), second=fallen)})
    assert [choice.label for choice in must.first] == ["pass"]
    assert [choice.label for choice in must.second] == ["switch mew", "switch muk"]
    both = {"forceSwitch": [True, True], "side": team(mon("Mew"), first=fallen, second=fallen)}
    assert [choice.label for choice in slot_choices(both).first] == ["switch mew", "pass"]
    alone = slot_choices({"forceSwitch": [False, True], "side": team(second=fallen)})
    assert [choice.label for choice in alone.second] == ["pass"]


def test_to_revive_one_is_a_replacement_by_the_fallen_and_optional_where_nobody_else_is_left() -> None:
    reviver = mon("Abra", active=True, reviving=True)
    fallen = mon("Muk", condition="0 fnt")
    lone = {"forceSwitch": [True, False], "side": team(fallen, first=reviver)}
    assert labels(lone) == ["switch muk, pass", "pass, pass"]
    rest = {"forceSwitch": [True, False], "side": team(fallen, mon("Mew"), first=reviver)}
    assert labels(rest) == ["switch muk, pass"]


def test_a_selection_is_ordered_and_leads_are_a_pair() -> None:
    six = [mon(name) for name in ("Abra", "Onix", "Mew", "Muk", "Eevee", "Ditto")]
    brought = legal_joint_choices({"teamPreview": True, "maxChosenTeamSize": 4, "side": {"pokemon": six}})
    assert len(brought) == 360 and len({choice.wire for choice in brought}) == 360 and brought[0].wire == "team 1234"
    leads = legal_joint_choices({"teamPreview": True, "side": {"pokemon": six}})
    assert len(leads) == 30 and leads[5].wire == "team 213456"
    assert legal_joint_choices({"wait": True, "side": {"pokemon": six}}) == []


@pytest.mark.parametrize(
    "format_id",
    [
        "gen9doublesou",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("gen9championsvgc2026regma", "gen7doublesou")),
    ],
)
def test_showdown_accepts_what_is_listed_and_nothing_else(format_id: str) -> None:
    script = PROJECT / "scripts" / "parity" / "joint_choices.py"
    arguments = ["--format", format_id, "--teams", "any", "--battles", "2", "--seed", "5", "--tries", "60"]
    done = subprocess.run(
        [sys.executable, str(script), *arguments], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    counts = json.loads(done.stdout[done.stdout.index("{") : done.stdout.rindex("}") + 1])
    assert counts["decisions"] > 20 and counts["accepted"] > 20 and counts["refused"] == counts["missing"] == 0
