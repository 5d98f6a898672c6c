"""The tree search on the engine: simultaneous moves, a PUCT of its own for each seat, chance drawn anew by every iteration.

An iteration copies the root, draws new random numbers and what only the simulator knows (turns of sleep left …), and plays
down the tree. A node stands for what both seats see after the same actions: kinds of requests, legal actions, who is out,
HP in steps, statuses, boosts and conditions; the exact state differs between its visits. At the first new node the value of
the state goes back up.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.engine.compiled import compiled, serial_entry
from agents.engine.gen1 import layout as W
from agents.engine.gen1.requests import lists_one_move
from agents.engine.gen1.rollout import next_random
from agents.engine.gen1.state import out, side_of
from agents.search.exact.features import MOST
from agents.search.exact.fitted_values import logits_of, shares_of_logits, value_of
from agents.search.exact.network import correction, judged, row_of, sums_of
from agents.search.exact.root_values import TreeSettings, root_values
from agents.search.exact.steps import legal, step
from agents.search.exact.weights import PositionWeights

_DEEPEST = 64
#: Columns of `hidden` [2, 8]: turns that each Pokémon of the team (0 to 5) has slept, or -1 if it does not sleep or its
#: turns left are known; turns of confusion so far or -1; turns of Disable so far or -1.
HIDDEN, CONFUSION, DISABLE = 8, 6, 7
_SOURCES = tuple(
    Path(__file__).with_name(f"{name}.py")
    for name in ("damage_shares", "features", "fitted_values", "network", "steps", "tree")
)


@compiled
def _mix(key, number):
    return (key ^ np.uint64(np.int64(number) + 1)) * np.uint64(0x9E3779B97F4A7C15) ^ (key >> np.uint64(29))


@compiled
def _seen(b, s, key, steps):
    """What both seats see of a side's Pokémon that is out, and its request."""
    mon = out(b, s)
    key = _mix(key, b[s + W.REQUEST] * 8 + b[s + W.ORDER])
    key = _mix(
        key,
        b[mon + W.MON_STATUS] * 1024 + (b[mon + W.MON_HP] * steps + b[mon + W.MON_MAX_HP] - 1) // b[mon + W.MON_MAX_HP],
    )
    boosts = np.int64(0)
    for stat in range(7):
        boosts = boosts * 13 + b[s + W.BOOSTS + stat] + 6
    key = _mix(key, boosts)
    flags = 0
    for word in (
        W.CONFUSED,
        W.SUBSTITUTE,
        W.RECHARGE,
        W.LEECH_SEED,
        W.REFLECT,
        W.LIGHT_SCREEN,
        W.TWO_TURN,
        W.TRAPPED,
        W.TRAPPING,
        W.THRASH,
    ):
        flags = flags * 2 + (b[s + word] != 0)
    return _mix(key, flags)


@compiled
def _child_key(b, node, action_0, action_1, legal_0, legal_1, steps):
    """The key of the node that a step led to; never 0."""
    key = _mix(np.uint64(0x243F6A8885A308D3), (node * 16 + action_0) * 16 + action_1)
    key = _mix(key, legal_0 * 512 + legal_1)
    key = _seen(b, side_of(1), _seen(b, side_of(0), key, steps), steps)
    return key | np.uint64(1)


@compiled
def _find(keys, places, key):
    """The slot of a key in the hash table: where it is, or a free one."""
    slot = np.int64((key >> np.uint64(20)) & np.uint64(len(keys) - 1))
    while keys[slot] != 0 and keys[slot] != key:
        slot = (slot + 1) & (len(keys) - 1)
    return slot


@compiled
def _begin(root, b, hidden, x):
    """Copies the root and draws what is not known of it; returns the state of the search's own random numbers."""
    for word in range(W.WORDS):
        b[word] = root[word]
    x = next_random(x)
    for part in range(4):
        b[W.SEED + part] = np.int64((x >> np.uint64(16 * part)) & np.uint64(0xFFFF))
    for i in range(2):
        s = side_of(i)
        for k in range(6):
            if hidden[i, k] >= 0:  # of 1 to 7 turns
                x = next_random(x)
                left = max(1, 7 - hidden[i, k])
                b[s + W.MONS + k * W.MON_WORDS + W.MON_SLEEP] = 1 + np.int64((x >> np.uint64(33)) % np.uint64(left))
        if hidden[i, CONFUSION] >= 0:  # of 2 to 5
            x = next_random(x)
            least = max(1, 2 - hidden[i, CONFUSION])
            b[s + W.CONFUSED] = _between(x, least, max(least, 5 - hidden[i, CONFUSION]))
        if hidden[i, DISABLE] >= 0:  # of 1 to 8
            x = next_random(x)
            b[s + W.DISABLE_TIME] = _between(x, 1, max(1, 8 - hidden[i, DISABLE]))
    return x


