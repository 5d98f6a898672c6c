"""Reading and changing a battle's words: random numbers, Pokémon, statuses, boosts.

Conventions of this package's rules: `b` is a battle (a row of int32, layout.py), `s` the offset of a side in it, `i` a
seat (0 or 1). Sources: Showdown's sim/ and data/mods/gen1 (0.11.11), whose functions are named where one is followed.
"""

from __future__ import annotations

import numpy as np

from agents.engine.compiled import compiled
from agents.engine.gen1 import layout as W
from agents.engine.gen1.tables import CATEGORY, MOVE, SPECIES_TYPES, STATUS_MOVE

#: Multipliers of a boosted stat, and of accuracy and evasion, by stage + 6.
STAGES = np.array([0.25, 0.28, 0.33, 0.40, 0.50, 0.66, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0])
POISON_TYPE = 3
ATTACK, SPEED_STAT = 0, 4
ACCURACY_STAGE, EVASION_STAGE = 5, 6


@compiled
def draw(b, n):
    """A random whole number in [0, n): Showdown's PRNG.random(n), a 64-bit linear congruential generator's upper half."""
    # Unsigned: LLVM may assume that signed numbers never overflow, and then compares them wrongly.
    x = np.uint64(0)
    for word in range(W.SEED, W.SEED + 4):
        x = (x << np.uint64(16)) | np.uint64(b[word])
    x = x * np.uint64(0x5D588B656C078965) + np.uint64(0x269EC3)
    b[W.SEED] = np.int64(x >> np.uint64(48))
    b[W.SEED + 1] = np.int64((x >> np.uint64(32)) & np.uint64(0xFFFF))
    b[W.SEED + 2] = np.int64((x >> np.uint64(16)) & np.uint64(0xFFFF))
    b[W.SEED + 3] = np.int64(x & np.uint64(0xFFFF))
    return np.int64(((x >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@compiled
def side_of(i):
    return W.SIDES + i * W.SIDE_WORDS


@compiled
def foe_of(s):
    return W.SIDES + W.SIDES + W.SIDE_WORDS - s


@compiled
def out(b, s):
    """The offset of the Pokémon of a side that is out."""
    return s + W.MONS + b[s + W.ORDER] * W.MON_WORDS


@compiled
def has_type(b, s, kind):
    return b[s + W.TYPE_1] == kind or b[s + W.TYPE_2] == kind


@compiled
def pp_at(b, s):
    """The offset of the four PP that the Pokémon uses now."""
    return s + W.OWN_PP if b[s + W.TRANSFORMED] else out(b, s) + W.MON_PP


@compiled
def scale_stat(b, s, stat, factor):
    """Showdown's modifyStat: multiplies what is modified already, so burn and paralysis may count twice."""
    b[s + W.MODIFIED + stat] = max(1, int(b[s + W.MODIFIED + stat] * factor))


@compiled
def update_speed(b, s):
    b[s + W.SPEED] = b[s + W.MODIFIED + SPEED_STAT]


@compiled
def clear_volatile(b, s):
    """Sets the words of the Pokémon that is out to those of its set: Showdown's clearVolatile and setSpecies."""
    mon = out(b, s)
    for word in range(W.BOOSTS, W.VOLATILE_END):
        b[s + word] = 0
    b[s + W.SPECIES] = b[mon + W.MON_SPECIES]
    b[s + W.TYPE_1] = SPECIES_TYPES[b[mon + W.MON_SPECIES], 0]
    b[s + W.TYPE_2] = SPECIES_TYPES[b[mon + W.MON_SPECIES], 1]
    for stat in range(5):
        b[s + W.STORED + stat] = b[mon + W.MON_STATS + stat]
        b[s + W.MODIFIED + stat] = b[mon + W.MON_STATS + stat]
    if b[mon + W.MON_STATUS] == W.PARALYSIS:
        scale_stat(b, s, SPEED_STAT, 0.25)
    if b[mon + W.MON_STATUS] == W.BURN:
        scale_stat(b, s, ATTACK, 0.5)
    b[s + W.SHOWN_TYPE_1], b[s + W.SHOWN_TYPE_2] = b[s + W.TYPE_1], b[s + W.TYPE_2]
    b[s + W.SPEED] = b[s + W.STORED + SPEED_STAT]
    b[s + W.MOVE_COUNT] = b[mon + W.MON_MOVE_COUNT]
    for slot in range(4):
        b[s + W.MOVES + slot] = b[mon + W.MON_MOVES + slot]


@compiled
def hurt(b, s, damage):
    """Takes HP from the Pokémon that is out; returns how much (Showdown's pokemon.damage)."""
    mon = out(b, s)
    taken = min(damage, b[mon + W.MON_HP])
    b[mon + W.MON_HP] -= taken
    return taken


@compiled
def heal(b, s, amount):
    mon = out(b, s)
    if b[mon + W.MON_HP] > 0:
        b[mon + W.MON_HP] = min(b[mon + W.MON_HP] + amount, b[mon + W.MON_MAX_HP])


@compiled
def residual_damage(b, s, counter):
    """A sixteenth of the HP for each count, by burn or poison."""
    return hurt(b, s, max(1, b[out(b, s) + W.MON_MAX_HP] // 16) * counter)


@compiled
def hurt_self(b, s, damage):
    """Damage by confusion or a missed jump kick; behind a substitute the foe's substitute takes it (directDamage)."""
    if b[out(b, s) + W.MON_HP] == 0:
        return
    damage = max(1, damage)
    b[W.LAST_DAMAGE] = damage
    if b[s + W.SUBSTITUTE] == 0:
        hurt(b, s, damage)
        return
    foe = foe_of(s)
    if b[foe + W.SUBSTITUTE] > 0:
        b[foe + W.SUBSTITUTE] = max(0, b[foe + W.SUBSTITUTE] - damage)
        if b[foe + W.SUBSTITUTE] == 0:
            b[out(b, foe) + W.MON_SUB_BROKEN] = 1


@compiled
def boost_stat(b, s, stat, by):
    """Changes one stage; returns whether it counts as a change (gen 1's boostBy, with its errors at 1 and 999)."""
    stage = b[s + W.BOOSTS + stat]
    if (by > 0 and stage >= 6) or (by < 0 and stage <= -6):
        return False
    after = min(6, max(-6, stage + by))
    if stat >= ACCURACY_STAGE:
        b[s + W.BOOSTS + stat] = after
        return True
    if b[s + W.MODIFIED + stat] == (999 if by > 0 else 1):
        b[s + W.BOOSTS + stat] = after - 1 if by > 0 else after + 1
        return False
    b[s + W.BOOSTS + stat] = after
    b[s + W.MODIFIED + stat] = b[s + W.STORED + stat]
    scale_stat(b, s, stat, STAGES[after + 6])
    if by > 0:
        b[s + W.MODIFIED + stat] = min(999, b[s + W.MODIFIED + stat])
    return True


@compiled
def boost(b, s, source, move, stat_1, by_1, stat_2, by_2):
    """Up to two boosts (stat -1: none) by a move of `source`; returns whether any changed. Mist blocks drops."""
    if b[out(b, s) + W.MON_HP] == 0:
        return False
    misted = b[s + W.MIST] and s != source and MOVE[move, CATEGORY] == STATUS_MOVE
    changed = False
    if stat_1 >= 0 and not (misted and by_1 < 0):
        changed = boost_stat(b, s, stat_1, by_1)
    if stat_2 >= 0 and not (misted and by_2 < 0):
        changed = boost_stat(b, s, stat_2, by_2) or changed
    return changed


@compiled
def set_status(b, s, status, by_itself):
    """Sets a status; returns whether it took. by_itself: Rest. Showdown draws for the order of its two clauses."""
    mon = out(b, s)
    if b[mon + W.MON_HP] == 0 or b[mon + W.MON_STATUS] == status:
        return False
    if (status == W.POISON or status == W.TOX) and has_type(b, s, POISON_TYPE):
        return False
    draw(b, 2)
    if not by_itself:
        for k in range(b[s + W.TEAM_SIZE]):
            other = s + W.MONS + k * W.MON_WORDS
            if (
                status == W.SLEEP
                and b[other + W.MON_HP] > 0
                and b[other + W.MON_STATUS] == W.SLEEP
                and not b[other + W.MON_RESTED]
            ):
                return False
            if status == W.FREEZE and b[other + W.MON_STATUS] == W.FREEZE:
                return False
    b[mon + W.MON_STATUS] = status
    b[mon + W.MON_RESTED] = by_itself
    b[mon + W.MON_SLEEP] = b[mon + W.MON_COUNTER] = 0
    if status == W.SLEEP:
        b[mon + W.MON_SLEEP] = 1 + draw(b, 7)
    if status == W.TOX:
        b[s + W.RESIDUAL] = 1
        b[s + W.RESIDUAL_COUNT] = 0
    return True


@compiled
def cure_status(b, s):
    mon = out(b, s)
    if b[mon + W.MON_HP] > 0:
        if b[mon + W.MON_STATUS] != W.HEALTHY:
            b[mon + W.MON_COUNTER] = 0
        if b[mon + W.MON_STATUS] == W.FREEZE:
            b[s + W.SHOWN_THAWED] = 1
        b[mon + W.MON_STATUS] = W.HEALTHY
        b[mon + W.MON_SLEEP] = 0
        b[mon + W.MON_RESTED] = 0


@compiled
def add_confusion(b, s):
    """Returns whether it is newly confused."""
    from_now = b[out(b, s) + W.MON_HP] > 0 and b[s + W.CONFUSED] == 0
    if from_now:
        b[s + W.CONFUSED] = 2 + draw(b, 4)
    return from_now


@compiled
def add_trapped(b, s, by):
    """The volatile `partiallytrapped`; by: the side of the trapper, kept only when new."""
    if b[out(b, s) + W.MON_HP] == 0:
        return False
    if b[s + W.TRAPPED] == 0:
        b[s + W.TRAPPED_BY] = b[by + W.ORDER]
        b[s + W.TRAPPED_MAYBE] = 0
    b[s + W.TRAPPED] = 2
    return True
