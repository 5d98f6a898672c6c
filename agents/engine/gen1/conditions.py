"""Conditions and statuses that moves give, to their target and to their user (addVolatile)."""

from __future__ import annotations

from agents.engine.compiled import compiled
from agents.engine.gen1 import layout as W
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


@compiled
def trap_turns(b):
    """2, 3, 4 or 5, as often as 3, 3, 1, 1: of moves that hit or trap several times."""
    k = draw(b, 8)
    return 2 if k < 3 else (3 if k < 6 else k - 2)


@compiled
def give(b, s, t, condition):
    """Adds a condition to side `t`; returns whether that did something (addVolatile)."""
    if b[out(b, t) + W.MON_HP] == 0:
        return False
    if condition == _V_CONFUSION:
        return add_confusion(b, t)
    if condition == _V_TRAPPED:
        return add_trapped(b, t, s)
    if condition == _V_DISABLE:
        return _disable(b, t)
    if condition == _V_BIDE:
        if b[t + W.BIDE_TIME]:
            return False
        b[t + W.BIDE_DAMAGE] = 0
        b[t + W.BIDE_TIME] = 2 + draw(b, 2)
        return True
    if condition == _V_SUBSTITUTE:
        b[t + W.SUBSTITUTE] = b[out(b, t) + W.MON_MAX_HP] // 4 + 1
        b[t + W.TRAPPED] = 0
        return True
    if condition == _V_FLINCH:
        if b[t + W.FLINCH]:
            return False
        b[t + W.FLINCH] = 1
        b[t + W.RECHARGE] = 0
        return True
    if condition == _V_RAGE:
        if b[t + W.RAGE]:
            return False
        b[t + W.RAGE_ACCURACY] = 255
    word = _word_of(condition)
    was = b[t + word]
    b[t + word] = 1
    return was == 0


@compiled
def _word_of(condition):
    """The word of a condition that is there or not."""
    if condition == _V_FOCUS:
        return W.FOCUS_ENERGY
    if condition == _V_REFLECT:
        return W.REFLECT
    if condition == _V_SCREEN:
        return W.LIGHT_SCREEN
    if condition == _V_SEED:
        return W.LEECH_SEED
    if condition == _V_MIST:
        return W.MIST
    if condition == _V_MINIMIZE:
        return W.MINIMIZE
    if condition == _V_CURL:
        return W.DEFENSE_CURL
    if condition == _V_RECHARGE:
        return W.RECHARGE
    return W.RAGE


@compiled
def _disable(b, t):
    if b[t + W.DISABLE_TIME]:
        return False
    pp, usable = pp_at(b, t), 0
    for slot in range(b[t + W.MOVE_COUNT]):
        usable += b[pp + slot] > 0
    pick = draw(b, usable)
    for slot in range(b[t + W.MOVE_COUNT]):
        if b[pp + slot] > 0:
            if pick == 0:
                b[t + W.DISABLE_SLOT] = slot
                b[t + W.DISABLE_MOVE] = b[t + W.MOVES + slot]
            pick -= 1
    b[t + W.DISABLE_TIME] = 1 + draw(b, 8)
    return True


@compiled
def after_boost(b, s):
    """After any boost by side `s` its foe's paralysis or burn counts once more."""
    foe = foe_of(s)
    if b[out(b, foe) + W.MON_STATUS] == W.PARALYSIS:
        scale_stat(b, foe, SPEED_STAT, 0.25)
    if b[out(b, foe) + W.MON_STATUS] == W.BURN:
        scale_stat(b, foe, ATTACK, 0.5)


@compiled
def give_status(b, t, status):
    if status == W.SLEEP and b[t + W.RECHARGE]:
        if set_status(b, t, status, False):
            b[t + W.RECHARGE] = b[t + W.SHOWN_RECHARGE] = 0
    elif b[out(b, t) + W.MON_STATUS] == W.HEALTHY and set_status(b, t, status, False):
        if status == W.BURN:
            scale_stat(b, t, ATTACK, 0.5)
        if status == W.PARALYSIS:
            scale_stat(b, t, SPEED_STAT, 0.25)


@compiled
def give_self(b, s, condition, m):
    """The condition that a move lays on its user."""
    if b[out(b, s) + W.MON_HP] == 0:
        return
    if condition != _V_LOCK:
        give(b, s, s, condition)
    elif b[s + W.TRAPPING] == 0:
        turns, foe = trap_turns(b), foe_of(s)
        if b[out(b, foe) + W.MON_HP] > 0:
            b[s + W.TRAPPING] = turns
            b[s + W.TRAPPING_TOTAL] = turns
            b[s + W.TRAPPING_DAMAGE] = b[W.LAST_DAMAGE]
            b[s + W.TRAPPING_WHOM] = b[foe + W.ORDER]
            add_trapped(b, foe, s)


@compiled
def build_rage(b, t, m):
    """A raging target's attack rises when it is hit."""
    if (
        b[t + W.RAGE]
        and MOVE[m, CATEGORY] != STATUS_MOVE
        and not MOVE[m, SELFDESTRUCT]
        and b[t + W.BOOSTS + ATTACK] < 6
    ):
        boost(b, t, t, m, ATTACK, 1, -1, 0)
