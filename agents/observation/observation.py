"""Observations: a battle at one decision as arrays, with nothing that the player cannot see.

An observation has 19 tokens, each with IDS_PER_TOKEN vocabulary ids and FEATURES numeric features, both padded with 0:

| token | what | its ids | its features |
|---|---|---|---|
| 0 | the field | generation, weather, terrains and rooms | turn, ages, kind of request |
| 1, 2 | our side, their side | last move of the active Pokémon | hazards, screens, number of able Pokémon |
| 3 – 8 | our Pokémon: active, then the bench in the order of the actions 4 – 8 | see `PokemonTokens` | the same |
| 9 – 14 | theirs: active, then the others in the order in which they were seen; unknown ones last | | |
| 15 – 18 | our moves, in the order of the actions 0 – 3 | move, type, category | PP, damage, power, accuracy … |

So action 4 + i (switch) is about token 4 + i, and actions i and 9 + i (moves) are about token 15 + i.

At team preview the turn is 0, no Pokémon is active, theirs are those that are shown, in the order of their team, and none of
them counts as known in their side's token. Token 3 is our team's first Pokémon; token 15 is a copy of it, which action 0
(it leads) is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from poke_env.battle.pokemon import Pokemon
from poke_env.data import GenData, to_id_str

from agents.battle import SeatBattle
from agents.battle.choices import listed_move
from agents.observation.actions import FIRST_LEADS, legal_mask, ordered_actions, ordered_bench, ordered_moves
from agents.observation.columns import PokemonFeature
from agents.observation.estimates import NO_ESTIMATE, NO_MOVE, of_move, side_factors
from agents.observation.layout import SINGLES, Layout
from agents.observation.packed_tokens import field_token, move_token, side_token
from agents.observation.pokemon_tokens import PokemonTokens
from teamsets.errors import BadInput

#: Changes whenever the same battle would give other arrays. A checkpoint stores the version that it was trained on.
VERSION = SINGLES.version
#: Version 2 had neither Hidden Power's type and power nor Return's power: its arrays differ in these generations only.
_UNLIKE_2 = range(2, 8)
#: Version 3 counted PP of continued and called moves in generation 1 as poke-env does; all else is the same.
#: Up to version 4 the battle was as poke-env has it, with the faults that docs/state.md lists; the arrays mean the same.
#: Version 5 listed some Pokémon that had changed forme (Mimikyu, Ogerpon) as unseen, too, and took the types of one that
#: roosts, or of the same one without it, from its cache.
#: Up to version 6 team preview was not observed; all else is the same.
_ALIKE = (3, 4, 5, 6, VERSION)
TOKENS, IDS_PER_TOKEN, FEATURES = SINGLES.tokens, SINGLES.ids, SINGLES.features
OURS, THEIRS, OUR_MOVES = SINGLES.ours, SINGLES.theirs, SINGLES.moves
_ID_BYTES, _FEATURE_BYTES = 2 * IDS_PER_TOKEN, 4 * FEATURES  # of a token
# poke-env's private fields, since its properties are slow.
_state_of = attrgetter(
    "_last_request", "_turn", "_gen", "_team", "_side_conditions", "_opponent_side_conditions", "_used_tera",
    "_opponent_used_tera",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Observation:
    """What the network sees at one decision. The shapes are those of singles, as everywhere; layout.py has all."""

    token_ids: NDArray[np.int16]  # [19, 12]
    features: NDArray[np.float32]  # [19, 56]
    legal: NDArray[np.bool_]  # [13], the legal actions


class Observations(NamedTuple):
    """The observations of n decisions."""

    token_ids: NDArray[np.int16]  # [n, 19, 12]
    features: NDArray[np.float32]  # [n, 19, 56]
    legal: NDArray[np.bool_]  # [n, 13]

    @classmethod
    def single(cls, one: Observation) -> Observations:
        """Return those of one decision."""
        return cls(one.token_ids[None], one.features[None], one.legal[None])

    @classmethod
    def room_for(cls, n: int, out: Observations | None = None, layout: Layout = SINGLES) -> Observations:
        """Return arrays for those of n decisions: `out`, if given. Raises BadInput for arrays of other shapes or types."""
        needed = (
            ((n, layout.tokens, layout.ids), np.dtype(np.int16)),
            ((n, layout.tokens, layout.features), np.dtype(np.float32)),
            ((n, layout.actions), np.dtype(np.bool_)),
        )
        if out is None:
            return cls(*(np.zeros(shape, kind) for shape, kind in needed))
        if (found := tuple((part.shape, part.dtype) for part in out)) != needed:
            raise BadInput(f"out of {_named(found)}: {_named(needed)} are needed.")
        return out

    def take(self, rows: slice | Sequence[int]) -> Observations:
        """Return those of some decisions."""
        return Observations(self.token_ids[rows], self.features[rows], self.legal[rows])


def _named(arrays: tuple[tuple[tuple[int, ...], Any], ...]) -> str:
    return ", ".join(f"{dtype} {list(shape)}" for shape, dtype in arrays)


def observe(battle: SeatBattle) -> Observation:
    """Return the observation of a battle at its current request, from its own player's point of view."""
    pokemon = _pokemon_tokens()
    cached, estimates = pokemon.cache_of(battle), pokemon.estimates
    request, turn, gen, team, near, far, tera, their_tera = _state_of(battle)
    moves, bench = ordered_moves(request), ordered_bench(request)
    own, other, others = battle.active_pokemon, battle.opponent_active_pokemon, battle.opponent_team
    preview = bool(request.get("teamPreview"))
    if preview:  # where poke-env has the first of ours active, and all of theirs seen
        own, others, shown = None, {}, [*battle.teampreview_opponent_team, *(None,) * 6][:6]
    else:
        shown = _theirs(battle, other)
    ours = [
        pokemon.token(None if entry is None else team.get(entry["ident"]), entry, battle, cached)
        for entry in (next((mon for mon in request["side"]["pokemon"] if mon["active"]), None), *bench)
    ]
    theirs = [pokemon.token(mon, None, battle, cached) for mon in shown]
    our_active, their_active = (None, None) if preview else (ours[0].able, theirs[0].able)
    our_side, their_side = side_factors(near), side_factors(far)
    token_ids, features = bytearray(), bytearray()
    for ids, row in (
        field_token(battle, request, battle._trapped, battle._can_tera),
        side_token(near, turn, team.values(), own, tera),
        side_token(far, turn, others.values(), other, their_tera),
    ):
        token_ids += ids
        features += row
    for mons, opponent, own_side, other_side in (
        (ours, their_active, our_side, their_side),
        (theirs, our_active, their_side, our_side),
    ):
        estimated = [NO_ESTIMATE] * len(mons)
        if opponent is not None:
            estimated = estimates.rows([mon.standing for mon in mons], own_side, opponent, other_side, mons is theirs)
        for (ids, known, on_field, _), row in zip(mons, estimated, strict=True):
            token_ids += ids
            features += known + row + on_field
        token_ids += bytes(_ID_BYTES * (6 - len(mons)))
        features += bytes(_FEATURE_BYTES * (6 - len(mons)))
    for listed in moves:
        estimate = NO_MOVE
        if our_active is not None and their_active is not None:
            estimate = of_move(listed_move(listed), our_active, their_active, their_side)
        ids, row = move_token(listed, gen, estimate)
        token_ids += ids
        features += row
    token_ids += bytes(_ID_BYTES * (len(OUR_MOVES) - len(moves)))
    features += bytes(_FEATURE_BYTES * (len(OUR_MOVES) - len(moves)))
    seen = Observation(
        np.ndarray((TOKENS, IDS_PER_TOKEN), np.int16, token_ids),
        np.ndarray((TOKENS, FEATURES), np.float32, features),
        legal_mask(ordered_actions(request, battle.legal, moves, bench)),
    )
    if preview:
        first, copy = OURS[0], OUR_MOVES[FIRST_LEADS]
        seen.features[first, PokemonFeature.ACTIVE] = 0
        seen.token_ids[copy], seen.features[copy] = seen.token_ids[first], seen.features[first]
    return seen


