"""A move hits: substitutes, damage, boosts, statuses and conditions (Showdown's tryMoveHit and moveHit)."""

from __future__ import annotations

from agents.engine.compiled import compiled
from agents.engine.gen1 import layout as W
from agents.engine.gen1.conditions import after_boost, build_rage, give, give_self, give_status, trap_turns
from agents.engine.gen1.damage import FAILED, damage_of, hits, is_immune
from agents.engine.gen1.special import special_hit
from agents.engine.gen1.state import (
    SPEED_STAT,
    add_confusion,
    boost,
    cure_status,
    draw,
    foe_of,
    has_type,
    heal,
    hurt,
    out,
    pp_at,
)  # fmt: skip
from agents.engine.gen1.tables import (
    BOOST_1,
    BOOST_2,
    BURNS,
    BY_1,
    BY_2,
    CATEGORY,
    CHANCE,
    DRAINS,
    GIVES,
    GIVES_SELF,
    MOVE,
    MULTIHIT,
    OHKO,
    RECOIL,
    SECOND_BOOST_1,
    SECOND_BOOST_2,
    SECOND_BY_1,
    SECOND_BY_2,
    SECOND_GIVES,
    SECOND_STATUS,
    SELFDESTRUCT,
    STATUS,
    STATUS_MOVE,
    TYPE,
    move,
    volatile,
)  # fmt: skip

_BIDE = move("bide")
_DISABLE = move("disable")
_DREAM_EATER = move("dreameater")
_LEECH_SEED_MOVE = move("leechseed")
_LIGHT_SCREEN_MOVE = move("lightscreen")
_REFLECT_MOVE = move("reflect")
_SUBSTITUTE_MOVE = move("substitute")
_SWIFT = move("swift")
_TRANSFORM = move("transform")
_V_CONFUSION = volatile("confusion")
_V_LOCK = volatile("partialtrappinglock")
_V_THRASH = volatile("lockedmove")
_GRASS = 10


