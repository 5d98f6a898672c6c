"""The moves with a rule of their own when they hit (onHit)."""

from __future__ import annotations

from agents.engine.compiled import rule
from agents.engine.gen1.layout import (
    BOOSTS,
    CONFUSED,
    DISABLE_TIME,
    FAINTED,
    FOCUS_ENERGY,
    FREEZE,
    LAST_ENEMY_SELECTED,
    LAST_MOVE,
    LAST_SELECTED,
    LAST_SLOT,
    LEECH_SEED,
    LIGHT_SCREEN,
    MIST,
    MODIFIED,
    MON_HP,
    MON_LEVEL,
    MON_MAX_HP,
    MON_SLEEP,
    MON_SPEED_POINTS,
    MON_STATUS,
    MOVE_COUNT,
    MOVES,
    OWN_PP,
    PENDING,
    PENDING_MOVE,
    POISON,
    REFLECT,
    RESIDUAL,
    SHOWN_TYPE_1,
    SHOWN_TYPE_2,
    SLEEP,
    SPECIES,
    SPEED,
    STORED,
    TOX,
    TRANSFORMED,
    TYPE_1,
    TYPE_2,
)  # fmt: skip
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


@rule
def special_hit(b, s, t, m):
    """Returns False where the move fails by its own rule. Metronome and Mirror Move set LAST_SELECTED to what they call."""
    if m == _CONVERSION:
        b[s + TYPE_1] = b[t + TYPE_1]
        b[s + TYPE_2] = b[t + TYPE_2]
        b[s + SHOWN_TYPE_1], b[s + SHOWN_TYPE_2] = b[s + TYPE_1], b[s + TYPE_2]
    elif m == _HAZE:
        _haze(b, s)
    elif m == _MIMIC:
        b[s + MOVES + b[s + LAST_SLOT]] = b[t + MOVES + draw(b, b[t + MOVE_COUNT])]
        show_mimic(b, s, b[s + MOVES + b[s + LAST_SLOT]])
    elif m == _RECOVER or m == _SOFT_BOILED or m == _REST:
        return _recover(b, s, m)
    elif m == _SUBSTITUTE:
        mon = out(b, s)
        if b[mon + MON_MAX_HP] > 3:
            hurt(b, s, b[mon + MON_MAX_HP] // 4)
    elif m == _TRANSFORM:
        _transform(b, s, t)
    elif m == _METRONOME:
        _select(b, s, METRONOME_MOVES[draw(b, len(METRONOME_MOVES))])
    elif m == _MIRROR_MOVE:
        copied = b[foe_of(s) + LAST_MOVE]
        if copied == 0 or copied == _MIRROR_MOVE:
            return False
        _select(b, s, _FISSURE if copied == NO_MOVE else copied)
    return True


@rule
def _select(b, s, m):
    b[s + LAST_SELECTED] = m
    b[s + LAST_ENEMY_SELECTED] = m


@rule
def _recover(b, s, m):
    mon = out(b, s)
    hp, most = b[mon + MON_HP], b[mon + MON_MAX_HP]
    if hp == most or ((hp == most - 255 or hp == most - 511) and hp % 256 != 0):
        return False
    if m == _REST:
        if not set_status(b, s, SLEEP, True):
            return False
        b[mon + MON_SLEEP] = 2
        heal(b, s, most)
    else:
        heal(b, s, most // 2)
    return True


@rule
def _haze(b, s):
    for i in range(2):
        side = side_of(i)
        mon = out(b, side)
        if b[mon + MON_STATUS] == FAINTED:
            continue
        for stat in range(7):
            b[side + BOOSTS + stat] = 0
        for stat in range(5):
            b[side + MODIFIED + stat] = b[side + STORED + stat]
        if side != s:
            if b[mon + MON_STATUS] == FREEZE or b[mon + MON_STATUS] == SLEEP:
                _select(b, side, CANNOT_MOVE)
                if b[PENDING] == i + 1:
                    b[PENDING_MOVE] = CANNOT_MOVE
            cure_status(b, side)
        if b[mon + MON_STATUS] == TOX:
            draw(b, 2)  # the order of the two clauses
            b[mon + MON_STATUS] = POISON
        update_speed(b, side)
        b[side + DISABLE_TIME] = 0
        b[side + CONFUSED] = 0
        b[side + MIST] = 0
        b[side + FOCUS_ENERGY] = 0
        b[side + LEECH_SEED] = 0
        b[side + LIGHT_SCREEN] = 0
        b[side + REFLECT] = 0
        b[side + RESIDUAL] = 0


@rule
def _transform(b, s, t):
    mon = out(b, s)
    show_copy(b, s, t)
    b[s + SPECIES] = b[t + SPECIES]
    b[s + TYPE_1] = b[t + TYPE_1]
    b[s + TYPE_2] = b[t + TYPE_2]
    # Until speeds are updated it has that of its own level and points.
    points = 2 * int(BASE_SPEED[b[t + SPECIES]]) + int(b[mon + MON_SPEED_POINTS])
    b[s + SPEED] = points * int(b[mon + MON_LEVEL]) // 100 + 5
    for stat in range(5):
        b[s + STORED + stat] = b[t + STORED + stat]
        b[s + MODIFIED + stat] = b[t + MODIFIED + stat]
    for stat in range(7):
        b[s + BOOSTS + stat] = b[t + BOOSTS + stat]
    b[s + TRANSFORMED] = 1
    b[s + MOVE_COUNT] = b[t + MOVE_COUNT]
    for slot in range(b[t + MOVE_COUNT]):
        b[s + MOVES + slot] = b[t + MOVES + slot]
        b[s + OWN_PP + slot] = min(5, MOVE[b[t + MOVES + slot], PP])
