"""The token of a Pokémon in an observation (agents/observation/observation.py), with caches of what rarely changes."""

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

from agents.battle.seat_view import SeatView
from agents.observation.estimates import ActivePokemon, Estimates, KnownPokemon, health, standing
from agents.observation.vocabulary import move_name, vocabulary
from teamsets.builder.published import STATS

EFFECTS = (
    Effect.SUBSTITUTE, Effect.CONFUSION, Effect.LEECH_SEED, Effect.REFLECT, Effect.FOCUS_ENERGY, Effect.TAUNT,
    Effect.ENCORE, Effect.DISABLE, Effect.TRAPPED, Effect.PARTIALLY_TRAPPED, Effect.CURSE, Effect.YAWN,
    Effect.DESTINY_BOND, Effect.PERISH1, Effect.SALT_CURE, Effect.LOCKED_MOVE,
)  # fmt: skip
# Enum members are singletons and slow to hash, so they are looked up by id().
_EFFECT_INDEX = {id(effect): index for index, effect in enumerate(EFFECTS)}
_NO_EFFECTS = [0.0] * len(EFFECTS)
_MOVES = 4
#: Maximum number of cached sheets.
_MAX_SHEETS = 20_000
# Layouts of a token's parts: ids; features of any Pokémon; features of an active one, with padding.
_IDS, _KNOWN, _ON_FIELD = Struct("=11h2x").pack, Struct("=21f").pack, Struct("=27f8x").pack
_NOT_ON_FIELD = _ON_FIELD(*(0.0,) * 27)
# poke-env's private fields, since its properties are slow.
_SHEET_FIELDS = (
    "_species", "_level", "_item", "_ability", "_temporary_ability", "_forme_change_ability", "_terastallized",
    "_terastallized_type", "_type_1", "_type_2", "_weightkg",
)  # fmt: skip
_SHEET = len(_SHEET_FIELDS)
_state_of = attrgetter(*_SHEET_FIELDS, "_status", "_status_counter", "_current_hp", "_max_hp", "_revealed", "_active")


class PokemonToken(NamedTuple):
    """A Pokémon's token. known: features of any Pokémon; on_field: features of an active one; standing: for estimates."""

    ids: bytes
    known: bytes
    on_field: bytes
    standing: ActivePokemon | None

    @property
    def able(self) -> ActivePokemon | None:
        """Its state, unless it has fainted or is unknown."""
        return self.standing if self.standing is not None and self.standing.hp > 0 else None


@dataclass(slots=True)
class _Sheet:
    """The part of a Pokémon that rarely changes.

    known: for the estimates. before, after: its ids before and after the status. moves: (name, maximum PP), in order.
    """

    known: KnownPokemon
    before: tuple[int, ...]
    after: tuple[int, ...]
    moves: list[tuple[str, int]]
    level: float
    base_stats: tuple[float, ...]


@dataclass(slots=True)
class _Seen:
    """A Pokémon at the last decision. key: of its sheet. token, state, types: for the cached token of a benched Pokémon.

    A Pokémon that stays on the bench uses and reveals no move, so its token is valid while its state is the same. After it
    was active in between, it has another list of types: poke-env creates a new one whenever a Pokémon leaves the field.
    """

    pokemon: Pokemon
    key: tuple[Any, ...]
    sheet: _Sheet
    token: PokemonToken | None = None
    state: tuple[Any, ...] = ()
    types: list[PokemonType] | None = None


