"""What a model sees: a battle at one decision as arrays. Nothing that the player could not see is in them.

An observation has 19 tokens, each with WORDS ids of the vocabulary and NUMBERS numbers (both padded, ids with 0):

| token | what | its ids | its numbers |
|---|---|---|---|
| 0 | the field | generation, weather, terrains and rooms | turn, ages, what is asked |
| 1, 2 | our side, theirs | our last move, theirs | hazards, screens, how many stand |
| 3 – 8 | our Pokémon: on the field, then the bench in the order of the actions 4 – 8 | see `PokemonRows` | the same |
| 9 – 14 | theirs: on the field, then the others as they were seen; unknown ones last | | |
| 15 – 18 | our moves, in the order of the actions 0 – 3 | move, type, category | PP, damage, power, accuracy … |

So action 4 + i is about token 4 + i, and actions i and 9 + i about token 15 + i.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from poke_env.battle.pokemon import Pokemon
from poke_env.data import GenData

from agents.battle import SeatBattle
from agents.choices import listed_move
from agents.policy.actions import legal_mask, ordered_actions, ordered_bench, ordered_moves
from agents.policy.estimates import NO_ESTIMATE, NO_MOVE, of_move, side_factors
from agents.policy.pokemon_rows import PokemonRows
from agents.policy.rows import field_row, move_row, side_row

#: Changes whenever the same battle would give other arrays; a checkpoint names the one that it was trained on.
VERSION = 3
#: Version 2 knew neither Hidden Power's type and power nor Return's power: other arrays in these generations alone.
_UNLIKE_2 = range(2, 8)
TOKENS, WORDS, NUMBERS = 19, 12, 56
OURS, THEIRS, OUR_MOVES = range(3, 9), range(9, 15), range(15, 19)
_IDS, _NUMBERS = 2 * WORDS, 4 * NUMBERS  # bytes of a token
# poke-env's properties take longer than what they give, so its fields are read.
_stands_at = attrgetter(
    "_last_request", "_turn", "_gen", "_team", "_side_conditions", "_opponent_side_conditions", "_used_tera",
    "_opponent_used_tera",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Observation:
    """ids: int16 [19, 12]; numbers: float32 [19, 56]; legal: bool [13]."""

    ids: NDArray[np.int16]
    numbers: NDArray[np.float32]
    legal: NDArray[np.bool_]


def observe(battle: SeatBattle) -> Observation:
    """A battle at the request that it stands at, as its own player sees it."""
    pokemon = _pokemon_rows()
    remembered, estimates = pokemon.of(battle), pokemon.estimates
    request, turn, gen, team, near, far, tera, their_tera = _stands_at(battle)
    moves, bench = ordered_moves(request), ordered_bench(request)
    own, other, others = battle.active_pokemon, battle.opponent_active_pokemon, battle.opponent_team
    ours = [
        pokemon.row(None if entry is None else team.get(entry["ident"]), entry, battle, remembered)
        for entry in (next((mon for mon in request["side"]["pokemon"] if mon["active"]), None), *bench)
    ]
    theirs = [pokemon.row(mon, None, battle, remembered) for mon in _theirs(battle, other)]
    ready, met = ours[0].able, theirs[0].able
    ground, beyond = side_factors(near), side_factors(far)
    words, numbers = bytearray(), bytearray()
    for ids, row in (
        field_row(battle, request),
        side_row(near, turn, team.values(), own, tera),
        side_row(far, turn, others.values(), other, their_tera),
    ):
        words += ids
        numbers += row
    for mons, rival, here, there in ((ours, met, ground, beyond), (theirs, ready, beyond, ground)):
        estimated = [NO_ESTIMATE] * len(mons)
        if rival is not None:
            estimated = estimates.rows([mon.standing for mon in mons], here, rival, there, mons is theirs)
        for (ids, known, on_field, _), row in zip(mons, estimated, strict=True):
            words += ids
            numbers += known + row + on_field
        words += bytes(_IDS * (6 - len(mons)))
        numbers += bytes(_NUMBERS * (6 - len(mons)))
    for listed in moves:
        estimate = NO_MOVE
        if ready is not None and met is not None:
            estimate = of_move(listed_move(listed), ready, met, beyond)
        ids, row = move_row(listed, gen, estimate)
        words += ids
        numbers += row
    words += bytes(_IDS * (len(OUR_MOVES) - len(moves)))
    numbers += bytes(_NUMBERS * (len(OUR_MOVES) - len(moves)))
    return Observation(
        np.ndarray((TOKENS, WORDS), np.int16, words),
        np.ndarray((TOKENS, NUMBERS), np.float32, numbers),
        legal_mask(ordered_actions(request, battle.legal, moves, bench)),
    )


def _theirs(battle: SeatBattle, active: Pokemon | None) -> list[Pokemon | None]:
    """The opponent's Pokémon: the one on the field, those seen before, those that the preview told of, unknown ones."""
    team, preview = battle.opponent_team.values(), battle.teampreview_opponent_team
    found = [active, *[mon for mon in team if mon is not active]]
    if preview:
        places = _unseen(battle.gen, tuple([mon._species for mon in team]), tuple([mon._species for mon in preview]))
        found += [preview[place] for place in places]
    return [*found, *(None,) * 6][:6]


@lru_cache(maxsize=8192)
def _unseen(gen: int, seen: tuple[str, ...], told: tuple[str, ...]) -> tuple[int, ...]:
    """The places of the species among those told of that are not among those seen, in whatever forme."""
    dex = GenData.from_gen(gen).pokedex
    left = [dex[species]["baseSpecies"] for species in seen]
    places = []
    for place, species in enumerate(told):
        base = dex[species]["baseSpecies"]
        if base in left:
            left.remove(base)
        else:
            places.append(place)
    return tuple(places)


def unlike(version: Any, gen: int | None = None) -> bool:
    """Whether observations of another version are other arrays than these: in a generation, or (None) in all of them."""
    return version != VERSION and (version != 2 or gen in _UNLIKE_2)


@lru_cache(maxsize=1)
def _pokemon_rows() -> PokemonRows:
    return PokemonRows()
