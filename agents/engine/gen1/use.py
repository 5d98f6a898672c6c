"""A Pokémon uses its move: what may stop it, PP, locks, and what follows (runMove, useMove and conditions)."""

from __future__ import annotations

from agents.engine.compiled import compiled
from agents.engine.gen1 import layout as W
from agents.engine.gen1.damage import FAILED
from agents.engine.gen1.hit import try_hit, unleash_bide
from agents.engine.gen1.shown import show_use
from agents.engine.gen1.state import (
    ATTACK,
    add_trapped,
    boost_stat,
    cure_status,
    draw,
    foe_of,
    heal,
    hurt,
    hurt_self,
    out,
    pp_at,
    residual_damage,
)  # fmt: skip
from agents.engine.gen1.tables import (
    CANNOT_MOVE,
    GIVES_SELF,
    MOVE,
    SELF,
    SELFDESTRUCT,
    SKIPS,
    STRUGGLE,
    TWO_TURNS,
    move,
    volatile,
)

_BIDE, _DISABLE, _DIG, _FLY = move("bide"), move("disable"), move("dig"), move("fly")
_METRONOME, _MIRROR_MOVE = move("metronome"), move("mirrormove")
_JUMP_KICK, _HIGH_JUMP_KICK = move("jumpkick"), move("highjumpkick")
_LOCK = volatile("partialtrappinglock")


@compiled
def hard_lock(b, s):
    """Whether its next move is not its choice and it cannot leave (getLockedMove)."""
    return b[s + W.RECHARGE] != 0 or b[s + W.THRASH] != 0 or b[s + W.TWO_TURN] != 0 or b[s + W.RAGE] != 0


@compiled
def soft_lock(b, s):
    """Whether its next move is not its choice, but it may leave (getSemiLockedMove)."""
    return b[s + W.BIDE_TIME] != 0 or b[s + W.TRAPPING] != 0


@compiled
def _change_pp(b, s, by):
    """Of the slot that was selected last, in six bits."""
    slot = b[s + W.LAST_SLOT]
    if slot < b[s + W.MOVE_COUNT]:
        pp = pp_at(b, s) + slot
        b[pp] = (b[pp] + by) & 63


@compiled
def _break_off(b, s):
    """What full paralysis and a hit in confusion end."""
    if b[out(b, s) + W.MON_HP] > 0:
        b[s + W.BIDE_TIME] = 0
        b[s + W.TWO_TURN] = 0
        b[s + W.TRAPPING] = 0
        b[s + W.THRASH] = 0


