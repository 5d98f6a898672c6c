"""What an agent's answer means in doubles."""

from __future__ import annotations

from typing import Any

import pytest
from poke_env.battle.move import Move
from poke_env.player.battle_order import DefaultBattleOrder, DoubleBattleOrder, PassBattleOrder, SingleBattleOrder

from agents.battle.choices import Choice
from agents.battle.joint_answers import explain_refusal, read_joint_answer
from agents.battle.joint_choices import is_stored, joint_choices, legal_joint_choices, slot_choices, stored_labels


def mon(name: str, *, active: bool = False, condition: str = "100/100") -> dict[str, Any]:
    return {"ident": f"p1: {name}", "details": f"{name}, L50", "condition": condition, "active": active}


TACKLE = {"move": "Tackle", "id": "tackle", "target": "normal"}
SURF = {"move": "Surf", "id": "surf", "target": "allAdjacent"}
PROTECT = {"move": "Protect", "id": "protect", "target": "self"}
BEAM = {"move": "Meteor Beam", "id": "meteorbeam"}  # as a request lists a move that goes on
ASKED: dict[str, Any] = {
    "active": [{"moves": [TACKLE, PROTECT], "canTerastallize": "Fire"}, {"moves": [SURF, TACKLE]}],
    "side": {"pokemon": [mon("Abra", active=True), mon("Onix", active=True), mon("Mew"), mon("Ditto")]},
}


def read(answer: Any, asked: dict[str, Any] = ASKED) -> str | None:
    """The wire form of what an answer means."""
    slots = None if asked.get("teamPreview") else slot_choices(asked)
    choice = read_joint_answer(answer, legal_joint_choices(asked), slots, asked)
    return None if choice is None else choice.wire


def order(move: str, target: int = 0, **extra: bool) -> SingleBattleOrder:
    return SingleBattleOrder(Move(move, gen=9), move_target=target, **extra)


@pytest.mark.parametrize(
    ("answer", "wire"),
    [
        ("/choose move tackle 1, move surf", "move 1 +1, move 1"),
        ("move 1 +2 terastallize, move 2 -1", "move 1 +2 terastallize, move 2 -1"),
        ("move tackle terastallize 2, move Tackle -1", "move 1 +2 terastallize, move 2 -1"),
        ("switch Mew, switch ditto", "switch 3, switch 4"),
        ("move protect, switch 4", "move 2, switch 4"),
        (("move tackle +1", "move surf"), "move 1 +1, move 1"),
        ((order("tackle", 2, terastallize=True), order("surf")), "move 1 +2 terastallize, move 1"),
        (DoubleBattleOrder(order("protect"), order("tackle", 1)), "move 2, move 2 +1"),
        ("default", "move 1 +1, move 1"),
        ("switch mew, default", "switch 3, move 1"),
    ],
)
def test_an_answer_is_read(answer: Any, wire: str) -> None:
    assert read(answer) == wire


def test_default_for_one_slot_is_what_goes_with_the_other() -> None:
    """poke-env's SimpleHeuristicsPlayer answers so where it wants the same Pokémon in both slots."""
    asked = {"forceSwitch": [True, True], "side": ASKED["side"]}
    assert (
        read(DoubleBattleOrder(SingleBattleOrder("/choose switch Mew"), DefaultBattleOrder()), asked)
        == "switch 3, switch 4"
    )


def test_a_choice_and_its_halves_are_answers() -> None:
    slots = slot_choices(ASKED)
    joint = joint_choices(slots)[5]
    assert read(joint) == joint.wire and read(joint.label) == joint.wire and read(joint.wire) == joint.wire
    assert read(joint.parts) == joint.wire and read(list(joint.parts)) == joint.wire


