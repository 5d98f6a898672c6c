"""The rows of an observation (agents/policy/observation.py): the field, a side, a Pokémon, a move, as ids and numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from poke_env.battle.effect import Effect
from poke_env.battle.field import Field
from poke_env.battle.move import Move
from poke_env.battle.move_category import MoveCategory
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.pokemon_type import PokemonType
from poke_env.battle.side_condition import SideCondition
from poke_env.battle.status import Status
from poke_env.battle.weather import Weather
from poke_env.data import GenData, to_id_str

from agents.battle import SeatBattle
from agents.policy.estimates import Estimates, Standing
from agents.policy.vocabulary import Region, move_word, vocabulary

_CONDITIONS = (
    SideCondition.SPIKES, SideCondition.STEALTH_ROCK, SideCondition.TOXIC_SPIKES, SideCondition.STICKY_WEB,
    SideCondition.REFLECT, SideCondition.LIGHT_SCREEN, SideCondition.AURORA_VEIL, SideCondition.TAILWIND,
    SideCondition.SAFEGUARD, SideCondition.MIST, SideCondition.LUCKY_CHANT,
)  # fmt: skip
_AGEING = _CONDITIONS[4:8]
_LAYERS = frozenset({SideCondition.SPIKES, SideCondition.TOXIC_SPIKES})
_EFFECTS = {
    effect: place
    for place, effect in enumerate(
        (
            Effect.SUBSTITUTE, Effect.CONFUSION, Effect.LEECH_SEED, Effect.REFLECT, Effect.FOCUS_ENERGY, Effect.TAUNT,
            Effect.ENCORE, Effect.DISABLE, Effect.TRAPPED, Effect.PARTIALLY_TRAPPED, Effect.CURSE, Effect.YAWN,
            Effect.DESTINY_BOND, Effect.PERISH1, Effect.SALT_CURE, Effect.LOCKED_MOVE,
        )
    )
}  # fmt: skip
_BOOSTS = ("atk", "def", "spa", "spd", "spe", "accuracy", "evasion")
_STATS = ("hp", "atk", "def", "spa", "spd", "spe")
_MOVES = 4
#: Where the ids of a Pokémon stand in its row, and its numbers: what is known of it, what it may do and must fear, what only
#: one on the field has.
IDS = slice(0, 11)
KNOWN, ESTIMATED, ON_FIELD = slice(0, 21), slice(21, 27), slice(27, 54)
#: Where the numbers of a move stand: how it is now, and what never changes.
_READY, _FIXED = slice(0, 9), slice(9, 22)
#: So many Pokémon as they stood on the bench are remembered.
_BENCHED = 20_000


class PokemonRow(NamedTuple):
    """A Pokémon: its ids, what is known of it, how it stands for the estimates, and what it has on the field."""

    ids: NDArray[np.int16]
    numbers: NDArray[np.float32]
    standing: Standing | None
    on_field: list[float]

    @property
    def able(self) -> Standing | None:
        return self.standing if self.standing is not None and self.standing.hp > 0 else None


class Rows:
    """Writes rows, with the regions of the vocabulary at hand, so that no name is looked up at each decision."""

    def __init__(self) -> None:
        words = vocabulary()
        self.species, self.moves, self.last = words.region("species"), words.region("moves"), words.region("last_moves")
        self.abilities, self.items = words.region("abilities"), words.region("items")
        self.types, self.tera, self.weathers = (
            words.region("types"),
            words.region("tera_types"),
            words.region("weathers"),
        )
        self.fields, self.gens, self.categories = (
            words.region("fields"),
            words.region("gens"),
            words.region("categories"),
        )
        unseen = [
            self.species.unknown,
            self.items.unknown,
            self.abilities.unknown,
            *(self.moves.unknown,) * _MOVES,
            *(0,) * 4,
        ]
        self.nobody = _row(unseen, [0.0, 1.0, *(0.0,) * 19], None, [])
        # The members of an enumeration are hashed slowly, and there is one of each: which one it is says as much.
        statuses = words.region("statuses")
        self.of_status = {id(None): statuses.none} | _by_member(statuses, Status)
        self.of_type = _by_member(self.types, PokemonType)
        self.of_tera = _by_member(self.tera, PokemonType)
        self.move_ids: dict[str, int] = {}
        self.estimates = Estimates()
        self.benched: dict[tuple[Any, ...], PokemonRow] = {}

    def field(
        self, battle: SeatBattle, request: dict[str, Any], ids: NDArray[np.int16], numbers: NDArray[np.float32]
    ) -> None:
        """Writes the field's row."""
        weather = next((w for w in battle.weather if w is not Weather.UNKNOWN), None)
        terrains = [field for field in battle.fields if field is not Field.UNKNOWN][:4]
        ids[: 2 + len(terrains)] = [
            self.gens[str(battle.gen)],
            self.weathers.none if weather is None else self.weathers[weather.name.lower()],
            *(self.fields[field.name.lower()] for field in terrains),
        ]
        turn = battle.turn
        numbers[: 6 + len(terrains)] = [
            min(turn, 100) / 100,
            1.0 / (1 + turn),
            (turn - battle.weather[weather]) / 8 if weather is not None else 0.0,
            float(bool(request.get("forceSwitch"))),
            float(bool(battle.trapped)),
            float(bool(battle.can_tera)),
            *((turn - battle.fields[field]) / 8 for field in terrains),
        ]

    def side(
        self, conditions: dict[SideCondition, int], turn: int, team: Collection[Pokemon], active: Pokemon | None,
        used_tera: bool, ids: NDArray[np.int16], numbers: NDArray[np.float32],
    ) -> None:  # fmt: skip
        """Writes the row of a side: its conditions, the ages of those that have one, how many stand."""
        last = active.last_move if active is not None else None
        ids[0] = self.last.none if last is None else self.last[move_word(last.id)]
        first = len(_CONDITIONS)
        if conditions:
            for place, condition in enumerate(_CONDITIONS):
                value = conditions.get(condition)
                if value is not None:
                    numbers[place] = value / 3 if condition in _LAYERS else 1.0
            numbers[first : first + len(_AGEING)] = [
                (turn - conditions[c]) / 8 if c in conditions else 0.0 for c in _AGEING
            ]
        known = len(team)
        standing = [mon.current_hp_fraction for mon in team if not mon.fainted]
        first += len(_AGEING)
        numbers[first : first + 5] = [
            len(standing) / 6,
            known / 6,
            (known - len(standing)) / 6,
            sum(standing) / 6,
            float(used_tera),
        ]

    def pokemon(self, mon: Pokemon | None, entry: dict[str, Any] | None, battle: SeatBattle) -> PokemonRow:
        """entry: of the request, for one of our own."""
        if mon is None:
            return self.nobody
        if mon.active:
            standing = self.estimates.standing(mon, entry, battle)
            return _row(*self._pokemon(mon, entry), standing, _on_field(mon))
        # On the bench hardly anything changes from one decision to the next.
        moves = mon.moves
        own = (*entry["moves"], *entry["stats"].values()) if entry is not None else ()
        key = (
            battle.format_id, mon.species, mon.level, mon.item, mon.ability, id(mon.status), mon.status_counter,
            mon.current_hp, mon.max_hp, mon.revealed, mon.is_terastallized, id(mon.tera_type), own,
            *moves, *[move.current_pp for move in moves.values()],
        )  # fmt: skip
        found = self.benched.get(key)
        if found is None:
            standing = self.estimates.standing(mon, entry, battle)
            found = self.benched[key] = _row(*self._pokemon(mon, entry), standing, [])
        return found

    def make_room(self) -> None:
        """Forgets what is remembered if there is too much of it."""
        if self.estimates.full or len(self.benched) > _BENCHED:
            self.estimates, self.benched = Estimates(), {}

    def _pokemon(self, mon: Pokemon, entry: dict[str, Any] | None) -> tuple[list[int], list[float]]:
        """ids: species, item, ability, 4 moves, status, 2 types, tera type."""
        moves = mon.moves
        known = sorted(moves)[:_MOVES] if entry is None else sorted(map(move_word, entry["moves"]))[:_MOVES]
        missing = self.moves.unknown if entry is None else self.moves.none
        item, ability, gen = mon.item, mon.ability, mon.gen
        tera = mon.tera_type
        kinds = mon.types
        ids = [
            self.species[mon.species],
            self.items.none if not item else self.items[item],
            self.abilities.unknown if ability is None and gen >= 3 else self.abilities[ability or "noability"],
            *(self._move_id(move) for move in known),
            *(missing,) * (_MOVES - len(known)),
            self.of_status[id(mon.status)],
            self.of_type[id(kinds[0])],
            self.of_type[id(kinds[1])] if len(kinds) > 1 else self.types.none,
            self.of_tera[id(tera)] if tera is not None else self.tera.unknown if gen == 9 else self.tera.none,
        ]
        numbers = [
            1.0,
            0.0,
            mon.current_hp_fraction,
            float(mon.fainted),
            float(bool(mon.active)),
            float(entry is not None),
            float(mon.revealed),
            mon.level / 100,
            min(mon.status_counter, 8) / 8,
            len(known) / _MOVES,
            float(mon.is_terastallized),
            *_base_stats(gen, mon.species),
            *_pp_left(moves, known, gen),
        ]
        return ids, numbers

    def _move_id(self, move: str) -> int:
        found = self.move_ids.get(move)
        if found is None:
            found = self.move_ids[move] = self.moves[move_word(move)]
        return found

    def move(
        self,
        listed: dict[str, Any],
        gen: int,
        estimated: list[float],
        ids: NDArray[np.int16],
        numbers: NDArray[np.float32],
    ) -> None:
        """Writes the row of our move. ids: move, type, category. listed: the request's entry of the move."""
        name = str(listed["id"])
        facts = _facts(name, gen)
        pp, most = listed.get("pp"), listed.get("maxpp")
        share = pp / most if pp is not None and most else 1.0
        numbers[_READY] = [1.0, float(bool(listed.get("disabled"))), share, *estimated]
        ids[0] = self._move_id(name)
        if facts is not None:
            kind, category, numbers[_FIXED] = facts
            ids[1], ids[2] = self.types[kind], self.categories[category]


