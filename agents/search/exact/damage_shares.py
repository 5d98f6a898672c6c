"""How much damage the moves of a position do, on the engine's words: means, as shares of the target's HP.

Damage is the mean of a hit without a critical one, accuracy counted.
"""

from __future__ import annotations

from agents.engine.compiled import compiled
from agents.engine.gen1 import layout as W
from agents.engine.gen1.state import foe_of, out, pp_at
from agents.engine.gen1.tables import (
    ACCURACY,
    CATEGORY,
    CHART,
    FIXED,
    IGNORES_IMMUNITY,
    MOVE,
    MULTIHIT,
    NO_TYPE,
    OHKO,
    PHYSICAL,
    POWER,
    SELFDESTRUCT,
    SPECIES_TYPES,
    STATUS_MOVE,
    TYPE,
    move,
)  # fmt: skip

_PSYWAVE, _SUPER_FANG = move("psywave"), move("superfang")


@compiled
def effect(kind, type_1, type_2):
    """The factor of an attacking type on one or two types."""
    factor = 1.0
    for own in (type_1, type_2):
        if own >= 0:
            of = CHART[kind, own]
            factor *= 0.0 if of == 0 else (0.5 if of == 1 else (2.0 if of == 3 else 1.0))
    return factor


@compiled
def mean_damage(m, level, attack, defence, user_1, user_2, type_1, type_2, hp):
    """The mean damage of a move that hits and is not critical."""
    kind = MOVE[m, TYPE]
    factor = effect(kind, type_1, type_2)
    if factor == 0.0 and not MOVE[m, IGNORES_IMMUNITY]:
        return 0.0
    if MOVE[m, FIXED]:
        return float(level) if MOVE[m, FIXED] < 0 else float(MOVE[m, FIXED])
    if m == _SUPER_FANG:
        return max(1.0, hp / 2)
    if m == _PSYWAVE:
        return level * 0.75
    if MOVE[m, POWER] == 0 or MOVE[m, OHKO]:
        return 0.0
    if attack >= 256 or defence >= 256:
        attack, defence = max(1, attack // 4 & 255), max(1, defence // 4 & 255)
    if MOVE[m, SELFDESTRUCT]:
        defence = max(1, defence // 2)
    damage = float(min(997, (level * 2 // 5 + 2) * MOVE[m, POWER] * attack // defence // 50) + 2)
    if kind != NO_TYPE and (kind == user_1 or kind == user_2):
        damage *= 1.5
    damage *= factor * 0.9255
    if MOVE[m, MULTIHIT]:
        damage *= 3.0 if MOVE[m, MULTIHIT] == 5 else 2.0
    return damage


@compiled
def accuracy_of(m):
    """How often a move hits, but for boosts."""
    return 1.0 if MOVE[m, ACCURACY] == 0 else MOVE[m, ACCURACY] / 255.0


@compiled
def defence_of(b, s, physical):
    """The defence of the Pokémon that is out against a kind of moves, screens included."""
    defence = int(b[s + W.MODIFIED + (1 if physical else 3)])
    return 2 * defence if b[s + (W.REFLECT if physical else W.LIGHT_SCREEN)] else defence


@compiled
def share_of(b, s, m):
    """A move's mean damage by the Pokémon that is out to the other that is out, as a share of its HP."""
    if MOVE[m, CATEGORY] == STATUS_MOVE:
        return 0.0
    t = foe_of(s)
    hp = b[out(b, t) + W.MON_HP]
    if hp <= 0:
        return 0.0
    physical = MOVE[m, CATEGORY] == PHYSICAL
    attack = int(b[s + W.MODIFIED + (0 if physical else 2)])
    defence = defence_of(b, t, physical)
    level = int(b[out(b, s) + W.MON_LEVEL])
    damage = mean_damage(
        m, level, attack, defence, b[s + W.TYPE_1], b[s + W.TYPE_2], b[t + W.TYPE_1], b[t + W.TYPE_2], float(hp)
    )
    return damage * accuracy_of(m) / hp


@compiled
def held(b, s):
    """Whether the Pokémon that is out cannot use a move now."""
    status = b[out(b, s) + W.MON_STATUS]
    return status == W.SLEEP or status == W.FREEZE or b[s + W.RECHARGE] != 0


@compiled
def best_share(b, s):
    """The share of the best move of the Pokémon that is out; 0 where it cannot use one now."""
    best = 0.0
    if not held(b, s):
        pp = pp_at(b, s)
        for slot in range(b[s + W.MOVE_COUNT]):
            if b[pp + slot] > 0 and b[s + W.DISABLED] != slot + 1:
                best = max(best, share_of(b, s, b[s + W.MOVES + slot]))
    return best


@compiled
def threat_to(b, t, mon):
    """The best share of the Pokémon of side `t` that is out on a benched Pokémon of the other side."""
    best, hp = 0.0, b[mon + W.MON_HP]
    if held(b, t):
        return best
    species = b[mon + W.MON_SPECIES]
    pp, level = pp_at(b, t), int(b[out(b, t) + W.MON_LEVEL])
    for slot in range(b[t + W.MOVE_COUNT]):
        m = b[t + W.MOVES + slot]
        if b[pp + slot] > 0 and b[t + W.DISABLED] != slot + 1 and MOVE[m, CATEGORY] != STATUS_MOVE:
            strong, weak = (0, 1) if MOVE[m, CATEGORY] == PHYSICAL else (2, 3)
            damage = mean_damage(
                m, level, int(b[t + W.MODIFIED + strong]), int(b[mon + W.MON_STATS + weak]),
                b[t + W.TYPE_1], b[t + W.TYPE_2], SPECIES_TYPES[species, 0], SPECIES_TYPES[species, 1], float(hp),
            )  # fmt: skip
            best = max(best, damage * accuracy_of(m) / hp)
    return best


@compiled
def answer_of(b, t, mon):
    """The best share of a benched Pokémon on the one of side `t` that is out."""
    best, hp = 0.0, b[out(b, t) + W.MON_HP]
    status, species = b[mon + W.MON_STATUS], b[mon + W.MON_SPECIES]
    if status == W.SLEEP or status == W.FREEZE or hp <= 0:
        return best
    for slot in range(b[mon + W.MON_MOVE_COUNT]):
        m = b[mon + W.MON_MOVES + slot]
        if b[mon + W.MON_PP + slot] > 0 and MOVE[m, CATEGORY] != STATUS_MOVE:
            physical = MOVE[m, CATEGORY] == PHYSICAL
            attack = int(b[mon + W.MON_STATS + (0 if physical else 2)])
            if physical and status == W.BURN:
                attack = max(1, attack // 2)
            defence = defence_of(b, t, physical)
            damage = mean_damage(
                m, int(b[mon + W.MON_LEVEL]), attack, defence, SPECIES_TYPES[species, 0], SPECIES_TYPES[species, 1],
                b[t + W.TYPE_1], b[t + W.TYPE_2], float(hp),
            )  # fmt: skip
            best = max(best, damage * accuracy_of(m) / hp)
    return best