@pytest.mark.parametrize(
    "answer",
    [
        "move tackle, move surf",  # it needs a target
        "move tackle 1, move surf 1",  # it takes none
        "move tackle -1, move surf",  # not at itself
        "switch mew, switch mew",
        "move tackle 1",
        "move tackle 1, move surf, pass",
        "move splash, move surf",
        "move protect, move surf terastallize",  # it cannot
        ("move tackle +1",),
        None,
        7,
        Choice("move protect", "move 2", "move", 2),
    ],
)
def test_what_means_no_legal_choice(answer: Any) -> None:
    assert read(answer) is None


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("move tackle 1", "only one slot was answered"),
        ("move tackle 1, move surf, pass", "3 choices for two slots"),
        ("switch mew, switch mew", "both slots switch to the same Pokémon"),
        ("move tackle, move surf", "slot a: the target must be +1 or +2 or -2"),
        ("move tackle 1, move surf 1", "slot b: this move takes no target"),
        ("move protect, move surf terastallize", "slot b: this move cannot terastallize now"),
        ("move splash, move surf", "slot a: 'move splash' is not among its choices"),
        (DoubleBattleOrder(order("protect"), order("splash")), "slot b: 'move splash' is not among its choices"),
        (("move protect", 7), "slot b: no choice, no text and no order of poke-env"),
        (None, ""),
    ],
)
def test_a_refusal_is_explained(answer: Any, why: str) -> None:
    assert read(answer) is None and explain_refusal(answer, slot_choices(ASKED), ASKED) == why


def test_refused_extras_replacements_and_selections_are_explained() -> None:
    first, second = ({**slot, "canTerastallize": "Fire"} for slot in ASKED["active"])
    asked = {**ASKED, "active": [first, second]}
    tera = "move protect terastallize, move surf terastallize"
    assert explain_refusal(tera, slot_choices(asked), asked) == "only one slot can use terastallize"
    asked = {"forceSwitch": [True, True], "side": {"pokemon": ASKED["side"]["pokemon"][:3]}}
    assert explain_refusal("pass, pass", slot_choices(asked), asked).startswith("as many Pokémon must come in")
    asked = {"forceSwitch": [True, False], "side": ASKED["side"]}
    assert explain_refusal("switch mew, switch ditto", slot_choices(asked), asked) == "slot b: it can only pass"
    assert explain_refusal("team 11", None, preview()) == "the numbers must be different ones from 1 to 6"
    assert explain_refusal("lead", None, preview()) == "team preview takes 'team' and numbers"


def test_one_answer_is_enough_where_the_other_slot_passes() -> None:
    fallen = mon("Abra", active=True, condition="0 fnt")
    asked = {**ASKED, "side": {"pokemon": [fallen, *ASKED["side"]["pokemon"][1:]]}}
    assert read("move tackle 2", asked) == "pass, move 2 +2" == read("pass, move tackle 2", asked)
    assert (
        read(order("surf"), asked) == "pass, move 1" == read(DoubleBattleOrder(PassBattleOrder(), order("surf")), asked)
    )


def test_a_target_of_poke_envs_order_that_the_move_does_not_take_is_left_out_and_a_missing_one_is_the_first() -> None:
    asked = {**ASKED, "active": [{"moves": [BEAM]}, {"moves": [SURF, TACKLE]}]}
    assert read(DoubleBattleOrder(order("meteorbeam", 2), order("tackle")), asked) == "move 1, move 2 +1"
    assert read("move meteorbeam 2, move tackle 1", asked) is None


def preview(**more: Any) -> dict[str, Any]:
    return {"teamPreview": True, "side": {"pokemon": [mon(name) for name in ("A", "B", "C", "D", "E", "F")]}, **more}


@pytest.mark.parametrize(
    ("answer", "wire"),
    [
        ("team 3142", "team 3142"),
        ("/team 314265", "team 3142"),  # Showdown cuts it
        ("team 5, 6", "team 5612"),  # and completes it
        ("team 11", None),
        ("team 9", None),
        ("lead", None),
        ("default", "team 1234"),
    ],
)
def test_a_selection_is_cut_and_completed_as_showdown_does(answer: str, wire: str | None) -> None:
    assert read(answer, preview(maxChosenTeamSize=4)) == wire
    assert len(legal_joint_choices(preview(maxChosenTeamSize=4))) == 360


def test_where_all_are_brought_any_complete_order_is_read() -> None:
    assert len(legal_joint_choices(preview())) == 30
    assert read("team 654321", preview()) == "team 654321" and read("team 6", preview()) == "team 612345"


def test_legal_choices_are_stored_slot_by_slot() -> None:
    labels = stored_labels(ASKED, doubles=True)
    assert labels[:4] == ["a: move tackle +1", "a: move tackle +2", "a: move tackle -2", "a: move protect"]
    assert labels[-2:] == ["b: switch mew", "b: switch ditto"]
    assert all(is_stored(choice.label, labels) for choice in legal_joint_choices(ASKED))
    assert not is_stored("move surf, move surf", labels) and not is_stored("move protect", labels)
    assert stored_labels(preview(maxChosenTeamSize=4), doubles=True)[0] == "team 1234"
