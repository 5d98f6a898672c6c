"""Showdown's requests, from the words of a battle: what a side is asked, and its own team as it stands."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from agents.engine.gen9.layout import CONSTANTS
from agents.engine.gen9.played import DATA
from agents.engine.gen9.teams import IDS, NUMBERS, TYPES, nickname, shown_details, to_id

MOVE, SWITCH = CONSTANTS["REQUEST_MOVE"], CONSTANTS["REQUEST_SWITCH"]
_CURSE, _REVIVAL_BLESSING = NUMBERS["moves"].get("curse"), NUMBERS["conditions"].get("revivalblessing")
_GHOST, _STELLAR = TYPES.index("Ghost"), TYPES.index("Stellar")
_SHOWN_AS_BASE = ("greninjabond", "rockruffdusk")
_STATS = ("atk", "def", "spa", "spd", "spe")
Request = dict[str, Any]


class Member(NamedTuple):
    """What the words do not hold of a Pokémon of a team. name: its nickname."""

    name: str
    shiny: bool
    pokeball: str


@functools.lru_cache(maxsize=16384)
def members_of(packed: str) -> tuple[Member, ...]:
    """Those of a packed team."""
    return tuple(_member(text.split("|")) for text in packed.split("]"))


def _member(fields: list[str]) -> Member:
    misc = [*(fields[11].split(",") if len(fields) > 11 else []), *[""] * 6]
    return Member(nickname(fields[0], fields[1]), fields[9] == "S", to_id(misc[2]) or "pokeball")


def _details(mon: Any, shiny: bool) -> str:
    species = DATA["species"][mon["baseSpecies"]]
    name = species["base" if species["id"] in _SHOWN_AS_BASE else "name"]
    return f"{shown_details(mon, name)}{', shiny' if shiny else ''}"


class Team:
    """A side's team as its requests show it. packed: the team. Entries are made anew where their Pokémon has changed."""

    def __init__(self, packed: str, seat: int) -> None:
        self._members, self._player = members_of(packed), f"p{seat + 1}"
        self._entries: dict[int, tuple[Any, Request]] = {}  # place in the team -> what it was made from, and the entry

    def request(self, side: Any) -> Request:
        """The team in its present order. side: a record of layout.SIDE."""
        places = [(number - 1) % 6 for number in side["order"].tolist()[: side["size"]]]
        revives = _has(side["slotConditions"][0], _REVIVAL_BLESSING)
        entries = [
            self._entry(side["pokemon"][place], place, not position, revives) for position, place in enumerate(places)
        ]
        return {"name": self._player, "id": self._player, "pokemon": entries}

    def _entry(self, mon: Any, place: int, first: bool, revives: bool) -> Request:
        state = mon.tobytes(), first, revives
        known = self._entries.get(place)
        if known is None or known[0] != state:
            entry = _entry(mon, self._members[place], self._player, first, revives)
            known = self._entries[place] = state, entry
        return known[1]


def _has(conditions: Any, effect: int | None) -> bool:
    return effect in conditions["list"]["id"].tolist()[: conditions["count"]]


def _entry(mon: Any, member: Member, player: str, first: bool, revives: bool) -> Request:
    hp, status, tera = int(mon["hp"]), IDS.get(int(mon["status"]), ""), int(mon["terastallized"])
    return {
        "ident": f"{player}: {member.name}",
        "details": _details(mon, member.shiny),
        "condition": f"{hp}/{mon['maxhp']}{' ' * bool(status)}{status}" if hp else "0 fnt",
        "active": first,
        "stats": dict(zip(_STATS, mon["baseStoredStats"].tolist(), strict=True)),
        "moves": [IDS[number] for number in mon["moveSlots"]["id"].tolist()[: mon["moveCount"]]],
        "baseAbility": IDS[int(mon["baseAbility"])],
        "item": IDS.get(int(mon["item"]), ""),
        "pokeball": member.pokeball,
        "ability": IDS.get(int(mon["ability"]), ""),
        "commanding": False,
        "reviving": bool(mon["isActive"]) and revives,
        "teraType": TYPES[mon["teraType"]],
        "terastallized": TYPES[tera - 1] if tera else "",
    }


def request(side: Any, team: Team, locked: int) -> Request | None:
    """What a side is asked; None if it waits. locked: the move (by number) that its active Pokémon is locked into, or 0."""
    if side["request"] == SWITCH:
        return {"forceSwitch": [True], "side": team.request(side)}
    if side["request"] == MOVE:
        return {"active": [_active(side, locked)], "side": team.request(side)}
    return None


def _active(side: Any, locked: int) -> Request:
    mon = side["pokemon"][(side["order"][0] - 1) % 6]
    if locked:
        name = IDS[locked]
        shown = "Recharge" if name == "recharge" else DATA["moves"][name][0]
        return {"moves": [{"move": shown, "id": name}], "trapped": True}
    tera = mon["terastallized"] - 1
    types = [tera] if tera >= 0 and tera != _STELLAR else side["active"][0]["types"].tolist()
    slots = [_slot(slot, _GHOST in types) for slot in mon["moveSlots"][: mon["moveCount"]]]
    struggles = all(slot["disabled"] for slot in slots)
    if struggles:
        slots = [{"move": "Struggle", "id": "struggle", "target": "randomNormal", "disabled": False}]
    asked: Request = {"moves": slots}
    if mon["maybeDisabled"]:
        asked["maybeDisabled"] = True
    if mon["maybeLocked"]:
        asked["maybeLocked"] = True
    bench = side["order"].tolist()[1 : side["size"]]
    if any(not side["pokemon"]["fainted"][(number - 1) % 6] for number in bench):
        if mon["trapped"] == 1:
            asked["trapped"] = True
        elif mon["maybeTrapped"]:
            asked["maybeTrapped"] = True
    if not struggles and mon["canTerastallize"] > 0:
        asked["canTerastallize"] = TYPES[mon["teraType"]]
    return asked


def _slot(slot: Any, ghost: bool) -> Request:
    number, pp = int(slot["id"]), int(slot["pp"])
    name, target, of_others = DATA["moves"][IDS[number]]
    return {
        "move": name,
        "id": IDS[number],
        "pp": pp,
        "maxpp": int(slot["maxpp"]),
        "target": of_others if number == _CURSE and not ghost else target,
        "disabled": bool(slot["disabled"] == 1 or pp <= 0),
    }
