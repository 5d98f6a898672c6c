"""Proves that the generation-9 engine keeps what each seat has been shown as SeatBattle has it from the protocol.

Battles are played on the engine; at each decision of each seat all words of agents/engine/gen9/src/shown/shown.h that name
something of SeatBattle must be equal to it. Differences are shown by their place; then the exit code is 1.

    python scripts/parity/gen9_shown_parity.py --battles 200 --seed 1 --teams ring1 --policy random

--teams: random, ring1, ring2 or team sets, as of gen9_parity.py; odd: of what seats read by more than one line. --policy: as
described at gen9_seats.POLICIES.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import gen9_seats
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.status import Status
from poke_env.data import GenData, to_id_str

from agents.battle import SeatBattle
from agents.engine.gen9.layout import CONSTANTS, EFFECTS, SHOWN, SIDE_CONDITIONS
from agents.engine.gen9.requests import members_of
from agents.engine.gen9.teams import IDS, SPECIES
from agents.engine.gen9.teams import TYPES as TYPE_NAMES

_UNKNOWN, _FAINTED, _ABSENT = -1, CONSTANTS["SHOWN_FAINTED"], CONSTANTS["SHOWN_ABSENT"]
_SPECIES = {number: name for name, number in SPECIES.items()}
_TYPES = {0: None} | {n: name.upper() for n, name in enumerate([*TYPE_NAMES, "THREE_QUESTION_MARKS"], 1)}
_STATS = ("atk", "def", "spa", "spd", "spe", "accuracy", "evasion")
Facts = dict[str, Any]


def kept(shown: Any, names: tuple[list[str], list[str]]) -> Facts:
    """What the engine keeps for a seat, in poke-env's words. names: of its own and of the other's Pokémon, by place."""
    facts: Facts = {
        "turn": shown["turn"],
        "weather": (IDS.get(shown["weather"]), shown["weatherSince"]),
        "fields": [(IDS[shown["fields"][n]], shown["fieldsSince"][n]) for n in range(shown["fieldCount"])],
        "parse warnings": shown["parseWarnings"],
    }
    for n, (side, whose) in enumerate(zip(shown["sides"], names, strict=True)):
        place = ("ours", "theirs")[n]
        facts[f"{place} used tera"] = bool(side["usedTera"])
        conditions = zip(SIDE_CONDITIONS, side["conditions"].tolist(), strict=True)
        facts[f"{place} conditions"] = {name: value for name, value in conditions if value != _ABSENT}
        known = side["pokemon"][: side["count"]]
        facts[f"{place} order"] = [whose[(mon["pokemon"] - 1) % 6] for mon in known]
        for mon in known:
            name = whose[(mon["pokemon"] - 1) % 6]
            facts |= {f"{place} {name}: {field}": value for field, value in kept_of(mon).items()}
    return facts


def kept_of(mon: Any) -> Facts:
    """What the engine keeps of a Pokémon, in poke-env's words."""
    bits = mon["effects"].tolist()
    return {
        "species": _SPECIES[int(mon["species"])],
        "level": mon["level"],
        "weight": GenData.from_gen(9).pokedex[_SPECIES[int(mon["weightSpecies"])]]["weightkg"],
        "hp": (mon["hp"], mon["maxhp"]),
        "status": "fnt" if mon["status"] == _FAINTED else IDS.get(int(mon["status"])),
        "status counter": mon["statusCounter"],
        "item": "unknown_item" if mon["item"] == _UNKNOWN else IDS.get(int(mon["item"])),
        "ability": IDS.get(int(mon["ability"])),
        "temporary ability": "" if mon["temporaryAbility"] == _UNKNOWN else IDS.get(int(mon["temporaryAbility"])),
        "ability of its forme": IDS.get(int(mon["formeChangeAbility"])),
        "tera": (bool(mon["terastallized"]), _TYPES[int(mon["teraType"])]),
        "types": [_TYPES[kind] for kind in mon["types"].tolist()[: mon["typeCount"]]],
        "revealed, active, transformed": [bool(mon[name]) for name in ("revealed", "active", "transformed")],
        "boosts": dict(zip(_STATS, mon["boosts"].tolist(), strict=True)),
        "active turns": mon["activeTurns"],
        "must recharge, preparing": [bool(mon[name]) for name in ("mustRecharge", "preparing")],
        "protect counter": mon["protectCounter"],
        "effects": {name for n, name in enumerate(EFFECTS) if bits[n // 32] >> n % 32 & 1},
        "moves": [
            (IDS[int(move["id"])], int(move["pp"]), bool(move["lastUsed"])) for move in mon["moves"][: mon["moveCount"]]
        ],
    }


def read(battle: SeatBattle) -> Facts:
    """The same of a SeatBattle."""
    weather = next(iter(battle._weather.items()), None)
    facts: Facts = {
        "turn": battle.turn,
        "weather": (None, 0) if weather is None else (to_id_str(weather[0].name), weather[1]),
        "fields": [(to_id_str(field.name), since) for field, since in battle._fields.items()],
        "parse warnings": battle.parse_warnings,
    }
    sides: tuple[tuple[str, dict[str, Pokemon], bool, dict[Any, int]], ...] = (
        ("ours", battle._team, battle._used_tera, battle._side_conditions),
        ("theirs", battle._opponent_team, battle._opponent_used_tera, battle._opponent_side_conditions),
    )
    for place, team, used_tera, conditions in sides:
        facts[f"{place} used tera"] = used_tera
        facts[f"{place} conditions"] = {condition.name: value for condition, value in conditions.items()}
        facts[f"{place} order"] = [ident[4:] for ident in team]
        for ident, mon in team.items():
            facts |= {f"{place} {ident[4:]}: {field}": value for field, value in read_of(mon).items()}
    return facts


def read_of(mon: Pokemon) -> Facts:
    """The same of a Pokémon."""
    tera, status = mon._terastallized_type, mon._status
    return {
        "species": mon._species,
        "level": mon._level,
        "weight": mon._weightkg,
        "hp": (mon._current_hp, mon._max_hp),
        "status": None if status is None else "fnt" if status is Status.FNT else status.name.lower(),
        "status counter": mon._status_counter,
        "item": mon._item or None,
        "ability": mon._ability,
        "temporary ability": mon._temporary_ability,
        "ability of its forme": mon._forme_change_ability,
        "tera": (mon._terastallized, None if tera is None else tera.name),
        "types": [kind.name for kind in mon._temporary_types],
        "revealed, active, transformed": [mon._revealed, mon._active, mon.transformed],
        "boosts": {stat: mon._boosts[stat] for stat in _STATS},
        "active turns": mon._active_turns,
        "must recharge, preparing": [mon._must_recharge, mon.preparing],
        "protect counter": mon._protect_counter,
        "effects": {effect.name for effect in mon._effects},
        "moves": [(name, move._current_pp, move._is_last_used) for name, move in mon.moves.items()],
    }


def differences(expected: Facts, actual: Facts) -> Iterator[tuple[str, str]]:
    """Yields (place, both values) of each difference."""
    for place in {**expected, **actual}:
        one, two = expected.get(place), actual.get(place)
        if one != two:
            yield place, f"{one} by the protocol, {two} by the engine"


def compare(battles: gen9_seats.SeatedBattles) -> Iterator[tuple[int, str, str]]:
    """Compares what the seats that are asked have been shown."""
    shown = battles.engine.shown.view(SHOWN)[:, :, 0]
    for n, (row, seat, battle, _) in enumerate(battles.pending):
        names = [[member.name for member in members_of(packed)] for packed in battles.teams[row]]
        for place, what in differences(read(battle), kept(shown[row, seat], (names[seat], names[1 - seat]))):
            yield n, place, what


if __name__ == "__main__":
    sys.exit(gen9_seats.main(__doc__, compare))