def _theirs(battle: SeatBattle, active: Pokemon | None) -> list[Pokemon | None]:
    """Return the opponent's six Pokémon: active, seen before, known from the team preview only, unknown (None)."""
    team, preview = battle.opponent_team.values(), battle.teampreview_opponent_team
    pokemon = [active, *[mon for mon in team if mon is not active]]
    if preview:
        unseen = unseen_of(battle.gen, tuple([mon._species for mon in team]), tuple([mon._species for mon in preview]))
        pokemon += [preview[index] for index in unseen]
    return [*pokemon, *(None,) * 6][:6]


@lru_cache(maxsize=8192)
def unseen_of(gen: int, seen: tuple[str, ...], previewed: tuple[str, ...]) -> tuple[int, ...]:
    """Return the indices of the previewed species that were not seen yet, in any forme."""
    dex = GenData.from_gen(gen).pokedex
    unmatched = [to_id_str(dex[species]["baseSpecies"]) for species in seen]
    unseen = []
    for index, species in enumerate(previewed):
        base = to_id_str(dex[species]["baseSpecies"])
        if base in unmatched:
            unmatched.remove(base)
        else:
            unseen.append(index)
    return tuple(unseen)


def unlike(version: Any, gen: int | None = None, layout: Layout = SINGLES) -> bool:
    """Return whether a version's observations cannot be used as this one's: in a generation, or (None) in any of them."""
    if layout is not SINGLES:
        return bool(version != layout.version)
    return version not in _ALIKE and (version != 2 or gen in _UNLIKE_2)


@lru_cache(maxsize=1)
def _pokemon_tokens() -> PokemonTokens:
    return PokemonTokens()
