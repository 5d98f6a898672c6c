"""State of a Pokémon and of a side's conditions, tracked over metamon's states."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from poke_env.battle.side_condition import STACKABLE_CONDITIONS
from poke_env.data import to_id_str

from training.data.metamon.names import NOTHING, State

#: Duration of temporary conditions in turns. Screens are assumed to have Light Clay, which is usual.
_LASTING = {"reflect": 8, "lightscreen": 8, "auroraveil": 8, "safeguard": 5, "mist": 5, "luckychant": 5, "tailwind": 4}
_STACKED = {to_id_str(condition.name): most for condition, most in STACKABLE_CONDITIONS.items()}
#: Moves that set a hazard, which metamon may not show because of another condition of the side.
LAYING = {"spikes": "spikes", "ceaselessedge": "spikes", "toxicspikes": "toxicspikes"}
_BOOSTS = ("atk", "def", "spa", "spd", "spe", "accuracy", "evasion")


@dataclass
class SeenPokemon:
    """The last known state of a Pokémon.

    hp: fraction left. pp: last known, while it stays active; spent: PP of each move used in the whole battle. perishing:
    turns since Perish Song.
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
        """Reset the temporary state on entry. keeps_pp: the states keep its PP while it is on the bench."""
        self.boosts, self.effects, self.shown_effect, self.perishing = {}, [], "noeffect", 0
        if not keeps_pp:
            self.pp = {}

    def spend(self, state: State) -> str:
        """Update the PP from a state; return the move whose PP have decreased, "" for none."""
        used = ""
        for move in state["moves"]:
            name, now = str(move["name"]), int(move["current_pp"])
            before = self.pp.get(name, int(move["max_pp"]))
            self.pp[name] = now
            self.spent[name] = max(0, self.spent.get(name, 0) + before - now)
            used = name if now < before and not used else used
        return used

    def changed_boosts(self, state: State) -> Iterable[tuple[str, int]]:
        """Yield and record the boosts that have changed."""
        for stat in _BOOSTS:
            now = int(state[f"{stat}_boost"])
            if now != self.boosts.get(stat, 0):
                self.boosts[stat] = now
                yield stat, now

    def changed_effects(self, shown: str) -> tuple[list[str], list[str]]:
        """Return the effects that started and ended.

        Metamon shows only the oldest of several effects. An effect that is replaced by another one has ended, unless it has
        a duration (confusion).
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


class SeenConditions:
    """Conditions of a side or of the field, oldest first.

    Metamon shows a single one: the latest; a stackable one only if there is no other.
    """

    def __init__(self) -> None:
        self._layers: dict[str, int] = {}
        self._since: dict[str, int] = {}

    def changed(self, shown: str, turn: int, laid: str = "") -> tuple[list[str], list[str]]:
        """Return the conditions that started and ended by a turn. laid: hazard that the other side's move may have set."""
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
