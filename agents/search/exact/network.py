"""The search's network: a position's value and the priors of its actions, within a microsecond or two.

Both sides' features (features.py) are summed into H numbers each by one table; two small layers judge the pair, once from
each side, so that the value of exchanged sides is exactly 1 minus the value. The same numbers correct the logits of the
fitted priors (fitted_values.py) for each move and each species to be switched in.

The form is that of chess engines' NNUE: wide and sparse first, small after.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.engine.compiled import compiled
from agents.engine.gen1.layout import MON_SPECIES, MON_WORDS, MONS, MOVES, ORDER
from agents.engine.gen1.state import side_of
from agents.search import fitted
from agents.search.exact.features import FEATURES, MOVE_NUMBERS, SPECIES, features_of
from teamsets.errors import BadInput

Floats = NDArray[np.float32]
#: Rows of `actions`: a move by its number (0: "Fight", which stands for all), then a species that comes in.
ACTION_ROWS = MOVE_NUMBERS + SPECIES


class PositionNetwork(NamedTuple):
    """table [FEATURES, H] and bias [H]; first [2 H, K], first_bias [K], second [K]: the judgement of a pair, own side first.

    actions [ACTION_ROWS, 2 H] and action_bias: what is added to an action's logit. fitted [1]: the factor of the fitted
    logit, to which it is added.
    """

    table: Floats
    bias: Floats
    first: Floats
    first_bias: Floats
    second: Floats
    actions: Floats
    action_bias: Floats
    fitted: Floats


def read_network(file: Path) -> PositionNetwork:
    """The network in a file of numpy's. Raises BadInput if it is none, or of other features."""
    try:
        with np.load(file) as stored:
            network = PositionNetwork(
                **{name: np.ascontiguousarray(stored[name], np.float32) for name in PositionNetwork._fields}
            )
    except fitted.NO_ARRAYS as error:
        raise BadInput(
            f"{file}: is no network of the exact search in generation 1 ({error}): give one that "
            "scripts/build/fit_exact_search.py has written"
        ) from error
    if len(network.table) != FEATURES or len(network.actions) != ACTION_ROWS:
        raise BadInput(f"{file}: has {len(network.table)} features, not {FEATURES}: fit it anew")
    return network


def no_network() -> PositionNetwork:
    """One without content, where fitted weights are used alone."""
    return PositionNetwork(*(np.zeros((1,) * n, np.float32) for n in (2, 1, 2, 1, 1, 2, 1, 1)))


@compiled
def sums_of(b, network, places, amounts, sums):
    """Writes both sides' sums [2, H] of a position, negative ones as 0. places, amounts: memory for
    features.MOST features."""
    table, bias = network[0], network[1]
    for i in range(2):
        own = sums[i]
        own[:] = bias
        n = features_of(b, side_of(i), places, amounts)
        for k in range(n):
            row, amount = table[places[k]], np.float32(amounts[k])
            for j in range(len(own)):
                own[j] += amount * row[j]
        for j in range(len(own)):
            own[j] = max(own[j], np.float32(0))


@compiled
def _judged(network, own, other, layer):
    first, first_bias, second = network[2], network[3], network[4]
    layer[:] = first_bias
    size = len(own)
    for j in range(size):
        for k in range(len(layer)):
            layer[k] += own[j] * first[j, k] + other[j] * first[size + j, k]
    total = np.float32(0)
    for k in range(len(layer)):
        total += max(layer[k], np.float32(0)) * second[k]
    return total


@compiled
def judged(network, sums, layer):
    """Seat 0's chance to win, 0 to 1, by both sides' sums. layer [K]: memory."""
    logit = _judged(network, sums[0], sums[1], layer) - _judged(network, sums[1], sums[0], layer)
    return 1.0 / (1.0 + math.exp(-logit))


@compiled
def correction(network, sums, i, row):
    """What is added to the logit of seat i's action with this row of `actions`."""
    actions, action_bias = network[5], network[6]
    size = sums.shape[1]
    weights, total = actions[row], action_bias[row]
    for j in range(size):
        total += sums[i, j] * weights[j] + sums[1 - i, j] * weights[size + j]
    return total


@compiled
def row_of(b, s, action, single):
    """The row of `Network.actions` for a side's action. single: its request lists one move."""
    if action >= 4:
        return MOVE_NUMBERS + b[s + MONS + b[s + ORDER + action - 3] * MON_WORDS + MON_SPECIES]
    return 0 if single else b[s + MOVES + action]