def _by_member(region: Region, members: Iterable[Enum]) -> dict[int, int]:
    """The id() of each member of an enumeration -> its word's id."""
    return {id(member): region[member.name.lower()] for member in members}


def _row(ids: list[int], numbers: list[float], standing: Standing | None, on_field: list[float]) -> PokemonRow:
    return PokemonRow(np.array(ids, dtype=np.int16), np.array(numbers, dtype=np.float32), standing, on_field)


def _on_field(mon: Pokemon) -> list[float]:
    """What only one on the field has."""
    boosts = mon.boosts
    effects = [0.0] * len(_EFFECTS)
    for effect in mon.effects:
        place = _EFFECTS.get(effect)
        if place is not None:
            effects[place] = 1.0
    return [
        *(boosts[stat] / 6 for stat in _BOOSTS),
        float(mon.first_turn),
        float(mon.must_recharge),
        float(bool(mon.preparing)),
        mon.protect_counter / 4,
        *effects,
    ]


def _pp_left(moves: dict[str, Move], known: list[str], gen: int) -> list[float]:
    """For each of the known moves the share of its PP that is left; those not yet used have all."""
    shares = [moves[m].current_pp / _most_pp(m, gen) if m in moves else 1.0 for m in known]
    return shares + [0.0] * (_MOVES - len(known))


