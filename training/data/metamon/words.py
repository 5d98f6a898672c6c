"""Metamon's words in Showdown's."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import cache
from typing import Any

from poke_env.battle.effect import Effect
from poke_env.battle.field import Field
from poke_env.battle.side_condition import SideCondition
from poke_env.battle.weather import Weather
from poke_env.data import GenData, to_id_str

from arena.human.reading import Unusable
from arena.human.revealed import Shown, base_name

#: A part of metamon's JSON: a state, a Pokémon, a move.
Told = dict[str, Any]
#: What metamon writes where there is nothing, or nothing is known.
NOTHING = frozenset(
    {"notype", "noitem", "noability", "noeffect", "noconditions", "noweather", "nofield", "nostatus", ""}
)
UNKNOWN = frozenset({"unknownitem", "unknownability"})
#: Effects of which a line says more than metamon tells, or that are no effects.
_UNTOLD = frozenset({"mimic", "typechange", "transform", "trick", "skillswap", "dynamax"})
_HIDDEN_POWER = "hiddenpower"
# Formes that the preview of the teams does not tell.
_HIDDEN_FORMES = frozenset({
    "arceus", "genesect", "gourgeist", "greninja", "pumpkaboo", "silvally", "urshifu", "xerneas", "zacian", "zamazenta",
})  # fmt: skip


@cache
def _named(members: type[Enum]) -> dict[str, str]:
    """Metamon's name of a member of poke-env's (letters alone) -> the member's."""
    found: dict[str, str] = {}
    for name in sorted(members.__members__, key=len):
        found.setdefault("".join(c for c in name.lower() if c.isalpha()), name)
    return found | {"perish": "PERISH3"}


def effect_name(word: str) -> str | None:
    """As a line names it; None for one that cannot be told."""
    return None if word in _UNTOLD else _named(Effect).get(word)


def condition_name(word: str) -> str | None:
    """A condition of a side or of the field, as a line names it."""
    return _named(SideCondition).get(word) or _named(Field).get(word)


def weather_name(word: str) -> str:
    """As a line names it; "none" for none."""
    return _named(Weather).get(word, "none")


class Dex:
    """A generation's names."""

    def __init__(self, gen: int) -> None:
        self.gen = gen
        self._species = GenData.from_gen(gen).pokedex
        self._moves = GenData.from_gen(gen).moves

    def base(self, told: Told) -> str:
        """The id of its base species, by which a team's Pokémon are told apart. Raises Unusable."""
        name = str(told["name"])
        facts = self._species.get(name) or self._species.get(str(told.get("base_species", "")))
        if facts is None:
            raise Unusable("a Pokémon that its generation does not have")
        return to_id_str(facts["baseSpecies"])

    def species(self, told: Told) -> str:
        """The forme's name ("Landorus-Therian")."""
        return str(self._species.get(str(told["name"]), self._species[self.base(told)])["name"])

    def nickname(self, told: Told) -> str:
        return base_name(self.base(told), self.gen)

    def details(self, told: Told) -> str:
        level = int(told.get("lvl", 100))
        return self.species(told) + (f", L{level}" if level != 100 else "")

    def previewed(self, name: str, seen: Told | None) -> str:
        """The details that the preview gave of an opponent's Pokémon. name: of its base species; seen: its first forme."""
        told = {"name": name} if seen is None or name in _HIDDEN_FORMES else seen
        if "battleOnly" in self._species.get(str(told["name"]), {}):
            told = {**told, "name": name}
        return self.details(told)

    def shown(self, told: Told, role: str) -> Shown:
        """What is known of one of our own team, for what is missing to be drawn."""
        item, ability, tera = str(told["item"]), str(told["ability"]), str(told.get("tera_type", "notype"))
        return Shown(
            ident=f"{role}: {self.nickname(told)}",
            details=self.details(told),
            species=to_id_str(self.species(told)),
            level=int(told["lvl"]),
            moves=[_typed(move) for move in told["moves"][:4]],
            item=None if item in UNKNOWN else "" if item in NOTHING else item,
            ability="" if ability in NOTHING | UNKNOWN else ability,
            tera="" if tera in NOTHING else tera.capitalize(),
        )

    def move_name(self, move: str) -> str:
        return str(self._moves.get(move, {}).get("name", move))

    def has_flag(self, move: str, flag: str) -> bool:
        """flag: "recharge" (its user rests after it), "charge" (it prepares first)."""
        return flag in self._moves.get(move, {}).get("flags", {})

    def terastallized(self, told: Told, theirs: bool) -> bool:
        """Whether it has its tera type alone, and not by nature; of the opponent's that type is known from then on alone."""
        tera, types = str(told.get("tera_type", "notype")), set(str(told["types"]).split()) - NOTHING
        own = {to_id_str(kind) for kind in self._species.get(str(told["name"]), {}).get("types", ())}
        base, name = self.base(told), str(told["name"])
        if base in ("ogerpon", "terapagos"):  # their tera type is known by their species
            return name.endswith("tera") or name == "terapagosstellar"
        return self.gen == 9 and tera not in NOTHING and types == {tera} and (theirs or types != own)


def untype_hidden_power(moves: Iterable[Told]) -> None:
    """Names Hidden Power as a log does, in place: "hiddenpower", the type in `move_type` alone."""
    for move in moves:
        name = str(move["name"])
        if name.startswith(_HIDDEN_POWER):
            kind = name.removeprefix(_HIDDEN_POWER).rstrip("0123456789")
            move["name"], move["move_type"] = _HIDDEN_POWER, kind or move.get("move_type", "notype")


def _typed(move: Told) -> str:
    """The id of one of our own moves, Hidden Power with its type where that is told ("normal" is no type of its)."""
    name, kind = str(move["name"]), str(move.get("move_type", "notype"))
    return name + kind if name == _HIDDEN_POWER and kind not in NOTHING | {"normal"} else name
