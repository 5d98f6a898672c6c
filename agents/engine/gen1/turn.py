"""From choices to the next request: the order of actions, switches, the end of a turn, fainting and winning (sim/battle)."""

from __future__ import annotations

from agents.engine.compiled import compiled
from agents.engine.gen1 import layout as W
from agents.engine.gen1.requests import disable_moves, select_move, settle_locks
from agents.engine.gen1.shown import show_arrival, show_turn
from agents.engine.gen1.state import clear_volatile, draw, foe_of, out, pp_at, residual_damage, side_of, update_speed
from agents.engine.gen1.tables import MOVE, NO_MOVE, PRIORITY, SPECIES_TYPES, move
from agents.engine.gen1.use import run_move

_METRONOME, _TRANSFORM = move("metronome"), move("transform")
_GHOST = 7
TURN_LIMIT = 1000


@compiled
def _tie_draw(b):
    """An event on each Pokémon in order of speed: a tie draws for an order that does not matter."""
    first, second = side_of(0), side_of(1)
    if b[out(b, first) + W.MON_STATUS] != W.FAINTED and b[out(b, second) + W.MON_STATUS] != W.FAINTED:
        if b[first + W.SPEED] == b[second + W.SPEED]:
            draw(b, 2)


@compiled
def _switch_in(b, s, position):
    going = b[s + W.ORDER]
    b[s + W.ORDER] = b[s + W.ORDER + position]
    b[s + W.ORDER + position] = going
    clear_volatile(b, s)
    show_arrival(b, s)
    update_speed(b, s)


@compiled
def _run_switch(b, i):
    """What follows when a Pokémon has come in (runSwitch)."""
    s, mon = side_of(i), out(b, side_of(i))
    foe = foe_of(s)
    if b[mon + W.MON_STATUS] == W.TOX:
        b[mon + W.MON_STATUS] = W.POISON
    b[s + W.LAST_MOVE] = 0
    b[foe + W.LAST_MOVE] = 0
    b[s + W.LAST_SLOT] = 0
    if b[foe + W.TRAPPING] and b[out(b, foe) + W.MON_HP] > 0 and b[foe + W.MOVES + b[foe + W.LAST_SLOT]] == _METRONOME:
        b[foe + W.LAST_SELECTED] = _METRONOME
        b[foe + W.LAST_ENEMY_SELECTED] = _METRONOME
        if b[W.PENDING] == 2 - i:
            b[W.PENDING_MOVE] = _METRONOME
            update_speed(b, foe)
    if not b[s + W.FAINTED_THIS_TURN] and (b[mon + W.MON_STATUS] == W.BURN or b[mon + W.MON_STATUS] == W.POISON):
        residual_damage(b, s, 1)


@compiled
def _after_action(b):
    """Fainting, winning, requests for a replacement; returns whether the turn goes on (the end of runAction)."""
    fainted = False
    for i in range(2):
        s = side_of(i)
        mon = out(b, s)
        if b[mon + W.MON_HP] == 0 and b[mon + W.MON_STATUS] != W.FAINTED:
            fainted = True
            b[s + W.LEFT] -= 1
            b[s + W.FAINTED_THIS_TURN] = 1
            clear_volatile(b, s)
            b[mon + W.MON_STATUS] = W.FAINTED
            b[s + W.REQUEST] = W.CHOOSE_SWITCH
    if not fainted:
        _tie_draw(b)
        return True
    left, right = b[side_of(0) + W.LEFT], b[side_of(1) + W.LEFT]
    if left == 0 or right == 0:
        b[W.WINNER] = W.TIE if left == right else (0 if right == 0 else 1)
        b[side_of(0) + W.REQUEST] = W.WAITING
        b[side_of(1) + W.REQUEST] = W.WAITING
    return False


@compiled
def _count_down_side(b, s):
    update_speed(b, s)
    number = 0
    for word in (W.FLINCH, W.TRAPPED, W.FAKE_TRAPPED, W.TRAPPING):
        if b[s + word]:
            number += 1
            b[s + word] -= 1
    return number


