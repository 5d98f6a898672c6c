"""Observations of doubles: a battle at the decision of one slot, or at one pick of team preview.

23 tokens, each with 12 vocabulary ids and 80 features, of which the first 56 are those of singles:

| token | what |
|---|---|
| 0 | the field, and which decision it is |
| 1, 2 | our side, their side |
| 3 – 8 | our Pokémon in the order of the actions 32 – 37: the deciding slot's, the other slot's, the bench |
| 9 – 14 | theirs: slot a, slot b, then those that were seen, those of the team preview, unknown ones |
| 15 – 18 | the moves of the deciding slot, in the order of the actions 0 – 15 |
| 19 – 22 | the moves of the other slot |

Slot b sees what slot a has chosen. Names of the further features: columns.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from poke_env.battle.effect import Effect
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.side_condition import SideCondition

from agents.battle import SeatDoubleBattle
from agents.battle.choices import Choice, listed_move
from agents.mechanics.moves import move_facts
from agents.mechanics.targets import AT_ALL, SEVERAL, is_spread
from agents.observation.columns import FIELD
from agents.observation.doubles.actions import ALLY, FOE_A, FOE_B, ordered_moves, ordered_pokemon, target_of
from agents.observation.doubles.columns import LAST_MOVE, FieldFeature, MoveFeature, PokemonFeature, SideFeature
from agents.observation.estimates import NO_ESTIMATE, NO_MOVE, ActivePokemon, SideFactors, of_move, side_factors
from agents.observation.layout import DOUBLES, SINGLES
from agents.observation.observation import Observation, unseen_of
from agents.observation.packed_tokens import field_token, move_token, side_token
from agents.observation.pokemon_tokens import PokemonToken, PokemonTokens
from agents.observation.vocabulary import move_name, vocabulary

_OURS, _THEIRS, _MOVES = DOUBLES.ours[0], DOUBLES.theirs[0], DOUBLES.moves[0]
_ID_BYTES, _FEATURE_BYTES = 2 * SINGLES.ids, 4 * SINGLES.features
_NO_TOKEN = bytes(_ID_BYTES), bytes(_FEATURE_BYTES)
_ESTIMATE = slice(PokemonFeature.SECOND_ESTIMATED, PokemonFeature.SECOND_FASTER + 1)
_SLOTS = PokemonFeature.IN_SLOT_A, PokemonFeature.IN_SLOT_B
_EFFECTS = {
    Effect.COMMANDER: PokemonFeature.COMMANDS, Effect.DYNAMAX: PokemonFeature.DYNAMAXED,
    Effect.PERISH2: PokemonFeature.PERISH_2, Effect.PERISH3: PokemonFeature.PERISH_3,
    Effect.IMPRISON: PokemonFeature.IMPRISONS,
}  # fmt: skip
_AIMS = {FOE_A: MoveFeature.AIMED_AT_A, FOE_B: MoveFeature.AIMED_AT_B, ALLY: MoveFeature.AIMED_AT_ALLY}
#: Of the damage of a move that hits several, and what a screen leaves of damage where there are two slots.
_SPREAD, _SCREENED = 0.75, 2 / 3


def observe_slot(battle: SeatDoubleBattle, slot: int, other: Choice | None, actions: Iterable[int]) -> Observation:
    """Return what is seen where a slot decides (0: a, 1: b). other: the other one's choice. actions: the legal ones."""
    scene = _Scene(battle, slot)
    scene.add_moves(slot, 0)
    scene.add_moves(1 - slot, 1)
    scene.add_decision(slot, other)
    return scene.observation(actions)


def observe_pick(battle: SeatDoubleBattle, picked: Sequence[int], picks: int, actions: Iterable[int]) -> Observation:
    """Return what is seen at team preview. picked: places of those picked so far in the team, from 0; picks: of all."""
    scene = _Scene(battle, None)
    field = scene.features[FIELD]
    field[FieldFeature.PREVIEW], field[FieldFeature.PICKED], field[FieldFeature.TO_PICK] = 1, len(picked) / 6, picks / 6
    for pick, place in enumerate(picked):
        token = scene.features[_OURS + scene.order.index(place)]
        token[PokemonFeature.COMES_IN], token[PokemonFeature.PICK] = 1, (pick + 1) / 6
    return scene.observation(actions)


