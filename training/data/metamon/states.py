"""A seat's battle as metamon describes it: its state at a decision, and the number of its action.

The names, orders and defaults are those of metamon's UniversalState (tests/training/data/test_metamon_export.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poke_env.battle.effect import Effect
from poke_env.battle.move import Move
from poke_env.battle.pokemon import Pokemon
from poke_env.data import to_id_str

from agents.battle import SeatBattle
from training.data.metamon.names import State, letters

#: metamon's action of a choice that is not known, and of the end of a battle.
UNKNOWN_ACTION = -1
_STATS = ("atk", "spa", "def", "spd", "spe", "hp")
_BOOSTS = ("atk", "spa", "def", "spd", "spe", "accuracy", "evasion")
_CONTINUED = ("recharge", "struggle", "fight")
NO_MOVE: State = {
    "name": "nomove", "move_type": "nomove", "category": "nomove", "base_power": 0, "accuracy": 1.0, "priority": 0,
    "current_pp": 0, "max_pp": 0,
}  # fmt: skip


def state_of(battle: SeatBattle) -> State:
    """Return metamon's state of a battle at a request for a move or a switch."""
    theirs, asked = battle.opponent_active_pokemon, battle.last_request
    entries = {entry["ident"]: entry for entry in asked["side"]["pokemon"]}
    own = {ident: _own(battle, mon, entries[ident]) for ident, mon in battle.team.items() if ident in entries}
    active = next(ident for ident, mon in battle.team.items() if mon.active)
    listed = [_move_name(move["id"]) for move in (asked.get("active") or [{}])[0].get("moves", ())]
    if listed and listed[0] not in _CONTINUED:  # Transform, Mimic, a move that goes on
        own[active]["moves"] = [move for move in own[active]["moves"] if move["name"] in listed] or own[active]["moves"]
    reviving = any(entry.get("reviving") for entry in entries.values())
    assert theirs is not None
    return {
        "format": battle.format_id,
        "player_active_pokemon": own[active],
        "opponent_active_pokemon": _theirs(battle, theirs),
        "available_switches": [
            own[ident]
            for ident, mon in battle.team.items()
            if ident in own and not mon.active and mon.fainted == reviving
        ],
        "player_prev_move": _previous(battle, battle.team[active]),
        "opponent_prev_move": _previous(battle, theirs),
        "opponents_remaining": 6 - sum(mon.fainted for mon in battle.opponent_team.values()),
        "player_conditions": _latest(battle.side_conditions, "noconditions"),
        "opponent_conditions": _latest(battle.opponent_side_conditions, "noconditions"),
        "weather": _latest(battle.weather, "noweather"),
        "battle_field": _latest(battle.fields, "nofield"),
        "forced_switch": bool(asked.get("forceSwitch")),
        "battle_won": False,
        "battle_lost": False,
        "can_tera": bool((asked.get("active") or [{}])[0].get("canTerastallize")),
        "opponent_teampreview": sorted(mon.base_species for mon in battle.teampreview_opponent_team),
    }


def action_of(state: State, choice: str | None) -> int:
    """Return metamon's action of a choice, by its label: 0-3 a move, 4-8 a switch, 9-12 a move with tera, -1 unknown."""
    kind, _, rest = (choice or "").partition(" ")
    name, _, extra = rest.partition(" ")
    if kind == "switch":
        names = sorted(mon["name"] for mon in state["available_switches"])
        return 4 + names.index(name) if name in names[:5] else UNKNOWN_ACTION
    moves = sorted(move["name"] for move in state["player_active_pokemon"]["moves"])
    if kind != "move":
        return UNKNOWN_ACTION
    if name in _CONTINUED:
        return 0
    name = _move_name(name)
    return moves.index(name) + (9 if extra == "terastallize" else 0) if name in moves else UNKNOWN_ACTION


def _own(battle: SeatBattle, mon: Pokemon, entry: dict[str, Any]) -> State:
    """Describe one of our own: item, ability and tera type are those of the request."""
    ability, item = entry["baseAbility"], entry["item"]
    return _pokemon(battle, mon) | {
        "item": letters(item) or "noitem",
        "ability": letters(ability) or "noability",
        "tera_type": entry.get("teraType", "notype").lower(),
    }


