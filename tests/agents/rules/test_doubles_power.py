"""max-power in doubles: who is hit, and for how much."""

from __future__ import annotations

import random

import pytest
from support.double_requests import double_battle

from agents.rules.simple_players import MaxPower


def chosen(first: tuple[str, ...], second: tuple[str, ...], *lines: str) -> str:
    """The choice of max-power where our two have these moves."""
    agent = MaxPower()
    agent.rng = random.Random(1)
    return agent.act(double_battle(first, second, *lines)).label


@pytest.mark.parametrize(
    ("first", "lines", "choice"),
    [
        (("heatwave", "hydropump"), (), "move heatwave"),  # 2 x 0.75 x 95 against 110
        (("surf", "hydropump"), (), "move hydropump"),  # Surf hits its ally, too: 0.75 x 90
        (("surf", "watergun"), (), "move surf"),  # 67.5 against 40
        (("explosion", "hydropump"), (), "move explosion"),  # 187.5 against 110
        (("heatwave", "hydropump"), ("|-damage|p2a: Onix|0 fnt", "|faint|p2a: Onix"), "move hydropump +2"),
        (("watergun", "protect"), ("|-damage|p2b: Abra|10/100",), "move watergun +2"),
        (("watergun", "protect"), ("|-damage|p2a: Onix|10/100",), "move watergun +1"),
    ],
)
def test_the_first_slot_uses_the_most_power(first: tuple[str, ...], lines: tuple[str, ...], choice: str) -> None:
    assert chosen(first, ("protect",), *lines).partition(", ")[0].startswith(choice)


def test_it_attacks_with_both() -> None:
    first, second = chosen(("hydropump", "protect"), ("heatwave", "protect")).split(", ")
    assert first in ("move hydropump +1", "move hydropump +2") and second == "move heatwave"
