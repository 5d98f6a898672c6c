"""A Pokémon uses its move: what may stop it, PP, locks, and what follows (runMove, useMove and conditions)."""

from __future__ import annotations

from agents.engine.compiled import rule
from agents.engine.gen1.damage import FAILED
from agents.engine.gen1.hit import try_hit, unleash_bide
from agents.engine.gen1.layout import (
    BIDE_DAMAGE,
    BIDE_TIME,
    BOOSTS,
    BURN,
    CONFUSED,
    DISABLE_MOVE,
    DISABLE_TIME,
    FAINTED,
    FAKE_OTHER,
    FAKE_TRAPPED,
    FLINCH,
    FREEZE,
    INVULNERABLE,
    LAST_DAMAGE,
    LAST_ENEMY_MOVE,
    LAST_MOVE,
    LAST_SELECTED,
    LAST_SLOT,
    LEECH_SEED,
    MODIFIED,
    MON_COUNTER,
    MON_HP,
    MON_LEVEL,
    MON_MAX_HP,
    MON_MOVE_COUNT,
    MON_PP,
    MON_SLEEP,
    MON_STATUS,
    MON_SUB_BROKEN,
    MOVE_COUNT,
    ORDER,
    PARALYSIS,
    POISON,
    RAGE,
    RECHARGE,
    RESIDUAL,
    RESIDUAL_COUNT,
    SHOWN_RECHARGE,
    SLEEP,
    THRASH,
    THRASH_TIME,
    TOX,
    TRANSFORMED,
    TRAPPED,
    TRAPPED_MAYBE,
    TRAPPING,
    TRAPPING_TOTAL,
    TRAPPING_WHOM,
    TWO_TURN,
)  # fmt: skip
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


@rule
def hard_lock(b, s):
    """Whether its next move is not its choice and it cannot leave (getLockedMove)."""
    return b[s + RECHARGE] != 0 or b[s + THRASH] != 0 or b[s + TWO_TURN] != 0 or b[s + RAGE] != 0


@rule
def soft_lock(b, s):
    """Whether its next move is not its choice, but it may leave (getSemiLockedMove)."""
    return b[s + BIDE_TIME] != 0 or b[s + TRAPPING] != 0


@rule
def _change_pp(b, s, by):
    """Of the slot that was selected last, in six bits."""
    slot = b[s + LAST_SLOT]
    if slot < b[s + MOVE_COUNT]:
        pp = pp_at(b, s) + slot
        b[pp] = (b[pp] + by) & 63


@rule
def _break_off(b, s):
    """What full paralysis and a hit in confusion end."""
    if b[out(b, s) + MON_HP] > 0:
        b[s + BIDE_TIME] = 0
        b[s + TWO_TURN] = 0
        b[s + TRAPPING] = 0
        b[s + THRASH] = 0


