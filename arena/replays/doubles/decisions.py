"""Finds each decision of both players in a public log of doubles, and what the log shows of each slot's choice.

As in singles (arena/replays/decisions.py) a choice is inferred only from lines that cannot have another cause; of the two
slots one may be known and the other not. Where a move's target stands in its line, that is what was chosen, unless something
may have led the move elsewhere: a foe that fainted in this turn, Follow Me and its like, Lightning Rod, Ally Switch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from poke_env.data import to_id_str

from agents.battle.quick_double_battle import SLOT_LETTERS
from arena.fixture import SEATS
from arena.replays.lines import Line
from arena.replays.reading import UnusableReplay

#: Moves, items and abilities by which a Pokémon leaves the field, so that its player is asked for another.
LEAVING = frozenset({
    "batonpass", "uturn", "voltswitch", "flipturn", "partingshot", "teleport", "shedtail", "chillyreception",
    "ejectbutton", "ejectpack", "emergencyexit", "wimpout",
})  # fmt: skip
_LEAVING_MOVES = LEAVING - {"ejectbutton", "ejectpack", "emergencyexit", "wimpout"}
_REDIRECTING = frozenset({"followme", "ragepowder", "spotlight"})
_REDIRECTING_ABILITIES = frozenset({"lightningrod", "stormdrain"})
#: Moves whose target in the log, or in the request, is not the one that is named: two hits, formes, types.
_OTHER_TARGETS = frozenset({"dragondarts", "terastarstorm", "curse", "pollenpuff"})


@dataclass
class SlotEvidence:
    """What a turn reveals of one slot's choice.

    kind: "move", "switch", "pass" (nothing to decide), "cant" or "" (nothing is revealed). name: the move's id, or the ident
    of who comes in. target: as choices name it, 0 where it is not revealed. source: of the move's line ("lockedmove").
    extra: "mega" or "terastallize". unsure: another choice may have been made. reason: why it could not act.
    """

    kind: Literal["move", "switch", "pass", "cant", ""] = ""
    name: str = ""
    target: int = 0
    source: str = ""
    extra: str = ""
    unsure: bool = False
    reason: str = ""


@dataclass
class DoublesAsk:
    """One decision of a player. at: index of the line that follows the request. flags: of a "switch", which slots are asked.

    leads: at team preview the idents of those that led, then of all others that were seen, in their order.
    """

    role: str
    at: int
    kind: Literal["move", "switch", "team"]
    slots: tuple[SlotEvidence, SlotEvidence] = field(default_factory=lambda: (SlotEvidence(), SlotEvidence()))
    flags: tuple[bool, bool] = (False, False)
    leads: list[str] = field(default_factory=list)


def find_doubles_asks(lines: Sequence[Line]) -> list[DoublesAsk]:
    """Return all decisions of both sides, in the order of the log. Raises UnusableReplay."""
    finder = _Finder()
    for index, (line, following) in enumerate(zip(lines, [*lines[1:], None], strict=True)):
        finder.take(index, line, following)
    return sorted(finder.asks, key=lambda ask: ask.at)


@dataclass
class _Side:
    """standing: idents by slot, None for an empty one. fainted: of them. open: ident -> its slot's evidence in this turn."""

    standing: list[str | None] = field(default_factory=lambda: [None, None])
    fainted: list[bool] = field(default_factory=lambda: [True, True])
    begun_empty: list[bool] = field(default_factory=lambda: [True, True])
    open: dict[str, SlotEvidence] = field(default_factory=dict)
    leaving: set[str] = field(default_factory=set)
    redirecting: set[str] = field(default_factory=set)
    instructed: set[str] = field(default_factory=set)
    swapped: bool = False
    event: int = -1  # the line since which somebody is to come in
    preview: DoublesAsk | None = None
    forced: DoublesAsk | None = None


