"""State that a battle's log contains and poke-env does not track: turns asleep, volatiles with durations, and more."""

from __future__ import annotations

from dataclasses import dataclass, field

from poke_env.data import to_id_str

from agents.battle import SeatBattle
from agents.search.log_lines import effect_of

_RAMPAGES = frozenset({"outrage", "thrash", "petaldance", "ragingfury"})
#: Moves of generation 1 that prevent the target from acting while they last.
BINDING = frozenset({"wrap", "bind", "firespin", "clamp"})


@dataclass
class PokemonHistory:
    """The history of one Pokémon.

    slept: turns lost to its current sleep. rested: that sleep is from its own Rest. volatiles: volatile status (id, as
    "leechseed") -> turns ended since. hits: hits that its Substitute took. disabled: the disabled move. last: the last move
    since it entered, "" for none. recovered: statuses ("brn", "par") whose stat drop a boost of generation 1 has undone.
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
        """Record that it leaves the field. passing: by Baton Pass, which passes its volatiles on."""
        if not passing:
            self.volatiles = {}
            self.hits = 0
        self.disabled = self.last = ""
        self.recovered = set()


class History:
    """The histories of one battle's Pokémon, updated from its log."""

    def __init__(self) -> None:
        self._read = 0
        self._past: dict[str, PokemonHistory] = {}
        self._active: dict[str, PokemonHistory] = {}
        #: The weather is permanent: caused by an ability, before generation 6.
        self.endless_weather = False

    def follow(self, battle: SeatBattle) -> None:
        """Process the log lines since the last call."""
        log = battle._replay_data
        for message in log[self._read :]:
            self._process(message, battle.gen)
        self._read = len(log)

    def of(self, ident: str) -> PokemonHistory:
        """Return the history of a Pokémon by its ident, as "p1: Tauros"."""
        return self._past.setdefault(ident, PokemonHistory())

    def _process(self, message: list[str], gen: int) -> None:
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

    def _enter(self, side: str, past: PokemonHistory, passing: bool) -> None:
        before = self._active.get(side)
        if before is not None:
            handed, hits = dict(before.volatiles), before.hits
            before.leave(False)
            if passing:
                past.volatiles, past.hits = handed, hits
        past.last = ""
        self._active[side] = past


def _note(past: PokemonHistory, kind: str, arguments: list[str]) -> None:
    """Process a line about one Pokémon. arguments: the parts of the line after the Pokémon."""
    effect = effect_of(arguments[0]) if arguments else ""
    if kind == "move":
        _moved(past, effect)
    elif kind == "cant":
        past.slept += effect == "slp"
        past.volatiles.pop("mustrecharge", None)
        if effect in ("par", "slp", "frz"):
            past.volatiles.pop("lockedmove", None)
    elif kind == "-mustrecharge":
        past.volatiles["mustrecharge"] = 0
    elif kind == "-prepare":
        past.volatiles[effect] = 0
    elif kind == "-start":
        _started(past, effect, arguments)
    elif kind == "-end":
        past.volatiles.pop(effect, None)
        if effect == "disable":
            past.disabled = ""
    elif kind == "-activate" and effect == "substitute" and "[damage]" in arguments:
        past.hits += 1
    elif kind == "-status":
        past.slept, past.status = 0, effect
        past.rested = any("move: Rest" in part for part in arguments[1:])
        past.recovered = set()
    elif kind == "-curestatus":
        past.slept, past.status, past.rested = 0, "", False
        past.recovered = set()
    elif kind == "-boost" and (effect, past.status) in (("atk", "brn"), ("spe", "par")):
        past.recovered.add(past.status)


def _moved(past: PokemonHistory, move: str) -> None:
    past.last = move
    past.volatiles.pop("mustrecharge", None)
    past.volatiles.pop(move, None)  # the second turn of a charging move
    if move in _RAMPAGES:
        past.volatiles.setdefault("lockedmove", 0)
    else:
        past.volatiles.pop("lockedmove", None)


def _started(past: PokemonHistory, effect: str, arguments: list[str]) -> None:
    past.volatiles[effect] = 0
    if effect == "substitute":
        past.hits = 0
    elif effect == "disable" and len(arguments) > 1:
        past.disabled = to_id_str(arguments[1])
    elif effect.startswith("perish"):
        for other in [name for name in past.volatiles if name.startswith("perish") and name != effect]:
            del past.volatiles[other]
    elif effect == "confusion":
        past.volatiles.pop("lockedmove", None)
