"""A position of the engine as one seat knows it: the opponent's Pokémon and moves that it has not shown are sampled.

The sampled team is that of `search:exact` (root_position.completed_team): given the same random numbers, both have the same.
Turns of sleep, confusion and Disable that are left are drawn by the search's iterations. All other words stay true: what was
shown, also the exact HP and stats behind what was shown, and turns left of Bide, rampages and binding moves.
"""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray

from agents.engine.gen1 import layout as W
from agents.engine.gen1.engine import initial
from agents.engine.gen1.state import side_of
from agents.engine.gen1.tables import DATA, MOVE_IDS, MOVES_BY_ID, most_pp
from agents.search.exact.root_position import Root, TeamGuess, completed_team
from agents.search.exact.tree import CONFUSION, DISABLE, HIDDEN

Words = NDArray[np.int32]
_SEED = "gen5,0000000000000000"


def determinized(position: Words, seat: int, format_id: str, rng: random.Random) -> Root:
    """A position [WORDS] with a sample of what its opponent has hidden from a seat."""
    row = position.copy()
    s = int(side_of(1 - seat))
    mons = _members(row, s)
    seen = sorted((mon for mon in mons if row[mon + W.MON_SEEN]), key=lambda mon: int(row[mon + W.MON_SEEN]))
    unseen = [mon for mon in mons if not row[mon + W.MON_SEEN]]
    levels = [int(row[mon + W.MON_LEVEL]) for mon in _members(row, int(side_of(seat)))]
    team = completed_team(format_id, [_shown(row, mon) for mon in seen], len(mons), levels, rng)
    for mon, member in zip(seen, team, strict=False):
        _put_moves(row, s, mon, member.moves)
    for mon, member in zip(unseen, team[len(seen) :], strict=True):
        place = row[mon + W.MON_PLACE]
        fresh = initial((member.packed(), member.packed()), _SEED)
        row[mon : mon + W.MON_WORDS] = fresh[W.SIDES + W.MONS :][: W.MON_WORDS]
        row[mon + W.MON_PLACE] = place
    return Root(row, _unknown_turns(row))


def _members(row: Words, s: int) -> list[int]:
    """The offsets of a side's Pokémon."""
    return [s + W.MONS + k * W.MON_WORDS for k in range(int(row[s + W.TEAM_SIZE]))]


def _shown(row: Words, mon: int) -> TeamGuess:
    """A Pokémon that was out, with the moves that it has used, in the order of their first uses."""
    species = DATA["species"][int(row[mon + W.MON_SPECIES]) - 1]["id"]
    moves = tuple(MOVE_IDS[int(row[mon + W.MON_MOVES + slot])] for slot in _used_slots(row, mon))
    return TeamGuess(species, species, int(row[mon + W.MON_LEVEL]), moves)


def _used_slots(row: Words, mon: int) -> list[int]:
    ranks = [int(row[mon + W.MON_REVEALED]) >> (4 * slot) & 0xF for slot in range(int(row[mon + W.MON_MOVE_COUNT]))]
    return sorted((slot for slot, rank in enumerate(ranks) if rank), key=ranks.__getitem__)


def _put_moves(row: Words, s: int, mon: int, moves: tuple[str, ...]) -> None:
    """Keeps the slots of the moves that were used, or that Disable has named, and fills the others with sampled moves."""
    active = mon == s + W.MONS + int(row[s + W.ORDER]) * W.MON_WORDS
    copied = not active or bool(row[s + W.TRANSFORMED])
    known = set(_used_slots(row, mon))
    if not copied and row[s + W.DISABLE_TIME]:
        known.add(int(row[s + W.DISABLE_SLOT]))
    named = {MOVE_IDS[int(row[mon + W.MON_MOVES + slot])] for slot in known}
    drawn = [move for move in moves if move not in named][: 4 - len(known)]
    count = max(len(known) + len(drawn), *(slot + 1 for slot in known), 1)
    drawn += ["tackle"] * (count - len(known) - len(drawn))  # where its sets have fewer moves than it has shown slots
    for slot in sorted(set(range(count)) - known):
        move = MOVES_BY_ID[drawn.pop(0)]
        row[mon + W.MON_MOVES + slot], row[mon + W.MON_PP + slot] = move["num"], most_pp(move)
        if not copied:
            row[s + W.MOVES + slot] = move["num"]
    row[mon + W.MON_MOVE_COUNT] = count
    if not copied:
        row[s + W.MOVE_COUNT] = count


def _unknown_turns(row: Words) -> NDArray[np.int64]:
    """What `Tree.plant` takes as `hidden` [2, HIDDEN]: turns slept as they were seen, one of confusion and Disable."""
    hidden = np.full((2, HIDDEN), -1, np.int64)
    for seat in range(2):
        s = int(side_of(seat))
        for k, mon in enumerate(_members(row, s)):
            if row[mon + W.MON_STATUS] == W.SLEEP and not row[mon + W.MON_RESTED]:
                hidden[seat, k] = row[mon + W.MON_COUNTER]
        hidden[seat, CONFUSION] = 1 if row[s + W.CONFUSED] else -1
        hidden[seat, DISABLE] = 1 if row[s + W.DISABLE_TIME] else -1
    return hidden
