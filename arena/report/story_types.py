"""The types of a story, a stored battle turn by turn: `arena watch`, the report's viewer and the dashboard show it.

They are plain JSON. HP is exact on both sides (from each side's own log). Of a side that was not seen it is in 100ths, and
the team has those Pokémon that were sent out.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

SeatName = Literal["p1", "p2"]
SEAT_NAMES: tuple[SeatName, SeatName] = ("p1", "p2")

#: One number for each legal choice, in the order of the legal choices; None where the agent gave none.
ChoiceNumbers = list[float | None]


class StorySlot(TypedDict):
    """A place on the field. Pokémon are named by their index in the team."""

    #: The Pokémon that is out there.
    active: NotRequired[int]
    #: Of this Pokémon: {"Attack": 2}.
    boosts: NotRequired[dict[str, int]]
    #: Of this Pokémon: ["Substitute"].
    effects: NotRequired[list[str]]


class StorySide(StorySlot):
    """The state of one side; of its first place, too. Pokémon are named by their index, in text where it is a key."""

    #: Of each Pokémon in the order of the team; 0: fainted.
    hp: list[int]
    #: In doubles, its second place.
    beside: NotRequired[StorySlot]
    #: Maximum HP where it is not that of the team (Dynamax).
    most: NotRequired[dict[str, int]]
    #: {"0": "paralysed"}
    status: NotRequired[dict[str, str]]
    #: The types of those that have terastallized.
    tera: NotRequired[dict[str, str]]
    #: On its half of the field: ["Stealth Rock", "Spikes ×2"].
    layers: NotRequired[list[str]]


class StoryState(TypedDict):
    """The state of a battle; whatever is empty is left out."""

    p1: StorySide
    p2: StorySide
    #: Weather and other conditions: ["Snowscape", "Trick Room"].
    field: NotRequired[list[str]]


class StoryDecision(TypedDict):
    """A choice of one seat. Choices are indices into `StorySeat.choices`."""

    seat: SeatName
    choice: int
    legal: list[int]
    #: Think time in milliseconds.
    ms: float
    #: A replacement in the middle of a turn.
    forced: NotRequired[bool]
    #: In doubles: `legal` has the choices of each slot, `choice` is of both.
    joint: NotRequired[bool]
    #: The agent's own numbers for the legal choices, by name.
    tables: NotRequired[dict[str, ChoiceNumbers]]
    #: Its other diagnostics: (name, text).
    texts: NotRequired[list[tuple[str, str]]]


class StoryTurn(TypedDict):
    #: 0: team preview and leads.
    turn: int
    #: At its start.
    state: StoryState
    #: [seat or "", text]; the last turn ends with the result.
    events: list[list[str]]
    #: Of both seats; forced switches are in the turn in which they happened.
    decisions: list[StoryDecision]


class StorySeat(TypedDict):
    agent: str
    #: The short name that the events use.
    name: str
    #: The team's name.
    team: str | None
    #: (name, maximum HP), in the order of the team.
    pokemon: list[tuple[str, int]]
    #: Every choice that came up: [as it is stored, as people call it].
    choices: list[list[str]]


class Story(TypedDict):
    """A battle."""

    #: The battle's id.
    id: int
    format: str
    team_set: str
    #: How it ended, as in the table `battles`: reason, winner, fault and detail.
    reason: str
    winner: str | None
    fault: str | None
    detail: str | None
    #: All of that in a sentence.
    result: str
    #: In turns.
    length: int
    #: Seat -> a sentence, for a side of which there is neither log nor choices.
    unseen: dict[SeatName, str]
    seats: dict[SeatName, StorySeat]
    #: Empty without a log.
    turns: list[StoryTurn]
    #: The state when all is over; None without a log.
    end: StoryState | None


class BattleRow(TypedDict):
    """A row of the table `battles`, with the names of the teams in place of their ids."""

    battle_id: int
    format: str
    team_set: str
    p1: str
    p2: str
    winner: str | None
    reason: str
    fault: str | None
    detail: str | None
    turns: int
    input_log: bytes
    p1_log: bytes
    p2_log: bytes
    p1_team: str | None
    p2_team: str | None


class StoryDecisionRow(TypedDict):
    """A row of the table `decisions`. diagnostics: JSON."""

    battle_id: int
    seat: SeatName
    turn: int
    legal: list[str]
    choice: str
    think_ms: float
    diagnostics: str | None


class RequestPokemon(TypedDict):
    """A Pokémon in a request of Showdown's (`side.pokemon`); those of its fields that a story uses."""

    ident: str
    details: str
    condition: str
    active: bool
    terastallized: NotRequired[str]
