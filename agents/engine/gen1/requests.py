"""What a side may choose (getMoveRequestData), what its choice selects (commitChoices), and what is fixed before it."""

from __future__ import annotations

from agents.engine.compiled import compiled
from agents.engine.gen1 import layout as W
from agents.engine.gen1.state import draw, foe_of, out, pp_at
from agents.engine.gen1.tables import CANNOT_MOVE, FIGHT_ENTRY, RECHARGE_ENTRY, STRUGGLE, move
from agents.engine.gen1.use import hard_lock, soft_lock

_BIDE, _RAGE = move("bide"), move("rage")


@compiled
def fights(b, s):
    """Whether only "Fight" can be selected: asleep, frozen or trapped."""
    status = b[out(b, s) + W.MON_STATUS]
    return status == W.FREEZE or status == W.SLEEP or b[s + W.TRAPPED] != 0


@compiled
def _usable(b, s, slot):
    return slot < b[s + W.MOVE_COUNT] and b[pp_at(b, s) + slot] > 0 and b[s + W.DISABLED] != slot + 1


@compiled
def must_struggle(b, s):
    return not (_usable(b, s, 0) or _usable(b, s, 1) or _usable(b, s, 2) or _usable(b, s, 3))


@compiled
def locked_entry(b, s):
    """What a side is locked into (getLockedMove, getSemiLockedMove): a move, RECHARGE_ENTRY, or 0."""
    if b[s + W.RECHARGE]:
        return RECHARGE_ENTRY
    if b[s + W.TWO_TURN]:
        return b[s + W.TWO_TURN]
    if b[s + W.THRASH]:
        return b[s + W.THRASH]
    if b[s + W.RAGE]:
        return _RAGE
    if b[s + W.BIDE_TIME]:
        return _BIDE
    return b[s + W.LAST_ENEMY_MOVE] if b[s + W.TRAPPING] else 0


@compiled
def only_entry(b, s):
    """The entry that a request for a move lists alone (getMoveRequestData), or 0 where it lists the Pokémon's moves."""
    locked, free = locked_entry(b, s), b[s + W.MAYBE_LOCKED] != 0
    if locked and (hard_lock(b, s) or not free):
        return locked
    status = b[out(b, s) + W.MON_STATUS]
    if status == W.FREEZE or status == W.SLEEP or (b[s + W.TRAPPED] != 0 and not free):
        return FIGHT_ENTRY
    return STRUGGLE if must_struggle(b, s) else 0


@compiled
def lists_one_move(b, s):
    """Whether its request for a move lists a single one: locked, asleep, frozen, trapped or out of PP."""
    return only_entry(b, s) != 0


@compiled
def legal_actions(b, s):
    """The legal actions of a side as bits (layout.ACTIONS); 0 while it waits."""
    if b[s + W.REQUEST] == W.WAITING:
        return 0
    legal, trapped = 0, False
    if b[s + W.REQUEST] == W.CHOOSE_MOVE:
        trapped = hard_lock(b, s)
        if lists_one_move(b, s):
            legal = 1
        else:
            for slot in range(4):
                if _usable(b, s, slot):
                    legal |= 1 << slot
    if not trapped:
        for position in range(1, b[s + W.TEAM_SIZE]):
            mon = s + W.MONS + b[s + W.ORDER + position] * W.MON_WORDS
            if b[mon + W.MON_STATUS] != W.FAINTED:
                legal |= 8 << position
    return legal


@compiled
def select_move(b, s, action):
    """Sets a side's selected moves from its choice of a move (side.commitChoices). Returns False where Showdown throws."""
    if not (hard_lock(b, s) or soft_lock(b, s)):
        if fights(b, s):
            status = b[out(b, s) + W.MON_STATUS]
            if status != W.FREEZE and status != W.SLEEP:
                b[s + W.LAST_SELECTED] = CANNOT_MOVE
                b[s + W.LAST_ENEMY_SELECTED] = CANNOT_MOVE
                return True
        elif must_struggle(b, s):
            b[s + W.LAST_SELECTED] = STRUGGLE
            b[s + W.LAST_ENEMY_SELECTED] = STRUGGLE
            return True
        else:
            b[s + W.LAST_SELECTED] = b[s + W.MOVES + action]
            b[s + W.LAST_SLOT] = action
    slot = b[s + W.LAST_SLOT]
    if slot >= b[s + W.MOVE_COUNT]:
        return False
    b[s + W.LAST_ENEMY_SELECTED] = b[s + W.MOVES + slot]
    return True


@compiled
def settle_locks(b, s):
    """Trapping ends where one of the two has left, and what may be chosen next turn is fixed (endTurn, DisableMove)."""
    foe = foe_of(s)
    lives = b[out(b, foe) + W.MON_HP] > 0
    if b[s + W.TRAPPING] and not (lives and b[s + W.TRAPPING_WHOM] == b[foe + W.ORDER] and b[foe + W.TRAPPED]):
        b[s + W.TRAPPING] = 0
    if b[s + W.TRAPPED] and not (lives and b[s + W.TRAPPED_BY] == b[foe + W.ORDER] and b[foe + W.TRAPPING]):
        b[s + W.TRAPPED] = 0
    if b[s + W.FAKE_TRAPPED] and not (lives and b[s + W.FAKE_OTHER] == b[foe + W.ORDER] and b[foe + W.FAKE_TRAPPED]):
        b[s + W.FAKE_TRAPPED] = 0


@compiled
def disable_moves(b, s):
    status = b[out(b, s) + W.MON_STATUS]
    asleep = status == W.SLEEP or status == W.FREEZE
    b[s + W.MAYBE_LOCKED] = 0
    if (b[s + W.TRAPPED] and b[s + W.TRAPPED_MAYBE]) or b[s + W.FAKE_TRAPPED]:
        b[s + W.MAYBE_LOCKED] = 1
    if asleep or b[s + W.BIDE_TIME]:
        b[s + W.MAYBE_LOCKED] = 0
    if b[s + W.TRAPPING] and b[s + W.TRAPPING_TOTAL] - b[s + W.TRAPPING] > 1:
        b[s + W.MAYBE_LOCKED] = 1
    b[s + W.DISABLED] = 0
    if b[s + W.DISABLE_TIME] and b[s + W.DISABLE_SLOT] < b[s + W.MOVE_COUNT]:
        b[s + W.DISABLED] = b[s + W.DISABLE_SLOT] + 1
    if b[s + W.TRAPPED] and b[s + W.FAKE_TRAPPED]:
        draw(b, 2)
    others = (b[s + W.TRAPPING] != 0) + (b[s + W.BIDE_TIME] != 0) + (b[s + W.DISABLE_TIME] != 0)
    for k in range(others - 1):
        draw(b, others - k)
