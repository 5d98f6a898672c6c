"""Finds each decision of both players in a public log, and what the log shows of the choice.

There are two kinds of decisions: both sides choose after each `turn` line, and a side must switch in between if its Pokémon
has fainted or leaves by its move (U-turn), its item (Eject Button) or its ability. A choice is inferred only from lines that
cannot have another cause; all others stay unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from poke_env.data import to_id_str

from arena.fixture import SEATS
from arena.replays.lines import Line

#: Causes of a switch in the middle of a turn, as in the tag of the switch line.
_LEAVING = frozenset({
    "batonpass", "uturn", "voltswitch", "flipturn", "partingshot", "teleport", "shedtail", "chillyreception",
    "ejectbutton", "ejectpack", "emergencyexit", "wimpout",
})  # fmt: skip
_EXTRAS = {"-mega", "-primal", "-burst", "-zpower"}
_ENDS = frozenset({"win", "tie"})


@dataclass
class ChoiceEvidence:
    """What a turn reveals of a side's choice.

    kind: "move" (a move was used, or announced without effect), "switch", "cant" (it could not act) or "" (nothing).
    name: the move's id, or the ident of the incoming Pokémon. source: id in the move line's tag ("lockedmove").
    tera: it terastallized. unsure: the choice may differ from what is shown (Encore, Z-moves, mega evolution).
    reason: why it could not act.
    """

    kind: Literal["move", "switch", "cant", ""] = ""
    name: str = ""
    source: str = ""
    tera: bool = False
    unsure: bool = False
    reason: str = ""


@dataclass
class Ask:
    """One decision of a player.

    at: index of the line that follows the request. kind: "move" at the start of a turn, "switch" in between, "revive"
    (Revival Blessing), "team" at team preview. committed: the turn continued, so a choice was made. moved: as far as the
    moves, before which switches come.
    """

    role: str
    at: int
    kind: Literal["move", "switch", "revive", "team"]
    evidence: ChoiceEvidence = field(default_factory=ChoiceEvidence)
    committed: bool = False
    moved: bool = False


def find_asks(lines: list[Line]) -> list[Ask]:
    """Return all decisions of both sides, in the order of the log."""
    finder = _Finder()
    for index, line in enumerate(lines):
        finder.take(index, line)
    return sorted(finder.asks, key=lambda ask: ask.at)


@dataclass
class _Side:
    """The finder's state of a side.

    open: the ask of this turn while its answer has not been seen. cut: the one that a faint left unanswered, and fell: the
    line of that faint.
    """

    open: Ask | None = None
    cut: Ask | None = None
    fell: int = -1
    pursued: bool = False  # by Pursuit, since choices last came in
    instructed: bool = False  # its next move is what Instruct repeats
    leads: Ask | None = None
    inside: bool = False  # its first Pokémon has come in
    fainted: bool = False
    leaving: int = -1  # since which line it is to leave the field, by a move, an item or an ability
    standing: int = 6
    dead: set[str] = field(default_factory=set)


class _Finder:
    def __init__(self) -> None:
        self.asks: list[Ask] = []
        self._sides = {role: _Side() for role in SEATS}
        self._turn: dict[str, Ask] = {}
        self._gap = -1  # the last empty line: it stands where choices came in

    def take(self, index: int, line: Line) -> None:
        """One line of the log."""
        if line.text == "|":
            self._gap = index
            for side in self._sides.values():
                side.pursued = False
        elif line.kind == "teamsize" and line.argument(0) in self._sides and line.argument(1).isdigit():
            self._sides[line.argument(0)].standing = int(line.argument(1))
        elif line.kind == "teampreview":
            for role, side in self._sides.items():
                side.leads = self._ask(role, index + 1, "team")
        elif line.kind == "turn":
            for role, side in self._sides.items():
                self._turn[role] = side.open = self._ask(role, index + 1, "move")
                side.leaving = -1
        elif line.kind in _ENDS:
            self._close(index)
        elif line.role in self._sides:
            self._about(index, line, self._sides[line.role])

    def _ask(self, role: str, at: int, kind: Literal["move", "switch", "revive", "team"]) -> Ask:
        ask = Ask(role, at, kind)
        self.asks.append(ask)
        return ask

    def _about(self, index: int, line: Line, side: _Side) -> None:
        """A line about a Pokémon of a side."""
        if line.kind in ("move", "cant", "switch", "drag"):
            for ask in self._turn.values():
                ask.committed = True
                ask.moved = ask.moved or line.kind in ("move", "cant")
        if line.kind == "switch":
            self._switched(index, line, side)
        elif line.kind == "move":
            self._moved(index, line, side)
        elif line.kind == "cant":
            self._could_not(line, side)
        elif line.kind == "faint":
            side.fainted, side.cut, side.fell, side.open = True, side.open, index, None
            side.dead.add(line.ident)
        elif line.kind == "drag":
            side.open = None
        elif line.kind == "-heal" and line.ident in side.dead:
            self._revived(index, line, side)
        else:
            self._sign(index, line, side)

    def _sign(self, index: int, line: Line, side: _Side) -> None:
        """Lines that say how what follows is to be read."""
        what = to_id_str(line.argument(1).partition(": ")[2] or line.argument(1))
        if line.kind in ("-enditem", "-activate") and what in _LEAVING - {"batonpass"}:
            side.leaving = index
            side.open = None if side.open is None or not side.open.evidence.kind else side.open
        elif line.kind == "-singleturn" and what == "instruct":
            side.instructed = True
        elif side.open is None:
            return
        elif line.kind == "-terastallize":
            side.open.evidence.tera = True
        elif line.kind in _EXTRAS or (line.kind == "-start" and what in ("encore", "dynamax")):
            side.open.evidence.unsure = True

    def _switched(self, index: int, line: Line, side: _Side) -> None:
        if not side.inside:
            side.inside = True
            if side.leads is not None:
                side.leads.evidence, side.leads.committed = ChoiceEvidence("switch", line.ident), True
        elif side.fainted and side.cut is not None and side.pursued and self._gap < side.fell:
            # Nobody was asked since: caught by Pursuit on its way out, and before generation 5 the switch still comes.
            side.cut.evidence = ChoiceEvidence("switch", line.ident)
        elif side.fainted or side.leaving >= 0 or side.open is None or line.source_id in _LEAVING:
            ask = self._ask(line.role, self._place(index, side), "switch")
            ask.evidence, ask.committed = ChoiceEvidence("switch", line.ident), True
        else:
            side.open.evidence = ChoiceEvidence("switch", line.ident)
        side.open, side.cut, side.fainted, side.leaving = None, None, False, -1

    def _place(self, index: int, side: _Side) -> int:
        """Where the request for a switch at `index` stands: before the empty line at which it came in."""
        return self._gap if self._gap > side.leaving else index

    def _moved(self, index: int, line: Line, side: _Side) -> None:
        if line.move in _LEAVING:
            side.leaving = index
        if line.move == "pursuit":
            self._sides["p2" if line.role == "p1" else "p1"].pursued = True
        ask, source, instructed = side.open, line.source_id, side.instructed
        side.instructed = False
        # What is used by another move, an ability or an item is nobody's choice, and the choice may still come.
        if ask is None or instructed or source not in ("", "lockedmove", line.move):
            return
        evidence = ask.evidence
        evidence.kind, evidence.name, evidence.source = "move", line.move, source
        evidence.unsure = evidence.unsure or "zeffect" in line.tags
        side.open = None

    def _could_not(self, line: Line, side: _Side) -> None:
        ask = side.open
        if ask is None:
            return
        evidence = ask.evidence
        evidence.kind, evidence.reason = "cant", to_id_str(line.argument(1).rpartition(": ")[2])
        if evidence.reason != "slp":  # a sleeper may still talk: its move comes after this line
            side.open = None
        named = to_id_str(line.argument(2))
        if named:
            evidence.kind, evidence.name = "move", named

    def _revived(self, index: int, line: Line, side: _Side) -> None:
        side.dead.discard(line.ident)
        ask = self._ask(line.role, self._place(index, side), "revive")
        ask.evidence, ask.committed = ChoiceEvidence("switch", line.ident), True

    def _close(self, index: int) -> None:
        """The battle's end: a side whose Pokémon has fainted was asked for another, unless none was left."""
        for role, side in self._sides.items():
            if side.fainted and len(side.dead) < side.standing:
                other = self._sides["p2" if role == "p1" else "p1"]
                if len(other.dead) < other.standing:
                    self._ask(role, index, "switch")
