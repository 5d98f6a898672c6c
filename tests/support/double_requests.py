"""Requests of doubles made by hand, for the tests of players."""

from __future__ import annotations

import random
from typing import Any

from agents import SeatDoubleBattle
from agents.mechanics.moves import move_facts

#: Our team at a team preview: each with the move that it has besides Protect.
TEAM_MOVES = {
    "Raichu": "thunderbolt", "Luxray": "thunderfang", "Charizard": "flamethrower", "Torkoal": "flamethrower",
    "Venusaur": "energyball", "Steelix": "earthquake",
}  # fmt: skip


def double_battle(
    first: tuple[str, ...], second: tuple[str, ...], *lines: str, opponents: tuple[str, str] = ("Onix", "Abra")
) -> SeatDoubleBattle:
    """Return a battle of gen9doublesou: our Hypno and Muk (Mew behind them) are asked for one of these moves each."""
    battle = SeatDoubleBattle("battle-1", "Ann", "p1", 9, "gen9doublesou", random.Random(0))

    def entry(name: str, slot: int, moves: tuple[str, ...]) -> dict[str, Any]:
        stats = dict.fromkeys(("atk", "def", "spa", "spd", "spe"), 100)
        return {
            "ident": f"p1: {name}", "details": f"{name}, L50", "condition": "100/100", "active": slot < 2, "stats": stats,
            "moves": list(moves), "baseAbility": "insomnia", "ability": "insomnia", "item": "", "pokeball": "pokeball",
        }  # fmt: skip

    team = [entry("Hypno", 0, first), entry("Muk", 1, second), entry("Mew", 2, ("protect",))]
    side = {"name": "Ann", "id": "p1", "pokemon": team}
    battle.ask({"wait": True, "side": side})
    one, other = opponents
    battle.feed([
        "|gametype|doubles", "|switch|p1a: Hypno|Hypno, L50|100/100", "|switch|p1b: Muk|Muk, L50|100/100",
        f"|switch|p2a: {one}|{one}, L50|100/100", f"|switch|p2b: {other}|{other}, L50|100/100", "|turn|1", *lines,
    ])  # fmt: skip
    active = [{"moves": [_listed(move) for move in moves]} for moves in (first, second)]
    battle.ask({"active": active, "side": side})
    return battle


def _listed(move: str) -> dict[str, Any]:
    return {"move": move, "id": move, "pp": 10, "maxpp": 10, "target": move_facts(move, 9).target}


def previewed(format_id: str, theirs: tuple[str, ...], brought: int | None) -> SeatDoubleBattle:
    """A battle at its team preview: ours are those of TEAM_MOVES. brought: how many are, None for all."""
    battle = SeatDoubleBattle("battle-1", "Ann", "p1", 9, format_id, random.Random(0))
    team = [
        {
            "ident": f"p1: {name}", "details": f"{name}, L50", "condition": "150/150", "active": False, "item": "",
            "stats": dict.fromkeys(("atk", "def", "spa", "spd", "spe"), 100), "moves": [move, "protect"],
            "baseAbility": "insomnia", "ability": "insomnia", "pokeball": "pokeball",
        }
        for name, move in TEAM_MOVES.items()
    ]  # fmt: skip
    battle.feed([
        "|gametype|doubles", "|clearpoke", *(f"|poke|p1|{name}, L50|" for name in TEAM_MOVES),
        *(f"|poke|p2|{name}, L50|" for name in theirs), "|teampreview",
    ])  # fmt: skip
    request: dict[str, Any] = {"teamPreview": True, "side": {"name": "Ann", "id": "p1", "pokemon": team}}
    battle.ask(request if brought is None else {**request, "maxChosenTeamSize": brought})
    return battle
