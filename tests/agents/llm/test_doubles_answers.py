"""Answers in doubles: a choice of each slot, replacements, team preview; what is no legal pair is none."""

from __future__ import annotations

import pytest
from support.double_requests import double_battle, previewed

from agents.battle import SeatDoubleBattle
from agents.llm.pairs import joint_action
from agents.llm.player import handed_in
from agents.llm.prompts import has_action, read


def battle() -> SeatDoubleBattle:
    """Hypno and Muk are asked, Mew is on the bench."""
    return double_battle(("tackle", "earthquake"), ("protect", "tackle"))


def chosen(text: str, asked: SeatDoubleBattle) -> str | None:
    """The label of the choice that a seat reads in what a model wrote; None for an illegal answer."""
    choice = asked.read_answer(joint_action(handed_in(read(text), text), asked.last_request), asked.last_request)
    return None if choice is None else choice.label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Plan: p\nAction: move tackle +1, move protect", "move tackle +1, move protect"),
        ("Action: move tackle +2 (their abra), move tackle -1 (your hypno)", "move tackle +2, move tackle -1"),
        ("Action: **Move Tackle +1**, **Switch Mew**.", "move tackle +1, switch mew"),
        ("Action: `move earthquake` and `move protect`", "move earthquake, move protect"),
        ("Action: move earthquake; move tackle 2", "move earthquake, move tackle +2"),
        ("Action: slot a: move earthquake, slot b: move protect", "move earthquake, move protect"),
        ("Action: b: move protect, a: move tackle -2", "move tackle -2, move protect"),
        ("Plan: p\nAction a: move tackle +1\nAction b: move protect", "move tackle +1, move protect"),
        ("Action:\n- Slot A: move tackle +1 (their onix)\n- Slot B: switch mew", "move tackle +1, switch mew"),
        ("**Action (slot a):** switch mew\n**Action (slot b):** move protect\n", "switch mew, move protect"),
        ("Slot a: move tackle +1\nAction: move earthquake, move protect", "move earthquake, move protect"),
        ('{"plan": "p", "action": "move earthquake, move protect"}', "move earthquake, move protect"),
        ('{"action": {"a": "move tackle +1", "b": "switch mew"}}', "move tackle +1, switch mew"),
        ('{"plan": "p", "a": "move tackle +1", "b": "switch mew"}', "move tackle +1, switch mew"),
        ('```json\n{"B": "move protect", "A": "move earthquake"}\n```', "move earthquake, move protect"),
        ('{"slot_a": "move earthquake", "slot_b": "move protect"}', "move earthquake, move protect"),
        ('{"action": {"slot_a": "move earthquake", "slot_b": "move protect"}}', "move earthquake, move protect"),
        ('{"plan": "p", "a": "move tackle +1"}', None),
        ('{"action": ["move earthquake", "move protect"]}', "move earthquake, move protect"),
        ('{"action_a": "move earthquake", "action_b": "move protect"}', "move earthquake, move protect"),
        ("<think>Action: switch mew, pass</think>\nAction: move earthquake, move protect", "move earthquake, move protect"),
        ("Action: move tackle, move protect", None),
        ("Action: move tackle -1, move protect", None),
        ("Action: move tackle +3, move protect", None),
        ("Action: move earthquake +1, move protect", None),
        ("Action: switch mew, switch mew", None),
        ("Action: switch muk, move protect", None),
        ("Action: move protect, move earthquake", None),
        ("Action: move earthquake", None),
        ("Action a: move earthquake", None),
        ("Action: move earthquake, move protect, switch mew", None),
        ("Action: pass, pass", None),
        ("I would rather not, thanks", None),
        (",", None),
        ("", None),
    ],
)  # fmt: skip
def test_a_pair_is_read_and_what_is_no_legal_pair_is_none(text: str, label: str | None) -> None:
    assert chosen(text, battle()) == label


