"""A network's actions (agents/observation/actions.py) as the engine's."""

from __future__ import annotations

import numba

from agents.engine.compiled import compiled, kernel
from agents.engine.gen1 import layout as W
from agents.engine.gen1.requests import legal_actions, lists_one_move
from agents.engine.gen1.tables import RANK


@compiled
def engine_action(b, s, action):
    """The engine's action (layout.ACTIONS) of a network's action, -1 where it is not legal.

    A network's moves are in the alphabetical order of their ids, its switches in that of the Pokémon's names.
    """
    legal = legal_actions(b, s)
    if action < 4:
        if lists_one_move(b, s):
            return 0 if action == 0 and legal & 1 else -1
        for slot in range(b[s + W.MOVE_COUNT]):
            if legal >> slot & 1 and move_place(b, s, slot) == action:
                return slot
        return -1
    for position in range(1, b[s + W.TEAM_SIZE]):
        if legal >> (3 + position) & 1 and 4 + bench_place(b, s, position) == action:
            return 3 + position
    return -1


@compiled
def move_place(b, s, slot):
    """A listed move's place by id; equal ids share a place."""
    place = 0
    for other in range(b[s + W.MOVE_COUNT]):
        place += RANK[b[s + W.MOVES + other]] < RANK[b[s + W.MOVES + slot]]
    return place


@compiled
def bench_place(b, s, position):
    """A benched Pokémon's place by name among those on the bench."""
    mine, place = b[s + W.MONS + b[s + W.ORDER + position] * W.MON_WORDS + W.MON_PLACE], 0
    for other in range(1, b[s + W.TEAM_SIZE]):
        place += b[s + W.MONS + b[s + W.ORDER + other] * W.MON_WORDS + W.MON_PLACE] < mine
    return place


@compiled
def write_legal(b, s, mask):
    """Sets a network's legal actions in a mask of zeros."""
    legal = legal_actions(b, s)
    single_move = lists_one_move(b, s)
    for action in range(4):
        if legal >> action & 1:
            mask[0 if single_move else move_place(b, s, action)] = True
    for position in range(1, b[s + W.TEAM_SIZE]):
        if legal >> (3 + position) & 1:
            mask[4 + bench_place(b, s, position)] = True


@kernel
def translate(battles, rows, seats, actions, found):
    for k in numba.prange(len(rows)):
        found[k] = engine_action(battles[rows[k]], W.SIDES + seats[k] * W.SIDE_WORDS, actions[k])
