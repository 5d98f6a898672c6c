"""What a side has, as a sparse list of numbered features: the input of the search's network (network.py).

The same rule serves the search and the fitting of the network (scripts/build/fit_exact_search.py), so the two cannot differ.
"""

from __future__ import annotations

from itertools import count

import numpy as np

from agents.engine.compiled import compiled
from agents.engine.gen1 import layout as W
from agents.engine.gen1.state import foe_of, out, pp_at
from agents.engine.gen1.tables import (
    ACCURACY,
    CATEGORY,
    CHART,
    FIXED,
    MOVE,
    MULTIHIT,
    OHKO,
    PHYSICAL,
    POWER,
    SELFDESTRUCT,
    SPECIES_BY_ID,
    SPECIES_TYPES,
    STATUS_MOVE,
    TYPE,
)  # fmt: skip
from agents.search.exact.damage_shares import defence_of, held

SPECIES = len(SPECIES_BY_ID) + 1
MOVE_NUMBERS = len(MOVE)
#: Conditions of the Pokémon that is out which either hold or do not.
_CONDITIONS = (
    W.CONFUSED, W.LEECH_SEED, W.REFLECT, W.LIGHT_SCREEN, W.RECHARGE, W.TWO_TURN, W.INVULNERABLE, W.THRASH,
    W.TRAPPING, W.TRAPPED, W.RAGE, W.BIDE_TIME, W.DISABLED, W.TRANSFORMED, W.FOCUS_ENERGY, W.MIST,
)  # fmt: skip

# Damage in features is an estimate within a nanosecond or two, without the roundings of the game's own formula.
# What a move does: power times accuracy, hits and (Self-Destruct halves defence) 2; or, for moves of fixed damage, that
# damage, or its share of the level. [moves]
_STRENGTH, _DEALS, _BY_LEVEL = (np.zeros(MOVE_NUMBERS, np.float32) for _ in range(3))
#: Moves that a benched Pokémon is listed with: those whose use is not only the damage that it would do.
_NOTED = np.zeros(MOVE_NUMBERS, np.bool_)
# The factor of an attacking type on a type, and on two; types are 1 higher here (0: none). [attacking, type(, type)]
_EFFECT = np.pad(np.array([0, 0.5, 1, 2], np.float32)[CHART], ((0, 0), (1, 0)), constant_values=1)
_EFFECTS = _EFFECT[:, :, None] * _EFFECT[:, None, :]


def _fill() -> None:
    for m in range(MOVE_NUMBERS):
        accuracy = 1.0 if MOVE[m, ACCURACY] == 0 else MOVE[m, ACCURACY] / 255
        hits = {0: 1, 5: 3}.get(int(MOVE[m, MULTIHIT]), 2)
        status = MOVE[m, CATEGORY] == STATUS_MOVE
        if not status and not MOVE[m, OHKO]:
            _STRENGTH[m] = MOVE[m, POWER] * accuracy * hits * (2 if MOVE[m, SELFDESTRUCT] else 1)
        if MOVE[m, FIXED] > 0:
            _DEALS[m], _STRENGTH[m] = MOVE[m, FIXED] * accuracy, 0
        if MOVE[m, FIXED] < 0:
            _BY_LEVEL[m], _STRENGTH[m] = accuracy, 0
        _NOTED[m] = status or MOVE[m, SELFDESTRUCT]


_fill()

_next = count()


def _block(size: int) -> int:
    """The number of the first of so many features."""
    first = next(_next)
    for _ in range(size - 1):
        next(_next)
    return first


# For each species: alive, HP, being out; of a benched one what the other's best move would do to it, and its to the other.
_ALIVE, _HP, _OUT, _THREAT_TO, _ANSWER_OF = (_block(SPECIES) for _ in range(5))
# For each move: known by a benched Pokémon (those of _NOTED), by the one that is out, and the damage that it would do now.
_BENCH_KNOWS, _KNOWS, _SHARE = (_block(MOVE_NUMBERS) for _ in range(3))
_ILL, _ILL_HP, _OUT_ILL, _LEFT = (_block(6) for _ in range(4))
_UP, _DOWN = _block(7), _block(7)
_CONDITION = _block(len(_CONDITIONS))
(
    _ASLEEP, _LEVEL, _OUT_HP, _SUBSTITUTE, _FAINTED, _BEST, _SQUARED, _TWO_HITS, _ONE_HIT, _NO_DAMAGE, _FASTER, _FASTER_ONE,
    _FASTER_TWO, _THREATS, _THREATS_ONE, _LEAST_THREAT, _ANSWERS, _ANSWERS_ONE, _BEST_ANSWER,
) = (_block(1) for _ in range(19))  # fmt: skip
FEATURES = _block(1)
#: No more than so many features of a side are not 0 at once.
MOST = 6 * 12 + 7 + 11 + len(_CONDITIONS) + 4 + 4 + 8


