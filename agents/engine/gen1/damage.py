"""What a move does to HP: accuracy, critical hits, the damage formula with generation 1's overflows."""

from __future__ import annotations

from agents.engine.compiled import compiled
from agents.engine.gen1 import layout as W
from agents.engine.gen1.state import ACCURACY_STAGE, EVASION_STAGE, STAGES, draw, has_type, out
from agents.engine.gen1.tables import (
    ACCURACY,
    BASE_SPEED,
    CATEGORY,
    CHART,
    FIXED,
    GIVES_SELF,
    HIGH_CRIT,
    IGNORES_IMMUNITY,
    MOVE,
    NO_TYPE,
    OHKO,
    PHYSICAL,
    POWER,
    SELFDESTRUCT,
    STATUS,
    TYPE,
    move,
    volatile,
)  # fmt: skip

#: What `damage_of` returns where there is no damage: the move does none, or it failed.
NO_DAMAGE, FAILED = -1, -2

_COUNTER, _PSYWAVE, _SUPER_FANG = move("counter"), move("psywave"), move("superfang")
_LOCK = volatile("partialtrappinglock")
_NORMAL, _FIGHTING, _GHOST = 0, 1, 7


@compiled
def is_immune(b, t, m):
    """Whether the types of a side's Pokémon make it immune to a move."""
    if MOVE[m, IGNORES_IMMUNITY]:
        return False
    kind = MOVE[m, TYPE]
    return CHART[kind, b[t + W.TYPE_1]] == 0 or (b[t + W.TYPE_2] >= 0 and CHART[kind, b[t + W.TYPE_2]] == 0)


@compiled
def hits(b, s, t, m):
    """Whether a move of side `s` at side `t` passes its accuracy check; draws unless it cannot miss."""
    accuracy = int(MOVE[m, ACCURACY])
    always = accuracy == 0 or (MOVE[m, STATUS] == W.SLEEP and b[t + W.RECHARGE] != 0)
    if not always:
        if b[s + W.THRASH]:
            accuracy = int(b[s + W.THRASH_ACCURACY])
        if b[s + W.RAGE]:
            accuracy = int(b[s + W.RAGE_ACCURACY])
        accuracy = int(accuracy * STAGES[b[s + W.BOOSTS + ACCURACY_STAGE] + 6])
        accuracy = int(accuracy * STAGES[6 - b[t + W.BOOSTS + EVASION_STAGE]])
        accuracy = min(255, max(1, accuracy))
        if b[s + W.THRASH]:
            b[s + W.THRASH_ACCURACY] = accuracy
        if b[s + W.RAGE]:
            b[s + W.RAGE_ACCURACY] = accuracy
    if b[t + W.TRAPPED] > 0 and s != t and b[t + W.TRAPPED_BY] == b[s + W.ORDER]:
        always = True
    return always or draw(b, 256) < accuracy


@compiled
def _is_critical(b, s, m):
    chance = int(BASE_SPEED[b[out(b, s) + W.MON_SPECIES]]) // 2
    chance = chance // 2 if b[s + W.FOCUS_ENERGY] else min(255, max(1, chance * 2))
    chance = min(255, max(1, chance * 4)) if MOVE[m, HIGH_CRIT] else chance // 2
    return chance > 0 and draw(b, 256) < chance


@compiled
def _can_counter(m):
    return MOVE[m, POWER] > 0 and (MOVE[m, TYPE] == _NORMAL or MOVE[m, TYPE] == _FIGHTING)


@compiled
def damage_of(b, s, t, m):
    """Damage of a move of side `s` to side `t` before it is cut to the HP: a number, NO_DAMAGE or FAILED (getDamage)."""
    user = out(b, s)
    level = int(b[user + W.MON_LEVEL])
    if is_immune(b, t, m):
        return FAILED
    if MOVE[m, OHKO]:
        return 65535
    if m == _COUNTER:
        counters = b[t + W.LAST_ENEMY_SELECTED] != _COUNTER and _can_counter(b[t + W.LAST_ENEMY_MOVE])
        return 2 * b[W.LAST_DAMAGE] if counters and b[W.LAST_DAMAGE] > 0 else FAILED
    if m == _PSYWAVE:
        return FAILED if (level + (level >> 1)) & 255 < 2 else 1 + draw(b, level * 3 // 2 - 1)
    if m == _SUPER_FANG:
        return max(1, b[out(b, t) + W.MON_HP] // 2)
    if MOVE[m, FIXED]:
        return level if MOVE[m, FIXED] < 0 else int(MOVE[m, FIXED])
    if MOVE[m, GIVES_SELF] == _LOCK and MOVE[m, TYPE] == _NORMAL and has_type(b, t, _GHOST):
        return 0
    if b[s + W.TRAPPING] > 0 and s != t and b[t + W.ORDER] == b[s + W.TRAPPING_WHOM]:
        return int(b[s + W.TRAPPING_DAMAGE])
    if MOVE[m, POWER] == 0:
        return NO_DAMAGE
    return _formula(b, s, t, m, level)


@compiled
def _formula(b, s, t, m, level):
    physical = MOVE[m, CATEGORY] == PHYSICAL
    strong, weak = (0, 1) if physical else (2, 3)
    attack, defence = int(b[s + W.MODIFIED + strong]), int(b[t + W.MODIFIED + weak])
    if b[t + (W.REFLECT if physical else W.LIGHT_SCREEN)]:
        defence *= 2
    if _is_critical(b, s, m):
        level *= 2
        attack = int(b[out(b, s) + W.MON_STATS + strong])
        defence = int(b[out(b, t) + W.MON_STATS + weak])
    level &= 255
    if attack >= 256 or defence >= 256:
        attack = max(1, attack // 4 & 255)
        defence = max(1, defence // 4 & 255)
    if MOVE[m, SELFDESTRUCT] and physical:
        defence = max(1, defence // 2)
    damage = min(997, (level * 2 // 5 + 2) * int(MOVE[m, POWER]) * attack // defence // 50) + 2
    kind = MOVE[m, TYPE]
    if kind != NO_TYPE and has_type(b, s, kind):
        damage += damage // 2
    for word in range(W.TYPE_1, W.TYPE_2 + 1):
        if b[t + word] >= 0:
            effect = CHART[kind, b[t + word]]
            if effect == 3:
                damage *= 2
            elif effect == 1:
                damage //= 2
    if damage > 1:
        damage = damage * (217 + draw(b, 39)) // 255
    return damage
