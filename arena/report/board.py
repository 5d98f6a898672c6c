"""The state of a battle, tracked through its protocol lines: both teams, their HP, and field conditions."""

from __future__ import annotations

import re

from arena.fixture import SEATS
from arena.report.narration import effect_name
from arena.report.sides import BattleSide, FieldSlot, TeamMember
from arena.report.story_types import StoryState

#: Showdown's own counters, which are effects only in name.
_COUNTERS = re.compile(r"^(fallen|perish)\w*$")
#: What the names of all terrains end with, and of no other condition of the field.
_TERRAIN = " Terrain"


class Board:
    """Both sides and the field. `process` follows one protocol line."""

    def __init__(self) -> None:
        self.sides: dict[str, BattleSide] = {seat: BattleSide() for seat in SEATS}
        self.weather = ""
        self.field: list[str] = []

    def state(self) -> StoryState:
        """The state as it is now."""
        field = [self.weather, *self.field] if self.weather else list(self.field)
        state: StoryState = {"p1": self.sides["p1"].state(), "p2": self.sides["p2"].state()}
        if field:
            state["field"] = field
        return state

    def hp(self, line: str) -> tuple[int, int] | None:
        """Return the HP and maximum HP that the Pokémon of a line about HP has now; None for other lines."""
        parts = line.split("|")
        if len(parts) < 4 or parts[1] not in ("-damage", "-heal", "-sethp"):
            return None
        if parts[2][:2] not in self.sides:
            return None
        member = self._member(parts[2:])
        return member.hp, member.most

    def process(self, line: str) -> None:
        """Process a line. Lines without effect here, and malformed short lines, are skipped."""
        parts = line.split("|")
        follow = _FOLLOW.get(parts[1]) if len(parts) > 1 else None
        if follow is None:
            return
        try:
            follow(self, parts[2:])
        except (IndexError, KeyError, ValueError):
            return

    def _side(self, parts: list[str]) -> BattleSide:
        return self.sides[parts[0][:2]]

    def _slot(self, parts: list[str]) -> FieldSlot:
        return self._side(parts).slots[parts[0][2]]

    def _member(self, parts: list[str]) -> TeamMember:
        side = self._side(parts)
        return side.team[side.find(_plain(parts[0]))]

    def _switch(self, parts: list[str]) -> None:
        side, slot = self._side(parts), self._slot(parts)
        slot.active = side.find(_plain(parts[0]), parts[1])
        if len(parts) > 2:
            side.team[slot.active].set_condition(parts[2])
        if "[from] Baton Pass" not in parts:
            slot.boosts = {}
        if not {"[from] Baton Pass", "[from] Shed Tail"} & set(parts):
            slot.effects = []
        else:
            slot.effects = [name for name in slot.effects if name == "Substitute" or "[from] Baton Pass" in parts]

    def _replace(self, parts: list[str]) -> None:
        self._slot(parts).active = self._side(parts).find(_plain(parts[0]), parts[1])

    def _swap_places(self, parts: list[str]) -> None:
        slots = self._side(parts).slots
        slots["a"], slots["b"] = slots["b"], slots["a"]

    def _condition(self, parts: list[str]) -> None:
        self._member(parts).set_condition(parts[1])

    def _status(self, parts: list[str]) -> None:
        self._member(parts).status = parts[1]

    def _cure(self, parts: list[str]) -> None:
        self._member(parts).status = ""

    def _cure_team(self, parts: list[str]) -> None:
        for member in self._side(parts).team:
            member.status = ""

    def _faint(self, parts: list[str]) -> None:
        member = self._member(parts)
        member.hp, member.status = 0, ""
        slot = self._slot(parts)
        slot.boosts, slot.effects = {}, []

    def _tera(self, parts: list[str]) -> None:
        self._member(parts).type = parts[1]

    def _boost(self, parts: list[str], sign: int = 1) -> None:
        boosts = self._slot(parts).boosts
        boosts[parts[1]] = boosts.get(parts[1], 0) + sign * int(parts[2])

    def _unboost(self, parts: list[str]) -> None:
        self._boost(parts, -1)

    def _set_boost(self, parts: list[str]) -> None:
        self._slot(parts).boosts[parts[1]] = int(parts[2])

    def _clear_boosts(self, parts: list[str]) -> None:
        self._slot(parts).boosts = {}

    def _clear_all_boosts(self, parts: list[str]) -> None:
        for side in self.sides.values():
            for slot in side.slots.values():
                slot.boosts = {}

    def _clear_negative(self, parts: list[str]) -> None:
        slot = self._slot(parts)
        slot.boosts = {stat: amount for stat, amount in slot.boosts.items() if amount > 0}

    def _clear_positive(self, parts: list[str]) -> None:
        slot = self._slot(parts)
        slot.boosts = {stat: amount for stat, amount in slot.boosts.items() if amount < 0}

    def _invert_boosts(self, parts: list[str]) -> None:
        slot = self._slot(parts)
        slot.boosts = {stat: -amount for stat, amount in slot.boosts.items()}

    def _copy_boosts(self, parts: list[str]) -> None:
        self._slot(parts).boosts = dict(self._slot(parts[1:]).boosts)

    def _swap_boosts(self, parts: list[str]) -> None:
        mine, theirs = self._slot(parts).boosts, self._slot(parts[1:]).boosts
        named = parts[2] if len(parts) > 2 and not parts[2].startswith("[") else ""
        for stat in [s.strip() for s in named.split(",")] if named else list({**mine, **theirs}):
            mine[stat], theirs[stat] = theirs.get(stat, 0), mine.get(stat, 0)

    def _start(self, parts: list[str]) -> None:
        slot, name = self._slot(parts), effect_name(parts[1])
        if name == "typechange":
            name = f"type {parts[2]}" if len(parts) > 2 else "another type"
            slot.effects = [effect for effect in slot.effects if not effect.startswith("type ")]
        if name not in slot.effects and not _COUNTERS.match(name):
            slot.effects.append(name)

    def _end(self, parts: list[str]) -> None:
        slot, name = self._slot(parts), effect_name(parts[1])
        slot.effects = [effect for effect in slot.effects if effect != name and not effect.startswith(f"{name} (")]

    def _side_start(self, parts: list[str]) -> None:
        layers, name = self._side(parts).layers, effect_name(parts[1])
        layers[name] = layers.get(name, 0) + 1

    def _side_end(self, parts: list[str]) -> None:
        self._side(parts).layers.pop(effect_name(parts[1]), None)

    def _swap_sides(self, parts: list[str]) -> None:
        mine, theirs = self.sides.values()
        mine.layers, theirs.layers = theirs.layers, mine.layers

    def _weather(self, parts: list[str]) -> None:
        self.weather = "" if parts[0] == "none" else parts[0]

    def _field_start(self, parts: list[str]) -> None:
        name = effect_name(parts[0])
        if name.endswith(_TERRAIN):  # a new terrain replaces the old one, of whose end there is no line
            self.field = [effect for effect in self.field if not effect.endswith(_TERRAIN)]
        if name not in self.field:
            self.field.append(name)

    def _field_end(self, parts: list[str]) -> None:
        name = effect_name(parts[0])
        self.field = [effect for effect in self.field if effect != name]