def _theirs(battle: SeatBattle, mon: Pokemon) -> State:
    item = (
        "noitem" if mon.item in (None, "") else "unknownitem" if mon.item == "unknown_item" else letters(str(mon.item))
    )
    ability = "noability" if mon.gen < 3 else letters(mon.ability) if mon.ability else "unknownability"
    return _pokemon(battle, mon) | {"item": item, "ability": ability}


def _pokemon(battle: SeatBattle, mon: Pokemon) -> State:
    shown = min(mon.effects, key=mon.effects.__getitem__) if mon.effects else None
    return {
        "name": mon.species,
        "hp_pct": float(mon.current_hp_fraction),
        "types": " ".join(sorted([*_types(battle, mon), "notype"][:2])),
        "item": "",
        "ability": "",
        "lvl": mon.level,
        "status": mon.status.name.lower() if mon.status else "nostatus",
        "effect": _effect(battle, mon, shown),
        "moves": [_move(move) for move in list(mon.moves.values())[:4]],
        **{f"{stat}_boost": mon.boosts[stat] for stat in _BOOSTS},
        **{f"base_{stat}": mon.base_stats[stat] for stat in _STATS},
        "tera_type": mon.tera_type.name.lower() if mon.tera_type else "notype",
        "base_species": mon.base_species,
    }


def _types(battle: SeatBattle, mon: Pokemon) -> list[str]:
    """Return the types. metamon forgets that a Pokémon is terastallized as it leaves."""
    if mon.is_terastallized:
        since = (
            line.split("|")
            for line in reversed(battle.lines)
            if line.startswith(("|switch|", "|drag|", "|-terastallize|"))
        )
        last = next((line[1] for line in since if _named(battle, line[2]) is mon), "switch")
        if not mon.active or last != "-terastallize":
            return [kind.name.lower() for kind in mon.base_types]
    return [kind.name.lower() for kind in mon.types]


def _effect(battle: SeatBattle, mon: Pokemon, effect: Effect | None) -> str:
    """Return the name of an effect; of Protosynthesis and Quark Drive with the stat that is raised."""
    if effect is None:
        return "noeffect"
    if effect in (Effect.PROTOSYNTHESIS, Effect.QUARK_DRIVE):
        started = (line.split("|") for line in reversed(battle.lines) if line.startswith("|-start|"))
        raised = (to_id_str(line[3]) for line in started if _named(battle, line[2]) is mon)
        return next((name for name in raised if name.startswith(letters(effect.name))), letters(effect.name))
    return letters(effect.name)


def _named(battle: SeatBattle, place: str) -> Pokemon | None:
    """Return the Pokémon of an identifier in a line ("p1a: Tauros")."""
    ident = place[:2] + place[3:]
    return battle.team.get(ident) or battle.opponent_team.get(ident)


def _move(move: Move) -> State:
    return {
        "name": _move_name(move.id),
        "move_type": move.type.name.lower(),
        "category": move.category.name.lower(),
        "base_power": move.base_power,
        "accuracy": move.accuracy,
        "priority": move.priority,
        "current_pp": move.current_pp,
        "max_pp": move.max_pp,
    }


def _previous(battle: SeatBattle, mon: Pokemon) -> State:
    """Return the last move that a Pokémon has used by itself, also before it left, with all its PP."""
    used = (
        line.split("|")
        for line in reversed(battle.lines)
        if line.startswith("|move|")
        and "|[from] ability: Magic Bounce" not in line
        and "|[from]ability: Magic Bounce" not in line
    )
    name = next((line[3] for line in used if _named(battle, line[2]) is mon), None)
    if name is None:
        return dict(NO_MOVE)
    move = _move(Move(to_id_str(name), gen=battle.gen))
    return {**move, "current_pp": move["max_pp"]}


def _move_name(name: str) -> str:
    """Return metamon's name of a move: letters only, Hidden Power without its type, Vise Grip by its newer spelling."""
    name = letters(name)
    return "hiddenpower" if name.startswith("hiddenpower") else {"vicegrip": "visegrip"}.get(name, name)


def _latest(held: Mapping[Any, int], nothing: str) -> str:
    """Return the name of the one condition of several that metamon shows: by the turn of its start, or its layers."""
    return letters(max(held, key=held.__getitem__).name) if held else nothing
