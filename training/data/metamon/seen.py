"""What is remembered of a Pokémon, and of what lies on a side, from one state of metamon's to the next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from poke_env.battle.side_condition import STACKABLE_CONDITIONS
from poke_env.data import to_id_str

from training.data.metamon.words import NOTHING, Told

#: Conditions that end by themselves -> after so many turns. That of the screens is with Light Clay, which most bring along.
_LASTING = {"reflect": 8, "lightscreen": 8, "auroraveil": 8, "safeguard": 5, "mist": 5, "luckychant": 5, "tailwind": 4}
_STACKED = {to_id_str(condition.name): most for condition, most in STACKABLE_CONDITIONS.items()}
#: Moves that lay what may lie unseen under another condition of the side.
LAYING = {"spikes": "spikes", "ceaselessedge": "spikes", "toxicspikes": "toxicspikes"}
_BOOSTS = ("atk", "def", "spa", "spd", "spe", "accuracy", "evasion")


@dataclass
class Known:
    """What was last told of a Pokémon.

    hp: the share that is left. pp: as told last, while it stays; spent: of each move, in the whole battle. perishing: turns
    since it has heard Perish Song.
    """

    base: str
    nickname: str
    forme: str = ""
    hp: float = 1.0
    status: str = "nostatus"
    item: str = "unknownitem"
    ability: str = ""
    tera: bool = False
    boosts: dict[str, int] = field(default_factory=dict)
    effects: list[str] = field(default_factory=list)
    shown_effect: str = "noeffect"
    perishing: int = 0
    pp: dict[str, int] = field(default_factory=dict)
    spent: dict[str, int] = field(default_factory=dict)

    def enter(self, keeps_pp: bool) -> None:
        """It comes onto the field: nothing hangs on it. keeps_pp: what it has spent before is still told."""
        self.boosts, self.effects, self.shown_effect, self.perishing = {}, [], "noeffect", 0
        if not keeps_pp:
            self.pp = {}

    def spend(self, told: Told) -> str:
        """Takes in the PP that are told; gives the move that has fewer than before, "" where none has."""
        used = ""
        for move in told["moves"]:
            name, now = str(move["name"]), int(move["current_pp"])
            before = self.pp.get(name, int(move["max_pp"]))
            self.pp[name] = now
            self.spent[name] = max(0, self.spent.get(name, 0) + before - now)
            used = name if now < before and not used else used
        return used

    def changed_boosts(self, told: Told) -> Iterable[tuple[str, int]]:
        """Those that are not as before, which are noted."""
        for stat in _BOOSTS:
            now = int(told[f"{stat}_boost"])
            if now != self.boosts.get(stat, 0):
                self.boosts[stat] = now
                yield stat, now

    def changed_effects(self, shown: str) -> tuple[list[str], list[str]]:
        """What began and what ended.

        Of several effects metamon shows the oldest, so that others may be there unseen; one that gives way to another has
        ended, unless it is counted (confusion).
        """
        ended: list[str] = []
        if shown == "noeffect":
            ended, self.effects = self.effects, []
        elif shown != self.shown_effect and self.shown_effect in self.effects and self.shown_effect != "confusion":
            self.effects.remove(self.shown_effect)
            ended = [self.shown_effect]
        began = [shown] if shown != "noeffect" and shown not in self.effects else []
        self.effects += began
        self.shown_effect = shown
        return began, ended


class Conditions:
    """What lies on a side, or on the field, the oldest first. Metamon shows one alone: the one that began last, and one that
    comes in layers only where there is no other."""

    def __init__(self) -> None:
        self._layers: dict[str, int] = {}
        self._since: dict[str, int] = {}

    def changed(self, shown: str, turn: int, laid: str = "") -> tuple[list[str], list[str]]:
        """What began and what ended by a turn. laid: what the other side's move may have laid."""
        names = list(self._layers)
        if shown in NOTHING:
            began, ended = [], names
        else:
            newer = names[names.index(shown) + 1 :] if shown in names and shown not in _STACKED else []
            over = [name for name in names if shown in _STACKED or turn - self._since[name] >= _LASTING.get(name, 9999)]
            ended = [name for name in names if name in {*newer, *over} - {shown, *_STACKED}]
            more = laid in _STACKED and self._layers.get(laid, 0) < _STACKED[laid]
            began = [laid] * more + [shown] * (shown not in names and shown != laid)
        for name in ended:
            del self._layers[name]
        for name in began:
            self._layers[name] = self._layers.get(name, 0) + 1
            self._since[name] = turn
        return began, ended