def _plain(ident: str) -> str:
    """ "p1a: Tauros" -> "p1: Tauros", as requests call it."""
    return f"{ident[:2]}: {ident.partition(': ')[2]}"


_FOLLOW = {
    "switch": Board._switch,
    "drag": Board._switch,
    "replace": Board._replace,
    "swap": Board._swap_places,
    "-damage": Board._condition,
    "-heal": Board._condition,
    "-sethp": Board._condition,
    "-status": Board._status,
    "-curestatus": Board._cure,
    "-cureteam": Board._cure_team,
    "faint": Board._faint,
    "-terastallize": Board._tera,
    "-boost": Board._boost,
    "-unboost": Board._unboost,
    "-setboost": Board._set_boost,
    "-clearboost": Board._clear_boosts,
    "-clearallboost": Board._clear_all_boosts,
    "-clearnegativeboost": Board._clear_negative,
    "-clearpositiveboost": Board._clear_positive,
    "-invertboost": Board._invert_boosts,
    "-copyboost": Board._copy_boosts,
    "-swapboost": Board._swap_boosts,
    "-start": Board._start,
    "-end": Board._end,
    "-sidestart": Board._side_start,
    "-sideend": Board._side_end,
    "-swapsideconditions": Board._swap_sides,
    "-weather": Board._weather,
    "-fieldstart": Board._field_start,
    "-fieldend": Board._field_end,
}