@dataclass(frozen=True, slots=True)
class _Side:
    """A side's Pokémon in the order of their tokens. factors: of its conditions, for estimates."""

    mons: list[Pokemon | None]
    tokens: list[PokemonToken]
    factors: SideFactors

    def able(self, place: int) -> ActivePokemon | None:
        """Return the state of the one in a token's place, unless it has fainted or nobody is there."""
        return self.tokens[place].able if place < len(self.tokens) and self.mons[place] is not None else None


class _Scene:
    """The arrays of an observation while they are filled. order: the places of our Pokémon in the request's team."""

    def __init__(self, battle: SeatDoubleBattle, slot: int | None) -> None:
        self.battle, self.request = battle, battle.last_request
        self.order = ordered_pokemon(self.request, slot)
        # Once: where it clears the caches, what was built with the former ones must not meet what is built with the new.
        self._cached = pokemon_tokens().cache_of(battle)
        ours, theirs = self.ours, self.theirs = self._our_side(), self._their_side(preview=slot is None)
        near = [None if slot is None else ours.able(place) for place in (0, 1)]
        self.foes = [None if slot is None else theirs.able(place) for place in (0, 1)]
        rows = [self._field(slot), *self._sides()]
        rows += [*_with_estimates(ours, self.foes[0], theirs.factors, first=False), *[_NO_TOKEN] * (6 - len(ours.mons))]
        rows += _with_estimates(theirs, near[0], ours.factors, first=True)
        self.token_ids = np.zeros((DOUBLES.tokens, DOUBLES.ids), np.int16)
        self.features = np.zeros((DOUBLES.tokens, DOUBLES.features), np.float32)
        self._write(0, rows)
        for first, side, foe, factors in (
            (_OURS, ours, self.foes[1], theirs.factors),
            (_THEIRS, theirs, near[1], ours.factors),
        ):
            for place, row in enumerate(_estimates(side, foe, factors, first == _THEIRS)):
                self.features[first + place, _ESTIMATE] = np.frombuffer(row, np.float32)
        self._mark(slot)

    def observation(self, actions: Iterable[int]) -> Observation:
        """Return the observation. actions: the legal ones."""
        legal = np.zeros(DOUBLES.actions, np.bool_)
        legal[list(actions)] = True
        return Observation(self.token_ids, self.features, legal)

    def add_moves(self, slot: int, group: int) -> None:
        """Write the tokens of a slot's moves. group: 0 of the deciding slot, 1 of the other."""
        token = _MOVES + 4 * group
        user, ally = self.ours.able(group), self.ours.able(1 - group)
        for place, number in enumerate(ordered_moves(self.request, slot)):
            listed = self.request["active"][slot]["moves"][number]
            self._add_move(token + place, listed, user, ally)

    def _add_move(
        self, token: int, listed: dict[str, Any], user: ActivePokemon | None, ally: ActivePokemon | None
    ) -> None:
        name, gen = listed_move(listed), self.battle.gen
        kind = listed.get("target") or move_facts(name, gen).target
        several = is_spread(kind, sum(foe is not None for foe in self.foes), ally is not None)
        share = _SPREAD if several else 1.0
        targets = ((self.foes[0], self.theirs), (self.foes[1], self.theirs), (ally, self.ours))
        first, second, own = (
            NO_MOVE if user is None or target is None else of_move(name, user, target, side.factors, share)
            for target, side in targets
        )
        self._write(token, [move_token(listed, gen, first)])
        row = self.features[token]
        row[MoveFeature.SECOND_DAMAGE : MoveFeature.SECOND_DAMAGE + len(second)] = second
        row[MoveFeature.ALLY_DAMAGE : MoveFeature.ALLY_DAMAGE + len(own)] = own
        row[MoveFeature.SPREADS], row[MoveFeature.HITS_ALLY] = kind in SEVERAL, kind in AT_ALL
        row[MoveFeature.NAMES_TARGET] = kind in _NAMING

    def add_decision(self, slot: int, other: Choice | None) -> None:
        """Write who decides, and what the other slot has chosen."""
        field = self.features[FIELD]
        field[FieldFeature.SECOND_SLOT], field[FieldFeature.OTHER_HAS_CHOSEN] = slot, other is not None
        self.features[_OURS, PokemonFeature.DECIDES] = 1
        if other is None:
            return
        chooser = self.features[_OURS + 1]
        if other.kind == "pass":
            chooser[PokemonFeature.PASSES] = 1
        elif other.kind == "switch":
            chooser[PokemonFeature.SWITCHES] = 1
            self.features[_OURS + self.order.index(other.slot - 1), PokemonFeature.COMES_IN] = 1
        else:
            chooser[PokemonFeature.MOVES], chooser[PokemonFeature.USES_MECHANIC] = 1, bool(other.extra)
            aim = target_of(other, 1 - slot)
            move = self.features[_MOVES + 4 + ordered_moves(self.request, 1 - slot).index(other.slot - 1)]
            move[MoveFeature.CHOSEN], move[MoveFeature.WITH_MECHANIC] = 1, bool(other.extra)
            if aim in _AIMS:
                move[_AIMS[aim]] = 1
                aimed_at = _OURS if aim == ALLY else _THEIRS + aim - FOE_A
                self.features[aimed_at, PokemonFeature.AIMED_AT] = 1

    def _write(self, token: int, rows: Sequence[tuple[bytes, bytes]]) -> None:
        """Write packed tokens from a place on."""
        ids, features = (b"".join(part) for part in zip(*rows, strict=True))
        end = token + len(rows)
        self.token_ids[token:end] = np.frombuffer(ids, np.int16).reshape(len(rows), -1)
        self.features[token:end, : SINGLES.features] = np.frombuffer(features, np.float32).reshape(len(rows), -1)

    def _field(self, slot: int | None) -> tuple[bytes, bytes]:
        battle = self.battle
        if slot is None:
            return field_token(battle, self.request, False, False)
        return field_token(battle, self.request, battle._trapped[slot], battle._can_tera[slot])

    def _sides(self) -> list[tuple[bytes, bytes]]:
        battle, turn = self.battle, self.battle._turn
        return [
            side_token(battle._side_conditions, turn, battle._team.values(), None, battle._used_tera),
            side_token(
                battle._opponent_side_conditions, turn, battle._opponent_team.values(), None, battle._opponent_used_tera
            ),
        ]

    def _mark(self, slot: int | None) -> None:
        """Write what singles do not have, apart from the decision."""
        battle, features = self.battle, self.features
        used = (SideFeature.USED_MEGA_EVOLUTION, SideFeature.USED_Z_MOVE, SideFeature.USED_DYNAMAX)
        features[1, used] = battle._used_mega_evolve, battle._used_z_move, battle._used_dynamax
        features[2, used] = (
            battle._opponent_used_mega_evolve, battle._opponent_used_z_move, battle._opponent_used_dynamax,
        )  # fmt: skip
        if slot is None:
            return
        field = features[FIELD]
        field[FieldFeature.REVIVES] = any(entry.get("reviving") for entry in self.request["side"]["pokemon"][:2])
        field[FieldFeature.CAN_MEGA_EVOLVE] = battle._can_mega_evolve[slot]
        field[FieldFeature.CAN_USE_Z_MOVE] = battle._can_z_move[slot]
        field[FieldFeature.CAN_DYNAMAX] = battle._can_dynamax[slot]
        for first, mons, slots in ((_OURS, self.ours.mons, (slot, 1 - slot)), (_THEIRS, self.theirs.mons, (0, 1))):
            for place, (mon, its_slot) in enumerate(zip(mons[:2], slots, strict=False)):
                if mon is not None:
                    self._mark_fielded(first + place, mon, its_slot)

    def _mark_fielded(self, token: int, mon: Pokemon, slot: int) -> None:
        row = self.features[token]
        row[_SLOTS[slot]] = 1
        for effect in mon._effects:
            feature = _EFFECTS.get(effect)
            if feature is not None:
                row[feature] = 1
        last = mon.last_move
        self.token_ids[token, LAST_MOVE] = _last_move("" if last is None else last.id)

    def _our_side(self) -> _Side:
        battle, team = self.battle, self.request["side"]["pokemon"]
        entries = [None if place is None else team[place] for place in self.order]
        mons = [None if entry is None else battle._team.get(entry["ident"]) for entry in entries]
        return self._side(mons, entries, battle._side_conditions)

    def _their_side(self, *, preview: bool) -> _Side:
        mons = _theirs(self.battle, preview=preview)
        return self._side(mons, [None] * len(mons), self.battle._opponent_side_conditions)

    def _side(
        self, mons: list[Pokemon | None], entries: Sequence[dict[str, Any] | None], held: dict[SideCondition, int]
    ) -> _Side:
        token, battle, cached = pokemon_tokens().token, self.battle, self._cached
        tokens = [token(mon, entry, battle, cached) for mon, entry in zip(mons, entries, strict=True)]
        factors = side_factors(held)
        walls = (
            factors.wall[0] if factors.wall[0] == 1 else _SCREENED,
            factors.wall[1] if factors.wall[1] == 1 else _SCREENED,
        )
        return _Side(mons, tokens, factors._replace(wall=walls))


