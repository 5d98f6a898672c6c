"""max-damage in doubles: the pair that takes the most HP."""

from __future__ import annotations

import random

import pytest
from support.double_requests import double_battle

from agents.rules.damage_players import MaxDamage

TWO_NORMAL = ("Persian", "Tauros")


def chosen(
    first: tuple[str, ...], second: tuple[str, ...], *lines: str, opponents: tuple[str, str] = TWO_NORMAL
) -> str:
    agent = MaxDamage()
    agent.rng = random.Random(1)
    return agent.act(double_battle(first, second, *lines, opponents=opponents)).label


@pytest.mark.parametrize(
    ("first", "second", "lines", "opponents", "choice"),
    [
        # The type chart, not the power: Water against Onix.
        (("hyperbeam", "watergun"), ("protect",), (), ("Onix", "Onix"), "move watergun"),
        # Two of three quarters are more than one whole hit.
        (("dazzlinggleam", "moonblast"), ("protect",), (), TWO_NORMAL, "move dazzlinggleam"),
        (("dazzlinggleam", "moonblast"), ("protect",), ("|-damage|p2a: Persian|0 fnt", "|faint|p2a: Persian"), TWO_NORMAL,
         "move moonblast +2"),
        # Earthquake takes more from Muk than from the opponents, which fly or have Levitate.
        (("earthquake", "tackle"), ("protect",), (), ("Gyarados", "Rotom"), "move tackle +1"),
        # Rotom's Levitate is known from its species.
        (("earthpower", "tackle"), ("protect",), (), ("Rotom", "Gyarados"), "move tackle +2"),
        # Lightning Rod draws what is aimed at the other, and is hit by none of it.
        (("thunderbolt", "bubblebeam"), ("protect",), ("|-ability|p2b: Togedemaru|Lightning Rod",), ("Tauros", "Togedemaru"),
         "move bubblebeam +"),
        (("thunderbolt", "bubblebeam"), ("protect",), (), ("Tauros", "Snorlax"), "move thunderbolt +"),
    ],
)  # fmt: skip
def test_the_first_slot_takes_the_most(
    first: tuple[str, ...], second: tuple[str, ...], lines: tuple[str, ...], opponents: tuple[str, str], choice: str
) -> None:
    assert chosen(first, second, *lines, opponents=opponents).startswith(choice)


def test_both_do_not_hit_what_one_of_them_knocks_out() -> None:
    """Either opponent has few HP left: each slot finishes one."""
    lines = ("|-damage|p2a: Persian|30/100", "|-damage|p2b: Tauros|20/100")
    first, second = chosen(("psychic",), ("sludgebomb",), *lines).split(", ")
    assert {first[-2:], second[-2:]} == {"+1", "+2"}


def test_an_unseen_guard_does_not_stop_it() -> None:
    """Who has used Wide Guard in the turn before has it no more."""
    lines = ("|-singleturn|p2a: Persian|Wide Guard", "|upkeep", "|turn|2")
    assert chosen(("dazzlinggleam", "moonblast"), ("protect",), *lines).startswith("move dazzlinggleam")
