"""Estimated damage between two Pokémon as features: agents/observation/estimates.py and mechanics/damage.py for the engine.

A Pokémon is a row of `who` (float64, columns below) and its damaging moves with their probabilities.
"""

from __future__ import annotations

import numpy as np

from agents.engine.compiled import compiled
from agents.engine.gen1.layout import BURN, FAINTED, PARALYSIS
from agents.observation.engine_facts import (
    ALWAYS_HITS_TYPES,
    BY_LEVEL,
    CRITICAL,
    DAMAGES,
    EFFECT,
    EXPLODES,
    HALF,
    HIGH_CRITICAL,
    MOVE_ACCURACY,
    MOVE_FIXED,
    MOVE_HITS,
    MOVE_POWER,
    MOVE_TYPE,
    NEEDS_SLEEP,
    NO_FIXED,
    ONE_HIT,
    SPECIAL,
    TYPICAL,
)

#: Columns of `who`. Factors: of the damage that it deals (physical, special), that it takes, of its speed.
(
    WHO_SPECIES, WHO_LEVEL, WHO_TYPE_1, WHO_TYPE_2, WHO_HP, WHO_STATS, _A, _B, _C, _D, _E, WHO_ATTACK, _F, WHO_WALL, _G,
    WHO_PACE, WHO_COLUMNS,
) = range(17)  # fmt: skip
#: Multipliers of a boosted stat, by stage + 6.
STAGES = np.array([max(2, 2 + stage) / max(2, 2 - stage) for stage in range(-6, 7)])
MOST_DAMAGE = 1.5
#: Moves of an opponent's Pokémon are left out below this probability, and sets that lack a shown move keep this likelihood.
_LEAST_CHANCE, _MISFIT = 0.04, 0.03


@compiled
def set_factors(who, status, boosts, reflect):
    """Writes the factors of a Pokémon. boosts: seven stages; reflect: whether Reflect protects it."""
    pace = STAGES[boosts[4] + 6]
    for kind in range(2):
        who[WHO_ATTACK + kind] = STAGES[boosts[2 * kind] + 6]
        who[WHO_WALL + kind] = 1 / STAGES[boosts[2 * kind + 1] + 6]
    if reflect:
        who[WHO_WALL] /= 2
    if status == BURN:
        who[WHO_ATTACK] /= 2
    elif status == PARALYSIS:
        pace *= 0.25
    who[WHO_PACE] = pace
    if status == FAINTED:
        who[WHO_HP] = 0.0


@compiled
def type_factor(m, defender):
    """The effectiveness of a move's type; types outside the chart count as 1."""
    factor, kind = 1.0, MOVE_TYPE[m]
    if kind >= 0:
        factor *= EFFECT[kind, int(defender[WHO_TYPE_1])]
        if defender[WHO_TYPE_2] >= 0:
            factor *= EFFECT[kind, int(defender[WHO_TYPE_2])]
    return factor


@compiled
def same_type(m, attacker):
    return MOVE_TYPE[m] >= 0 and (MOVE_TYPE[m] == attacker[WHO_TYPE_1] or MOVE_TYPE[m] == attacker[WHO_TYPE_2])