@compiled
def _blocked_by_substitute(b, s, t, m, hit):
    """What a substitute does to a hit: 0 nothing, 1 it took it, 2 the move fails (Substitute's onTryHit)."""
    if MOVE[m, CATEGORY] == STATUS_MOVE:
        poison = MOVE[m, STATUS] == W.POISON or MOVE[m, STATUS] == W.TOX
        return 2 if poison or (MOVE[m, BOOST_1] >= 0 and t != s) or MOVE[m, GIVES] == _V_CONFUSION else 0
    if MOVE[m, GIVES] != 0 and t == s:
        return 0
    damage = int(b[W.LAST_DAMAGE]) if hit > 1 else damage_of(b, s, t, m)
    if m == _BIDE:
        damage = 2 * int(b[s + W.BIDE_DAMAGE])
    if damage < 0:
        return 2
    b[W.LAST_DAMAGE] = damage
    b[t + W.SUBSTITUTE] = max(0, b[t + W.SUBSTITUTE] - damage)
    if b[t + W.SUBSTITUTE] == 0:
        b[out(b, t) + W.MON_SUB_BROKEN] = 1
        return 1
    if damage > 0 and MOVE[m, RECOIL]:
        hurt(b, s, max(1, damage // MOVE[m, RECOIL]))
    if MOVE[m, DRAINS]:
        b[W.LAST_DAMAGE] = max(1, damage // 2)
        heal(b, s, b[W.LAST_DAMAGE])
    if MOVE[m, SECOND_GIVES] == _V_CONFUSION and draw(b, 256) < MOVE[m, CHANCE]:
        add_confusion(b, t)
    return 1


@compiled
def _can_be_tried(b, t, m):
    """The moves that fail before anything else (onTryHit)."""
    if m == _DISABLE:
        pp = pp_at(b, t)
        for slot in range(b[t + W.MOVE_COUNT]):
            if b[pp + slot] > 0:
                return True
        return False
    if m == _LIGHT_SCREEN_MOVE:
        return b[t + W.LIGHT_SCREEN] == 0
    if m == _REFLECT_MOVE:
        return b[t + W.REFLECT] == 0
    if m == _SUBSTITUTE_MOVE:
        mon = out(b, t)
        return b[t + W.SUBSTITUTE] == 0 and b[mon + W.MON_HP] * 4 >= b[mon + W.MON_MAX_HP]
    return True


@compiled
def _deal(b, s, t, m, damage):
    """Damage to the Pokémon itself, with drain and recoil. damage: at most its HP."""
    b[W.LAST_DAMAGE] = damage
    dealt = hurt(b, t, damage)
    if dealt > 0 and MOVE[m, DRAINS]:
        b[W.LAST_DAMAGE] = max(1, dealt // 2)
        heal(b, s, b[W.LAST_DAMAGE])
    if dealt > 0 and MOVE[m, RECOIL]:
        hurt(b, s, max(1, dealt // MOVE[m, RECOIL]))


@compiled
def _secondary(b, s, t, m):
    status = MOVE[m, SECOND_STATUS]
    if (status == W.PARALYSIS or status == W.BURN or status == W.FREEZE) and has_type(b, t, MOVE[m, TYPE]):
        return
    if draw(b, 256) >= MOVE[m, CHANCE]:
        return
    if MOVE[m, SECOND_BOOST_1] >= 0:
        second = MOVE[m, SECOND_BOOST_2]
        if boost(b, t, s, m, MOVE[m, SECOND_BOOST_1], MOVE[m, SECOND_BY_1], second, MOVE[m, SECOND_BY_2]):
            after_boost(b, s)
    if status:
        give_status(b, t, status)
    if MOVE[m, SECOND_GIVES]:
        give(b, s, t, MOVE[m, SECOND_GIVES])


@compiled
def _affect(b, s, t, m, damage):
    """Damage and effects on the Pokémon itself; returns False if the move failed."""
    did = damage >= 0
    if did:
        _deal(b, s, t, m, min(damage, b[out(b, t) + W.MON_HP]))
    if MOVE[m, BOOST_1] >= 0 and b[out(b, t) + W.MON_HP] > 0:
        if not boost(b, t, s, m, MOVE[m, BOOST_1], MOVE[m, BY_1], MOVE[m, BOOST_2], MOVE[m, BY_2]):
            return False
        did = True
        after_boost(b, s)
    if MOVE[m, STATUS]:
        give_status(b, t, MOVE[m, STATUS])
        did = True
    if MOVE[m, GIVES] and give(b, s, t, MOVE[m, GIVES]):
        did = True
    done = special_hit(b, s, t, m)
    build_rage(b, t, m)
    return done or did


@compiled
def hit_once(b, s, t, m, hit, last, fixed):
    """One hit of a move. hit: its number from 1, 0 for a move that hits once; fixed: damage of the first hit, or -1.

    Returns damage, NO_DAMAGE or FAILED.
    """
    had_substitute = b[t + W.SUBSTITUTE] > 0
    if not _can_be_tried(b, t, m):
        return FAILED
    absorbed, damage = False, 0
    if had_substitute:
        answer = _blocked_by_substitute(b, s, t, m, hit)
        if answer == 2:
            return FAILED
        absorbed = answer == 1
    if not absorbed:
        damage = fixed if fixed >= 0 else damage_of(b, s, t, m)
        if damage > b[out(b, t) + W.MON_HP]:
            damage = int(b[out(b, t) + W.MON_HP])
        if damage == FAILED or not _affect(b, s, t, m, damage):
            return FAILED
    kept_substitute = not had_substitute or b[t + W.SUBSTITUTE] > 0
    gives = MOVE[m, GIVES_SELF]
    if gives and gives != _V_THRASH and (kept_substitute or gives == _V_LOCK):
        give_self(b, s, gives, m)
    if MOVE[m, CHANCE] and not absorbed and b[out(b, t) + W.MON_HP] > 0 and (MOVE[m, MULTIHIT] == 0 or last):
        _secondary(b, s, t, m)
    return damage


@compiled
def unleash_bide(b, s):
    """Bide gives back twice what it took."""
    t = foe_of(s)
    if b[t + W.SUBSTITUTE] > 0:
        _blocked_by_substitute(b, s, t, _BIDE, 0)
        return
    _deal(b, s, t, _BIDE, min(2 * b[s + W.BIDE_DAMAGE], b[out(b, t) + W.MON_HP]))
    build_rage(b, t, _BIDE)


@compiled
def _start_thrashing(b, s, m):
    """Thrash and Petal Dance count before they hit; the last turn confuses."""
    if b[out(b, s) + W.MON_HP] == 0:
        return
    if b[s + W.THRASH]:
        b[s + W.THRASH_TIME] -= 1
        if b[s + W.THRASH_TIME] == 0:
            b[s + W.CONFUSED] = 0
            add_confusion(b, s)
    else:
        b[s + W.THRASH] = m
        b[s + W.THRASH_TIME] = 2 + draw(b, 2)
        b[s + W.THRASH_ACCURACY] = 255


@compiled
def _faint(b, s):
    b[out(b, s) + W.MON_HP] = 0


@compiled
def _reaches(b, s, t, m):
    """Whether a move gets as far as its accuracy check: invulnerability, immunity, conditions of its own."""
    if b[t + W.INVULNERABLE] and s != t and m != _SWIFT and m != _TRANSFORM:
        return False
    if is_immune(b, t, m):
        return False
    if m == _LEECH_SEED_MOVE:
        return not has_type(b, t, _GRASS)
    if m == _DREAM_EATER:
        return b[out(b, t) + W.MON_STATUS] == W.SLEEP and b[t + W.SUBSTITUTE] == 0
    return True


@compiled
def try_hit(b, s, t, m):
    """A move at its target, all its hits: damage, NO_DAMAGE or FAILED (tryMoveHit)."""
    if MOVE[m, GIVES_SELF] == _V_THRASH:
        _start_thrashing(b, s, m)
    if not _reaches(b, s, t, m):
        if MOVE[m, SELFDESTRUCT]:
            _faint(b, s)
        return FAILED
    if MOVE[m, OHKO] and b[t + W.MODIFIED + SPEED_STAT] > b[s + W.MODIFIED + SPEED_STAT]:
        return FAILED
    damage = 0
    if not hits(b, s, t, m):
        b[W.LAST_DAMAGE] = 0
        damage = FAILED
    elif MOVE[m, MULTIHIT]:
        damage = _hit_often(b, s, t, m)
    else:
        damage = hit_once(b, s, t, m, 0, True, -1)
    if MOVE[m, SELFDESTRUCT] and not b[out(b, t) + W.MON_SUB_BROKEN]:
        _faint(b, s)
    if damage == FAILED:
        b[s + W.TRAPPING] = 0
        return FAILED
    if MOVE[m, BURNS] and b[out(b, t) + W.MON_STATUS] == W.FREEZE:
        cure_status(b, t)
    return damage


@compiled
def _hit_often(b, s, t, m):
    """Two hits, or two to five; all deal what the first does."""
    number = trap_turns(b) if MOVE[m, MULTIHIT] == 5 else 2
    damage, fixed, hit = 0, -1, 0
    while hit < number and b[out(b, t) + W.MON_HP] > 0 and b[out(b, s) + W.MON_HP] > 0:
        dealt = hit_once(b, s, t, m, hit + 1, hit + 1 == number, fixed)
        if dealt == FAILED:
            break
        damage = max(0, dealt)
        if hit == 0:
            fixed = damage
        hit += 1
        if b[out(b, t) + W.MON_SUB_BROKEN]:
            break
    return 1 if hit == 0 else damage
