"""What a generation-9 log has shown of both sides: the Pokémon, those that are out, and the conditions in play."""

from __future__ import annotations

from dataclasses import dataclass, field

from agents.search.log_lines import Who

STATS = ("atk", "def", "spa", "spd", "spe", "accuracy", "evasion")


@dataclass
class Effect:
    """A condition in play.

    residuals: ends of turns that were over when it began; the turns that it lasts are `duration`, 0 for no end. order: its
    place among all that began. counter, extra: as in the engine's words (layers, HP …).
    """

    residuals: int
    order: int
    duration: int = 0
    source: Who | None = None
    counter: int = 0
    extra: int = 0
    move: str = ""
    cause: str = ""
    held: str | None = None  # its source's item when it began; None: as in its set


@dataclass
class TrackedPokemon:
    """A Pokémon by its log.

    species: as at its last change of forme. hp, max_hp: as shown (percent of an opponent's). place: in its team, -1 if not
    known. used: move -> PP spent. slept: turns lost to this sleep. regenerating: it left the field since its HP was shown.
    item: None as in its set, "" none.
    """

    name: str
    species: str
    place: int
    gender: str = ""
    hp: int = 100
    max_hp: int = 100
    status: str = ""
    slept: int = 0
    rested: bool = False
    toxic: int = 0
    orb: bool = False  # its status came at the end of this turn
    status_order: int = 0
    status_source: Who | None = None
    regenerating: bool = False
    item: str | None = None
    last_item: str = ""
    ate_berry: bool = False
    ability: str | None = None  # a permanent change of forme brought it
    tera: str = ""
    regresses: bool = False
    used: dict[str, int] = field(default_factory=dict)
    entries: int = 0
    bond: bool = False
    shield: bool = False


@dataclass
class ActiveState:
    """What is true of a Pokémon while it is out. order: of its ability; its item has the next.

    species, ability: where a change that ends with its stay brought them. types: where they were changed. choice: the move
    that a choice item would hold it to. own_used: PP spent of copied moves. acted: in this turn. turns: ends of turns out.
    """

    order: int = 0
    item_order: int = 0
    entered_turn: int = 0
    fallen: int = 0
    boosts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATS, 0))
    species: str = ""
    ability: str = ""
    types: tuple[str, ...] | None = None
    added_type: str = ""
    adapted: bool = False  # by Protean
    transformed: Who | None = None
    copied: ActiveState | None = None
    copied_species: str = ""
    own_used: dict[str, int] = field(default_factory=dict)
    volatiles: dict[str, Effect] = field(default_factory=dict)
    choice: str = ""
    choice_order: int = 0
    last: str = ""
    last_used: str = ""
    actions: int = 0
    turns: int = 0
    acted: bool = False
    slept_now: bool = False
    failed: bool | None = None
    failed_before: bool | None = None
    attacks: dict[Who, str] = field(default_factory=dict)  # of this turn: by whom, the move
    was_attacked: bool = False
    raised: bool = False
    lowered: bool = False
    used_item: bool = False
    announced: str = ""  # the ability that a line named
    item_dropped: bool = False  # its item does nothing any more: a Trick of its own has failed
    switch_by: str = ""  # the move or item by which it is about to leave


@dataclass
class TrackedSide:
    """mons: by name. entries: names in the order in which they came in.

    preview: species and genders, in the order of the team.
    """

    mons: dict[str, TrackedPokemon] = field(default_factory=dict)
    preview: list[tuple[str, str]] = field(default_factory=list)
    entries: list[str] = field(default_factory=list)
    out: str = ""
    active: ActiveState = field(default_factory=ActiveState)
    conditions: dict[str, Effect] = field(default_factory=dict)
    slot: dict[str, Effect] = field(default_factory=dict)
    fainted: int = 0
    fainted_now: str = ""
    fainted_before: str = ""
    tera_used: bool = False