@compiled
def features_of(b, s, places, amounts):
    """Writes the features of a side that are not 0, and their amounts; returns how many."""
    t, mine = foe_of(s), out(b, s)
    n, alive, facing = 0, 0, b[mine + W.MON_HP] > 0 and b[out(b, t) + W.MON_HP] > 0
    threats, threats_one, least = 0.0, 0, 1.0
    answers, answers_one, best = 0.0, 0, 0.0
    for position in range(b[s + W.TEAM_SIZE]):
        mon = s + W.MONS + b[s + W.ORDER + position] * W.MON_WORDS
        if b[mon + W.MON_HP] <= 0:
            continue
        alive += 1
        species, status = b[mon + W.MON_SPECIES], b[mon + W.MON_STATUS]
        health = b[mon + W.MON_HP] / b[mon + W.MON_MAX_HP]
        n = _put(places, amounts, n, _ALIVE + species, 1.0)
        n = _put(places, amounts, n, _HP + species, health)
        if b[mon + W.MON_LEVEL] != 100:
            n = _put(places, amounts, n, _LEVEL, b[mon + W.MON_LEVEL] / 100 - 1)
        if status != W.HEALTHY:
            n = _put(places, amounts, n, _ILL + status - 1, 1.0)
            n = _put(places, amounts, n, _ILL_HP + status - 1, health)
            if status == W.SLEEP:
                n = _put(places, amounts, n, _ASLEEP, b[mon + W.MON_SLEEP] / 7)
        if position == 0:
            continue
        for slot in range(b[mon + W.MON_MOVE_COUNT]):
            if b[mon + W.MON_PP + slot] > 0 and _NOTED[b[mon + W.MON_MOVES + slot]]:
                n = _put(places, amounts, n, _BENCH_KNOWS + b[mon + W.MON_MOVES + slot], 1.0)
        if b[out(b, t) + W.MON_HP] > 0:
            threat, answer = _threat_to(b, t, mon), _answer_of(b, t, mon)
            n = _put(places, amounts, n, _THREAT_TO + species, threat)
            n = _put(places, amounts, n, _ANSWER_OF + species, answer)
            threats, threats_one, least = threats + threat, threats_one + int(threat >= 1.0), min(least, threat)
            answers, answers_one, best = answers + answer, answers_one + int(answer >= 1.0), max(best, answer)
    if alive > 0:
        n = _put(places, amounts, n, _LEFT + alive - 1, 1.0)
    n = _put(places, amounts, n, _THREATS, threats)
    n = _put(places, amounts, n, _THREATS_ONE, threats_one)
    n = _put(places, amounts, n, _LEAST_THREAT, least)
    n = _put(places, amounts, n, _ANSWERS, answers)
    n = _put(places, amounts, n, _ANSWERS_ONE, answers_one)
    n = _put(places, amounts, n, _BEST_ANSWER, best)
    if b[mine + W.MON_HP] <= 0:
        return _put(places, amounts, n, _FAINTED, 1.0)
    n = _of_active(b, s, mine, places, amounts, n)
    return _of_blow(b, s, t, places, amounts, n) if facing else n


@compiled
def _put(places, amounts, n, place, amount):
    if amount != 0:
        places[n], amounts[n] = place, amount
        return n + 1
    return n


@compiled
def _of_active(b, s, mine, places, amounts, n):
    n = _put(places, amounts, n, _OUT + b[mine + W.MON_SPECIES], 1.0)
    n = _put(places, amounts, n, _OUT_HP, b[mine + W.MON_HP] / b[mine + W.MON_MAX_HP])
    if b[mine + W.MON_STATUS] != W.HEALTHY:
        n = _put(places, amounts, n, _OUT_ILL + b[mine + W.MON_STATUS] - 1, 1.0)
    for stat in range(7):
        stage = b[s + W.BOOSTS + stat]
        n = _put(places, amounts, n, (_UP if stage > 0 else _DOWN) + stat, abs(stage) / 2)
    for number, word in enumerate(_CONDITIONS):
        if b[s + word] != 0:
            n = _put(places, amounts, n, _CONDITION + number, 1.0)
    n = _put(places, amounts, n, _SUBSTITUTE, 4 * b[s + W.SUBSTITUTE] / b[mine + W.MON_MAX_HP])
    pp = pp_at(b, s)
    for slot in range(b[s + W.MOVE_COUNT]):
        if b[pp + slot] > 0:
            n = _put(places, amounts, n, _KNOWS + b[s + W.MOVES + slot], 1.0)
    return n


