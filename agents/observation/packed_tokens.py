"""Tokens of an observation (agents/observation/observation.py): the field, a side, a move, as packed ids and features.

A token has IDS_PER_TOKEN int16 and FEATURES float32, in native byte order.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from struct import Struct
from typing import Any

from poke_env.battle.field import Field
from poke_env.battle.move import Move
from poke_env.battle.move_category import MoveCategory
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.side_condition import SideCondition
from poke_env.battle.status import Status
from poke_env.battle.weather import Weather
from poke_env.data import to_id_str

from agents.battle.choices import listed_move, split_power
from agents.battle.seat_view import SeatView
from agents.observation.estimates import health
from agents.observation.vocabulary import move_name, vocabulary

CONDITIONS = (
    SideCondition.SPIKES, SideCondition.STEALTH_ROCK, SideCondition.TOXIC_SPIKES, SideCondition.STICKY_WEB,
    SideCondition.REFLECT, SideCondition.LIGHT_SCREEN, SideCondition.AURORA_VEIL, SideCondition.TAILWIND,
    SideCondition.SAFEGUARD, SideCondition.MIST, SideCondition.LUCKY_CHANT,
)  # fmt: skip
# Enum members are singletons and slow to hash, so they are looked up by id().
_INDEX = {id(condition): index for index, condition in enumerate(CONDITIONS)}
_AGE_INDEX = {id(condition): index for index, condition in enumerate(CONDITIONS[4:8], len(CONDITIONS))}
_LAYERS = frozenset(map(id, (SideCondition.SPIKES, SideCondition.TOXIC_SPIKES)))
_TERRAINS = 4
# Layouts of the tokens, with padding.
_FIELD_IDS, _FIELD = Struct("=6h12x").pack, Struct("=10f184x").pack
_SIDE_ID, _SIDE = Struct("=h22x").pack, Struct("=20f144x").pack
_MOVE_IDS, _CURRENT, _FIXED = Struct("=3h18x").pack, Struct("=9f").pack, Struct("=13f136x").pack
_CATEGORIES = {MoveCategory.PHYSICAL: "physical", MoveCategory.SPECIAL: "special", MoveCategory.STATUS: "status"}


def field_token(battle: SeatView, request: dict[str, Any], trapped: bool, can_tera: Any) -> tuple[bytes, bytes]:
    """Return ids (generation, weather, terrains and rooms) and features of the field.

    trapped, can_tera: poke-env's, of the Pokémon that decides.
    """
    turn, since, fields, weather, terrains = battle._turn, battle._weather, battle._fields, None, []
    if since:
        weather = next((w for w in since if w is not Weather.UNKNOWN), None)
    if fields:
        terrains = [field for field in fields if field is not Field.UNKNOWN][:_TERRAINS]
    features = _FIELD(
        min(turn, 100) / 100,
        1.0 / (1 + turn),
        (turn - since[weather]) / 8 if weather is not None else 0.0,
        bool(request.get("forceSwitch")),
        bool(trapped),
        bool(can_tera),
        *[(turn - fields[field]) / 8 for field in terrains],
        *(0.0,) * (_TERRAINS - len(terrains)),
    )
    return _field_ids(battle._gen, weather, *terrains), features


@lru_cache(maxsize=8192)
def _field_ids(gen: int, weather: Weather | None, *terrains: Field) -> bytes:
    names = vocabulary()
    weathers, fields = names.region("weathers"), names.region("fields")
    return _FIELD_IDS(
        names.region("gens")[str(gen)],
        weathers.none if weather is None else weathers[weather.name.lower()],
        *(fields[field.name.lower()] for field in terrains),
        *(0,) * (_TERRAINS - len(terrains)),
    )


def side_token(
    conditions: dict[SideCondition, int], turn: int, team: Collection[Pokemon], active: Pokemon | None, used_tera: bool
) -> tuple[bytes, bytes]:
    """Return ids (last move) and features of a side: conditions, ages of temporary ones, numbers of able Pokémon, HP."""
    values = [0.0] * (len(CONDITIONS) + len(_AGE_INDEX))
    for condition, value in conditions.items():
        key = id(condition)
        index = _INDEX.get(key)
        if index is not None:
            values[index] = value / 3 if key in _LAYERS else 1.0
            if key in _AGE_INDEX:
                values[_AGE_INDEX[key]] = (turn - value) / 8
    known, standing, total_hp = len(team), 0, 0.0
    for mon in team:
        if mon._status is not Status.FNT:
            standing += 1
            total_hp += health(mon)
    last = active.last_move if active is not None else None
    features = _SIDE(*values, standing / 6, known / 6, (known - standing) / 6, total_hp / 6, used_tera)
    return _last_move("" if last is None else last.id), features


def move_token(listed: dict[str, Any], gen: int, estimated: tuple[float, ...]) -> tuple[bytes, bytes]:
    """Return ids and features of our move. listed: its entry in the request. estimated: see `estimates.of_move`."""
    ids, fixed = _facts(listed_move(listed), gen)
    pp, max_pp = listed.get("pp"), listed.get("maxpp")
    pp_left = pp / max_pp if pp is not None and max_pp else 1.0
    return ids, _CURRENT(1.0, bool(listed.get("disabled")), pp_left, *estimated) + fixed


@lru_cache(maxsize=8192)
def _last_move(name: str) -> bytes:
    moves = vocabulary().region("last_moves")
    return _SIDE_ID(moves[move_name(name)] if name else moves.none)


def _raises_itself(move: Move) -> bool:
    """Return whether a move changes its user's stats. poke-env fails for Diamond Storm in generation 6 ("self": None)."""
    return move.entry.get("self", {}) is not None and bool(move.self_boost)


@lru_cache(maxsize=8192)
def _facts(name: str, gen: int) -> tuple[bytes, bytes]:
    """Return a move's ids (move, type, category) and its constant features; zeros for "recharge" and the like."""
    names = vocabulary()
    move_id = names.region("moves")[move_name(name)]
    plain, power = split_power(to_id_str(name))
    try:
        move = Move(plain, gen=gen)
        fixed = _FIXED(
            (power or move.base_power) / 150,
            move.accuracy,
            move.priority / 5,
            move.expected_hits / 5,
            move.recoil,
            move.drain,
            move.heal,
            bool(move.self_switch),
            bool(move.force_switch),
            move.status is not None,
            bool(move.boosts or _raises_itself(move)),
            move.self_destruct is not None,
            len(move.secondary) > 0,
        )
        types, category = names.region("types"), _CATEGORIES[move.category]
        kind = types.unknown if plain == "hiddenpower" else types[move.type.name.lower()]
        return _MOVE_IDS(move_id, kind, names.region("categories")[category]), fixed
    except (KeyError, ValueError):
        return _MOVE_IDS(move_id, 0, 0), _FIXED(*(0.0,) * 13)
