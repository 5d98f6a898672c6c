"""Conversion of metamon's names to Showdown's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from functools import cache
from typing import Any

from poke_env.battle.effect import Effect
from poke_env.battle.field import Field
from poke_env.battle.side_condition import SideCondition
from poke_env.battle.weather import Weather
from poke_env.data import GenData, to_id_str

from arena.replays.reading import UnusableReplay
from arena.replays.revealed import Shown, base_name

#: A part of metamon's JSON: a state, a Pokémon or a move.
State = dict[str, Any]
#: Metamon's names for "none".
NOTHING = frozenset(
    {"notype", "noitem", "noability", "noeffect", "noconditions", "noweather", "nofield", "nostatus", ""}
)
UNKNOWN = frozenset({"unknownitem", "unknownability"})
#: Effects whose protocol lines need details that metamon lacks, or that are no effects.
_UNSUPPORTED = frozenset({"mimic", "typechange", "transform", "trick", "skillswap", "dynamax"})
_HIDDEN_POWER = "hiddenpower"
_NOT_LETTERS = re.compile(r"[^a-z]")
# Formes that team preview does not show.
_HIDDEN_FORMES = frozenset({
    "arceus", "genesect", "gourgeist", "greninja", "pumpkaboo", "silvally", "urshifu", "xerneas", "zacian", "zamazenta",
})  # fmt: skip


def letters(name: str) -> str:
    """Return a name as metamon writes it: its letters, in lower case."""
    return _NOT_LETTERS.sub("", name.lower())


@cache
def _named(members: type[Enum]) -> dict[str, str]:
    """Return metamon's name of an enum member (letters only) -> the member's name in poke-env."""
    names: dict[str, str] = {}
    for name in sorted(members.__members__, key=len):
        names.setdefault(letters(name), name)
    return names | {"perish": "PERISH3"}


def effect_name(name: str) -> str | None:
    """Return an effect's name in protocol lines; None if it cannot be written."""
    return None if name in _UNSUPPORTED else _named(Effect).get(name)


def condition_name(name: str) -> str | None:
    """Return the name of a side's or the field's condition in protocol lines."""
    return _named(SideCondition).get(name) or _named(Field).get(name)


def weather_name(name: str) -> str:
    """Return the weather's name in protocol lines; "none" for none."""
    return _named(Weather).get(name, "none")


class Dex:
    """Names of a generation's species and moves."""

    def __init__(self, gen: int) -> None:
        self.gen = gen
        self._species = GenData.from_gen(gen).pokedex
        self._moves = GenData.from_gen(gen).moves

    def base(self, mon: State) -> str:
        """Return the id of its base species, which identifies a Pokémon in its team. Raises UnusableReplay."""
        name = str(mon["name"])
        facts = self._species.get(name) or self._species.get(str(mon.get("base_species", "")))
        if facts is None:
            raise UnusableReplay("a Pokémon that its generation does not have")
        return to_id_str(facts["baseSpecies"])

    def species(self, mon: State) -> str:
        """Return the forme's name ("Landorus-Therian")."""
        return str(self._species.get(str(mon["name"]), self._species[self.base(mon)])["name"])

    def nickname(self, mon: State) -> str:
        return base_name(self.base(mon), self.gen)

    def details(self, mon: State) -> str:
        level = int(mon.get("lvl", 100))
        return self.species(mon) + (f", L{level}" if level != 100 else "")

    def previewed(self, name: str, seen: State | None) -> str:
        """Return an opponent's details at team preview. name: of its base species; seen: its first state, if any."""
        mon = {"name": name} if seen is None or name in _HIDDEN_FORMES else seen
        if "battleOnly" in self._species.get(str(mon["name"]), {}):
            mon = {**mon, "name": name}
        return self.details(mon)

    def shown(self, mon: State, role: str) -> Shown:
        """Return what is known of one of our own Pokémon, for sampling the rest."""
        item, ability, tera = str(mon["item"]), str(mon["ability"]), str(mon.get("tera_type", "notype"))
        return Shown(
            ident=f"{role}: {self.nickname(mon)}",
            details=self.details(mon),
            species=to_id_str(self.species(mon)),
            level=int(mon["lvl"]),
            moves=[_typed(move) for move in mon["moves"][:4]],
            item=None if item in UNKNOWN else "" if item in NOTHING else item,
            ability="" if ability in NOTHING | UNKNOWN else ability,
            tera="" if tera in NOTHING else tera.capitalize(),
        )

    def move_name(self, move: str) -> str:
        return str(self._moves.get(move, {}).get("name", move))

    def has_flag(self, move: str, flag: str) -> bool:
        """Return whether a move has a flag: "recharge" (its user must recharge), "charge" (it has a charging turn)."""
        return flag in self._moves.get(move, {}).get("flags", {})

    def terastallized(self, mon: State, theirs: bool) -> bool:
        """Return whether a Pokémon is terastallized: it has its tera type only, and not by species."""
        tera, types = str(mon.get("tera_type", "notype")), set(str(mon["types"]).split()) - NOTHING
        own = {to_id_str(kind) for kind in self._species.get(str(mon["name"]), {}).get("types", ())}
        base, name = self.base(mon), str(mon["name"])
        if base in ("ogerpon", "terapagos"):  # their formes show it
            return name.endswith("tera") or name == "terapagosstellar"
        return self.gen == 9 and tera not in NOTHING and types == {tera} and (theirs or types != own)


def untype_hidden_power(moves: Iterable[State]) -> None:
    """Rename Hidden Power in place as in logs: "hiddenpower", with the type in `move_type` only."""
    for move in moves:
        name = str(move["name"])
        if name.startswith(_HIDDEN_POWER):
            kind = name.removeprefix(_HIDDEN_POWER).rstrip("0123456789")
            move["name"], move["move_type"] = _HIDDEN_POWER, kind or move.get("move_type", "notype")


def _typed(move: State) -> str:
    """Return the id of one of our own moves, Hidden Power with its type if known ("normal" means unknown)."""
    name, kind = str(move["name"]), str(move.get("move_type", "notype"))
    return name + kind if name == _HIDDEN_POWER and kind not in NOTHING | {"normal"} else name
