"""What holds the active Pokémon to a move at its next decision, as far as the log proves it.

A lock is certain only after lines that leave no other way: Outrage that missed, met Protect or a Fairy does not lock. A move
called by another one may lock, too; such a lock is possible, and the moves that follow show it (`[from]lockedmove`).

Since generation 2 a lock that the next turn does not renew ends with it. In generation 1 Rage, Thrash, Petal Dance and the
first turn of Dig outlast sleep, freezing, flinching and binding moves.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from poke_env.data import to_id_str

from arena.replays.lines import Line

#: Moves of generation 1 that bind user and target while they last.
BINDING = frozenset({"wrap", "bind", "firespin", "clamp"})
RAMPAGES = frozenset({"outrage", "thrash", "petaldance", "ragingfury"})
RECHARGE = "recharge"
#: What ends the wait for the hit of a move that locks if it hits.
_NEXT_ACTION = frozenset({"move", "cant", "switch", "drag", "upkeep", "turn", ""})
_BINDING_TURNS = 5


@dataclass
class Locks:
    """The locks of one stay on the field.

    move: what the next request is certain to be locked to ("recharge", a move's id), "" if nothing. binding: turns for which
    it has held the other with a binding move of generation 1; binder: which move. rampage: turns in a row of Outrage and the
    like, hits or not. possible: locks that may hold, of generation 1.
    """

    gen: int
    move: str = ""
    binding: int = 0
    binder: str = ""
    rampage: int = 0
    possible: set[str] = field(default_factory=set)
    _age: int = 0
    _awaited: str = ""  # a move of which the hit locks
    _pending: int = 0  # what `binding` is after that hit
    _bound_at: int = -_BINDING_TURNS
    _turn: int = 0
    _confused: bool = False

    @property
    def charging(self) -> bool:
        """Return whether the lock is the second turn of a move such as Solar Beam."""
        return bool(self.move) and self.move not in (*RAMPAGES, RECHARGE, "rage")

    @property
    def none_possible(self) -> bool:
        """Return whether nothing can lock it, in generation 1."""
        return not (self.move or self.possible or self._turn - self._bound_at < _BINDING_TURNS)

    def turn(self) -> None:
        """Record a new turn."""
        self._turn += 1
        self._age += 1
        if self.gen >= 2 and self._age > 1:
            self.move = ""

    def own_line(self, line: Line) -> None:
        """Process a line about this Pokémon."""
        kind, what = line.kind, to_id_str(line.argument(1).rpartition(": ")[2])
        if kind in _NEXT_ACTION:
            self._awaited = ""
        if kind == "move":
            self._moved(line)
        elif kind == "cant":
            self._could_not(what)
        elif kind == "-mustrecharge":
            self._lock(RECHARGE)
        elif kind == "-prepare" and "premajor" not in line.tags:  # with that tag it strikes in the same turn
            self._lock(what)
        elif self.charging and (kind == "-anim" or what in ("gravity", "smackdown")):
            self.move = ""  # it struck at once, or was brought down
        elif kind == "-damage" and line.source == "confusion" and self.gen == 1:
            self._could_not("par")  # who hits itself loses the same
        if what == "confusion":
            self._confusion(line)
        elif what == "bide" and self.gen == 1:
            (self.possible.discard if kind == "-end" else self.possible.add)(what)

    def _confusion(self, line: Line) -> None:
        """Confusion begins where Outrage ends; and who is confused may hit itself, which ends it, too."""
        self._confused = line.kind != "-end"
        if line.kind in ("-start", "-activate"):
            self.rampage = 0
        if self.move in RAMPAGES and line.kind == "-start" and (self.gen >= 2 or "silent" in line.tags):
            self.move = ""

    def other_line(self, line: Line) -> bool:
        """Process a line about the other side's Pokémon. Return whether it shows that a binding move has hit."""
        hit = line.kind == "-damage" and not line.source and bool(self._awaited)
        awaited, fell = self._awaited, line.argument(1).startswith("0")
        if hit or line.kind in _NEXT_ACTION:
            self._awaited = ""
        if line.kind == "move" and self.gen == 1 and self.move == RECHARGE:
            self.move = ""  # a binding move or a flinch would have ended it
            self.possible.add(RECHARGE)
        if not hit:
            return False
        if awaited not in BINDING:
            self._lock(awaited)
            return False
        self.binder = awaited
        self.binding, self._bound_at = (0 if fell else self._pending), self._turn
        return not fell

    def _lock(self, move: str) -> None:
        self.move, self._age = move, 0
        self.possible.discard(move)

    def _moved(self, line: Line) -> None:
        move, source = line.move, line.source_id
        goes_on = source in ("lockedmove", move) and move != "pursuit"
        self.possible.discard(RECHARGE)
        self.rampage = self.rampage + 1 if move in RAMPAGES else 0
        self._pending, self.binding = self.binding + 1 if goes_on else 1, 0
        if self.gen >= 2:
            self.move = ""
            self._awaited = move if move in RAMPAGES and not source and not self._confused else ""
            return
        if self.move != "rage":
            self.move = ""
        if move == "rage" and goes_on:
            self._lock(move)
        elif move == "rage" and self.move != move:
            self.possible.add(move)
            self._awaited = move
        elif move in RAMPAGES and "notarget" not in line.tags:
            self._lock(move)
        elif move in BINDING:
            self._awaited = move

    def _could_not(self, reason: str) -> None:
        self.binding = self.rampage = 0
        if self.gen >= 2 or (reason == RECHARGE and self.move == reason):
            self.move = ""
        elif reason == "par":
            self.possible.discard("bide")
            self.move = self.move if self.move in ("rage", RECHARGE) else ""
        if reason == RECHARGE:
            self.possible.discard(reason)
