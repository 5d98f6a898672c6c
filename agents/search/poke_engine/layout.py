"""poke-engine's State: its parts, and their serialization as text."""

from __future__ import annotations

from dataclasses import dataclass, field

#: Side conditions, in the order of serialization.
CONDITIONS = (
    "auroraveil", "craftyshield", "healingwish", "lightscreen", "luckychant", "lunardance", "matblock", "mist",
    "protect", "quickguard", "reflect", "safeguard", "spikes", "stealthrock", "stickyweb", "tailwind", "toxiccount",
    "toxicspikes", "wideguard",
)  # fmt: skip
#: Volatiles with a duration, in the order of serialization.
DURATIONS = ("confusion", "encore", "lockedmove", "slowstart", "taunt", "yawn")
#: Boosts, in the order of serialization.
BOOSTS = ("atk", "def", "spa", "spd", "spe", "accuracy", "evasion")


@dataclass(frozen=True, slots=True)
class EngineMove:
    """A move: poke-engine's name, whether it is disabled, and its PP."""

    name: str
    disabled: bool = False
    pp: int = 16

    def text(self) -> str:
        return f"{self.name};{_bool(self.disabled)};{max(0, min(self.pp, 64))}"


_NO_MOVE = EngineMove("none", True, 0)


@dataclass(frozen=True, slots=True)
class EnginePokemon:
    """A Pokémon. stats: atk, def, spa, spd, spe before boosts. types: current types. status: "none", "paralyze" …

    slept: turns asleep so far. rest: turns of Rest left.
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
            "false", _bool(self.terastallized), self.tera,
        ]  # fmt: skip
        return ",".join(fields)


#: Fills a team with fewer than six Pokémon.
EMPTY_SLOT = EnginePokemon("none")


@dataclass(frozen=True, slots=True)
class EngineSide:
    """A side. active: index of the active Pokémon. conditions, durations, boosts: by the names above. last: "move:0" …

    substitute: its HP. must_switch: a forced switch is pending. trapped: it cannot switch.
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
            *(mon.text() for mon in (*self.pokemon, *(EMPTY_SLOT,) * 6)[:6]),
            str(self.active),
            _numbers(self.conditions, CONDITIONS),
            ":".join(sorted(self.volatiles)),
            _numbers(self.durations, DURATIONS),
            str(self.substitute),
            *(str(self.boosts.get(stat, 0)) for stat in BOOSTS),
            *map(str, (*self.wish, *self.future_sight)),
            _bool(self.must_switch),
            "none",  # the move that is pending while the other side's U-turn is resolved: it is not known
            _bool(self.passing),
            "false",
            _bool(self.trapped),
            self.last,
            "false",
        ]
        return "=".join(fields)


@dataclass(frozen=True, slots=True)
class EngineState:
    """A position. weather, terrain: name and turns left (-1: permanent). trick_room: turns left, 0 for none."""

    side_one: EngineSide
    side_two: EngineSide
    weather: tuple[str, int] = ("none", 0)
    terrain: tuple[str, int] = ("none", 0)
    trick_room: int = 0

    def text(self) -> str:
        """Serialize it for poke-engine's `State.from_string`."""
        room = f"{_bool(self.trick_room > 0)};{self.trick_room}"
        pairs = (f"{name};{turns}" for name, turns in (self.weather, self.terrain))
        return "/".join([self.side_one.text(), self.side_two.text(), *pairs, room, "false"])


def _two(types: tuple[str, ...]) -> tuple[str, str]:
    first, second, *_ = (*types, "typeless", "typeless")
    return first, second


def _numbers(values: dict[str, int], names: tuple[str, ...]) -> str:
    return ";".join(str(values.get(name, 0)) for name in names)


def _bool(value: bool) -> str:
    return "true" if value else "false"


def move_name(move: str, gen: int) -> str:
    """Return poke-engine's name of a move; Hidden Power's includes its power."""
    if move.startswith("hiddenpower"):
        kind = move.removeprefix("hiddenpower").rstrip("0123456789")
        return f"hiddenpower{kind}{60 if gen >= 6 else 70}" if kind else move
    return move
