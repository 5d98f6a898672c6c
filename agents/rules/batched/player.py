"""The base class of rule players on arrays, and what their rules share.

A rule is a pure function from the arrays of n decisions (agents/observation/observation.py) to n actions
(agents/observation/actions.py). It is deterministic: of equally good actions (to 4e-6) it chooses the lowest. It never
terastallizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from agents.batched import BatchedAgent
from agents.observation.actions import MOVES, SWITCHES
from agents.observation.columns import MoveFeature, PokemonFeature
from agents.observation.observation import OUR_MOVES, OURS, THEIRS, Observations

Ids = NDArray[np.int16]  # [n, 19, 12]
Features = NDArray[np.float32]  # [n, 19, 56]
Mask = NDArray[np.bool_]
Floats = NDArray[np.float32]
Actions = NDArray[np.int64]

#: The tokens of both active Pokémon, of our moves and of our bench, in the order of the actions.
OUR_ACTIVE, THEIR_ACTIVE = OURS[0], THEIRS[0]
MOVE_TOKENS, BENCH = slice(OUR_MOVES[0], OUR_MOVES[-1] + 1), slice(OURS[1], OURS[-1] + 1)
_MOVE_ACTIONS, _SWITCH_ACTIONS = slice(MOVES[0], MOVES[-1] + 1), slice(SWITCHES[0], SWITCHES[-1] + 1)
#: Values that differ by less are equally good: an engine's observation may differ in its last bits from that of a log.
_EQUAL = 4e-6


class ArrayPlayer(BatchedAgent):
    """A rule player without a state. Subclass it and implement `choose`."""

    @staticmethod
    def choose(token_ids: Ids, features: Features, legal: Mask) -> Actions:
        """Return the actions [n]. token_ids: [n, 19, 12]; features: [n, 19, 56]; legal: [n, 13]."""
        raise NotImplementedError("choose")

    @classmethod
    def act_many(cls, agents: Sequence[Self], observations: Observations) -> Actions:
        return cls.choose(*observations)


def faced(features: Features) -> Mask:
    """Return whether the opponent's active Pokémon is known and able to battle, [n]."""
    theirs = features[:, THEIR_ACTIVE]
    seen: Mask = (theirs[:, PokemonFeature.KNOWN] > 0) & (theirs[:, PokemonFeature.FAINTED] == 0)
    return seen


def move_features(features: Features, feature: MoveFeature) -> Floats:
    """Return a feature of our four moves, [n, 4]."""
    return features[:, MOVE_TOKENS, feature]


def bench_features(features: Features, feature: PokemonFeature) -> Floats:
    """Return a feature of our five benched Pokémon, [n, 5]."""
    return features[:, BENCH, feature]


def legal_moves(legal: Mask) -> Mask:
    """Return which of the actions 0 to 3 are legal, [n, 4]."""
    return legal[:, _MOVE_ACTIONS]


def legal_switches(legal: Mask) -> Mask:
    """Return which of the actions 4 to 8 are legal, [n, 5]."""
    return legal[:, _SWITCH_ACTIONS]


def best_move(values: Floats, allowed: Mask) -> Actions:
    """Return the move with the maximum value among the allowed ones, [n]; 0 where none is. Both arguments: [n, 4]."""
    return _first_best(values, allowed)


def best_switch(values: Floats, allowed: Mask) -> Actions:
    """Return the switch with the maximum value among the allowed ones, [n]; 4 where none is. Both arguments: [n, 5]."""
    return _first_best(values, allowed) + SWITCHES[0]


def _first_best(values: Floats, allowed: Mask) -> Actions:
    """Return the first column with the maximum of the allowed values, [n]. Both arguments: [n, k]."""
    masked = np.where(allowed, values, -np.inf)
    return (allowed & (masked >= masked.max(axis=1, keepdims=True) - _EQUAL)).argmax(axis=1)


def move_or_switch(legal: Mask, moves: Actions, switches: Actions) -> Actions:
    """Return `moves` where a move is legal, else `switches`, [n]."""
    return np.where(legal_moves(legal).any(axis=1), moves, switches)


def strongest(features: Features, legal: Mask) -> Actions:
    """Return the legal move with the maximum expected damage, [n]."""
    return best_move(move_features(features, MoveFeature.DAMAGE), legal_moves(legal))


def best_answer(features: Features, legal: Mask) -> Actions:
    """Return the legal switch with the maximum of damage dealt - damage taken + 0.3 · HP, [n]."""
    dealt, received, hp = (
        bench_features(features, feature) for feature in (PokemonFeature.DEALT, PokemonFeature.TAKEN, PokemonFeature.HP)
    )
    return best_switch(dealt - received + np.float32(0.3) * hp, legal_switches(legal))


def attack_or_answer(features: Features, legal: Mask) -> Actions:
    """Return the strongest move; where no move is legal, the best switch, [n]."""
    return move_or_switch(legal, strongest(features, legal), best_answer(features, legal))


def of_chosen(values: Floats, moves: Actions) -> Floats:
    """Return the values [n] of the chosen moves. values: [n, 4]; moves: actions 0 to 3, [n]."""
    return np.take_along_axis(values, moves[:, None], axis=1)[:, 0]
