"""What a model sees: a battle at one decision as arrays. Nothing that the player could not see is in them.

An observation has 19 tokens, each with WORDS ids of the vocabulary and NUMBERS numbers (both padded, ids with 0):

| token | what | its ids | its numbers |
|---|---|---|---|
| 0 | the field | generation, weather, terrains and rooms | turn, ages, what is asked |
| 1, 2 | our side, theirs | our last move, theirs | hazards, screens, how many stand |
| 3 – 8 | our Pokémon: on the field, then the bench in the order of the actions 4 – 8 | see `Rows` | see `Rows` |
| 9 – 14 | theirs: on the field, then the others as they were seen; unknown ones last | | |
| 15 – 18 | our moves, in the order of the actions 0 – 3 | move, type, category | PP, damage, power, accuracy … |

So action 4 + i is about token 4 + i, and actions i and 9 + i about token 15 + i.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from poke_env.battle.pokemon import Pokemon
from poke_env.data import GenData, to_id_str

from agents.battle import SeatBattle
from agents.policy.actions import legal_actions, legal_mask, ordered_bench, ordered_moves
from agents.policy.estimates import NO_MOVE, side_factors
from agents.policy.rows import ESTIMATED, IDS, KNOWN, ON_FIELD, Rows

#: Changes whenever the same battle would give other arrays; a checkpoint names the one that it was trained on.
VERSION = 2
TOKENS, WORDS, NUMBERS = 19, 12, 56
OURS, THEIRS, OUR_MOVES = range(3, 9), range(9, 15), range(15, 19)


@dataclass(frozen=True, slots=True)
class Observation:
    """ids: int16 [19, 12]; numbers: float32 [19, 56]; legal: bool [13]."""

    ids: NDArray[np.int16]
    numbers: NDArray[np.float32]
    legal: NDArray[np.bool_]


def observe(battle: SeatBattle) -> Observation:
    """A battle at the request that it stands at, as its own player sees it."""
    rows = _rows()
    rows.make_room()
    request = battle.last_request
    ids = np.zeros((TOKENS, WORDS), dtype=np.int16)
    numbers = np.zeros((TOKENS, NUMBERS), dtype=np.float32)
    rows.field(battle, request, ids[0], numbers[0])
    own, other = battle.active_pokemon, battle.opponent_active_pokemon
    sides = battle.side_conditions, battle.opponent_side_conditions
    rows.side(sides[0], battle.turn, battle.team.values(), own, battle.used_tera, ids[1], numbers[1])
    rows.side(
        sides[1], battle.turn, battle.opponent_team.values(), other, battle.opponent_used_tera, ids[2], numbers[2]
    )
    team = battle.team
    ours = [
        rows.pokemon(None if entry is None else team.get(entry["ident"]), entry, battle) for entry in _ours(request)
    ]
    theirs = [rows.pokemon(mon, None, battle) for mon in _theirs(battle, other)]
    for token, row in zip((*OURS, *THEIRS), (*ours, *theirs), strict=False):
        ids[token, IDS], numbers[token, KNOWN] = row.ids, row.numbers
        if row.on_field:
            numbers[token, ON_FIELD] = row.on_field
    ready, met = ours[0].able, theirs[0].able
    ground, beyond = side_factors(sides[0]), side_factors(sides[1])
    estimates = rows.estimates
    if met is not None:
        for token, row in zip(OURS, ours, strict=False):
            if row.standing is not None:
                numbers[token, ESTIMATED] = estimates.of_ours(row.standing, ground, met, beyond)
    if ready is not None:
        for token, row in zip(THEIRS, theirs, strict=False):
            if row.standing is not None:
                numbers[token, ESTIMATED] = estimates.of_theirs(ready, ground, row.standing, beyond)
    for token, listed in zip(OUR_MOVES, ordered_moves(request), strict=False):
        estimated = NO_MOVE
        if ready is not None and met is not None:
            estimated = estimates.of_move(str(listed["id"]), ready, met, beyond)
        rows.move(listed, battle.gen, estimated, ids[token], numbers[token])
    return Observation(ids, numbers, legal_mask(legal_actions(request, battle.legal)))


def _ours(request: dict[str, Any]) -> list[dict[str, Any] | None]:
    """Our Pokémon as the request has them: the one on the field, and the bench."""
    return [next((mon for mon in request["side"]["pokemon"] if mon["active"]), None), *ordered_bench(request)]


def _theirs(battle: SeatBattle, active: Pokemon | None) -> list[Pokemon | None]:
    """The opponent's Pokémon: the one on the field, those seen before, those that the preview told of, unknown ones."""
    seen = [mon for mon in battle.opponent_team.values() if mon is not active]
    told = []
    preview = battle.teampreview_opponent_team
    out = [_base(mon.gen, mon.species) for mon in battle.opponent_team.values()] if preview else []
    for mon in preview:
        species = _base(mon.gen, mon.species)
        if species in out:
            out.remove(species)
        else:
            told.append(mon)
    return [active, *seen, *told, *(None,) * 6][:6]


@lru_cache(maxsize=8192)
def _base(gen: int, species: str) -> str:
    """The species whose forme it is."""
    return to_id_str(GenData.from_gen(gen).pokedex[species]["baseSpecies"])


@lru_cache(maxsize=1)
def _rows() -> Rows:
    return Rows()
