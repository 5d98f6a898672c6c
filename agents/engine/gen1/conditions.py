"""Conditions and statuses that moves give, to their target and to their user (addVolatile)."""

from __future__ import annotations

from agents.engine.compiled import rule
from agents.engine.gen1.layout import (
    BIDE_DAMAGE,
    BIDE_TIME,
    BOOSTS,
    BURN,
    DEFENSE_CURL,
    DISABLE_MOVE,
    DISABLE_SLOT,
    DISABLE_TIME,
    FLINCH,
    FOCUS_ENERGY,
    HEALTHY,
    LAST_DAMAGE,
    LEECH_SEED,
    LIGHT_SCREEN,
    MINIMIZE,
    MIST,
    MON_HP,
    MON_MAX_HP,
    MON_STATUS,
    MOVE_COUNT,
    MOVES,
    ORDER,
    PARALYSIS,
    RAGE,
    RAGE_ACCURACY,
    RECHARGE,
    REFLECT,
    SHOWN_RECHARGE,
    SLEEP,
    SUBSTITUTE,
    TRAPPED,
    TRAPPING,
    TRAPPING_DAMAGE,
    TRAPPING_TOTAL,
    TRAPPING_WHOM,
)  # fmt: skip
from agents.engine.gen1.state import (
    ATTACK,
    SPEED_STAT,
    add_confusion,
    add_trapped,
    boost,
    draw,
    foe_of,
    out,
    pp_at,
    scale_stat,
    set_status,
)  # fmt: skip
from agents.engine.gen1.tables import (
    CATEGORY,
    MOVE,
    SELFDESTRUCT,
    STATUS_MOVE,
    volatile,
)  # fmt: skip

_V_FOCUS = volatile("focusenergy")
_V_DISABLE = volatile("disable")
_V_REFLECT = volatile("reflect")
_V_TRAPPED = volatile("partiallytrapped")
_V_MINIMIZE = volatile("minimize")
_V_CONFUSION = volatile("confusion")
_V_SCREEN = volatile("lightscreen")
_V_SEED = volatile("leechseed")
_V_SUBSTITUTE = volatile("substitute")
_V_BIDE = volatile("bide")
_V_MIST = volatile("mist")
_V_CURL = volatile("defensecurl")
_V_FLINCH = volatile("flinch")
_V_RECHARGE = volatile("mustrecharge")
_V_RAGE = volatile("rage")
_V_LOCK = volatile("partialtrappinglock")


@rule
def trap_turns(b):
    """2, 3, 4 or 5, as often as 3, 3, 1, 1: of moves that hit or trap several times."""
    k = draw(b, 8)
    return 2 if k < 3 else (3 if k < 6 else k - 2)


@rule
def give(b, s, t, condition):
    """Adds a condition to side `t`; returns whether that did something (addVolatile)."""
    if b[out(b, t) + MON_HP] == 0:
        return False
    if condition == _V_CONFUSION:
        return add_confusion(b, t)
    if condition == _V_TRAPPED:
        return add_trapped(b, t, s)
    if condition == _V_DISABLE:
        return _disable(b, t)
    if condition == _V_BIDE:
        if b[t + BIDE_TIME]:
            return False
        b[t + BIDE_DAMAGE] = 0
        b[t + BIDE_TIME] = 2 + draw(b, 2)
        return True
    if condition == _V_SUBSTITUTE:
        b[t + SUBSTITUTE] = b[out(b, t) + MON_MAX_HP] // 4 + 1
        b[t + TRAPPED] = 0
        return True
    if condition == _V_FLINCH:
        if b[t + FLINCH]:
            return False
        b[t + FLINCH] = 1
        b[t + RECHARGE] = 0
        return True
    if condition == _V_RAGE:
        if b[t + RAGE]:
            return False
        b[t + RAGE_ACCURACY] = 255
    word = _word_of(condition)
    was = b[t + word]
    b[t + word] = 1
    return was == 0


@rule
def _word_of(condition):
    """The word of a condition that is there or not."""
    if condition == _V_FOCUS:
        return FOCUS_ENERGY
    if condition == _V_REFLECT:
        return REFLECT
    if condition == _V_SCREEN:
        return LIGHT_SCREEN
    if condition == _V_SEED:
        return LEECH_SEED
    if condition == _V_MIST:
        return MIST
    if condition == _V_MINIMIZE:
        return MINIMIZE
    if condition == _V_CURL:
        return DEFENSE_CURL
    if condition == _V_RECHARGE:
        return RECHARGE
    return RAGE


@rule
def _disable(b, t):
    if b[t + DISABLE_TIME]:
        return False
    pp, usable = pp_at(b, t), 0
    for slot in range(b[t + MOVE_COUNT]):
        usable += b[pp + slot] > 0
    pick = draw(b, usable)
    for slot in range(b[t + MOVE_COUNT]):
        if b[pp + slot] > 0:
            if pick == 0:
                b[t + DISABLE_SLOT] = slot
                b[t + DISABLE_MOVE] = b[t + MOVES + slot]
            pick -= 1
    b[t + DISABLE_TIME] = 1 + draw(b, 8)
    return True


@rule
def after_boost(b, s):
    """After any boost by side `s` its foe's paralysis or burn counts once more."""
    foe = foe_of(s)
    if b[out(b, foe) + MON_STATUS] == PARALYSIS:
        scale_stat(b, foe, SPEED_STAT, 0.25)
    if b[out(b, foe) + MON_STATUS] == BURN:
        scale_stat(b, foe, ATTACK, 0.5)


@rule
def give_status(b, t, status):
    if status == SLEEP and b[t + RECHARGE]:
        if set_status(b, t, status, False):
            b[t + RECHARGE] = b[t + SHOWN_RECHARGE] = 0
    elif b[out(b, t) + MON_STATUS] == HEALTHY and set_status(b, t, status, False):
        if status == BURN:
            scale_stat(b, t, ATTACK, 0.5)
        if status == PARALYSIS:
            scale_stat(b, t, SPEED_STAT, 0.25)


@rule
def give_self(b, s, condition, m):
    """The condition that a move lays on its user."""
    if b[out(b, s) + MON_HP] == 0:
        return
    if condition != _V_LOCK:
        give(b, s, s, condition)
    elif b[s + TRAPPING] == 0:
        turns, foe = trap_turns(b), foe_of(s)
        if b[out(b, foe) + MON_HP] > 0:
            b[s + TRAPPING] = turns
            b[s + TRAPPING_TOTAL] = turns
            b[s + TRAPPING_DAMAGE] = b[LAST_DAMAGE]
            b[s + TRAPPING_WHOM] = b[foe + ORDER]
            add_trapped(b, foe, s)


@rule
def build_rage(b, t, m):
    """A raging target's attack rises when it is hit."""
    if b[t + RAGE] and MOVE[m, CATEGORY] != STATUS_MOVE and not MOVE[m, SELFDESTRUCT] and b[t + BOOSTS + ATTACK] < 6:
        boost(b, t, t, m, ATTACK, 1, -1, 0)