@compiled
def _count_down(b):
    """The Residual event: durations. Handlers of equal speed draw for their order."""
    first, second = _count_down_side(b, side_of(0)), _count_down_side(b, side_of(1))
    draws = max(0, first - 1) + max(0, second - 1)
    if b[side_of(0) + W.SPEED] == b[side_of(1) + W.SPEED]:
        draws = max(0, first + second - 1)
    for k in range(draws):
        draw(b, draws + 1 - k)


@compiled
def _no_progress(b, s):
    """Whether nothing that a side can do changes the battle: frozen, out of PP against ghosts, or only Transform."""
    foe = foe_of(s)
    ghosts, transformers = True, True
    for position in range(b[foe + W.TEAM_SIZE]):
        mon = foe + W.MONS + b[foe + W.ORDER + position] * W.MON_WORDS
        if b[mon + W.MON_STATUS] != W.FAINTED:
            ghosts = ghosts and _is_ghost(b, foe, position)
            transformers = transformers and _only_transform(b, foe, position)
    for position in range(b[s + W.TEAM_SIZE]):
        mon = s + W.MONS + b[s + W.ORDER + position] * W.MON_WORDS
        status = b[mon + W.MON_STATUS]
        if status == W.FAINTED or status == W.FREEZE or (transformers and _only_transform(b, s, position)):
            continue
        pp = pp_at(b, s) if position == 0 else mon + W.MON_PP
        count = b[s + W.MOVE_COUNT] if position == 0 else b[mon + W.MON_MOVE_COUNT]
        for slot in range(count):
            if b[pp + slot] > 0:
                return False
        if not ghosts:
            return False
    return True


@compiled
def _is_ghost(b, s, position):
    if position == 0:
        return b[s + W.TYPE_1] == _GHOST or b[s + W.TYPE_2] == _GHOST
    species = b[s + W.MONS + b[s + W.ORDER + position] * W.MON_WORDS + W.MON_SPECIES]
    return SPECIES_TYPES[species, 0] == _GHOST or SPECIES_TYPES[species, 1] == _GHOST


@compiled
def _only_transform(b, s, position):
    mon = s + W.MONS + b[s + W.ORDER + position] * W.MON_WORDS
    moves = s + W.MOVES if position == 0 else mon + W.MON_MOVES
    count = b[s + W.MOVE_COUNT] if position == 0 else b[mon + W.MON_MOVE_COUNT]
    for slot in range(count):
        if b[moves + slot] != _TRANSFORM:
            return False
    return True


@compiled
def _end_turn(b):
    b[W.TURN] += 1
    for i in range(2):
        settle_locks(b, side_of(i))
    for i in range(2):
        s = side_of(i)
        show_turn(b, s)
        disable_moves(b, s)
        b[s + W.FAINTED_THIS_TURN] = 0
        b[s + W.REQUEST] = W.CHOOSE_MOVE
    if (_no_progress(b, side_of(0)) and _no_progress(b, side_of(1))) or b[W.TURN] > TURN_LIMIT:
        b[W.WINNER] = W.TIE
        b[side_of(0) + W.REQUEST] = W.WAITING
        b[side_of(1) + W.REQUEST] = W.WAITING


@compiled
def start_battle(b):
    """From both teams with their first Pokémon out to the first request."""
    first, second = side_of(0), side_of(1)
    for i in range(2):
        s = side_of(i)
        b[s + W.LAST_SELECTED] = NO_MOVE
        b[s + W.LAST_ENEMY_SELECTED] = NO_MOVE
        clear_volatile(b, s)
        show_arrival(b, s)
        update_speed(b, s)
    quicker = 0 if b[first + W.SPEED] >= b[second + W.SPEED] else 1
    if b[first + W.SPEED] == b[second + W.SPEED]:
        quicker = 1 - draw(b, 2)
    _tie_draw(b)
    for i in (quicker, 1 - quicker):
        _run_switch(b, i)
        _after_action(b)
    _end_turn(b)


