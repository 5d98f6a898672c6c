"""What each seat of the engine's battles sees, as the arrays of agents/observation/observation.py.

The order of tokens and features is that module's; packed_tokens.py and pokemon_tokens.py say what each is.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from agents.engine.compiled import compile_missing, compiled, kernel_with
from agents.engine.gen1 import layout as W
from agents.engine.gen1.engine import Engine, kernels
from agents.engine.gen1.network_actions import bench_place, move_place, write_legal
from agents.engine.gen1.requests import only_entry
from agents.engine.gen1.shown import base_count, base_move, entry, rank, shown_move, uses_of
from agents.engine.gen1.state import foe_of, out, pp_at
from agents.engine.gen1.tables import MOVE, PP, RANK, SPECIES_TYPES
from agents.engine.gen1.use import hard_lock
from agents.observation.engine_estimates import (
    WHO_COLUMNS,
    WHO_HP,
    WHO_LEVEL,
    WHO_SPECIES,
    WHO_STATS,
    WHO_TYPE_1,
    best_hits,
    guess_moves,
    move_features,
    set_factors,
    versus_features,
)
from agents.observation.engine_facts import (
    BASE_STATS,
    FULL_STATS,
    GENERATION,
    LAST_WORD,
    MAX_PP,
    MOVE_CONSTANTS,
    MOVE_TOKEN,
    MOVE_WORD,
    NO_ABILITY,
    NO_ITEM,
    NO_MOVE_WORD,
    NO_SPECIES_TYPE,
    NO_TERA,
    NO_WEATHER,
    SHOWN_MAX_PP,
    SPECIES_WORD,
    STATUS_WORD,
    TYPE_WORD,
    UNKNOWN_ITEM,
    UNKNOWN_MON,
    UNKNOWN_MOVE,
    sets_of,
)
from agents.observation.observation import Observations

_OURS, _THEIRS, _MOVES = 3, 9, 15
_ESTIMATES, _ON_FIELD = 21, 27
_EFFECTS = _ON_FIELD + 11
_SPECIES_ID, _ITEM_ID, _ABILITY_ID, _MOVE_IDS, _STATUS_ID, _TYPE_IDS, _TERA_ID = 0, 1, 2, 3, 7, 8, 10
#: Moves that one Pokémon may be thought to have at most: four shown, and those of its published sets.
MOST_MOVES = 32
_LEVEL_BOOSTS = np.zeros(7, np.int32)
_HERE, _MECHANICS = Path(__file__).parent, Path(__file__).parents[1] / "mechanics"
_observing = kernel_with(*_HERE.glob("*.py"), *_HERE.glob("*.json"), *_MECHANICS.glob("*.py"))


@compiled
def _health(b, mon, view):
    """The fraction of HP that is left; for the opponent in Showdown's percent."""
    hp, most = b[mon + W.MON_HP], b[mon + W.MON_MAX_HP]
    if view == 0 or hp == 0:
        return hp / most
    percent = -(-100 * hp // most)
    return (99 if percent == 100 and hp < most else percent) / 100


@compiled
def _sort(moves, count):
    """Sorts moves by their ids."""
    for k in range(1, count):
        m, at = moves[k], k
        while at > 0 and RANK[moves[at - 1]] > RANK[m]:
            moves[at] = moves[at - 1]
            at -= 1
        moves[at] = m


@compiled
def _has(moves, count, m):
    for k in range(count):
        if moves[k] == m:
            return True
    return False


@compiled
def _named_moves(b, s, mon, view, moves):
    """Writes the moves that a Pokémon is known to have, sorted by id; returns how many."""
    count = 0
    if view == 0:
        copied = mon == out(b, s)
        count = b[s + W.MOVE_COUNT] if copied else b[mon + W.MON_MOVE_COUNT]
        for slot in range(count):
            moves[slot] = b[s + W.MOVES + slot] if copied else b[mon + W.MON_MOVES + slot]
    else:
        for slot in range(base_count(b, s, mon)):
            m = shown_move(b, s, mon, view, slot)
            if rank(b, s, mon, view, slot) and not _has(moves, count, m):
                moves[count] = m
                count += 1
    _sort(moves, count)
    return count


@compiled
def _pp_left(b, s, mon, view, m):
    """The fraction of a move's PP that is left as the players count it: 1 where it is not among the known ones."""
    slot = entry(b, s, mon, view, m)
    if slot < 0:
        return 1.0
    most = SHOWN_MAX_PP[m]
    full = SHOWN_MAX_PP[base_move(b, s, mon, slot)]  # a mimicked move has those of the one whose slot it is in
    copied = mon == out(b, s) and b[s + W.TRANSFORMED]
    remaining = (min(5, full) if copied else full) - uses_of(b, s, mon, view, slot)
    return max(0, remaining) / most


@compiled
def _turns_of_status(b, s, mon):
    """Turns slept through, or the stage of bad poison, which no Pokémon on the bench has."""
    if b[mon + W.MON_STATUS] == W.TOX:
        return b[s + W.RESIDUAL_COUNT] if mon == out(b, s) else 0
    return 0 if b[mon + W.MON_STATUS] == W.FAINTED else b[mon + W.MON_COUNTER]


@compiled
def _mon_token(b, s, mon, view, who, moves, ids, features):
    """Writes the token of a Pokémon without its estimates, its row of `who`, and its named moves; returns their number."""
    active = mon == out(b, s)
    species, level, status = b[mon + W.MON_SPECIES], b[mon + W.MON_LEVEL], b[mon + W.MON_STATUS]
    hp = _health(b, mon, view)
    count = _named_moves(b, s, mon, view, moves)
    ids[_SPECIES_ID] = SPECIES_WORD[species]
    ids[_ITEM_ID] = NO_ITEM if view == 0 else UNKNOWN_ITEM
    ids[_ABILITY_ID] = NO_ABILITY
    for k in range(4):
        ids[_MOVE_IDS + k] = MOVE_WORD[moves[k]] if k < count else (NO_MOVE_WORD if view == 0 else UNKNOWN_MOVE)
    ids[_STATUS_ID] = STATUS_WORD[status]
    for k in range(2):
        kind = b[s + W.SHOWN_TYPE_1 + k] if active else SPECIES_TYPES[species, k]
        ids[_TYPE_IDS + k] = TYPE_WORD[kind] if kind >= 0 else NO_SPECIES_TYPE
        who[WHO_TYPE_1 + k] = kind
    ids[_TERA_ID] = NO_TERA
    features[0] = 1.0
    features[2] = hp
    features[3] = status == W.FAINTED
    features[4] = active
    features[5] = view == 0
    features[6] = b[mon + W.MON_SEEN] > 0
    features[7] = level / 100
    features[8] = min(8, _turns_of_status(b, s, mon)) / 8
    features[9] = min(4, count) / 4
    for stat in range(6):
        features[11 + stat] = BASE_STATS[species, stat] / 200
        who[WHO_STATS + stat] = FULL_STATS[species, level, stat]
    for k in range(min(4, count)):
        features[17 + k] = _pp_left(b, s, mon, view, moves[k])
    if view == 0:
        who[WHO_STATS] = b[mon + W.MON_MAX_HP]
        for stat in range(5):
            who[WHO_STATS + 1 + stat] = b[mon + W.MON_STATS + stat]
    who[WHO_SPECIES], who[WHO_LEVEL], who[WHO_HP] = species, level, hp
    if active:
        set_factors(who, status, b[s + W.BOOSTS : s + W.BOOSTS + 7], b[s + W.REFLECT])
        if status != W.FAINTED:
            _field_features(b, s, view, features)
    else:
        set_factors(who, status, _LEVEL_BOOSTS, 0)
    return count


@compiled
def _field_features(b, s, view, features):
    """Boosts, temporary states and effects of an active Pokémon; its player knows from requests whether it must rest."""
    for stat in range(7):
        features[_ON_FIELD + stat] = b[s + W.BOOSTS + stat] / 6
    features[_ON_FIELD + 7] = b[s + W.SHOWN_TURNS] == 1
    features[_ON_FIELD + 8] = b[s + W.RECHARGE] if view == 0 else b[s + W.SHOWN_RECHARGE]
    features[_ON_FIELD + 9] = b[s + W.TWO_TURN] != 0
    features[_EFFECTS] = b[s + W.SUBSTITUTE] > 0
    features[_EFFECTS + 1] = b[s + W.CONFUSED] > 0
    features[_EFFECTS + 2] = b[s + W.LEECH_SEED]
    features[_EFFECTS + 3] = b[s + W.REFLECT]
    features[_EFFECTS + 4] = b[s + W.FOCUS_ENERGY]
    features[_EFFECTS + 7] = b[s + W.DISABLE_TIME] > 0


@compiled
def _side_token(b, s, view, ids, features):
    size = b[s + W.TEAM_SIZE] if view == 0 else b[s + W.SEEN]
    able, total_hp = 0, 0.0
    for k in range(b[s + W.TEAM_SIZE]):
        mon = s + W.MONS + k * W.MON_WORDS
        if (view == 0 or b[mon + W.MON_SEEN]) and b[mon + W.MON_STATUS] != W.FAINTED:
            able += 1
            total_hp += _health(b, mon, view)
    ids[0] = LAST_WORD[b[s + W.SHOWN_LAST + view]]
    features[15], features[16] = able / 6, size / 6
    features[17], features[18] = (size - able) / 6, total_hp / 6


@compiled
def _move_token(b, s, m, slot, own, foe, estimated, ids, features):
    """Writes the token of an entry of the request's moves. slot: -1 where it is listed alone, without PP."""
    for k in range(3):
        ids[k] = MOVE_TOKEN[m, k]
    features[0] = 1.0
    features[2] = 1.0
    if slot >= 0:
        pp = b[pp_at(b, s) + slot]
        features[1] = pp <= 0 or b[s + W.DISABLED] == slot + 1
        # A copied move in a slot that its own set lacks has no PP Ups.
        features[2] = pp / (MAX_PP[m] if slot < b[out(b, s) + W.MON_MOVE_COUNT] else MOVE[m, PP])
    features[7] = 1 / 4
    if estimated:
        move_features(m, own, foe, features[3:9])
    for k in range(13):
        features[9 + k] = MOVE_CONSTANTS[m, k]


@compiled
def _place_ours(b, s, k):
    """The position in the team of our k-th token: the active one, then the bench by name."""
    if k == 0:
        return 0
    for position in range(1, b[s + W.TEAM_SIZE]):
        if bench_place(b, s, position) == k - 1:
            return position
    return -1


@compiled
def _place_theirs(b, s, k):
    """The index in the team of their k-th token: the active one, then the others as they were seen; -1: not seen yet."""
    if k == 0:
        return b[s + W.ORDER]
    place = 0
    for number in range(1, b[s + W.SEEN] + 1):
        for index in range(b[s + W.TEAM_SIZE]):
            if b[s + W.MONS + index * W.MON_WORDS + W.MON_SEEN] == number and index != b[s + W.ORDER]:
                place += 1
                if place == k:
                    return index
    return -1


@compiled
def _observe_mons(b, s, view, sets, who, moves, chances, counts, ids, features):
    """Writes the six tokens of a side, without estimates. counts: of each one's moves, -1 where no Pokémon is known."""
    for k in range(6):
        index = -1
        if view == 1:
            index = _place_theirs(b, s, k)
        else:
            position = _place_ours(b, s, k) if k < b[s + W.TEAM_SIZE] else -1
            if position >= 0:
                index = b[s + W.ORDER + position]
        counts[k] = -1
        if index >= 0:
            shown = _mon_token(b, s, s + W.MONS + index * W.MON_WORDS, view, who[k], moves[k], ids[k], features[k])
            for j in range(shown):
                chances[k, j] = 1.0
            counts[k] = shown if view == 0 else guess_moves(sets, int(who[k, WHO_SPECIES]), moves[k], chances[k], shown)
        elif view == 1:
            for j in range(len(UNKNOWN_MON)):
                ids[k, j] = UNKNOWN_MON[j]
            features[k, 1] = 1.0


@compiled
def _estimate(who, moves, chances, counts, features, ours, foe):
    """Writes the estimates of the six Pokémon from index `ours` on against the active one with index `foe`."""
    if counts[foe] < 0 or who[foe, WHO_HP] <= 0:
        return
    for k in range(ours, ours + 6):
        if counts[k] >= 0:
            dealt = best_hits(who[k], moves[k], chances[k], counts[k], who[foe])
            taken = best_hits(who[foe], moves[foe], chances[foe], counts[foe], who[k])
            versus_features(who[k], dealt, taken, who[foe], ours > 0, features[k, _ESTIMATES : _ESTIMATES + 6])


@compiled
def observe_one(b, s, sets, who, moves, chances, counts, ids, features):
    """Writes one observation into zeros.

    Room to work in, zeros too: who [12, WHO_COLUMNS], moves and chances [12, MOST_MOVES], counts [12].
    """
    foe = foe_of(s)
    ids[0, 0], ids[0, 1] = GENERATION, NO_WEATHER
    turn = b[W.TURN]
    features[0, 0] = min(turn, 100) / 100
    features[0, 1] = 1.0 / (1 + turn)
    features[0, 3] = b[s + W.REQUEST] == W.CHOOSE_SWITCH
    features[0, 4] = b[s + W.REQUEST] == W.CHOOSE_MOVE and hard_lock(b, s)
    _side_token(b, s, 0, ids[1], features[1])
    _side_token(b, foe, 1, ids[2], features[2])
    _observe_mons(b, s, 0, sets, who, moves, chances, counts, ids[_OURS:], features[_OURS:])
    _observe_mons(b, foe, 1, sets, who[6:], moves[6:], chances[6:], counts[6:], ids[_THEIRS:], features[_THEIRS:])
    _estimate(who, moves, chances, counts, features[_OURS:], 0, 6)
    _estimate(who, moves, chances, counts, features[_OURS:], 6, 0)
    if b[s + W.REQUEST] != W.CHOOSE_MOVE:
        return
    estimated = counts[6] >= 0 and who[0, WHO_HP] > 0 and who[6, WHO_HP] > 0
    only = only_entry(b, s)
    if only:
        _move_token(b, s, only, -1, who[0], who[6], estimated, ids[_MOVES], features[_MOVES])
        return
    for slot in range(b[s + W.MOVE_COUNT]):
        place = _MOVES + move_place(b, s, slot)
        for other in range(slot):
            place += b[s + W.MOVES + other] == b[s + W.MOVES + slot]
        _move_token(b, s, b[s + W.MOVES + slot], slot, who[0], who[6], estimated, ids[place], features[place])


@_observing
def _observe(battles, rows, seats, sets, token_ids, features, legal):
    """Writes the observations of pairs (row, seat); zeros for a seat that has nothing to choose."""
    for k in numba.prange(len(rows)):
        b, s = battles[rows[k]], W.SIDES + seats[k] * W.SIDE_WORDS
        token_ids[k], features[k], legal[k] = 0, 0, False
        if b[W.WINNER] == W.UNDECIDED and b[s + W.REQUEST] != W.WAITING:
            who = np.zeros((12, WHO_COLUMNS))
            moves = np.zeros((12, MOST_MOVES), np.int64)
            chances = np.zeros((12, MOST_MOVES))
            counts = np.zeros(12, np.int64)
            observe_one(b, s, sets, who, moves, chances, counts, token_ids[k], features[k])
            write_legal(b, s, legal[k])


def observe_rows(
    engine: Engine, rows: NDArray[np.int64], seats: NDArray[np.int64], out: Observations | None = None
) -> Observations:
    """What seat `seats[k]` of battle `rows[k]` sees now, for n such pairs: one observation each, in that order.

    out: arrays to be written instead of new ones, as an earlier call returned them for as many pairs. Raises BadInput
    for a row or seat that is not there, and arrays of other shapes or types.
    """
    rows, seats = engine.pairs(rows, seats)
    out = Observations.room_for(len(rows), out)
    _observe(engine.words, rows, seats, sets_of(engine.format_id), *out)
    return out


def compile_engine(say: Callable[[str], None]) -> None:
    """Compile `all_kernels` unless the cache has them: one to three minutes in all.

    say: called with a line before each part.
    """
    compile_missing(all_kernels(), say)


def all_kernels() -> dict[str, tuple[Any, Callable[[], Any]]]:
    """Return what batches of battles and their observations call, as `kernels` does."""
    engine, none = Engine(0), np.zeros(0, np.int64)
    return {**kernels(), "observations": (_observe, lambda: observe_rows(engine, none, none))}
