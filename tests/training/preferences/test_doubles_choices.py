"""Choices of doubles where a battle is forked: their actions, what differs in one slot or pick, and what nobody can make."""

from __future__ import annotations

from typing import Any

import pytest
from support.double_requests import double_battle, previewed

from agents.battle import SeatDoubleBattle
from agents.llm.pairs import joint_action
from agents.observation.doubles.decisions import DoublesDecisions
from training.preferences.choices import DoublesChoices
from training.preferences.garbling import garbler

THEIRS = ("Onix", "Abra", "Mew", "Muk", "Hypno", "Ditto")


def battle() -> SeatDoubleBattle:
    """Hypno and Muk, either of which may terastallize, with Mew on the bench."""
    seat_battle = double_battle(("tackle", "earthquake"), ("protect", "tackle"))
    active = [{**each, "canTerastallize": "Water"} for each in seat_battle.last_request["active"]]
    seat_battle.ask({**seat_battle.last_request, "active": active})
    return seat_battle


def replacing(*flags: bool) -> SeatDoubleBattle:
    seat_battle = double_battle(("tackle",), ("protect",))
    team = seat_battle.last_request["side"]["pokemon"]
    fallen: list[dict[str, Any]] = [
        {**mon, "condition": "0 fnt"} if slot < 2 and flags[slot] else mon for slot, mon in enumerate(team)
    ]
    seat_battle.ask({"forceSwitch": list(flags), "side": {**seat_battle.last_request["side"], "pokemon": fallen}})
    return seat_battle


def test_each_choice_is_made_by_the_actions_of_both_slots_in_turn() -> None:
    seat_battle = battle()
    choices = DoublesChoices(seat_battle)
    for choice in seat_battle.legal:
        turn = DoublesDecisions(seat_battle)
        for action in choices.actions(choice.label) or ():
            turn.take(action)
        assert not turn.actions and turn.choice == choice
    assert choices.actions("move tackle +1 terastallize, move tackle +1 terastallize") is None
    assert choices.actions("move splash, move protect") is None


@pytest.mark.parametrize(
    "label", ["move tackle +1, move protect", "move earthquake terastallize, switch mew", "switch mew, move tackle -1"]
)
def test_what_is_tried_instead_is_all_that_differs_in_one_slot(label: str) -> None:
    seat_battle, halves = battle(), label.split(", ")
    legal = [choice.label for choice in seat_battle.legal]
    for slot, group in enumerate(DoublesChoices(seat_battle).others(label)):
        same = [other for other in legal if other.split(", ")[1 - slot] == halves[1 - slot]]
        assert {label, *group} == set(same) and len(group) == len(same) - 1 > 3


def test_a_choice_that_a_network_has_not_is_made_for_both_slots_at_once() -> None:
    seat_battle = double_battle(("tackle",), ("protect",))
    active = [{**each, "canMegaEvoX": True, "canMegaEvoY": True} for each in seat_battle.last_request["active"]]
    seat_battle.ask({**seat_battle.last_request, "active": active})
    label = "move tackle +1 megay, move protect"
    (action,) = DoublesChoices(seat_battle).actions(label) or ()
    assert seat_battle.legal[action - 39].label == label
    assert len(DoublesChoices(seat_battle).actions("move tackle +1 megax, move protect") or ()) == 2


def test_where_one_bench_is_left_for_two_fallen_nothing_differs_in_one_slot() -> None:
    assert DoublesChoices(replacing(True, True)).others("switch mew, pass") == [[], []]
    assert DoublesChoices(replacing(False, True)).others("pass, switch mew") == [[], []]


def test_at_team_preview_one_pick_differs_and_another_order_is_no_other_selection() -> None:
    brought = DoublesChoices(previewed("gen9vgc2025regi", THEIRS, 4))
    assert brought.others("team 3142") == [
        ["team 2143", "team 4132", "team 5142", "team 6142"],
        ["team 3241", "team 3412", "team 3542", "team 3642"],
        ["team 3152", "team 3162"],
        ["team 3145", "team 3146"],
    ]
    every = DoublesChoices(previewed("gen9doublesou", THEIRS, None))
    assert every.others("team 312456") == [
        ["team 213456", "team 412356", "team 512346", "team 612345"],
        ["team 321456", "team 341256", "team 351246", "team 361245"],
    ]


@pytest.mark.parametrize("brought", [4, None])
def test_selections_are_legal_and_made_pick_by_pick(brought: int | None) -> None:
    seat_battle = previewed("gen9vgc2025regi", THEIRS, brought)
    choices, legal = DoublesChoices(seat_battle), {choice.label for choice in seat_battle.legal}
    label = "team 3142" if brought else "team 312456"
    for other in (each for group in choices.others(label) for each in group):
        turn = DoublesDecisions(seat_battle)
        for action in choices.actions(other) or ():
            turn.take(action)
        assert turn.choice.label == other and other in legal


@pytest.mark.parametrize(
    ("seat_battle", "label"),
    [
        (battle(), "move tackle +1 terastallize, move protect"),
        (battle(), "switch mew, move tackle +2"),
        (replacing(False, True), "pass, switch mew"),
        (previewed("gen9vgc2025regi", THEIRS, 4), "team 3142"),
        (previewed("gen9doublesou", THEIRS, None), "team 312456"),
    ],
)
def test_garbled_choices_are_such_that_a_seat_refuses_them_or_another_legal_one(
    seat_battle: SeatDoubleBattle, label: str
) -> None:
    legal = [label, *(other for group in DoublesChoices(seat_battle).others(label) for other in group)]
    for seed in range(60):
        made = garbler("illegal", legal, seed)(label)
        assert made and made != label
        assert (
            seat_battle.read_answer(joint_action(made, seat_battle.last_request), seat_battle.last_request) is None
        ), made
        other = garbler("legal", legal, seed)(label)
        assert (other is None) == (len(legal) == 1)
        if other is not None:
            read = seat_battle.read_answer(other, seat_battle.last_request)
            assert read is not None and read.label == other != label
