"""What a seat has been shown as words (agents/engine/gen9/src/shown/shown.h), from a SeatBattle that has read the lines."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from poke_env.battle.effect import Effect
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.status import Status
from poke_env.battle.weather import Weather
from poke_env.data import GenData

from agents.battle import SeatBattle
from agents.engine.gen9.layout import SHOWN
from agents.engine.gen9.requests import members_of
from agents.engine.gen9.teams import NUMBERS
from agents.observation.gen9_facts import SPECIES, TYPES
from agents.observation.packed_tokens import CONDITIONS
from agents.observation.pokemon_tokens import EFFECTS

_STATS = ("atk", "def", "spa", "spd", "spe", "accuracy", "evasion")
_FAINTED = _UNKNOWN = _ABSENT = -1
#: Bits of effects that the observation reads, and Roost.
_BITS = {effect: bit for bit, effect in enumerate((*EFFECTS, Effect.ROOST))}


def name_ranks(packed: str) -> list[int]:
    """The order of a team's names, by place."""
    names = [member.name for member in members_of(packed)]
    return [sorted(names).index(name) for name in names]


def shown_of(battle: SeatBattle, numbers: tuple[dict[str, int], dict[str, int]], ranks: list[int]) -> NDArray[Any]:
    """The words [SHOWN] of a seat. numbers: of its own and of the other's Pokémon by their idents ("p1: Tauros")."""
    words = np.zeros((), SHOWN)
    words["turn"], words["parseWarnings"] = battle._turn, battle.parse_warnings
    for weather, since in battle._weather.items():
        if weather is not Weather.UNKNOWN:
            words["weather"], words["weatherSince"] = NUMBERS["conditions"][weather.name.lower()], since
    for n, (field, since) in enumerate(battle._fields.items()):
        name = field.name.lower().replace("_", "")
        words["fields"][n] = NUMBERS["abilities" if name == "neutralizinggas" else "conditions"][name]
        words["fieldsSince"][n] = since
    words["fieldCount"] = len(battle._fields)
    words["nameRank"][: len(ranks)] = ranks
    teams = battle._team, battle._opponent_team
    conditions = battle._side_conditions, battle._opponent_side_conditions
    tera = battle._used_tera, battle._opponent_used_tera
    for n in range(2):
        side = words["sides"][n]
        side["count"], side["usedTera"] = len(teams[n]), tera[n]
        side["conditions"] = [conditions[n].get(condition, _ABSENT) for condition in CONDITIONS]
        for place, (ident, mon) in enumerate(teams[n].items()):
            _put(side["pokemon"][place], mon, numbers[n][ident])
    return words


def _effect(kind: str, name: str | None) -> int:
    return NUMBERS[kind][name] if name else 0


def _put(words: Any, mon: Pokemon, number: int) -> None:
    words["pokemon"] = 1 + number
    words["species"], words["level"] = SPECIES.index(mon._species), mon._level
    words["weightSpecies"] = next(
        n for n, name in enumerate((mon._species, *SPECIES)) if _weight(name) == mon._weightkg
    )
    words["weightSpecies"] = words["species"] if words["weightSpecies"] == 0 else words["weightSpecies"] - 1
    words["hp"], words["maxhp"] = mon._current_hp or 0, mon._max_hp or 0
    if mon._status is not None:
        words["status"] = _FAINTED if mon._status is Status.FNT else NUMBERS["conditions"][mon._status.name.lower()]
    words["statusCounter"] = mon._status_counter
    words["item"] = _UNKNOWN if mon._item == GenData.UNKNOWN_ITEM else _effect("items", mon._item)
    words["ability"] = _effect("abilities", mon._ability)
    words["temporaryAbility"] = (
        _UNKNOWN if mon._temporary_ability == "" else _effect("abilities", mon._temporary_ability)
    )
    words["formeChangeAbility"] = _effect("abilities", mon._forme_change_ability)
    words["terastallized"] = mon._terastallized
    words["teraType"] = 1 + TYPES.index(mon._terastallized_type) if mon._terastallized_type else 0
    words["typeCount"] = len(mon._temporary_types)
    for n, kind in enumerate(mon._temporary_types):
        words["types"][n] = 1 + TYPES.index(kind)
    words["revealed"], words["active"], words["transformed"] = mon._revealed, mon._active, mon.transformed
    words["boosts"] = [mon._boosts[stat] for stat in _STATS]
    words["activeTurns"], words["mustRecharge"] = mon._active_turns, mon._must_recharge
    words["preparing"], words["protectCounter"] = mon.preparing, mon._protect_counter
    for effect in mon._effects:
        if effect in _BITS:
            words["effects"][_BITS[effect] // 32] |= 1 << _BITS[effect] % 32
    words["moveCount"] = len(mon.moves)
    for n, (name, move) in enumerate(mon.moves.items()):
        words["moves"][n] = NUMBERS["moves"][name], move._current_pp, move._is_last_used


def _weight(species: str) -> float:
    return float(GenData.from_gen(9).pokedex[species]["weightkg"])
