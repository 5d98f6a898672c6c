"""What a side may choose (getMoveRequestData), what its choice selects (commitChoices), and what is fixed before it."""

from __future__ import annotations

from agents.engine.compiled import rule
from agents.engine.gen1.layout import (
    BIDE_TIME,
    CHOOSE_MOVE,
    DISABLE_SLOT,
    DISABLE_TIME,
    DISABLED,
    FAINTED,
    FAKE_OTHER,
    FAKE_TRAPPED,
    FREEZE,
    LAST_ENEMY_MOVE,
    LAST_ENEMY_SELECTED,
    LAST_SELECTED,
    LAST_SLOT,
    MAYBE_LOCKED,
    MON_HP,
    MON_STATUS,
    MON_WORDS,
    MONS,
    MOVE_COUNT,
    MOVES,
    ORDER,
    RAGE,
    RECHARGE,
    REQUEST,
    SLEEP,
    TEAM_SIZE,
    THRASH,
    TRAPPED,
    TRAPPED_BY,
    TRAPPED_MAYBE,
    TRAPPING,
    TRAPPING_TOTAL,
    TRAPPING_WHOM,
    TWO_TURN,
    WAITING,
)  # fmt: skip
from agents.engine.gen1.state import draw, foe_of, out, pp_at
from agents.engine.gen1.tables import CANNOT_MOVE, FIGHT_ENTRY, RECHARGE_ENTRY, STRUGGLE, move
from agents.engine.gen1.use import hard_lock, soft_lock

_BIDE, _RAGE = move("bide"), move("rage")


@rule
def fights(b, s):
    """Whether only "Fight" can be selected: asleep, frozen or trapped."""
    status = b[out(b, s) + MON_STATUS]
    return status == FREEZE or status == SLEEP or b[s + TRAPPED] != 0


@rule
def _usable(b, s, slot):
    return slot < b[s + MOVE_COUNT] and b[pp_at(b, s) + slot] > 0 and b[s + DISABLED] != slot + 1


@rule
def must_struggle(b, s):
    return not (_usable(b, s, 0) or _usable(b, s, 1) or _usable(b, s, 2) or _usable(b, s, 3))


@rule
def locked_entry(b, s):
    """What a side is locked into (getLockedMove, getSemiLockedMove): a move, RECHARGE_ENTRY, or 0."""
    if b[s + RECHARGE]:
        return RECHARGE_ENTRY
    if b[s + TWO_TURN]:
        return b[s + TWO_TURN]
    if b[s + THRASH]:
        return b[s + THRASH]
    if b[s + RAGE]:
        return _RAGE
    if b[s + BIDE_TIME]:
        return _BIDE
    return b[s + LAST_ENEMY_MOVE] if b[s + TRAPPING] else 0


@rule
def only_entry(b, s):
    """The entry that a request for a move lists alone (getMoveRequestData), or 0 where it lists the Pokémon's moves."""
    locked, free = locked_entry(b, s), b[s + MAYBE_LOCKED] != 0
    if locked and (hard_lock(b, s) or not free):
        return locked
    status = b[out(b, s) + MON_STATUS]
    if status == FREEZE or status == SLEEP or (b[s + TRAPPED] != 0 and not free):
        return FIGHT_ENTRY
    return STRUGGLE if must_struggle(b, s) else 0


@rule
def lists_one_move(b, s):
    """Whether its request for a move lists a single one: locked, asleep, frozen, trapped or out of PP."""
    return only_entry(b, s) != 0


@rule
def legal_actions(b, s):
    """The legal actions of a side as bits (layout.ACTIONS); 0 while it waits."""
    if b[s + REQUEST] == WAITING:
        return 0
    legal, trapped = 0, False
    if b[s + REQUEST] == CHOOSE_MOVE:
        trapped = hard_lock(b, s)
        if lists_one_move(b, s):
            legal = 1
        else:
            for slot in range(4):
                if _usable(b, s, slot):
                    legal |= 1 << slot
    if not trapped:
        for position in range(1, b[s + TEAM_SIZE]):
            mon = s + MONS + b[s + ORDER + position] * MON_WORDS
            if b[mon + MON_STATUS] != FAINTED:
                legal |= 8 << position
    return legal


@rule
def select_move(b, s, action):
    """Sets a side's selected moves from its choice of a move (side.commitChoices). Returns False where Showdown throws."""
    if not (hard_lock(b, s) or soft_lock(b, s)):
        if fights(b, s):
            status = b[out(b, s) + MON_STATUS]
            if status != FREEZE and status != SLEEP:
                b[s + LAST_SELECTED] = CANNOT_MOVE
                b[s + LAST_ENEMY_SELECTED] = CANNOT_MOVE
                return True
        elif must_struggle(b, s):
            b[s + LAST_SELECTED] = STRUGGLE
            b[s + LAST_ENEMY_SELECTED] = STRUGGLE
            return True
        else:
            b[s + LAST_SELECTED] = b[s + MOVES + action]
            b[s + LAST_SLOT] = action
    slot = b[s + LAST_SLOT]
    if slot >= b[s + MOVE_COUNT]:
        return False
    b[s + LAST_ENEMY_SELECTED] = b[s + MOVES + slot]
    return True


@rule
def settle_locks(b, s):
    """Trapping ends where one of the two has left, and what may be chosen next turn is fixed (endTurn, DisableMove)."""
    foe = foe_of(s)
    lives = b[out(b, foe) + MON_HP] > 0
    if b[s + TRAPPING] and not (lives and b[s + TRAPPING_WHOM] == b[foe + ORDER] and b[foe + TRAPPED]):
        b[s + TRAPPING] = 0
    if b[s + TRAPPED] and not (lives and b[s + TRAPPED_BY] == b[foe + ORDER] and b[foe + TRAPPING]):
        b[s + TRAPPED] = 0
    if b[s + FAKE_TRAPPED] and not (lives and b[s + FAKE_OTHER] == b[foe + ORDER] and b[foe + FAKE_TRAPPED]):
        b[s + FAKE_TRAPPED] = 0


@rule
def disable_moves(b, s):
    status = b[out(b, s) + MON_STATUS]
    asleep = status == SLEEP or status == FREEZE
    b[s + MAYBE_LOCKED] = 0
    if (b[s + TRAPPED] and b[s + TRAPPED_MAYBE]) or b[s + FAKE_TRAPPED]:
        b[s + MAYBE_LOCKED] = 1
    if asleep or b[s + BIDE_TIME]:
        b[s + MAYBE_LOCKED] = 0
    if b[s + TRAPPING] and b[s + TRAPPING_TOTAL] - b[s + TRAPPING] > 1:
        b[s + MAYBE_LOCKED] = 1
    b[s + DISABLED] = 0
    if b[s + DISABLE_TIME] and b[s + DISABLE_SLOT] < b[s + MOVE_COUNT]:
        b[s + DISABLED] = b[s + DISABLE_SLOT] + 1
    if b[s + TRAPPED] and b[s + FAKE_TRAPPED]:
        draw(b, 2)
    others = (b[s + TRAPPING] != 0) + (b[s + BIDE_TIME] != 0) + (b[s + DISABLE_TIME] != 0)
    for k in range(others - 1):
        draw(b, others - k)