@compiled
def _replace(b, actions):
    """Both or one side bring another Pokémon for one that fainted. Returns whether the turn may end."""
    first, second = side_of(0), side_of(1)
    both = b[first + W.REQUEST] == W.CHOOSE_SWITCH and b[second + W.REQUEST] == W.CHOOSE_SWITCH
    if not both:
        i = 0 if b[first + W.REQUEST] == W.CHOOSE_SWITCH else 1
        _switch_in(b, side_of(i), actions[i] - 3)
        _tie_draw(b)
        _run_switch(b, i)
        return _after_action(b)
    earlier = _earlier(b, 0, 0)
    _switch_in(b, side_of(earlier), actions[earlier] - 3)
    later = 1 - earlier
    _switch_in(b, side_of(later), actions[later] - 3)
    # The second is put before the first if it is quicker, and by a draw if both are as quick.
    earlier_side, later_side = side_of(earlier), side_of(later)
    order = earlier
    if b[later_side + W.SPEED] > b[earlier_side + W.SPEED]:
        order = later
    elif b[later_side + W.SPEED] == b[earlier_side + W.SPEED]:
        order = later if draw(b, 2) == 0 else earlier
    _tie_draw(b)
    for i in (order, 1 - order):
        _run_switch(b, i)
        if not _after_action(b):
            return False
    return True


@compiled
def _earlier(b, key_0, key_1):
    """The seat that acts first: by key (the greater), by speed, by a draw."""
    if key_0 != key_1:
        return 0 if key_0 > key_1 else 1
    speed_0, speed_1 = b[side_of(0) + W.MODIFIED + 4], b[side_of(1) + W.MODIFIED + 4]
    if speed_0 != speed_1:
        return 0 if speed_0 > speed_1 else 1
    return int(draw(b, 2))


@compiled
def _key(b, i, action):
    return 10 if action >= 4 else int(MOVE[b[side_of(i) + W.LAST_SELECTED], PRIORITY])


@compiled
def _take_turn(b, actions):
    """A whole turn. Returns whether it came to its end."""
    for i in range(2):
        if b[out(b, side_of(i)) + W.MON_STATUS] != W.FAINTED:
            update_speed(b, side_of(i))
        if actions[i] < 4 and not select_move(b, side_of(i), actions[i]):
            b[W.WINNER] = W.STUCK
            return False
    earlier = _earlier(b, _key(b, 0, actions[0]), _key(b, 1, actions[1]))
    _tie_draw(b)
    _tie_draw(b)
    for k in range(2):
        i = earlier if k == 0 else 1 - earlier
        s, action = side_of(i), actions[i]
        later = 1 - i
        if k == 0:
            b[W.PENDING] = later + 1 if actions[later] < 4 else 0
            b[W.PENDING_MOVE] = b[side_of(later) + W.LAST_SELECTED]
        else:
            b[W.PENDING] = 0
        if action >= 4:
            _switch_in(b, s, action - 3)
            _tie_draw(b)
            _run_switch(b, i)
        else:
            run_move(b, s, b[s + W.LAST_SELECTED] if k == 0 else b[W.PENDING_MOVE])
        if not _after_action(b):
            return False
    _count_down(b)
    return _after_action(b)


@compiled
def step_battle(b, action_0, action_1):
    """Plays both sides' actions (those of a side that waits are ignored) on to the next request or the end."""
    first, second = side_of(0), side_of(1)
    replacing = b[first + W.REQUEST] == W.CHOOSE_SWITCH or b[second + W.REQUEST] == W.CHOOSE_SWITCH
    actions = (action_0, action_1)
    if replacing:
        for i in range(2):
            if b[out(b, side_of(i)) + W.MON_STATUS] != W.FAINTED:
                update_speed(b, side_of(i))
        goes_on = _replace(b, actions)
    else:
        b[first + W.REQUEST] = W.WAITING
        b[second + W.REQUEST] = W.WAITING
        goes_on = _take_turn(b, actions)
    if replacing and goes_on:
        b[first + W.REQUEST] = W.WAITING
        b[second + W.REQUEST] = W.WAITING
    if goes_on:
        _end_turn(b)