@compiled
def _between(x, least, most):
    return least + np.int64((x >> np.uint64(33)) % np.uint64(most - least + 1))


@compiled
def _best(visits, totals, priors, of_node, mean, mask, exploration, first):
    """A seat's action of the greatest value plus exploration. mean: of its node, from this seat's side."""
    reach, best, most = exploration * np.sqrt(np.float32(of_node)), 0, np.float32(-1e9)
    for action in range(W.ACTIONS):
        if mask >> action & 1:
            n = visits[action]
            known = totals[action] / n if n > 0 else mean - first
            score = known + reach * max(priors[action], np.float32(0.001)) / (1 + n)
            if score > most:
                best, most = action, score
    return best


@compiled
def _judge(b, value_weights, net, memory, sums):
    """Seat 0's chance to win: by the network, whose sums are written, or by the fitted weights where there is none."""
    if len(net[1]) == 1:
        return value_of(b, value_weights)
    places, amounts, layer = memory
    sums_of(b, net, places, amounts, sums)
    return judged(net, sums, layer)


@compiled
def _open(b, legal_0, legal_1, choice_weights, net, trust, sums, priors):
    """Writes both seats' priors [2, 9] of a node. sums: the network's of the first state that came to it."""
    for i in range(2):
        s, mask = side_of(i), legal_0 if i == 0 else legal_1
        logits_of(b, s, mask, choice_weights, priors[i])
        if len(net[1]) > 1:
            single = lists_one_move(b, s)
            for action in range(W.ACTIONS):
                if mask >> action & 1:
                    row = row_of(b, s, action, single)
                    priors[i, action] = net[7][0] * priors[i, action] + correction(net, sums, i, row)
        shares_of_logits(mask, trust, priors[i])


@compiled
def _mix_priors(guide, priors):
    """Adds a guide to the priors [2, 9], which keep what is left of 1."""
    for i in range(2):
        kept = np.float32(1) - guide[i].sum()
        for action in range(W.ACTIONS):
            priors[i, action] = kept * priors[i, action] + guide[i, action]


@serial_entry(*_SOURCES)
def grow(root, hidden, allowed, guide, settings, weights, size, tree, keys, places, seed, iterations):
    """Adds iterations to a tree. Returns the number of its nodes and the state of its random numbers.

    allowed [2]: actions at the root as bits. guide [2, 9]: priors for the root, as `Tree.plant` says. settings:
    exploration, first, trust, steps of HP. weights: weights.Weights. size: nodes so far (0: a new tree). tree: (visits [N],
    totals [N], edge visits [N, 2, 9], edge totals, priors, opened [N], the network's sums [N + 1, 2, H]).
    """
    node_visits, node_totals, visits, totals, priors, opened, sums = tree
    exploration, first, trust, steps = np.float32(settings[0]), np.float32(settings[1]), settings[2], int(settings[3])
    value_weights, choice_weights, net = weights
    memory = np.zeros(MOST, np.int64), np.zeros(MOST, np.float32), np.zeros(len(net[3]), np.float32)
    b = np.zeros(W.WORDS, np.int32)
    path = np.zeros((_DEEPEST, 3), np.int64)
    x = seed
    if size == 0:
        size = 1
        _clear(tree, 0)
        node_visits[0], node_totals[0] = 1, 0.5
        if len(net[1]) > 1:
            sums_of(root, net, memory[0], memory[1], sums[0])
    for _ in range(iterations):
        x = _begin(root, b, hidden, x)
        node, depth = 0, 0
        legal_0, legal_1 = legal(b, side_of(0)) & allowed[0], legal(b, side_of(1)) & allowed[1]
        while True:
            if not opened[node]:
                opened[node] = True
                _open(b, legal_0, legal_1, choice_weights, net, trust, sums[node], priors[node])
                if node == 0:
                    _mix_priors(guide, priors[0])
            n, mean = node_visits[node], node_totals[node] / node_visits[node]
            action_0 = _best(visits[node, 0], totals[node, 0], priors[node, 0], n, mean, legal_0, exploration, first)
            action_1 = _best(
                visits[node, 1], totals[node, 1], priors[node, 1], n, 1 - mean, legal_1, exploration, first
            )
            path[depth, 0], path[depth, 1], path[depth, 2] = node, action_0, action_1
            depth += 1
            step(b, action_0, action_1)
            if b[W.WINNER] != W.UNDECIDED:
                value = 1.0 if b[W.WINNER] == 0 else (0.0 if b[W.WINNER] == 1 else 0.5)
                break
            legal_0, legal_1 = legal(b, side_of(0)), legal(b, side_of(1))
            key = _child_key(b, node, action_0, action_1, legal_0, legal_1, steps)
            slot = _find(keys, places, key)
            if keys[slot] == 0 or depth == _DEEPEST:
                at = min(size, len(node_visits))  # the last of `sums` is for nodes that get no place
                value = _judge(b, value_weights, net, memory, sums[at])
                if keys[slot] == 0 and size < len(node_visits):
                    keys[slot], places[slot] = key, size
                    _clear(tree, size)
                    node_visits[size], node_totals[size] = 1, value
                    size += 1
                break
            node = places[slot]
        for k in range(depth):
            at, action_0, action_1 = path[k, 0], path[k, 1], path[k, 2]
            node_visits[at] += 1
            node_totals[at] += value
            visits[at, 0, action_0] += 1
            totals[at, 0, action_0] += value
            visits[at, 1, action_1] += 1
            totals[at, 1, action_1] += 1 - value
    return size, x