class _Finder:
    def __init__(self) -> None:
        self.asks: list[DoublesAsk] = []
        self._sides = {role: _Side() for role in SEATS}
        self._turn = 0
        self._acting = False  # somebody has moved in this turn, so who switches has not chosen it at its beginning
        self._over = False  # the turn's residual damage is behind it
        self._gap = -1  # the last empty line: it stands where choices came in
        self._readers: dict[str, Callable[[int, Line, _Side, int], None]] = {
            "switch": self._switch, "drag": self._drag, "move": self._move, "cant": self._cant, "faint": self._faint,
            "swap": self._swap,
        }  # fmt: skip
        self._redirected = False  # the move of the line at hand

    def take(self, index: int, line: Line, following: Line | None) -> None:
        """One line of the log. following: the next one."""
        self._redirected = following is not None and (
            following.kind == "-activate"
            and to_id_str(following.argument(1).rpartition(": ")[2]) in _REDIRECTING_ABILITIES
        )
        if line.text == "|":
            self._gap = index
            for side in self._sides.values():
                side.forced = None
        elif line.kind == "teampreview":
            for role, side in self._sides.items():
                side.preview = self._ask(DoublesAsk(role, index + 1, "team"))
        elif line.kind == "showteam":
            for side in self._sides.values():
                if side.preview is not None and self._turn == 0:
                    side.preview.at = index + 1  # who chooses at team preview has seen both sheets
        elif line.kind == "turn":
            self._begin(index)
        elif line.kind == "upkeep":
            self._over = True
        elif line.role in self._sides:
            read = self._readers.get(line.kind, self._sign)
            read(index, line, self._sides[line.role], slot_of(line.argument(0)))

    def _ask(self, ask: DoublesAsk) -> DoublesAsk:
        self.asks.append(ask)
        return ask

    def _begin(self, index: int) -> None:
        self._turn, self._acting, self._over = self._turn + 1, False, False
        for role, side in self._sides.items():
            ask = self._ask(DoublesAsk(role, index + 1, "move"))
            side.open, side.leaving, side.redirecting, side.instructed = {}, set(), set(), set()
            side.swapped, side.begun_empty = False, list(side.fainted)
            for ident, fainted, evidence in zip(side.standing, side.fainted, ask.slots, strict=True):
                if ident is None or fainted:
                    evidence.kind = "pass"
                else:
                    side.open[ident] = evidence

    def _switch(self, index: int, line: Line, side: _Side, slot: int) -> None:
        leaves = side.standing[slot]
        if self._turn == 0 and leaves is None:
            pass
        elif leaves in side.open and not (self._acting or self._over or leaves in side.leaving):
            evidence = side.open.pop(leaves)
            evidence.kind, evidence.name = "switch", line.ident
        else:
            self._replaced(index, line, side, slot)
        self._enter(line, side, slot)

    def _replaced(self, index: int, line: Line, side: _Side, slot: int) -> None:
        """Somebody comes in in the middle of a turn or behind it: both slots that are asked at once are one decision."""
        if side.forced is None:
            at = self._gap if self._gap > side.event else index
            flags = [
                ident in side.leaving or (self._over and fainted)
                for ident, fainted in zip(side.standing, side.fainted, strict=True)
            ]
            flags[slot] = True
            side.forced = self._ask(DoublesAsk(line.role, at, "switch", flags=(flags[0], flags[1])))
            for evidence in side.forced.slots:
                evidence.kind = "pass"
        evidence = side.forced.slots[slot]
        evidence.kind, evidence.name = "switch", line.ident

    def _enter(self, line: Line, side: _Side, slot: int) -> None:
        leaves = side.standing[slot]
        if leaves is not None:
            side.open.pop(leaves, None)
            side.leaving.discard(leaves)
        side.standing[slot], side.fainted[slot] = line.ident, False
        if side.preview is not None and line.ident not in side.preview.leads:
            side.preview.leads.append(line.ident)

    def _drag(self, index: int, line: Line, side: _Side, slot: int) -> None:
        self._enter(line, side, slot)

    def _swap(self, index: int, line: Line, side: _Side, slot: int) -> None:
        side.swapped = True
        side.standing.reverse()
        side.fainted.reverse()

    def _faint(self, index: int, line: Line, side: _Side, slot: int) -> None:
        side.open.pop(line.ident, None)
        side.leaving.discard(line.ident)
        side.fainted[slot], side.event = True, index

    def _move(self, index: int, line: Line, side: _Side, slot: int) -> None:
        self._acting = True
        if line.move == "revivalblessing":
            raise UnusableReplay("Revival Blessing in doubles")
        if line.move in _LEAVING_MOVES:
            side.leaving.add(line.ident)
            side.event = index
        if line.ident in side.instructed:
            side.instructed.discard(line.ident)
            return
        if line.source_id not in ("", "lockedmove", line.move) or line.ident not in side.open:
            return  # what another move, an ability or an item uses nobody has chosen
        evidence = side.open.pop(line.ident)
        evidence.kind, evidence.name, evidence.source = "move", line.move, line.source_id
        evidence.target = self._target(line, side, slot)

    def _target(self, line: Line, side: _Side, slot: int) -> int:
        """The target as the choice names it; 0 where something may have led the move elsewhere."""
        shown = line.argument(2)
        if {"notarget", "spread"} & line.tags or line.move in _OTHER_TARGETS or self._redirected or not shown:
            return 0
        other = self._sides["p2" if line.role == "p1" else "p1"]
        place = slot_of(shown)
        if shown[:2] == line.role:
            return 0 if side.swapped or any(side.fainted) else -1 - place
        if other.swapped or to_ident(shown) in other.redirecting:
            return 0
        if any(fainted and not empty for fainted, empty in zip(other.fainted, other.begun_empty, strict=True)):
            return 0
        return 1 + place

    def _cant(self, index: int, line: Line, side: _Side, slot: int) -> None:
        self._acting = True
        evidence = side.open.get(line.ident)
        if evidence is None:
            return
        evidence.kind, evidence.reason = "cant", to_id_str(line.argument(1).rpartition(": ")[2])
        if evidence.reason != "slp":  # a sleeper may still talk
            del side.open[line.ident]
        named = to_id_str(line.argument(2))
        if named:
            evidence.kind, evidence.name = "move", named

    def _sign(self, index: int, line: Line, side: _Side, slot: int) -> None:
        """Lines that say how what follows is to be read."""
        what = to_id_str(line.argument(1).rpartition(": ")[2])
        evidence = side.open.get(line.ident)
        if line.kind in ("-enditem", "-activate") and what in LEAVING - _LEAVING_MOVES:
            side.leaving.add(line.ident)
            side.open.pop(line.ident, None)
            side.event = index
        elif line.kind == "-singleturn" and what in _REDIRECTING:
            side.redirecting.add(line.ident)
        elif line.kind in ("-singleturn", "-activate") and what == "instruct":
            side.instructed.add(line.ident)
        elif line.kind in ("-mega", "-terastallize"):
            self._acting = True
            if evidence is not None:
                evidence.extra = "mega" if line.kind == "-mega" else "terastallize"
        elif evidence is not None and (
            line.kind in ("-burst", "-zpower") or (line.kind == "-start" and what in ("encore", "dynamax"))
        ):
            evidence.unsure = True


def slot_of(place: str) -> int:
    """The slot, from 0, of a place such as "p1b: Incineroar"."""
    return max(0, SLOT_LETTERS.find(place[2:3]))


def to_ident(place: str) -> str:
    """ "p1b: Incineroar" -> "p1: Incineroar"."""
    seat, _, name = place.partition(": ")
    return f"{seat[:2]}: {name}"
