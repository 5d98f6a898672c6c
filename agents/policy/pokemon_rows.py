"""The row of a Pokémon in an observation (agents/policy/observation.py), and what is remembered to write it quickly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from struct import Struct
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from poke_env.battle.effect import Effect
from poke_env.battle.move import Move
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.pokemon_type import PokemonType
from poke_env.battle.status import Status
from poke_env.data import GenData

from agents.battle import SeatBattle
from agents.policy.estimates import Estimates, Known, Standing, health, standing
from agents.policy.vocabulary import move_word, vocabulary
from teamsets.builder.published import STATS

_EFFECTS = (
    Effect.SUBSTITUTE, Effect.CONFUSION, Effect.LEECH_SEED, Effect.REFLECT, Effect.FOCUS_ENERGY, Effect.TAUNT,
    Effect.ENCORE, Effect.DISABLE, Effect.TRAPPED, Effect.PARTIALLY_TRAPPED, Effect.CURSE, Effect.YAWN,
    Effect.DESTINY_BOND, Effect.PERISH1, Effect.SALT_CURE, Effect.LOCKED_MOVE,
)  # fmt: skip
# The members of an enumeration are hashed slowly, and there is one of each: which one it is says as much.
_PLACES = {id(effect): place for place, effect in enumerate(_EFFECTS)}
_NO_EFFECTS = [0.0] * len(_EFFECTS)
_MOVES = 4
#: So many Pokémon as they may be known are remembered.
_REMEMBERED = 20_000
# What a row is packed of: its ids; what is known; what only one on the field has, with the padding.
_IDS, _KNOWN, _ON_FIELD = Struct("=11h2x").pack, Struct("=21f").pack, Struct("=27f8x").pack
_NOT_ON_FIELD = _ON_FIELD(*(0.0,) * 27)
# poke-env's properties take longer than all the rest, so its fields are read.
_KNOWN_BY = (
    "_species", "_level", "_item", "_ability", "_temporary_ability", "_forme_change_ability", "_terastallized",
    "_terastallized_type", "_type_1", "_type_2", "_weightkg",
)  # fmt: skip
_SHEET = len(_KNOWN_BY)
_is = attrgetter(*_KNOWN_BY, "_status", "_status_counter", "_current_hp", "_max_hp", "_revealed", "_active")


class PokemonRow(NamedTuple):
    """A Pokémon: its ids, what is known of it, what it has on the field, and how it stands for the estimates."""

    ids: bytes
    known: bytes
    on_field: bytes
    standing: Standing | None

    @property
    def able(self) -> Standing | None:
        """How it stands, unless it has fainted or is not known."""
        return self.standing if self.standing is not None and self.standing.hp > 0 else None


@dataclass(slots=True)
class _Sheet:
    """What hardly ever changes of a Pokémon. known: for the estimates. before, after: its ids up to its status, and from
    there on. moves: those that are listed, in order, with all their PP."""

    known: Known
    before: tuple[int, ...]
    after: tuple[int, ...]
    moves: list[tuple[str, int]]
    level: float
    base_stats: tuple[float, ...]


@dataclass(slots=True)
class _Seen:
    """A Pokémon at the last decision, and by what its sheet was found. row: if it was on the bench.

    Who stays there has neither used nor shown a move, so its state tells whether its row is still right. Who was on the
    field in between has a new list of types: poke-env begins one for each that leaves it.
    """

    pokemon: Pokemon
    key: tuple[Any, ...]
    sheet: _Sheet
    row: PokemonRow | None = None
    state: tuple[Any, ...] = ()
    types: list[PokemonType] | None = None


class PokemonRows:
    """Writes the rows of Pokémon, quickest where one decision of a battle comes after the other.

    ids: species, item, ability, 4 moves, status, 2 types, tera type. numbers, from 0: what is known (that it is known, that
    it is not, HP, fainted, on the field, ours, revealed, level, counter of its status, moves, terastallized, 6 base stats,
    PP); from 21: the estimates against the opponent's on the field (agents/policy/estimates.py); from 27: what only one on
    the field has (`_on_field`).
    """

    def __init__(self) -> None:
        words = vocabulary()
        self._species, self._moves, self._items = words.region("species"), words.region("moves"), words.region("items")
        self._abilities, self._types, self._tera = map(words.region, ("abilities", "types", "tera_types"))
        statuses = words.region("statuses")
        self._statuses = {id(None): statuses.none} | {id(status): statuses[status.name.lower()] for status in Status}
        unseen = self._species.unknown, self._items.unknown, self._abilities.unknown, *(self._moves.unknown,) * _MOVES
        self._nobody = PokemonRow(_IDS(*unseen, 0, 0, 0, 0), _KNOWN(0.0, 1.0, *(0.0,) * 19), _NOT_ON_FIELD, None)
        self._forget()

    def _forget(self) -> None:
        self.estimates = Estimates()
        self._sheets: dict[tuple[Any, ...], _Sheet] = {}
        self._battles: WeakKeyDictionary[SeatBattle, dict[int, _Seen]] = WeakKeyDictionary()

    def of(self, battle: SeatBattle) -> dict[int, _Seen]:
        """What is remembered of a battle, for `row`. Forgets all if there is too much of it."""
        if self.estimates.full or len(self._sheets) > _REMEMBERED:
            self._forget()
        found = self._battles.get(battle)
        if found is None:
            found = self._battles[battle] = {}
        return found

    def row(
        self, mon: Pokemon | None, entry: dict[str, Any] | None, battle: SeatBattle, remembered: dict[int, _Seen]
    ) -> PokemonRow:
        """entry: of the request, for one of our own. remembered: as `of` gives it."""
        if mon is None:
            return self._nobody
        seen, state = remembered.get(id(mon)), _is(mon)
        if seen is not None and seen.row is not None and seen.state == state and seen.types is mon._temporary_types:
            return seen.row
        carried = mon._moves
        plain = carried._mimic_move is None and carried._transform_moves is None
        moves = carried._base_moves if plain else carried.moves
        key = battle.format_id, state[:_SHEET], *mon._temporary_types, *moves
        listed = None
        if entry is not None:
            listed = _listed(entry["moves"], moves.get("hiddenpower"))
            key = *key, *listed, *entry["stats"].values(), entry.get("terastallized"), mon._max_hp
        if seen is None or seen.key != key:
            sheet = self._sheets.get(key)
            if sheet is None:
                sheet = self._sheets[key] = self._new_sheet(mon, listed, battle)
            seen = remembered[id(mon)] = _Seen(mon, key, sheet)
        if mon._active:
            seen.row = None
            return self._row(mon, entry is not None, moves, seen.sheet, _on_field(mon))
        seen.row = self._row(mon, entry is not None, moves, seen.sheet, _NOT_ON_FIELD)
        seen.state, seen.types = state, mon._temporary_types
        return seen.row

    def _row(self, mon: Pokemon, own: bool, moves: dict[str, Move], sheet: _Sheet, on_field: bytes) -> PokemonRow:
        pp = [moves[name]._current_pp / most if name in moves else 1.0 for name, most in sheet.moves]
        status, counter, hp = mon._status, mon._status_counter, health(mon)
        known = _KNOWN(
            1.0,
            0.0,
            hp,
            status is Status.FNT,
            bool(mon._active),
            own,
            mon._revealed,
            sheet.level,
            (counter if counter < 8 else 8) / 8,
            len(pp) / _MOVES,
            mon._terastallized,
            *sheet.base_stats,
            *pp,
            *(0.0,) * (_MOVES - len(pp)),
        )
        ids = _IDS(*sheet.before, self._statuses[id(status)], *sheet.after)
        return PokemonRow(ids, known, on_field, standing(sheet.known, mon, hp))

    def _new_sheet(self, mon: Pokemon, listed: Sequence[str] | None, battle: SeatBattle) -> _Sheet:
        """ids: species, item, ability, 4 moves, status, 2 types, tera type. listed: the moves of one of ours."""
        gen, item, ability, tera, types = mon.gen, mon.item, mon.ability, mon.tera_type, mon.types
        names = sorted(mon.moves if listed is None else map(move_word, listed))[:_MOVES]
        missing = self._moves.unknown if listed is None else self._moves.none
        before = (
            self._species[mon.species],
            self._items.none if not item else self._items[item],
            self._abilities.unknown if ability is None and gen >= 3 else self._abilities[ability or "noability"],
            *(self._moves[move_word(name)] for name in names),
            *(missing,) * (_MOVES - len(names)),
        )
        after = (
            self._types[_word(types[0])],
            self._types[_word(types[1])] if len(types) > 1 else self._types.none,
            self._tera[_word(tera)] if tera is not None else self._tera.unknown if gen == 9 else self._tera.none,
        )
        most = [(name, _most_pp(name, gen) if name in mon.moves else 1) for name in names]
        known = self.estimates.known(mon, listed, battle)
        return _Sheet(known, before, after, most, mon.level / 100, _base_stats(gen, mon.species))


def _listed(moves: Sequence[str], hidden: Move | None) -> Sequence[str]:
    """The moves of one of ours by its entry. hidden: its Hidden Power, of which the battle may know more than the entry."""
    if hidden is None or not hidden._base_power_override:
        return moves
    return [f"{hidden.id}{hidden._base_power_override}" if move.startswith("hiddenpower") else move for move in moves]


def _on_field(mon: Pokemon) -> bytes:
    """What only one on the field has: boosts, and what else will pass."""
    boosts, effects = mon._boosts, _NO_EFFECTS
    if mon._effects:
        effects = [0.0] * len(_EFFECTS)
        for effect in mon._effects:
            place = _PLACES.get(id(effect))
            if place is not None:
                effects[place] = 1.0
    return _ON_FIELD(
        boosts["atk"] / 6,
        boosts["def"] / 6,
        boosts["spa"] / 6,
        boosts["spd"] / 6,
        boosts["spe"] / 6,
        boosts["accuracy"] / 6,
        boosts["evasion"] / 6,
        mon._active_turns == 1,
        mon._must_recharge,
        mon.preparing,
        mon._protect_counter / 4,
        *effects,
    )


def _word(kind: PokemonType) -> str:
    return kind.name.lower()


@lru_cache(maxsize=8192)
def _most_pp(name: str, gen: int) -> int:
    return Move(name, gen=gen).max_pp or 1


@lru_cache(maxsize=8192)
def _base_stats(gen: int, species: str) -> tuple[float, ...]:
    stats = GenData.from_gen(gen).pokedex.get(species, {}).get("baseStats", {})
    return tuple(stats.get(stat, 0) / 200 for stat in STATS)
