"""A player's own side as its requests describe it, updated line by line: HP, status, PP, items, locks and traps."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from poke_env.data import GenData, to_id_str

from arena.replays.completing import Completed
from arena.replays.lines import CONDITION, Line
from arena.replays.locks import BINDING, Locks

#: Moves that bind the target in later generations, as `-activate` names them.
_TRAPS = frozenset({
    *BINDING, "whirlpool", "sandtomb", "magmastorm", "infestation", "snaptrap", "thundercage", "trapped",
})  # fmt: skip
#: Abilities that take the place of those of whoever touches their holder.
_PASSED_ON = frozenset({"mummy", "lingeringaroma", "wanderingspirit"})
CHOICE_ITEMS = frozenset({"choiceband", "choicespecs", "choicescarf"})
_TRANSFORMED_PP = 5
#: PP that a berry restores to the move named behind it.
_RESTORED = {"mysteryberry": 5, "leppaberry": 10}


@dataclass
class Slot:
    """A move as a request lists it, with the PP that are left."""

    id: str
    pp: int
    most: int


@dataclass
class Own:
    """One of the own team. hp: exact; slots: its moves; ability: the one it has now; terastallized: a type or ""."""

    member: Completed
    details: str
    hp: int
    status: str
    slots: list[Slot]
    item: str
    ability: str
    terastallized: str = ""

    @property
    def condition(self) -> str:
        """As Showdown's requests write it, e.g. "187/353 par", "0 fnt"."""
        if self.hp <= 0:
            return "0 fnt"
        return f"{self.hp}/{self.member.stats[0]} {self.status}".rstrip()


@dataclass
class Stay:
    """State of the active Pokémon that ends when it leaves.

    slots: the moves that it has instead of its own (Transform, Mimic). chosen: the move that a Choice item holds it to.
    types: those that it has instead of its own; added_type: by Trick-or-Treat. forme: that of this stay, "" for its own.
    bound: turns for which it was held by the other with a binding move of generation 1.
    """

    locks: Locks
    slots: list[Slot] | None = None
    chosen: str = ""
    last: str = ""
    disabled: str = ""
    encored: str = ""
    taunted: bool = False
    tormented: bool = False
    unhealing: bool = False
    trapped: bool = False
    pressure: bool = False
    types: list[str] = field(default_factory=list)
    added_type: str = ""
    forme: str = ""
    bound: int = 0


