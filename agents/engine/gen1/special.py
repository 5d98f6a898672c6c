"""The moves with a rule of their own when they hit (onHit)."""

from __future__ import annotations

from agents.engine.compiled import compiled
from agents.engine.gen1 import layout as W
from agents.engine.gen1.shown import show_copy, show_mimic
from agents.engine.gen1.state import cure_status, draw, foe_of, heal, hurt, out, set_status, side_of, update_speed
from agents.engine.gen1.tables import BASE_SPEED, CANNOT_MOVE, METRONOME_MOVES, MOVE, NO_MOVE, PP, move

_CONVERSION, _HAZE, _MIMIC, _REST, _SUBSTITUTE = (
    move("conversion"),
    move("haze"),
    move("mimic"),
    move("rest"),
    move("substitute"),
)
_RECOVER, _SOFT_BOILED, _TRANSFORM = move("recover"), move("softboiled"), move("transform")
_METRONOME, _MIRROR_MOVE, _FISSURE = move("metronome"), move("mirrormove"), move("fissure")


@compiled
def special_hit(b, s, t, m):
    """Returns False where the move fails by its own rule. Metronome and Mirror Move set LAST_SELECTED to what they call."""
    if m == _CONVERSION:
        b[s + W.TYPE_1] = b[t + W.TYPE_1]
        b[s + W.TYPE_2] = b[t + W.TYPE_2]
        b[s + W.SHOWN_TYPE_1], b[s + W.SHOWN_TYPE_2] = b[s + W.TYPE_1], b[s + W.TYPE_2]
    elif m == _HAZE:
        _haze(b, s)
    elif m == _MIMIC:
        b[s + W.MOVES + b[s + W.LAST_SLOT]] = b[t + W.MOVES + draw(b, b[t + W.MOVE_COUNT])]
        show_mimic(b, s, b[s + W.MOVES + b[s + W.LAST_SLOT]])
    elif m == _RECOVER or m == _SOFT_BOILED or m == _REST:
        return _recover(b, s, m)
    elif m == _SUBSTITUTE:
        mon = out(b, s)
        if b[mon + W.MON_MAX_HP] > 3:
            hurt(b, s, b[mon + W.MON_MAX_HP] // 4)
    elif m == _TRANSFORM:
        _transform(b, s, t)
    elif m == _METRONOME:
        _select(b, s, METRONOME_MOVES[draw(b, len(METRONOME_MOVES))])
    elif m == _MIRROR_MOVE:
        copied = b[foe_of(s) + W.LAST_MOVE]
        if copied == 0 or copied == _MIRROR_MOVE:
            return False
        _select(b, s, _FISSURE if copied == NO_MOVE else copied)
    return True


@compiled
def _select(b, s, m):
    b[s + W.LAST_SELECTED] = m
    b[s + W.LAST_ENEMY_SELECTED] = m


@compiled
def _recover(b, s, m):
    mon = out(b, s)
    hp, most = b[mon + W.MON_HP], b[mon + W.MON_MAX_HP]
    if hp == most or ((hp == most - 255 or hp == most - 511) and hp % 256 != 0):
        return False
    if m == _REST:
        if not set_status(b, s, W.SLEEP, True):
            return False
        b[mon + W.MON_SLEEP] = 2
        heal(b, s, most)
    else:
        heal(b, s, most // 2)
    return True


@compiled
def _haze(b, s):
    for i in range(2):
        side = side_of(i)
        mon = out(b, side)
        if b[mon + W.MON_STATUS] == W.FAINTED:
            continue
        for stat in range(7):
            b[side + W.BOOSTS + stat] = 0
        for stat in range(5):
            b[side + W.MODIFIED + stat] = b[side + W.STORED + stat]
        if side != s:
            if b[mon + W.MON_STATUS] == W.FREEZE or b[mon + W.MON_STATUS] == W.SLEEP:
                _select(b, side, CANNOT_MOVE)
                if b[W.PENDING] == i + 1:
                    b[W.PENDING_MOVE] = CANNOT_MOVE
            cure_status(b, side)
        if b[mon + W.MON_STATUS] == W.TOX:
            draw(b, 2)  # the order of the two clauses
            b[mon + W.MON_STATUS] = W.POISON
        update_speed(b, side)
        b[side + W.DISABLE_TIME] = 0
        b[side + W.CONFUSED] = 0
        b[side + W.MIST] = 0
        b[side + W.FOCUS_ENERGY] = 0
        b[side + W.LEECH_SEED] = 0
        b[side + W.LIGHT_SCREEN] = 0
        b[side + W.REFLECT] = 0
        b[side + W.RESIDUAL] = 0


@compiled
def _transform(b, s, t):
    mon = out(b, s)
    show_copy(b, s, t)
    b[s + W.SPECIES] = b[t + W.SPECIES]
    b[s + W.TYPE_1] = b[t + W.TYPE_1]
    b[s + W.TYPE_2] = b[t + W.TYPE_2]
    # Until speeds are updated it has that of its own level and points.
    points = 2 * int(BASE_SPEED[b[t + W.SPECIES]]) + int(b[mon + W.MON_SPEED_POINTS])
    b[s + W.SPEED] = points * int(b[mon + W.MON_LEVEL]) // 100 + 5
    for stat in range(5):
        b[s + W.STORED + stat] = b[t + W.STORED + stat]
        b[s + W.MODIFIED + stat] = b[t + W.MODIFIED + stat]
    for stat in range(7):
        b[s + W.BOOSTS + stat] = b[t + W.BOOSTS + stat]
    b[s + W.TRANSFORMED] = 1
    b[s + W.MOVE_COUNT] = b[t + W.MOVE_COUNT]
    for slot in range(b[t + W.MOVE_COUNT]):
        b[s + W.MOVES + slot] = b[t + W.MOVES + slot]
        b[s + W.OWN_PP + slot] = min(5, MOVE[b[t + W.MOVES + slot], PP])
