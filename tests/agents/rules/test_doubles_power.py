"""max-power in doubles: who is hit, and for how much."""

from __future__ import annotations

import random
from typing import Any

import pytest

from agents import SeatDoubleBattle
from agents.rules.simple_players import MaxPower

TARGETS = {
    "hydropump": "normal", "surf": "allAdjacent", "heatwave": "allAdjacentFoes", "protect": "self", "watergun": "normal",
    "explosion": "allAdjacent",
}  # fmt: skip


def chosen(first: tuple[str, ...], second: tuple[str, ...], *lines: str) -> str:
    """The choice of max-power where our two have these moves."""
    battle = SeatDoubleBattle("battle-1", "Ann", "p1", 9, "gen9doublesou", random.Random(0))

    def entry(name: str, slot: int, moves: tuple[str, ...]) -> dict[str, Any]:
        stats = dict.fromkeys(("atk", "def", "spa", "spd", "spe"), 100)
        return {
            "ident": f"p1: {name}", "details": f"{name}, L50", "condition": "100/100", "active": slot < 2, "stats": stats,
            "moves": list(moves), "baseAbility": "insomnia", "ability": "insomnia", "item": "", "pokeball": "pokeball",
        }  # fmt: skip

    team = [entry("Hypno", 0, first), entry("Muk", 1, second), entry("Mew", 2, ("protect",))]
    battle.ask({"wait": True, "side": {"name": "Ann", "id": "p1", "pokemon": team}})
    battle.feed([
        "|gametype|doubles", "|switch|p1a: Hypno|Hypno, L50|100/100", "|switch|p1b: Muk|Muk, L50|100/100",
        "|switch|p2a: Onix|Onix, L50|100/100", "|switch|p2b: Abra|Abra, L50|100/100", "|turn|1", *lines,
    ])  # fmt: skip
    active = [
        {"moves": [{"move": move, "id": move, "pp": 10, "maxpp": 10, "target": TARGETS[move]} for move in moves]}
        for moves in (first, second)
    ]
    battle.ask({"active": active, "side": {"name": "Ann", "id": "p1", "pokemon": team}})
    agent = MaxPower()
    agent.rng = random.Random(1)
    return agent.act(battle).label


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