class PokemonTokens:
    """Builds the tokens of Pokémon; caches make it fastest for consecutive decisions of a battle.

    ids: species, item, ability, 4 moves, status, 2 types, tera type. Features from 0: known, unknown, HP, fainted, active,
    ours, revealed, level, status counter, number of moves, terastallized, 6 base stats, PP of 4 moves; from 21: estimates
    against the opponent's active Pokémon (agents/observation/estimates.py); from 27: those of an active Pokémon
    (`_on_field`).
    """

    def __init__(self) -> None:
        names = vocabulary()
        self._species, self._moves, self._items = names.region("species"), names.region("moves"), names.region("items")
        self._abilities, self._types, self._tera = map(names.region, ("abilities", "types", "tera_types"))
        statuses = names.region("statuses")
        self._statuses = {id(None): statuses.none} | {id(status): statuses[status.name.lower()] for status in Status}
        unseen = self._species.unknown, self._items.unknown, self._abilities.unknown, *(self._moves.unknown,) * _MOVES
        self._unknown = PokemonToken(_IDS(*unseen, 0, 0, 0, 0), _KNOWN(0.0, 1.0, *(0.0,) * 19), _NOT_ON_FIELD, None)
        self._clear()

    def _clear(self) -> None:
        self.estimates = Estimates()
        self._sheets: dict[tuple[Any, ...], _Sheet] = {}
        self._battles: WeakKeyDictionary[SeatView, dict[int, _Seen]] = WeakKeyDictionary()

    def cache_of(self, battle: SeatView) -> dict[int, _Seen]:
        """Return the cache of a battle, for `token`. Clears all caches if they have reached their limit."""
        if self.estimates.full or len(self._sheets) > _MAX_SHEETS:
            self._clear()
        cached = self._battles.get(battle)
        if cached is None:
            cached = self._battles[battle] = {}
        return cached

    def token(
        self, mon: Pokemon | None, entry: dict[str, Any] | None, battle: SeatView, cached: dict[int, _Seen]
    ) -> PokemonToken:
        """Return the token of a Pokémon; None: an unknown one. entry: ours in the request. cached: of `cache_of`."""
        if mon is None:
            return self._unknown
        seen, state = cached.get(id(mon)), _state_of(mon)
        if seen is not None and seen.token is not None and seen.state == state and seen.types is mon._temporary_types:
            return seen.token
        carried, effects = mon._moves, mon._effects
        plain = carried._mimic_move is None and carried._transform_moves is None
        moves = carried._base_moves if plain else carried.moves
        key = battle.format_id, state[:_SHEET], *mon._temporary_types, bool(effects) and Effect.ROOST in effects, *moves
        listed = None
        if entry is not None:
            listed = _listed(entry["moves"], moves.get("hiddenpower"))
            key = *key, *listed, *entry["stats"].values(), entry.get("terastallized"), mon._max_hp
        if seen is None or seen.key != key:
            sheet = self._sheets.get(key)
            if sheet is None:
                sheet = self._sheets[key] = self._new_sheet(mon, listed, battle)
            seen = cached[id(mon)] = _Seen(mon, key, sheet)
        if mon._active:
            seen.token = None
            return self._token(mon, entry is not None, moves, seen.sheet, _on_field(mon))
        seen.token = self._token(mon, entry is not None, moves, seen.sheet, _NOT_ON_FIELD)
        seen.state, seen.types = state, mon._temporary_types
        return seen.token

    def _token(self, mon: Pokemon, own: bool, moves: dict[str, Move], sheet: _Sheet, on_field: bytes) -> PokemonToken:
        pp = [moves[name]._current_pp / max_pp if name in moves else 1.0 for name, max_pp in sheet.moves]
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
        return PokemonToken(ids, known, on_field, standing(sheet.known, mon, hp))

    def _new_sheet(self, mon: Pokemon, listed: Sequence[str] | None, battle: SeatView) -> _Sheet:
        """Build the sheet of a Pokémon. listed: the moves of one of ours, None for one of theirs."""
        gen, item, ability, tera, types = mon.gen, mon.item, mon.ability, mon.tera_type, mon.types
        names = sorted(mon.moves if listed is None else map(move_name, listed))[:_MOVES]
        missing = self._moves.unknown if listed is None else self._moves.none
        before = (
            self._species[mon.species],
            self._items.none if not item else self._items[item],
            self._abilities.unknown if ability is None and gen >= 3 else self._abilities[ability or "noability"],
            *(self._moves[move_name(name)] for name in names),
            *(missing,) * (_MOVES - len(names)),
        )
        after = (
            self._types[_type_name(types[0])],
            self._types[_type_name(types[1])] if len(types) > 1 else self._types.none,
            self._tera[_type_name(tera)] if tera is not None else self._tera.unknown if gen == 9 else self._tera.none,
        )
        max_pp = [(name, most_pp(name, gen) if name in mon.moves else 1) for name in names]
        known = self.estimates.known(mon, listed, battle)
        return _Sheet(known, before, after, max_pp, mon.level / 100, _base_stats(gen, mon.species))


def _listed(moves: Sequence[str], hidden: Move | None) -> Sequence[str]:
    """Return the moves in an entry of one of ours. hidden: its Hidden Power, which may have a power that the entry lacks."""
    if hidden is None or not hidden._base_power_override:
        return moves
    return [f"{hidden.id}{hidden._base_power_override}" if move.startswith("hiddenpower") else move for move in moves]


def _on_field(mon: Pokemon) -> bytes:
    """Return the features of an active Pokémon: boosts, temporary states and effects."""
    boosts, effects = mon._boosts, _NO_EFFECTS
    if mon._effects:
        effects = [0.0] * len(EFFECTS)
        for effect in mon._effects:
            index = _EFFECT_INDEX.get(id(effect))
            if index is not None:
                effects[index] = 1.0
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


def _type_name(kind: PokemonType) -> str:
    return kind.name.lower()


@lru_cache(maxsize=8192)
def most_pp(name: str, gen: int) -> int:
    return Move(name, gen=gen).max_pp or 1


@lru_cache(maxsize=8192)
def _base_stats(gen: int, species: str) -> tuple[float, ...]:
    stats = GenData.from_gen(gen).pokedex.get(species, {}).get("baseStats", {})
    return tuple(stats.get(stat, 0) / 200 for stat in STATS)
