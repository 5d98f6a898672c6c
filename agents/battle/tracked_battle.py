"""poke-env's Battle with what its corrections remember; agents/battle/corrections.py says what is corrected, and where."""

from __future__ import annotations

import logging
import random
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from poke_env.battle.effect import Effect
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.pokemon_type import PokemonType

from agents.battle.quick_battle import QuickReading
from agents.battle.team_sheets import TeamSheet

# poke-env logs every line that it cannot parse; the seat's battle counts them instead (`parse_warnings`).
FIRST_WITH_ILLUSION = 5
_SILENT = logging.getLogger("arena.seat")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False
_SILENT.setLevel(logging.CRITICAL)
logging.getLogger("poke-env").setLevel(logging.ERROR)  # it warns of every unknown effect, in every battle


class TrackedBattle(QuickReading):
    """A battle, of one slot a side or two, whose lines may be corrected before poke-env reads them, or after.

    A place is a side with its slot, as the first three letters of an active Pokémon's identifier name it: "p1a".

    slots: of a side, 1 in singles and 2 in doubles.
    on_bench: for each place, what was known of its active Pokémon just before it came in: all that its lines said since then
    is undone for it when they turn out to be those of another one under Illusion. None: it had not been seen before.
    poisoned_at_end: Pokémon that became badly poisoned at the end of the turn, after its poison would have counted.
    single_turn, single_move: effects that end with the turn, or with the next move of their Pokémon (and when they began).
    protecting: who used Protect or the like last, and how often in a row before; protected: for whom it worked this turn.
    turn_ended: the line that ends the turn has come ("upkeep"), that of the next turn not yet.
    poisoned_before: by `key_of`, how far bad poison had grown when it left (generation 3).
    talked: by `key_of`, the last turns of sleep with a move, and whether one may still follow in this turn (generation 3).
    continued: for each side, the ContinuedMove that its active Pokémon may go on with (generation 2).
    silent_effect: the effect that the last move has given its user without a line, unless Snatch takes it.
    unmoved: Pokémon that prepared a move, or had to rest, when the last turn ended.
    locked_on: effects of Lock-On and Mind Reader, with the turn in which they began.
    types_before: for each place, the temporary types of its active Pokémon before a silent change (its guise).
    before_transform: who has transformed since the last request, and its last move before that.
    slept: turns of sleep of what left asleep as this Pokémon, where it has come in awake since (its guise, or it was cured).
    entered_asleep: for each place whose active Pokémon came in asleep and has slept since, its turns of sleep as it came in.
    trappers: who cannot leave and who is the cause, where that can be several (doubles).
    pressing: the places whose Pokémon has announced Pressure since it came in.
    opponent_sheets: the opponent's open team sheets as they were shown; () where they are not open.
    """

    slots: ClassVar[int]

    def __init__(self, tag: str, username: str, role: str, gen: int, format_id: str, rng: random.Random) -> None:
        super().__init__(tag, username, _SILENT, gen=gen)  # type: ignore[call-arg]  # poke-env's classes have a default
        self._player_role = role
        self.format_id = format_id
        self.rng = rng
        self.on_bench: dict[str, tuple[str, dict[str, Any] | None]] = {}
        self.poisoned_at_end: list[Pokemon] = []
        self.single_turn: list[tuple[Pokemon, Effect]] = []
        self.single_move: list[tuple[Pokemon, Effect, int]] = []
        self.protecting: tuple[Pokemon, int] | None = None
        self.protected: list[Pokemon] = []
        self.turn_ended = False
        self.talked: dict[tuple[bool, str], tuple[int, bool]] = {}
        self.continued: dict[str, Any] = {}
        self.silent_effect: tuple[Pokemon, Effect] | None = None
        self.unmoved: list[Pokemon] = []
        self.locked_on: list[tuple[Pokemon, Effect, int]] = []
        self.before_transform: list[tuple[Pokemon, str]] = []
        self.slept: dict[str, int] = {}
        self.entered_asleep: dict[str, int] = {}
        self.poisoned_before: dict[tuple[bool, str], int] = {}
        self.trappers: list[tuple[Pokemon, Pokemon]] = []
        self.pressing: set[str] = set()
        self.types_before: dict[str, list[PokemonType]] = {}
        self.opponent_sheets: tuple[TeamSheet, ...] = ()

    def read(self, message: list[str]) -> None:
        """Let poke-env read a line as it is, or as a correction has changed it."""
        QuickReading.parse_message(self, message)

    def record(self, message: list[str]) -> None:
        """Keep a line that poke-env does not read, in the battle's record of lines."""
        self._replay_data.append(message)

    def end_single_move(self, mon: Pokemon) -> None:
        """End what lasts until a Pokémon's next move (Destiny Bond), as it moves or cannot."""
        if self.single_move:
            for owner, effect, _ in self.single_move:
                if owner is mon:
                    mon._effects.pop(effect, None)
            self.single_move = [entry for entry in self.single_move if entry[0] is not mon]

    def transfer_marks(self, copied: Pokemon, wearer: Pokemon) -> None:
        """Give what is remembered of the active Pokémon, until a turn or move ends it, to the one that wore its guise."""

        def whose(mon: Pokemon) -> Pokemon:
            return wearer if mon is copied else mon

        self.poisoned_at_end = [whose(mon) for mon in self.poisoned_at_end]
        self.protected = [whose(mon) for mon in self.protected]
        self.unmoved = [whose(mon) for mon in self.unmoved]
        self.single_turn = [(whose(mon), effect) for mon, effect in self.single_turn]
        self.single_move = [(whose(mon), effect, since) for mon, effect, since in self.single_move]
        self.locked_on = [(whose(mon), effect, since) for mon, effect, since in self.locked_on]
        if self.protecting is not None:
            self.protecting = whose(self.protecting[0]), self.protecting[1]
        if self.silent_effect is not None:
            self.silent_effect = whose(self.silent_effect[0]), self.silent_effect[1]

    def key_of(self, mon: Pokemon) -> tuple[bool, str]:
        """Return what tells a Pokémon from all others of both sides: whether it is ours, and its name."""
        return any(mon is own for own in self._team.values()), mon.name

    @abstractmethod
    def active_of(self, ident: str) -> Pokemon | None:
        """Return the Pokémon that stands where an identifier ("p1a: Tauros") says, also one that has fainted there."""

    @abstractmethod
    def occupy(self, place: str, mon: Pokemon) -> None:
        """Note who stands at a place ("p1a")."""

    def allies_of(self, ident: str) -> Sequence[Pokemon]:
        """Return who stands beside an active Pokémon ("p1a: Tauros"): nobody in singles."""
        return ()

    def part_guises(self, ident: str) -> None:
        """Tell one that comes in from one of its side that has stood there in its guise: there is none in singles."""

    def recognise(self, ident: str) -> None:
        """As an active one ("p1a: Zoroark") loses its guise, take an ally that was thought to be in it for the real one."""

    @abstractmethod
    def facing(self, ident: str) -> Pokemon | None:
        """Return the only Pokémon that an active one has to do with on the other side; None if there are two."""

    @abstractmethod
    def fielded(self) -> Sequence[Pokemon]:
        """Return all Pokémon on the field, ours first, also those that have fainted there."""

    @abstractmethod
    def held_by(self, holder: Pokemon | None, ident: str) -> Sequence[Pokemon]:
        """Return who cannot leave because of a Pokémon ("p1a: Tauros"), by Mean Look and the like."""


def is_among(mon: Pokemon, mons: list[Pokemon]) -> bool:
    """Return whether a Pokémon is one of these, and not only equal to one."""
    return any(mon is other for other in mons)


def origin(message: list[str], start: int = 3) -> str:
    """Return what a line says that it is from ("[from] move: Worry Seed" -> "move: Worry Seed"), "" if it does not."""
    for part in message[start:]:
        if part.startswith("[from]"):
            return part[6:].strip()
    return ""


def other(message: list[str], start: int = 3) -> str:
    """Return the identifier of the other Pokémon of a line ("[of] p1a: Tauros"), "" if there is none."""
    for part in message[start:]:
        if part.startswith("[of]"):
            return part[4:].strip()
    return ""