@dataclass
class OwnSide:
    """team: in the order of the requests, the one on the field first. out: a Pokémon is on the field."""

    role: str
    gen: int
    team: list[Own]
    stay: Stay
    out: bool = False

    @classmethod
    def of(cls, role: str, gen: int, members: list[Completed]) -> OwnSide:
        """A side before the battle."""
        team = []
        for member in members:
            slots = [_slot(move, gen) for move in member.moves]
            ability = member.ability if gen >= 3 else "noability"
            team.append(Own(member, member.details, member.stats[0], "", slots, member.item, ability))
        return cls(role, gen, team, Stay(Locks(gen)))

    @property
    def active(self) -> Own:
        """The active Pokémon."""
        return self.team[0]

    @property
    def slots(self) -> list[Slot]:
        """The moves that the active Pokémon has now."""
        return self.active.slots if self.stay.slots is None else self.stay.slots

    @property
    def types(self) -> list[str]:
        """The types of the active Pokémon, as its forme and its Tera type say."""
        own, stay = self.active, self.stay
        species = to_id_str(own.details.split(",", 1)[0])
        known: list[str] = GenData.from_gen(self.gen).pokedex.get(species, {}).get("types", [])
        return [own.terastallized] if own.terastallized else [*(stay.types or known), stay.added_type]

    def find(self, ident: str) -> Own | None:
        """Return the team member of an ident such as "p1: Tauros"."""
        return next((own for own in self.team if own.member.ident == ident), None)

    def lead(self, ident: str) -> None:
        """Set the lead after team preview; the others keep their order."""
        first = self.find(ident)
        if first is not None:
            self.team.remove(first)
            self.team.insert(0, first)

    def take(self, line: Line, other: OwnSide) -> None:
        """Process a line. other: the opponent's side, whose moves a transformed Pokémon learns."""
        if line.kind == "turn":
            self.stay.locks.turn()
        elif line.role == self.role:
            self._about(line, other)
        elif line.role == other.role and self.stay.locks.other_line(line):
            other.stay.bound = self.stay.locks.binding
        if line.role == other.role and line.kind in ("switch", "drag"):
            self.stay.trapped, self.stay.bound = False, 0

    def health(self, line: Line) -> str:
        """Return the line with this side's exact HP, which is recorded; unchanged if it contains none."""
        place = CONDITION.get(line.kind)
        own = self.find(line.ident)
        if place is None or own is None or not line.argument(place):
            return line.text
        own.hp, own.status = _exact(line.argument(place), own)
        parts = line.text.split("|")
        parts[place + 2] = own.condition
        return "|".join(parts)

    def _about(self, line: Line, other: OwnSide) -> None:
        own = self.find(line.ident)
        if own is None:
            return
        kind = line.kind
        if kind in ("switch", "drag"):
            self._enter(own)
        elif kind == "faint":
            own.hp = 0
        elif kind == "-status":
            own.status = line.argument(1)
        elif kind == "-curestatus":
            own.status = ""
        elif kind == "-cureteam":
            for each in self.team:
                each.status = ""
        elif kind == "detailschange":
            own.details = _unshiny(line.argument(1))
        elif kind == "-terastallize":
            own.terastallized = line.argument(1)
            if own is self.active and self.stay.forme.startswith("Morpeko"):  # which keeps it from now on
                own.details = ", ".join([self.stay.forme, *own.details.split(", ")[1:]])
            own.details = f"{own.details}, tera:{line.argument(1)}"
        elif kind in ("-item", "-enditem"):
            own.item = to_id_str(line.argument(1)) if kind == "-item" else ""
            self.stay.chosen = ""
        elif own is self.active:
            self._standing(line, other)

    def _enter(self, own: Own) -> None:
        leaving = self.active
        if self.out and leaving is not own and leaving.ability == "regenerator" and leaving.hp > 0:
            leaving.hp = min(leaving.member.stats[0], leaving.hp + leaving.member.stats[0] // 3)
        if self.out and leaving is not own:
            leaving.ability = leaving.member.ability if self.gen >= 3 else "noability"
        place = self.team.index(own)
        self.team[0], self.team[place] = self.team[place], self.team[0]
        self.stay, self.out = Stay(Locks(self.gen)), True

    def _standing(self, line: Line, other: OwnSide) -> None:
        """Lines about what hangs on the stay on the field."""
        stay, kind = self.stay, line.kind
        if kind == "move":
            self._moved(line, other)  # before the lock of its first turn ends
        stay.locks.own_line(line)
        what = to_id_str(line.argument(1).rpartition(": ")[2])
        if kind == "-transform":
            # Its player is shown the other's moves.
            stay.slots = [Slot(slot.id, _TRANSFORMED_PP, _TRANSFORMED_PP) for slot in other.slots]
        elif kind in ("-ability", "-endability"):
            stay.pressure = kind == "-ability" and what == "pressure"
        elif kind == "-activate" and what == "skillswap":
            stay.pressure, other.stay.pressure = other.stay.pressure, stay.pressure
        elif kind == "-activate" and what in _PASSED_ON:
            other.stay.pressure = False
        elif kind == "-formechange":
            stay.forme = line.argument(1)
        elif kind == "-start" and what == "typechange":
            stay.types, stay.added_type = line.argument(2).split("/"), ""
        elif kind == "-start" and what == "typeadd":
            stay.added_type = line.argument(2)
        elif kind in ("-start", "-activate", "-end"):
            self._bound(kind, what, to_id_str(line.argument(2)))

    def _bound(self, kind: str, what: str, detail: str) -> None:
        stay, on = self.stay, kind != "-end"
        if what in ("mimic", "sketch") and stay.last == "sketch" and detail and on:
            self.active.slots = [_sketched(detail, self.gen) if s.id == "sketch" else s for s in self.active.slots]
        elif what in _RESTORED and detail:
            for slot in self.slots:
                if slot.id == detail:
                    slot.pp = min(slot.most, slot.pp + _RESTORED[what])
        elif what == "mimic" and detail and on:
            held = [Slot(slot.id, slot.pp, slot.most) for slot in self.slots]
            stay.slots = [Slot(detail, slot.pp, slot.most) if slot.id == "mimic" else slot for slot in held]
        elif what == "disable":
            stay.disabled = detail if on else ""
        elif what == "encore":
            stay.encored = stay.last if on else ""
        elif what == "taunt":
            stay.taunted = on
        elif what == "torment":
            stay.tormented = on
        elif what == "healblock":
            stay.unhealing = on
        elif what in _TRAPS or what in ("ingrain", "noretreat", "octolock"):
            stay.trapped = on and self.gen >= 2

    def _moved(self, line: Line, other: OwnSide) -> None:
        stay, move, source = self.stay, line.move, line.source_id
        if source and source not in ("lockedmove", "pursuit", move):
            return  # called by another move or an ability: it costs no PP of its own
        goes_on = source == "lockedmove" or (source == move and move != "pursuit") or stay.locks.move == move
        other.stay.bound = 0
        if self.gen == 1 and "charge" in GenData.from_gen(1).moves.get(move, {}).get("flags", ()):
            paid = source == move  # its second turn costs the PP: who is paralysed in between pays nothing
        else:
            paid = not goes_on
        if paid:
            self._spend(move, line, other)
        if not goes_on:
            # Max Moves and Z-Moves are none of its own, and hold it to nothing.
            own = any(slot.id == move or (move == "hiddenpower" and slot.id.startswith(move)) for slot in self.slots)
            stay.chosen = move if own and self.active.item in CHOICE_ITEMS else ""
        stay.last = move

    def _spend(self, move: str, line: Line, other: OwnSide) -> None:
        # Since generation 4 Pressure is announced; before, it is known by the species only.
        pressure = other.stay.pressure if self.gen >= 4 else other.active.ability == "pressure"
        pressed = other.out and pressure and line.argument(2)[:2] == other.role
        for slot in self.slots:
            if slot.id == move or (move == "hiddenpower" and slot.id.startswith(move)):
                slot.pp = max(0, slot.pp - (2 if pressed else 1))


def _slot(move: str, gen: int) -> Slot:
    facts = GenData.from_gen(gen).moves.get(move, {})
    base = int(facts.get("pp", 5))
    most = base if facts.get("noPPBoosts") else base * 8 // 5
    return Slot(move, min(61, most) if gen <= 2 else most, min(61, most) if gen <= 2 else most)


def _sketched(move: str, gen: int) -> Slot:
    """The slot of a move that Sketch has learned, without PP Ups."""
    pp = int(GenData.from_gen(gen).moves.get(move, {}).get("pp", 5))
    return Slot(move, pp, pp)


def _unshiny(details: str) -> str:
    return ", ".join(part for part in details.split(", ") if part != "shiny")


def _exact(condition: str, own: Own) -> tuple[int, str]:
    """Health and status of a condition as published ("53/100 par"), on the scale of the Pokémon's own health.

    Where only a percentage is known, the middle of what it may mean; what was noted before, where that agrees with it.
    """
    health, _, status = condition.partition(" ")
    now, _, most = health.partition("/")
    if status == "fnt" or now == "0":
        return 0, ""
    scale, whole = int(most.rstrip("gyr") or 100), own.member.stats[0]  # without the bar's colour
    if scale == whole and scale != 100:
        return int(now), status
    value = float(now)
    if value >= scale:
        return whole, status
    if own.hp < whole and own.hp > 0 and shared(own.hp, whole) == f"{value / scale * 100:g}/100":
        return own.hp, status
    return max(1, min(whole - 1, round(whole * (value - 0.5) / scale))), status


def shared(hp: int, most: int) -> str:
    """Return HP as the other side sees it: in percent, rounded up, 100 only at full HP."""
    percent = math.ceil(100 * hp / most)
    return f"{99 if percent == 100 and hp < most else percent}/100"