@lru_cache(maxsize=8192)
def _most_pp(name: str, gen: int) -> int:
    return Move(name, gen=gen).max_pp or 1


@lru_cache(maxsize=8192)
def _base_stats(gen: int, species: str) -> tuple[float, ...]:
    stats = GenData.from_gen(gen).pokedex.get(species, {}).get("baseStats", {})
    return tuple(stats.get(stat, 0) / 200 for stat in _STATS)


@lru_cache(maxsize=8192)
def _facts(name: str, gen: int) -> tuple[str, str, NDArray[np.float32]] | None:
    """A move's type, its category, and what of its numbers never changes; None for "recharge" and such."""
    try:
        move = Move(to_id_str(name), gen=gen)
        fixed = (
            move.base_power / 150,
            float(move.accuracy),
            move.priority / 5,
            move.expected_hits / 5,
            move.recoil,
            move.drain,
            move.heal,
            float(bool(move.self_switch)),
            float(bool(move.force_switch)),
            float(move.status is not None),
            float(bool(move.boosts or move.self_boost)),
            float(move.self_destruct is not None),
            float(len(move.secondary) > 0),
        )
        category = {MoveCategory.PHYSICAL: "physical", MoveCategory.SPECIAL: "special", MoveCategory.STATUS: "status"}
        return move.type.name.lower(), category[move.category], np.array(fixed, dtype=np.float32)
    except (KeyError, ValueError):
        return None
