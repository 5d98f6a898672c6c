"""What the log of a generation-1 battle is read into: both sides, their Pokémon, and the state of the active one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agents.engine.gen1.layout import HEALTHY
from agents.engine.gen1.tables import NO_MOVE

#: A change of stats: ("boost", stat, by), ("stage", stat, by) where the stat itself stays, ("ill", status), ("haze",),
#: ("transform", the foe's name, its active state at that time).
Event = tuple[Any, ...]


@dataclass
class TrackedPokemon:
    """A Pokémon that has been out. hp, most: as last shown (percent for the opponent's). slept: turns lost to this sleep;
    rested: it is of its own Rest. used: move -> PP spent. broken: its substitute broke, until the next move at it."""

    name: str
    species: str
    level: int
    hp: int = 100
    most: int = 100
    status: int = HEALTHY
    slept: int = 0
    rested: bool = False
    used: dict[str, int] = field(default_factory=dict)
    broken: bool = False


@dataclass
class ActiveState:
    """What ends when a Pokémon leaves. entered: its status when it came in. Counters are None while their condition is off.

    bide, confused, disabled, thrash, trapping: turns or attempts so far. toxic: Showdown's counter. substitute: hits taken.
    """

    entered: int = HEALTHY
    events: list[Event] = field(default_factory=list)
    types: tuple[str, ...] = ()
    mimicked: dict[str, str] = field(default_factory=dict)
    transformed: tuple[str, ActiveState] | None = None
    own_used: dict[str, int] = field(default_factory=dict)
    last: int = 0
    two_turn: str = ""
    invulnerable: bool = False
    bide: int | None = None
    bide_damage: float = 0.0
    trapping: int | None = None
    trapping_damage: float = 0.0
    recharge: bool = False
    thrash: int | None = None
    thrash_move: str = ""
    rage: bool = False
    confused: int | None = None
    disabled: int | None = None
    disabled_move: str = ""
    toxic: int | None = None
    substitute: int | None = None
    flags: set[str] = field(default_factory=set)


@dataclass
class TrackedSide:
    """order: names of the Pokémon that came in, one for each switch. selected, used: last selected and last used move.
    slot_of: the move whose slot was selected last, "" after a switch (slot 0)."""

    mons: dict[str, TrackedPokemon] = field(default_factory=dict)
    entries: list[str] = field(default_factory=list)
    out: str = ""
    active: ActiveState = field(default_factory=ActiveState)
    selected: int = NO_MOVE
    used: int = 0
    slot_of: str = ""
    of_slot: tuple[str, str] | None = None
    slot_before: str | None = None
    fainted: int = 0
    fainted_now: bool = False
