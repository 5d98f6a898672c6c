"""What a battle's log tells and poke-env does not keep: turns slept, volatiles and how long they have lasted, and more."""

from __future__ import annotations

from dataclasses import dataclass, field

from poke_env.data import to_id_str

from agents.battle import SeatBattle

_RAMPAGES = frozenset({"outrage", "thrash", "petaldance", "ragingfury"})
#: Moves of generation 1 that hold the target while they last.
BINDING = frozenset({"wrap", "bind", "firespin", "clamp"})


@dataclass
class Past:
    """What one Pokémon has been through.

    slept: turns lost to its present sleep. rested: that sleep is its own Rest's. volatiles: what it has on it until it
    leaves the field (poke-env's words run together, "leechseed") -> turns ended since. hits: those that its Substitute
    took. disabled: the move that it may not use. last: the last move since it came in, "" for none. recovered: what
    a boost of generation 1 has undone of its status ("brn", "par").
    """

    slept: int = 0
    rested: bool = False
    volatiles: dict[str, int] = field(default_factory=dict)
    hits: int = 0
    disabled: str = ""
    last: str = ""
    recovered: set[str] = field(default_factory=set)
    status: str = ""

    def leave(self, passing: bool) -> None:
        """It leaves the field. passing: by Baton Pass, which hands its volatiles to the next."""
        if not passing:
            self.volatiles = {}
            self.hits = 0
        self.disabled = self.last = ""
        self.recovered = set()


class History:
    """The log of one battle, read as it grows."""

    def __init__(self) -> None:
        self._read = 0
        self._past: dict[str, Past] = {}
        self._active: dict[str, Past] = {}
        #: The weather has no end of its own: an ability brought it, before generation 6.
        self.endless_weather = False

    def follow(self, battle: SeatBattle) -> None:
        """Takes in what the log has got since the last time."""
        log = battle._replay_data
        for message in log[self._read :]:
            self._take_in(message, battle.gen)
        self._read = len(log)

    def of(self, ident: str) -> Past:
        """The past of "p1: Tauros"."""
        return self._past.setdefault(ident, Past())

    def _take_in(self, message: list[str], gen: int) -> None:
        kind = message[1]
        if kind == "turn":
            for past in self._active.values():
                past.volatiles = {name: turns + 1 for name, turns in past.volatiles.items()}
        elif kind == "-weather":
            self.endless_weather = gen <= 5 and (
                any(part.startswith("[from] ability") for part in message)
                or (self.endless_weather and "[upkeep]" in message)
            )
        elif len(message) > 2 and message[2][:1] == "p" and ": " in message[2]:
            seat, _, name = message[2].partition(": ")
            past = self.of(f"{seat[:2]}: {name}")
            if kind in ("switch", "drag"):
                self._enter(seat[:2], past, any("Baton Pass" in part for part in message[4:]))
            else:
                _note(past, kind, message[3:])

    def _enter(self, side: str, past: Past, passing: bool) -> None:
        before = self._active.get(side)
        if before is not None:
            handed, hits = dict(before.volatiles), before.hits
            before.leave(False)
            if passing:
                past.volatiles, past.hits = handed, hits
        past.last = ""
        self._active[side] = past


def _note(past: Past, kind: str, words: list[str]) -> None:
    """One line about one Pokémon."""
    word = to_id_str(words[0].partition(": ")[2] or words[0]) if words else ""
    if kind == "move":
        _moved(past, word)
    elif kind == "cant":
        past.slept += word == "slp"
        past.volatiles.pop("mustrecharge", None)
        if word in ("par", "slp", "frz"):
            past.volatiles.pop("lockedmove", None)
    elif kind == "-mustrecharge":
        past.volatiles["mustrecharge"] = 0
    elif kind == "-prepare":
        past.volatiles[word] = 0
    elif kind == "-start":
        _started(past, word, words)
    elif kind == "-end":
        past.volatiles.pop(word, None)
        if word == "disable":
            past.disabled = ""
    elif kind == "-activate" and word == "substitute" and "[damage]" in words:
        past.hits += 1
    elif kind == "-status":
        past.slept, past.status = 0, word
        past.rested = any("move: Rest" in part for part in words[1:])
        past.recovered = set()
    elif kind == "-curestatus":
        past.slept, past.status, past.rested = 0, "", False
        past.recovered = set()
    elif kind == "-boost" and (word, past.status) in (("atk", "brn"), ("spe", "par")):
        past.recovered.add(past.status)


def _moved(past: Past, move: str) -> None:
    past.last = move
    past.volatiles.pop("mustrecharge", None)
    past.volatiles.pop(move, None)  # the second turn of one that was prepared
    if move in _RAMPAGES:
        past.volatiles.setdefault("lockedmove", 0)
    else:
        past.volatiles.pop("lockedmove", None)


def _started(past: Past, word: str, words: list[str]) -> None:
    past.volatiles[word] = 0
    if word == "substitute":
        past.hits = 0
    elif word == "disable" and len(words) > 1:
        past.disabled = to_id_str(words[1])
    elif word.startswith("perish"):
        for other in [name for name in past.volatiles if name.startswith("perish") and name != word]:
            del past.volatiles[other]
    elif word == "confusion":
        past.volatiles.pop("lockedmove", None)