@compiled
def _damage(m, level, attack, defence, user_1, user_2, type_1, type_2):
    """About how much a move does; attack and defence as they are now."""
    kind = MOVE[m, TYPE]
    if _STRENGTH[m] == 0:
        return _DEALS[m] + _BY_LEVEL[m] * level
    factor = _EFFECTS[kind, type_1 + 1, type_2 + 1]
    if kind == user_1 or kind == user_2:
        factor *= np.float32(1.5)
    return factor * (np.float32(0.00741) * level + np.float32(0.037)) * _STRENGTH[m] * attack / defence


@compiled
def _threat_to(b, t, mon):
    """The greatest share of a benched Pokémon's HP, up to 1, that the one of side `t` that is out does with one move."""
    if held(b, t):
        return np.float32(0)
    most, species = np.float32(0), b[mon + W.MON_SPECIES]
    pp, level = pp_at(b, t), np.float32(b[out(b, t) + W.MON_LEVEL])
    for slot in range(b[t + W.MOVE_COUNT]):
        m = b[t + W.MOVES + slot]
        if b[pp + slot] > 0:
            physical = MOVE[m, CATEGORY] == PHYSICAL
            attack = np.float32(b[t + W.MODIFIED + (0 if physical else 2)])
            defence = np.float32(b[mon + W.MON_STATS + (1 if physical else 3)])
            types = SPECIES_TYPES[species, 0], SPECIES_TYPES[species, 1]
            most = max(most, _damage(m, level, attack, defence, b[t + W.TYPE_1], b[t + W.TYPE_2], types[0], types[1]))
    return min(most / b[mon + W.MON_HP], np.float32(1))


@compiled
def _answer_of(b, t, mon):
    """The greatest share of the HP of side `t`'s Pokémon that is out, up to 1, that a benched one does with one move."""
    status, species = b[mon + W.MON_STATUS], b[mon + W.MON_SPECIES]
    if status == W.SLEEP or status == W.FREEZE:
        return np.float32(0)
    most, level = np.float32(0), np.float32(b[mon + W.MON_LEVEL])
    for slot in range(b[mon + W.MON_MOVE_COUNT]):
        m = b[mon + W.MON_MOVES + slot]
        if b[mon + W.MON_PP + slot] > 0:
            physical = MOVE[m, CATEGORY] == PHYSICAL
            attack = np.float32(b[mon + W.MON_STATS + (0 if physical else 2)])
            if physical and status == W.BURN:
                attack *= np.float32(0.5)
            defence = defence_of(b, t, physical)
            types = SPECIES_TYPES[species, 0], SPECIES_TYPES[species, 1]
            most = max(most, _damage(m, level, attack, defence, types[0], types[1], b[t + W.TYPE_1], b[t + W.TYPE_2]))
    return min(most / b[out(b, t) + W.MON_HP], np.float32(1))


@compiled
def _of_blow(b, s, t, places, amounts, n):
    pp, hp, level = pp_at(b, s), b[out(b, t) + W.MON_HP], np.float32(b[out(b, s) + W.MON_LEVEL])
    best = np.float32(0)
    for slot in range(b[s + W.MOVE_COUNT]):
        m = b[s + W.MOVES + slot]
        if b[pp + slot] > 0:
            physical = MOVE[m, CATEGORY] == PHYSICAL
            attack = np.float32(b[s + W.MODIFIED + (0 if physical else 2)])
            defence = defence_of(b, t, physical)
            damage = _damage(
                m, level, attack, defence, b[s + W.TYPE_1], b[s + W.TYPE_2], b[t + W.TYPE_1], b[t + W.TYPE_2]
            )
            share = min(damage / hp, np.float32(1))
            n = _put(places, amounts, n, _SHARE + m, share)
            if b[s + W.DISABLED] != slot + 1:
                best = max(best, share)
    if held(b, s):
        best = np.float32(0)
    n = _put(places, amounts, n, _BEST, best)
    n = _put(places, amounts, n, _SQUARED, best * best)
    if best == 0:
        n = _put(places, amounts, n, _NO_DAMAGE, 1.0)
    if best >= 0.5:
        n = _put(places, amounts, n, _TWO_HITS, 1.0)
    if best >= 1:
        n = _put(places, amounts, n, _ONE_HIT, 1.0)
    if b[s + W.MODIFIED + 4] > b[t + W.MODIFIED + 4]:
        n = _put(places, amounts, n, _FASTER, 1.0)
        if best >= 0.5:
            n = _put(places, amounts, n, _FASTER_TWO, 1.0)
        if best >= 1:
            n = _put(places, amounts, n, _FASTER_ONE, 1.0)
    return n