@compiled
def _clear(tree, node):
    _, _, visits, totals, _, opened, _ = tree
    opened[node] = False
    for i in range(2):
        for action in range(W.ACTIONS):
            visits[node, i, action] = 0
            totals[node, i, action] = 0.0


def hidden_of(row: NDArray[np.int32]) -> NDArray[np.int64]:
    """What `Tree.plant` takes of a true position [WORDS]: sleep is drawn anew as if one turn was slept, all else known."""
    hidden = np.full((2, HIDDEN), -1, np.int64)
    for seat in range(2):
        for k in range(6):
            mon = side_of(seat) + W.MONS + k * W.MON_WORDS
            if row[mon + W.MON_STATUS] == W.SLEEP and row[mon + W.MON_SLEEP] > 2:
                hidden[seat, k] = 1
    return hidden


class Tree:
    """One tree with its memory, which is kept from one search to the next."""

    def __init__(self, nodes: int = 1 << 16) -> None:
        self._arrays = (
            np.zeros(nodes, np.int32),
            np.zeros(nodes, np.float32),
            np.zeros((nodes, 2, W.ACTIONS), np.int32),
            np.zeros((nodes, 2, W.ACTIONS), np.float32),
            np.zeros((nodes, 2, W.ACTIONS), np.float32),
            np.zeros(nodes, np.bool_),
        )
        self._sums = np.zeros((nodes + 1, 2, 1), np.float32)
        self._keys = np.zeros(2 * nodes, np.uint64)
        self._places = np.zeros(2 * nodes, np.int32)
        self.size = 0

    def plant(
        self,
        root: NDArray[np.int32],
        hidden: NDArray[np.int64],
        allowed: NDArray[np.int64],
        settings: TreeSettings,
        weights: PositionWeights,
        seed: int,
        guide: NDArray[np.float32] | None = None,
    ) -> None:
        """Begins a new tree. root [WORDS]; hidden [2, HIDDEN]; allowed [2] as `grow` takes it; seed: not 0.

        guide: probabilities [2, 9] of both seats' actions that are mixed into the root's priors. A row's sum is its share;
        the rest of 1 is left to the priors of the weights. None: nothing is mixed in.
        """
        self._keys[:] = 0
        self.size = 0
        numbers = np.array([settings.exploration, settings.first, settings.trust, settings.steps], np.float64)
        width = len(weights.network.bias)
        if self._sums.shape[2] != width:
            self._sums = np.zeros((len(self._sums), 2, width), np.float32)
        if guide is None:
            guide = np.zeros((2, W.ACTIONS), np.float32)
        self._of = root, hidden, allowed, guide, numbers, weights
        self._first = settings.first
        self._x = np.uint64(seed)

    def grow(self, iterations: int) -> None:
        """Adds iterations. Other threads run meanwhile."""
        self.size, x = grow(
            *self._of, self.size, (*self._arrays, self._sums), self._keys, self._places, self._x, iterations
        )
        self._x = np.uint64(x)  # Numba gives back an int, with which the next call would be compiled anew

    def edges(self, seat: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """A seat's actions at the root: visits [9] and sums of values [9]."""
        return self._arrays[2][0, seat].copy(), self._arrays[3][0, seat].copy()

    def values(self, seat: int, trust: float, first: float | None = None) -> tuple[float, NDArray[np.float64]]:
        """A seat's probability of winning at the root, and after each of its actions, [9] (root_values.root_values).

        first: None: the search's own.
        """
        return root_values(*self.edges(seat), trust, self._first if first is None else first)