@rule
def _may_move(b, s, m):
    """The BeforeMove event: conditions by their priority; any may stop the move."""
    mon = out(b, s)
    if b[mon + MON_STATUS] == FREEZE:
        b[s + LAST_MOVE] = 0
        return False
    if b[mon + MON_STATUS] == SLEEP:
        b[mon + MON_SLEEP] -= 1
        if b[mon + MON_SLEEP] > 0:
            b[mon + MON_COUNTER] += 1
        b[s + LAST_MOVE] = 0
        return False
    if b[s + TRAPPED]:
        return False
    if b[s + FLINCH]:
        b[s + SHOWN_RECHARGE] = 0
        return False
    if b[s + RECHARGE]:
        b[s + RECHARGE] = b[s + SHOWN_RECHARGE] = 0
        return False
    if b[s + DISABLE_TIME]:
        b[s + DISABLE_TIME] -= 1
        if b[s + DISABLE_TIME] and b[s + DISABLE_MOVE] == (_BIDE if b[s + BIDE_TIME] else m):
            b[s + TWO_TURN] = 0
            return False
    if b[s + CONFUSED]:
        b[s + CONFUSED] -= 1
        if b[s + CONFUSED] and draw(b, 256) >= 128:
            base = (2 * int(b[mon + MON_LEVEL]) // 5 + 2) * int(b[s + MODIFIED]) * 40
            hurt_self(b, s, base // int(b[s + MODIFIED + 1]) // 50 + 2)
            if b[mon + MON_HP] > 0:
                b[s + INVULNERABLE] = 0
            _break_off(b, s)
            return False
    if b[mon + MON_STATUS] == PARALYSIS and draw(b, 256) < 63:
        _break_off(b, s)
        return False
    if b[s + TRAPPING] and b[s + BIDE_TIME]:
        draw(b, 2)
    if b[s + TRAPPING] and (MOVE[m, SELF] or b[s + TRAPPING_WHOM] != b[foe_of(s) + ORDER]):
        b[s + TRAPPING] = 0
    if b[s + BIDE_TIME]:
        _bide(b, s)
        return False
    return True


@rule
def _bide(b, s):
    b[s + BIDE_DAMAGE] += b[LAST_DAMAGE]
    b[s + BIDE_TIME] -= 1
    if b[s + BIDE_TIME] == 0 and b[s + BIDE_DAMAGE] > 0:
        unleash_bide(b, s)


@rule
def _residual(b, s):
    """The AfterMoveSelf event: waking up, burn, poison, Leech Seed."""
    mon, foe = out(b, s), foe_of(s)
    status = b[mon + MON_STATUS]
    if b[s + RESIDUAL] and (status == BURN or status == POISON or status == TOX):
        b[s + RESIDUAL_COUNT] += 1
    if status == SLEEP and b[mon + MON_SLEEP] <= 0:
        cure_status(b, s)
    if status == BURN or status == POISON or status == TOX:
        residual_damage(b, s, b[s + RESIDUAL_COUNT] if b[s + RESIDUAL] else 1)
    if b[s + LEECH_SEED] and b[out(b, foe) + MON_HP] > 0:
        counter = 1
        if b[s + RESIDUAL]:
            b[s + RESIDUAL_COUNT] += 1
            counter = b[s + RESIDUAL_COUNT]
        amount = max(1, b[mon + MON_MAX_HP] // 16) * counter
        hurt(b, s, amount)
        heal(b, foe, amount)


@rule
def _after_move(b, s, t):
    """The AfterMove event: what trapping, recharging and thrashing leave behind."""
    target_lives = b[out(b, t) + MON_HP] > 0
    if (b[s + TRAPPING] != 0) + (b[s + RECHARGE] != 0) + (b[s + THRASH] != 0) == 2:
        draw(b, 2)
    if b[s + TRAPPING]:
        _go_on_trapping(b, s, t, target_lives)
    if b[s + RECHARGE] and not target_lives:
        b[s + RECHARGE] = 0
    if b[s + RECHARGE]:
        b[s + SHOWN_RECHARGE] = 1
    if b[s + THRASH] and b[s + THRASH_TIME] <= 0 and b[out(b, s) + MON_HP] > 0:
        b[s + THRASH] = 0


@rule
def _go_on_trapping(b, s, t, target_lives):
    if not target_lives:
        b[s + TRAPPING] = 0
    elif b[s + TRAPPING] == 1:
        if b[s + TRAPPING_TOTAL] != 5:
            if b[s + FAKE_TRAPPED] == 0:
                b[s + FAKE_TRAPPED] = 2
            if b[t + FAKE_TRAPPED] == 0:
                b[t + FAKE_TRAPPED] = 2
            b[s + FAKE_OTHER] = b[t + ORDER]
            b[t + FAKE_OTHER] = b[s + ORDER]
    else:
        add_trapped(b, t, s)
        if b[s + TRAPPING_TOTAL] > b[s + TRAPPING]:
            b[t + TRAPPED_MAYBE] = 1


@rule
def _perform(b, s, t, m):
    """The move itself, to its result (useMoveInner)."""
    if MOVE[m, GIVES_SELF] == _LOCK and b[out(b, t) + MON_HP] > 0:
        b[t + RECHARGE] = b[t + SHOWN_RECHARGE] = 0
    if MOVE[m, TWO_TURNS]:
        if b[s + TWO_TURN] == 0:
            b[s + TWO_TURN] = m
            if m == _DIG or m == _FLY:
                b[s + INVULNERABLE] = 1
            return
        b[s + TWO_TURN] = 0
        b[s + INVULNERABLE] = 0
    if b[out(b, t) + MON_STATUS] == FAINTED:
        return
    if not MOVE[m, SKIPS]:
        b[LAST_DAMAGE] = 0
    damage = try_hit(b, s, t, m)
    if b[t + RAGE] and (MOVE[m, SELFDESTRUCT] or m == _DISABLE):
        if b[t + BOOSTS + ATTACK] < 6 and b[out(b, t) + MON_HP] > 0:
            boost_stat(b, t, ATTACK, 1)
    if damage == FAILED and (m == _JUMP_KICK or m == _HIGH_JUMP_KICK):
        hurt_self(b, s, 1)


@rule
def _use(b, s, m, called, chosen):
    """Uses one move; returns the move that it calls, or 0 (useMove).

    called: by Metronome or Mirror Move. chosen: neither called nor continued from an earlier turn.
    """
    if called:
        if MOVE[m, TWO_TURNS]:
            _change_pp(b, s, 1)
        mon = out(b, s)
        if b[s + TRANSFORMED] and b[s + LAST_SLOT] < b[mon + MON_MOVE_COUNT]:
            pp = mon + MON_PP + b[s + LAST_SLOT]
            b[pp] = (b[pp] + 1) % 64
    t = s if MOVE[m, SELF] else foe_of(s)
    show_use(b, s, m, called, chosen)
    b[s + LAST_ENEMY_MOVE] = m
    if not MOVE[m, TWO_TURNS] or b[s + TWO_TURN]:
        b[s + LAST_MOVE] = m
    if m == _METRONOME or m == _MIRROR_MOVE:
        b[LAST_DAMAGE] = 0
        if try_hit(b, s, t, m) != FAILED:
            return b[s + LAST_SELECTED]
        if m == _METRONOME:
            return 0
    else:
        _perform(b, s, t, m)
    _after_move(b, s, t)
    if b[out(b, t) + MON_HP] > 0:
        _residual(b, s)
    return 0


@rule
def run_move(b, s, m):
    """The action of a Pokémon that is out: move `m` as its team selected it (runMove)."""
    if m == CANNOT_MOVE:
        _residual(b, s)
        return
    t = s if MOVE[m, SELF] else foe_of(s)
    b[out(b, t) + MON_SUB_BROKEN] = 0
    if not _may_move(b, s, m):
        _residual(b, s)
        return
    locked = hard_lock(b, s) or soft_lock(b, s)
    if m != STRUGGLE and ((not locked and not MOVE[m, TWO_TURNS]) or b[s + TWO_TURN]):
        _change_pp(b, s, -1)
    called = locked and m != STRUGGLE and (m == _METRONOME or m == _MIRROR_MOVE)
    chosen = not locked or m == STRUGGLE
    while m:
        m = _use(b, s, m, called, chosen)
        called, chosen = True, False