def test_terastallization_is_for_one_of_both() -> None:
    asked = battle()
    active = [{**one, "canTerastallize": "Water"} for one in asked.last_request["active"]]
    asked.ask({**asked.last_request, "active": active})
    one = "move tackle +1 terastallize"
    assert chosen(f"Action: {one} (their onix), move protect", asked) == f"{one}, move protect"
    assert chosen(f"Action: {one}, move protect terastallize", asked) is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Action: switch mew, pass", "switch mew, pass"),
        ("Action: switch Mew", "switch mew, pass"),
        ("Action a: switch mew\nAction b: pass", "switch mew, pass"),
        ("Action: switch muk, pass", None),
        ("Action: pass, switch mew", None),
        ("", None),
        (",", None),
    ],
)
def test_one_slot_is_replaced(text: str, label: str | None) -> None:
    assert chosen(text, forced(True, False)) == label


def test_both_slots_are_replaced_by_two_of_the_bench() -> None:
    asked = forced(True, True, bench=("Mew", "Onix"))
    assert chosen("Action: switch onix, switch mew", asked) == "switch onix, switch mew"
    for text in ("Action: switch mew, switch mew", "Action: switch mew, pass", "Action: switch mew"):
        assert chosen(text, asked) is None


def forced(*flags: bool, bench: tuple[str, ...] = ("Mew",)) -> SeatDoubleBattle:
    asked = battle()
    team = [dict(entry) for entry in asked.last_request["side"]["pokemon"]][:2]
    team = [{**entry, "condition": "0 fnt" if flag else "9/9"} for entry, flag in zip(team, flags, strict=True)]
    team += [
        {**team[0], "ident": f"p1: {name}", "details": name, "condition": "9/9", "active": False} for name in bench
    ]
    asked.ask({"forceSwitch": list(flags), "side": {**asked.last_request["side"], "pokemon": team}})
    return asked


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Plan: p\nAction: team 3142", "team 3142"),
        ("Action: 3, 1, 4, 2", "team 3142"),
        ("Action: 3-1-4-2", "team 3142"),
        ("Action: team 3 > 1 > 4 > 2", "team 3142"),
        ("Action: charizard, raichu, torkoal, luxray", "team 3142"),
        ("Action: team Charizard, Raichu, Torkoal and Luxray.", "team 3142"),
        ("Action: lead Charizard and Raichu, bring Torkoal, Luxray", "team 3142"),
        ("Action: leads 3 1, bench 4 2", "team 3142"),
        ('{"action": ["Charizard", "Raichu", "Torkoal", "Luxray"]}', "team 3142"),
        ('{"action": [3, 1, 4, 2]}', "team 3142"),
        ("Action: charizard, raichu", "team 3124"),
        ("Action: team 3141", None),
        ("Action: team 3147", None),
        ("Action: charizard, charizard, torkoal, luxray", None),
        ("Action: charizard, onix, torkoal, luxray", None),
        ("Action: the strongest", None),
        ("", None),
    ],
)
def test_who_leads_and_who_is_brought_are_numbers_or_names(text: str, label: str | None) -> None:
    assert chosen(text, previewed("gen9championsvgc2026regma", ("Onix", "Abra"), 4)) == label


def test_where_all_are_brought_the_leads_are_enough() -> None:
    asked = previewed("gen9doublesou", ("Onix", "Abra"), None)
    assert chosen("Action: steelix, luxray", asked) == "team 621345"
    assert chosen("Action: team 62", asked) == "team 621345"


def test_an_answer_has_its_action_when_both_slots_have_theirs() -> None:
    assert not has_action("Plan: p\nAction a: move surf\n") and not has_action("Action:\nSlot a: move surf\n")
    assert has_action("Plan: p\nAction a: move surf\nAction b: pass\n") and has_action("Action: move surf, pass\n")
    assert has_action('{"a": "move surf", "b": "pass"}') and not has_action('{"plan": "p", "a": "move surf"}')
    assert not has_action("Plan: p\n") and has_action("Action: move surf\n")
