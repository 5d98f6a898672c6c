"""Files as metamon writes them: from a side of a battle, as its environment keeps them, or made by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from poke_env.battle.pokemon import Pokemon

from agents.battle import SeatBattle
from arena.record import unpacked
from training.data.from_store import StoredSide
from training.data.trajectory import decision_points

_BOOSTS = ("atk", "spa", "def", "spd", "spe", "accuracy", "evasion")


def write(path: Path, states: Sequence[dict[str, Any]], actions: Sequence[int]) -> Path:
    """A file of metamon's; skips where lz4 is not installed."""
    frame = pytest.importorskip("lz4.frame")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(frame.compress(json.dumps({"states": list(states), "actions": list(actions)}).encode()))
    return path


def move(name: str, pp: int = 16, most: int = 16) -> dict[str, Any]:
    return {
        "name": name, "move_type": "normal", "category": "physical", "base_power": 80, "accuracy": 1.0, "priority": 0,
        "current_pp": pp, "max_pp": most,
    }  # fmt: skip


def mon(name: str, *moves: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A Pokémon that is well and of which nothing is known but its moves, unless `more` says it."""
    told = {
        "name": name, "base_species": name, "hp_pct": 1.0, "types": "normal notype", "tera_type": "notype",
        "item": "unknownitem", "ability": "unknownability", "lvl": 100, "status": "nostatus", "effect": "noeffect",
        "moves": list(moves),
    }  # fmt: skip
    boosts = {f"{stat}_boost": 0 for stat in _BOOSTS}
    stats = {f"base_{stat}": 80 for stat in ("atk", "spa", "def", "spd", "spe", "hp")}
    return {**told, **boosts, **stats, **more}


def state(ours: dict[str, Any], theirs: dict[str, Any], bench: Sequence[dict[str, Any]], **more: Any) -> dict[str, Any]:
    told = {
        "format": "gen9ou", "player_active_pokemon": ours, "opponent_active_pokemon": theirs,
        "available_switches": list(bench), "player_prev_move": move("nomove"), "opponent_prev_move": move("nomove"),
        "opponents_remaining": 6, "player_conditions": "noconditions", "opponent_conditions": "noconditions",
        "weather": "noweather", "battle_field": "nofield", "forced_switch": False, "battle_won": False,
        "battle_lost": False, "can_tera": True, "opponent_teampreview": [],
    }  # fmt: skip
    return {**told, **more}


def from_side(side: StoredSide) -> tuple[list[dict[str, Any]], list[int]]:
    """The states and actions of a side of a stored battle, with the end."""
    states, actions = [], []
    for battle, words in zip(decision_points(side.seat, side.format, unpacked(side.log)), side.choices, strict=False):
        if not battle.last_request.get("teamPreview"):
            states.append(_state(battle))
            actions.append(_action(states[-1], words))
    return [*states, states[-1] | {"battle_won": side.score == 1, "battle_lost": side.score < 1}], [*actions, -1]


def _state(battle: SeatBattle) -> dict[str, Any]:
    ours, theirs = battle.active_pokemon, battle.opponent_active_pokemon
    assert ours is not None and theirs is not None
    reviving = any(entry.get("reviving") for entry in battle.last_request["side"]["pokemon"])
    bench = [_mon(each) for each in battle.team.values() if not each.active and each.fainted == reviving]
    return state(
        _mon(ours),
        _mon(theirs),
        bench,
        format=battle.format_id,
        player_prev_move=move(ours.last_move.id if ours.last_move else "nomove"),
        opponent_prev_move=move(theirs.last_move.id if theirs.last_move else "nomove"),
        opponents_remaining=6 - sum(each.fainted for each in battle.opponent_team.values()),
        player_conditions=_latest(battle.side_conditions, "noconditions"),
        opponent_conditions=_latest(battle.opponent_side_conditions, "noconditions"),
        weather=_latest(battle.weather, "noweather"),
        battle_field=_latest(battle.fields, "nofield"),
        forced_switch=bool(battle.last_request.get("forceSwitch")),
        can_tera=bool(battle.can_tera),
        opponent_teampreview=[each.base_species for each in battle.teampreview_opponent_team],
    )


def _mon(each: Pokemon) -> dict[str, Any]:
    kinds = [kind.name.lower() for kind in each.types]
    shown = min(each.effects, key=lambda effect: each.effects[effect]) if each.effects else None
    item = {None: "noitem", "": "noitem", "unknown_item": "unknownitem"}.get(each.item, each.item)
    return mon(
        each.species,
        *(move(one.id, one.current_pp, one.max_pp) for one in list(each.moves.values())[:4]),
        base_species=each.base_species,
        hp_pct=float(each.current_hp_fraction),
        types=" ".join(sorted([*kinds, "notype"][:2])),
        tera_type=each.tera_type.name.lower() if each.tera_type else "notype",
        item="noitem" if each.gen == 1 else item,
        ability=each.ability or "unknownability",
        lvl=each.level,
        status=each.status.name.lower() if each.status else "nostatus",
        effect=_letters(shown.name) if shown else "noeffect",
        **{f"{stat}_boost": each.boosts[stat] for stat in _BOOSTS},
    )


def _latest(held: dict[Any, int], nothing: str) -> str:
    """Of several conditions metamon tells one: by the turn of its start, or by its layers."""
    return _letters(max(held, key=lambda each: held[each]).name) if held else nothing


def _letters(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalpha())


def _action(told: dict[str, Any], words: str | None) -> int:
    kind, _, rest = (words or "").partition(" ")
    name, _, extra = rest.partition(" ")
    if kind == "switch":
        return 4 + sorted(each["name"] for each in told["available_switches"]).index(name)
    moves = sorted(each["name"] for each in told["player_active_pokemon"]["moves"])
    if kind == "move":
        return 0 if name in ("recharge", "struggle", "fight") else moves.index(name) + (9 if extra else 0)
    return -1