@compiled
def _formula(level, power, attack, wall):
    return min(997.0, (2 * level // 5 + 2) * power * attack / wall / 50) + 2


@compiled
def damage_range(attacker, defender, m):
    """Minimum, maximum and mean damage between healthy Pokémon, as fractions of the target's maximum HP."""
    if not DAMAGES[m]:
        return 0.0, 0.0, 0.0
    factor = 1.0 if ALWAYS_HITS_TYPES[m] else type_factor(m, defender)
    if factor == 0 or NEEDS_SLEEP[m]:
        return 0.0, 0.0, 0.0
    hp, level, fixed = defender[WHO_STATS], int(attacker[WHO_LEVEL]), MOVE_FIXED[m]
    if fixed != NO_FIXED:
        part = 0.0
        if fixed == ONE_HIT:
            part = 1.0 if level >= defender[WHO_LEVEL] else 0.0
        elif fixed == HALF:
            part = 0.5
        else:
            part = (level if fixed == BY_LEVEL else fixed) / hp
        return part, part, part
    power = MOVE_POWER[m]
    if power <= 0:
        return 0.0, 0.0, 0.0
    kind = SPECIAL[m]
    attack = attacker[WHO_STATS + 1 + 2 * kind]
    wall = defender[WHO_STATS + 2 + 2 * kind]
    if EXPLODES[m]:
        wall /= 2
    wall = max(1.0, wall)
    bonus = 1.5 if same_type(m, attacker) else 1.0
    plain = _formula(level, power, attack, wall) * bonus
    critical = _formula(level * 2, power, attack, wall) * bonus
    chance = CRITICAL[int(attacker[WHO_SPECIES]), int(HIGH_CRITICAL[m])]
    factor *= MOVE_HITS[m]
    low, high = 217 / 255 / hp, 1.0 / hp
    mean = ((1 - chance) * plain + chance * critical) * factor * (low + high) / 2
    return plain * factor * low, plain * factor * high, mean


@compiled
def best_hits(attacker, moves, chances, count, defender):
    """The maximum expected damage (physical, special) of an attacker's moves to a healthy defender.

    The mean of `damage_range` times accuracy and probability, with what all moves of a kind share computed once.
    """
    best, hp, level = (0.0, 0.0), defender[WHO_STATS], int(attacker[WHO_LEVEL])
    ratios = (
        attacker[WHO_STATS + 1] / max(1.0, defender[WHO_STATS + 2]) / 50,
        attacker[WHO_STATS + 3] / max(1.0, defender[WHO_STATS + 4]) / 50,
    )
    roll = (217 / 255 + 1) / 2 / hp
    for k in range(count):
        m = moves[k]
        if not DAMAGES[m] or chances[k] == 0 or NEEDS_SLEEP[m]:
            continue
        kind = SPECIAL[m]
        if MOVE_FIXED[m] != NO_FIXED or EXPLODES[m]:
            _, _, mean = damage_range(attacker, defender, m)
        else:
            factor = 1.0 if ALWAYS_HITS_TYPES[m] else type_factor(m, defender)
            if factor == 0 or MOVE_POWER[m] <= 0:
                continue
            push = MOVE_POWER[m] * ratios[kind]
            chance = CRITICAL[int(attacker[WHO_SPECIES]), int(HIGH_CRITICAL[m])]
            plain = min(997.0, (2 * level // 5 + 2) * push) + 2
            critical = min(997.0, (4 * level // 5 + 2) * push) + 2
            bonus = 1.5 if same_type(m, attacker) else 1.0
            mean = ((1 - chance) * plain + chance * critical) * bonus * factor * MOVE_HITS[m] * roll
        expected = mean * MOVE_ACCURACY[m] * chances[k]
        best = (max(best[0], expected), best[1]) if kind == 0 else (best[0], max(best[1], expected))
    return best


@compiled
def versus_features(who, dealt, received, foe, first, features):
    """Six features of a Pokémon against the opponent's active one. dealt, received: `best_hits` of either (a pair each)."""
    damage_taken = max(
        received[0] * foe[WHO_ATTACK] * who[WHO_WALL], received[1] * foe[WHO_ATTACK + 1] * who[WHO_WALL + 1]
    )
    damage_dealt = max(dealt[0] * who[WHO_ATTACK] * foe[WHO_WALL], dealt[1] * who[WHO_ATTACK + 1] * foe[WHO_WALL + 1])
    pace, foe_pace = who[WHO_PACE] * who[WHO_STATS + 5], foe[WHO_STATS + 5] * foe[WHO_PACE]
    features[0] = 1.0
    features[1] = min(MOST_DAMAGE, damage_taken)
    features[2] = min(MOST_DAMAGE, damage_taken / who[WHO_HP]) if who[WHO_HP] > 0 else 0.0
    features[3] = min(MOST_DAMAGE, damage_dealt)
    features[4] = min(MOST_DAMAGE, damage_dealt / foe[WHO_HP]) if foe[WHO_HP] > 0 else 0.0
    features[5] = 1.0 if pace > foe_pace or (first and pace == foe_pace) else 0.0


@compiled
def move_features(m, own, foe, features):
    """Six features of a move of our active Pokémon against theirs."""
    low, high, mean = damage_range(own, foe, m)
    kind, hp = SPECIAL[m], foe[WHO_HP]
    factor = own[WHO_ATTACK + kind] * foe[WHO_WALL + kind]
    mean = mean * MOVE_ACCURACY[m] * factor
    features[0] = min(MOST_DAMAGE, mean)
    features[1] = min(MOST_DAMAGE, mean / hp) if hp > 0 else 0.0
    features[2] = 1.0 if high * factor >= hp and hp > 0 else 0.0
    features[3] = 1.0 if low * factor >= hp and hp > 0 else 0.0
    features[4] = (type_factor(m, foe) if DAMAGES[m] else 1.0) / 4
    features[5] = 1.0 if same_type(m, own) else 0.0


@compiled
def _is_among(m, moves, count):
    for k in range(count):
        if moves[k] == m:
            return True
    return False


@compiled
def guess_moves(sets, species, moves, chances, shown):
    """Appends to the `shown` moves of an opponent's Pokémon its likely others; returns the number of all.

    sets: of facts.sets_of. The shown ones have probability 1. After agents.mechanics.sets.guess.
    """
    first, last = sets.first[species], sets.first[species + 1]
    for k in range(shown):
        chances[k] = 1.0
    count = shown
    if first == last:
        for k in range(2):
            m = sets.typical[species, k]
            if shown < 4 and m and not _is_among(m, moves, shown):
                moves[count], chances[count] = m, TYPICAL
                count += 1
        return count
    total = 0.0
    for row in range(first, last):
        total += _fit(sets, row, moves, shown)
    for row in range(first, last):
        share = _fit(sets, row, moves, shown) / total
        for column in range(sets.moves.shape[1]):
            m = sets.moves[row, column]
            if m == 0 or _is_among(m, moves, shown):
                continue
            at = shown
            while at < count and moves[at] != m:
                at += 1
            if at == count:
                moves[count], chances[count] = m, 0.0
                count += 1
            chances[at] += share * sets.chances[row, column]
    expected = 0.0
    for k in range(shown, count):
        expected += chances[k]
    scale = min(1.0, max(0, 4 - shown) / (expected if expected > 0 else 1.0))
    for k in range(shown, count):
        chances[k] *= scale
        if chances[k] <= _LEAST_CHANCE:
            chances[k] = 0.0
    return count


@compiled
def _fit(sets, row, moves, shown):
    """A set's weight times the likelihood of the shown moves."""
    fit = 1.0
    for k in range(shown):
        has = 0.0
        for column in range(sets.moves.shape[1]):
            if sets.moves[row, column] == moves[k]:
                has = sets.chances[row, column]
        fit *= max(has, _MISFIT)
    return sets.weights[row] * fit