#: Target types of moves that name their target.
_NAMING = frozenset({"normal", "any", "adjacentFoe", "adjacentAlly", "adjacentAllyOrSelf"})


def _estimates(side: _Side, foe: ActivePokemon | None, factors: SideFactors, first: bool) -> list[bytes]:
    """Return the six features of each Pokémon of a side against one of the other side; see `Estimates.rows`."""
    if foe is None:
        return [NO_ESTIMATE] * len(side.mons)
    many = [token.standing for token in side.tokens]
    return pokemon_tokens().estimates.rows(many, side.factors, foe, factors, first)


def _with_estimates(
    side: _Side, foe: ActivePokemon | None, factors: SideFactors, first: bool
) -> list[tuple[bytes, bytes]]:
    """Return the packed tokens of a side's Pokémon as in singles, with their estimates against one of the other side."""
    rows = zip(side.tokens, _estimates(side, foe, factors, first), strict=True)
    return [(token.ids, token.known + row + token.on_field) for token, row in rows]


def _theirs(battle: SeatDoubleBattle, *, preview: bool) -> list[Pokemon | None]:
    """Return the opponent's six Pokémon: in their slots, seen before, known from the team preview only, unknown (None).

    Once as many were seen as were brought, the others of the preview are not in the battle.
    """
    previewed = battle.teampreview_opponent_team
    if preview:
        return [*previewed, *(None,) * 6][:6]
    team = list(battle._opponent_team.values())
    fielded = [battle._opponent_active_pokemon.get(f"{battle.opponent_role}{letter}") for letter in "ab"]
    others = [mon for mon in team if mon is not fielded[0] and mon is not fielded[1]]
    unseen: list[Pokemon | None] = []
    if previewed and len(team) < len(battle.last_request["side"]["pokemon"]):
        species = tuple([mon._species for mon in team]), tuple([mon._species for mon in previewed])
        unseen = [previewed[index] for index in unseen_of(battle.gen, *species)]
    return [*fielded, *others, *unseen, *(None,) * 6][:6]


@lru_cache(maxsize=8192)
def _last_move(name: str) -> int:
    moves = vocabulary().region("last_moves")
    return moves[move_name(name)] if name else moves.none


@lru_cache(maxsize=1)
def pokemon_tokens() -> PokemonTokens:
    """Return the builder of the tokens of Pokémon, with its caches."""
    return PokemonTokens()