@compiled
def _may_move(b, s, m):
    """The BeforeMove event: conditions by their priority; any may stop the move."""
    mon = out(b, s)
    if b[mon + W.MON_STATUS] == W.FREEZE:
        b[s + W.LAST_MOVE] = 0
        return False
    if b[mon + W.MON_STATUS] == W.SLEEP:
        b[mon + W.MON_SLEEP] -= 1
        if b[mon + W.MON_SLEEP] > 0:
            b[mon + W.MON_COUNTER] += 1
        b[s + W.LAST_MOVE] = 0
        return False
    if b[s + W.TRAPPED]:
        return False
    if b[s + W.FLINCH]:
        b[s + W.SHOWN_RECHARGE] = 0
        return False
    if b[s + W.RECHARGE]:
        b[s + W.RECHARGE] = b[s + W.SHOWN_RECHARGE] = 0
        return False
    if b[s + W.DISABLE_TIME]:
        b[s + W.DISABLE_TIME] -= 1
        if b[s + W.DISABLE_TIME] and b[s + W.DISABLE_MOVE] == (_BIDE if b[s + W.BIDE_TIME] else m):
            b[s + W.TWO_TURN] = 0
            return False
    if b[s + W.CONFUSED]:
        b[s + W.CONFUSED] -= 1
        if b[s + W.CONFUSED] and draw(b, 256) >= 128:
            base = (2 * int(b[mon + W.MON_LEVEL]) // 5 + 2) * int(b[s + W.MODIFIED]) * 40
            hurt_self(b, s, base // int(b[s + W.MODIFIED + 1]) // 50 + 2)
            if b[mon + W.MON_HP] > 0:
                b[s + W.INVULNERABLE] = 0
            _break_off(b, s)
            return False
    if b[mon + W.MON_STATUS] == W.PARALYSIS and draw(b, 256) < 63:
        _break_off(b, s)
        return False
    if b[s + W.TRAPPING] and b[s + W.BIDE_TIME]:
        draw(b, 2)
    if b[s + W.TRAPPING] and (MOVE[m, SELF] or b[s + W.TRAPPING_WHOM] != b[foe_of(s) + W.ORDER]):
        b[s + W.TRAPPING] = 0
    if b[s + W.BIDE_TIME]:
        _bide(b, s)
        return False
    return True


@compiled
def _bide(b, s):
    b[s + W.BIDE_DAMAGE] += b[W.LAST_DAMAGE]
    b[s + W.BIDE_TIME] -= 1
    if b[s + W.BIDE_TIME] == 0 and b[s + W.BIDE_DAMAGE] > 0:
        unleash_bide(b, s)


@compiled
def _residual(b, s):
    """The AfterMoveSelf event: waking up, burn, poison, Leech Seed."""
    mon, foe = out(b, s), foe_of(s)
    status = b[mon + W.MON_STATUS]
    if b[s + W.RESIDUAL] and (status == W.BURN or status == W.POISON or status == W.TOX):
        b[s + W.RESIDUAL_COUNT] += 1
    if status == W.SLEEP and b[mon + W.MON_SLEEP] <= 0:
        cure_status(b, s)
    if status == W.BURN or status == W.POISON or status == W.TOX:
        residual_damage(b, s, b[s + W.RESIDUAL_COUNT] if b[s + W.RESIDUAL] else 1)
    if b[s + W.LEECH_SEED] and b[out(b, foe) + W.MON_HP] > 0:
        counter = 1
        if b[s + W.RESIDUAL]:
            b[s + W.RESIDUAL_COUNT] += 1
            counter = b[s + W.RESIDUAL_COUNT]
        amount = max(1, b[mon + W.MON_MAX_HP] // 16) * counter
        hurt(b, s, amount)
        heal(b, foe, amount)


@compiled
def _after_move(b, s, t):
    """The AfterMove event: what trapping, recharging and thrashing leave behind."""
    target_lives = b[out(b, t) + W.MON_HP] > 0
    if (b[s + W.TRAPPING] != 0) + (b[s + W.RECHARGE] != 0) + (b[s + W.THRASH] != 0) == 2:
        draw(b, 2)
    if b[s + W.TRAPPING]:
        _go_on_trapping(b, s, t, target_lives)
    if b[s + W.RECHARGE] and not target_lives:
        b[s + W.RECHARGE] = 0
    if b[s + W.RECHARGE]:
        b[s + W.SHOWN_RECHARGE] = 1
    if b[s + W.THRASH] and b[s + W.THRASH_TIME] <= 0 and b[out(b, s) + W.MON_HP] > 0:
        b[s + W.THRASH] = 0


@compiled
def _go_on_trapping(b, s, t, target_lives):
    if not target_lives:
        b[s + W.TRAPPING] = 0
    elif b[s + W.TRAPPING] == 1:
        if b[s + W.TRAPPING_TOTAL] != 5:
            if b[s + W.FAKE_TRAPPED] == 0:
                b[s + W.FAKE_TRAPPED] = 2
            if b[t + W.FAKE_TRAPPED] == 0:
                b[t + W.FAKE_TRAPPED] = 2
            b[s + W.FAKE_OTHER] = b[t + W.ORDER]
            b[t + W.FAKE_OTHER] = b[s + W.ORDER]
    else:
        add_trapped(b, t, s)
        if b[s + W.TRAPPING_TOTAL] > b[s + W.TRAPPING]:
            b[t + W.TRAPPED_MAYBE] = 1


@compiled
def _perform(b, s, t, m):
    """The move itself, to its result (useMoveInner)."""
    if MOVE[m, GIVES_SELF] == _LOCK and b[out(b, t) + W.MON_HP] > 0:
        b[t + W.RECHARGE] = b[t + W.SHOWN_RECHARGE] = 0
    if MOVE[m, TWO_TURNS]:
        if b[s + W.TWO_TURN] == 0:
            b[s + W.TWO_TURN] = m
            if m == _DIG or m == _FLY:
                b[s + W.INVULNERABLE] = 1
            return
        b[s + W.TWO_TURN] = 0
        b[s + W.INVULNERABLE] = 0
    if b[out(b, t) + W.MON_STATUS] == W.FAINTED:
        return
    if not MOVE[m, SKIPS]:
        b[W.LAST_DAMAGE] = 0
    damage = try_hit(b, s, t, m)
    if b[t + W.RAGE] and (MOVE[m, SELFDESTRUCT] or m == _DISABLE):
        if b[t + W.BOOSTS + ATTACK] < 6 and b[out(b, t) + W.MON_HP] > 0:
            boost_stat(b, t, ATTACK, 1)
    if damage == FAILED and (m == _JUMP_KICK or m == _HIGH_JUMP_KICK):
        hurt_self(b, s, 1)


@compiled
def _use(b, s, m, called, chosen):
    """Uses one move; returns the move that it calls, or 0 (useMove).

    called: by Metronome or Mirror Move. chosen: neither called nor continued from an earlier turn.
    """
    if called:
        if MOVE[m, TWO_TURNS]:
            _change_pp(b, s, 1)
        mon = out(b, s)
        if b[s + W.TRANSFORMED] and b[s + W.LAST_SLOT] < b[mon + W.MON_MOVE_COUNT]:
            pp = mon + W.MON_PP + b[s + W.LAST_SLOT]
            b[pp] = (b[pp] + 1) % 64
    t = s if MOVE[m, SELF] else foe_of(s)
    show_use(b, s, m, called, chosen)
    b[s + W.LAST_ENEMY_MOVE] = m
    if not MOVE[m, TWO_TURNS] or b[s + W.TWO_TURN]:
        b[s + W.LAST_MOVE] = m
    if m == _METRONOME or m == _MIRROR_MOVE:
        b[W.LAST_DAMAGE] = 0
        if try_hit(b, s, t, m) != FAILED:
            return b[s + W.LAST_SELECTED]
        if m == _METRONOME:
            return 0
    else:
        _perform(b, s, t, m)
    _after_move(b, s, t)
    if b[out(b, t) + W.MON_HP] > 0:
        _residual(b, s)
    return 0


@compiled
def run_move(b, s, m):
    """The action of a Pokémon that is out: move `m` as its team selected it (runMove)."""
    if m == CANNOT_MOVE:
        _residual(b, s)
        return
    t = s if MOVE[m, SELF] else foe_of(s)
    b[out(b, t) + W.MON_SUB_BROKEN] = 0
    if not _may_move(b, s, m):
        _residual(b, s)
        return
    locked = hard_lock(b, s) or soft_lock(b, s)
    if m != STRUGGLE and ((not locked and not MOVE[m, TWO_TURNS]) or b[s + W.TWO_TURN]):
        _change_pp(b, s, -1)
    called = locked and m != STRUGGLE and (m == _METRONOME or m == _MIRROR_MOVE)
    chosen = not locked or m == STRUGGLE
    while m:
        m = _use(b, s, m, called, chosen)
        called, chosen = True, False
