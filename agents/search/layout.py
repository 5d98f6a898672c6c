"""poke-engine's State as text: what it is made of, and how it is written. No battle is known here."""

from __future__ import annotations

from dataclasses import dataclass, field

#: The order in which a side's conditions are written.
CONDITIONS = (
    "auroraveil", "craftyshield", "healingwish", "lightscreen", "luckychant", "lunardance", "matblock", "mist",
    "protect", "quickguard", "reflect", "safeguard", "spikes", "stealthrock", "stickyweb", "tailwind", "toxiccount",
    "toxicspikes", "wideguard",
)  # fmt: skip
#: The volatiles that have a duration, in the order in which it is written.
DURATIONS = ("confusion", "encore", "lockedmove", "slowstart", "taunt", "yawn")
#: The boosts in the order in which they are written.
BOOSTS = ("atk", "def", "spa", "spd", "spe", "accuracy", "evasion")


@dataclass(frozen=True, slots=True)
class EngineMove:
    """A move: poke-engine's name of it, whether it may be chosen now, and its PP."""

    name: str
    disabled: bool = False
    pp: int = 16

    def text(self) -> str:
        return f"{self.name};{_word(self.disabled)};{max(0, min(self.pp, 64))}"


_NO_MOVE = EngineMove("none", True, 0)


@dataclass(frozen=True, slots=True)
class EnginePokemon:
    """A Pokémon. stats: atk, def, spa, spd, spe before boosts; types: those that count now; status: "none", "paralyze" …

    slept, rest: turns of a sleep gone by, and turns of Rest still to come.
    """

    name: str
    level: int = 100
    types: tuple[str, ...] = ("typeless",)
    base_types: tuple[str, ...] = ("typeless",)
    hp: int = 0
    maxhp: int = 1
    ability: str = "none"
    base_ability: str = "none"
    item: str = "none"
    nature: str = "serious"
    evs: tuple[int, ...] = (85,) * 6
    stats: tuple[int, ...] = (100,) * 5
    status: str = "none"
    rest: int = 0
    slept: int = 0
    weight: float = 0.0
    moves: tuple[EngineMove, ...] = ()
    terastallized: bool = False
    tera: str = "typeless"

    def text(self) -> str:
        moves = [move.text() for move in (*self.moves, *(_NO_MOVE,) * 4)][:4]
        fields = [
            self.name, str(self.level), *_two(self.types), *_two(self.base_types), str(self.hp), str(self.maxhp),
            self.ability, self.base_ability, self.item, self.nature, ";".join(map(str, self.evs)),
            *map(str, self.stats), self.status, str(self.rest), str(self.slept), f"{self.weight:g}", *moves,
            "false", _word(self.terastallized), self.tera,
        ]  # fmt: skip
        return ",".join(fields)


#: What stands where a team has fewer than six.
NOBODY = EnginePokemon("none")


@dataclass(frozen=True, slots=True)
class EngineSide:
    """A side. active: index into its Pokémon; conditions, durations, boosts: by the names above; last: "move:0" …

    substitute: its health. must_switch: it has to switch before anything else; trapped: it may not.
    """

    pokemon: tuple[EnginePokemon, ...]
    active: int
    conditions: dict[str, int] = field(default_factory=dict)
    volatiles: frozenset[str] = frozenset()
    durations: dict[str, int] = field(default_factory=dict)
    substitute: int = 0
    boosts: dict[str, int] = field(default_factory=dict)
    wish: tuple[int, int] = (0, 0)
    future_sight: tuple[int, int] = (0, 0)
    must_switch: bool = False
    passing: bool = False
    trapped: bool = False
    last: str = "move:none"

    def text(self) -> str:
        fields = [
            *(mon.text() for mon in (*self.pokemon, *(NOBODY,) * 6)[:6]),
            str(self.active),
            _numbers(self.conditions, CONDITIONS),
            ":".join(sorted(self.volatiles)),
            _numbers(self.durations, DURATIONS),
            str(self.substitute),
            *(str(self.boosts.get(stat, 0)) for stat in BOOSTS),
            *map(str, (*self.wish, *self.future_sight)),
            _word(self.must_switch),
            "none",  # the move that waits for the other side's U-turn to end: who it is that waits cannot be told
            _word(self.passing),
            "false",
            _word(self.trapped),
            self.last,
            "false",
        ]
        return "=".join(fields)


@dataclass(frozen=True, slots=True)
class EngineState:
    """A position. weather, terrain: name and turns left (-1: no end); trick_room: turns left, 0 for none."""

    one: EngineSide
    two: EngineSide
    weather: tuple[str, int] = ("none", 0)
    terrain: tuple[str, int] = ("none", 0)
    trick_room: int = 0

    def text(self) -> str:
        """As poke-engine's `State.from_string` reads it."""
        room = f"{_word(self.trick_room > 0)};{self.trick_room}"
        pairs = (f"{name};{turns}" for name, turns in (self.weather, self.terrain))
        return "/".join([self.one.text(), self.two.text(), *pairs, room, "false"])


def _two(types: tuple[str, ...]) -> tuple[str, str]:
    first, second, *_ = (*types, "typeless", "typeless")
    return first, second


def _numbers(values: dict[str, int], names: tuple[str, ...]) -> str:
    return ";".join(str(values.get(name, 0)) for name in names)


def _word(value: bool) -> str:
    return "true" if value else "false"


def move_name(move: str, gen: int) -> str:
    """poke-engine's name of a move: Hidden Power has its power in it."""
    if move.startswith("hiddenpower"):
        kind = move.removeprefix("hiddenpower").rstrip("0123456789")
        return f"hiddenpower{kind}{60 if gen >= 6 else 70}" if kind else move
    return move
