"""The exact search's game in generation 1: positions from the log, trees compiled by Numba."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
from numpy.typing import NDArray

from agents.battle import SeatBattle
from agents.battle.choices import Choice
from agents.search.exact.active_pokemon import side_at
from agents.search.exact.battle_log import BattleLog
from agents.search.exact.game import seat_of
from agents.search.exact.root_position import Root, action_of, root_of, sampled_team
from agents.search.exact.root_values import TreeSettings
from agents.search.exact.steps import legal
from agents.search.exact.tree import HIDDEN, Tree
from agents.search.exact.weights import PositionWeights, read


@cache
def _trees(number: int) -> Tree:
    """The trees of this process: their memory is kept, and used by one decision at a time."""
    return Tree()


class FirstGeneration:
    """One battle (game.Game)."""

    actions = 9

    def __init__(self, settings: TreeSettings, weights: PositionWeights) -> None:
        self._settings, self._weights = settings, weights
        self._log = BattleLog()

    def follow(self, battle: SeatBattle) -> None:
        self._log.follow(battle)

    def chose(self, battle: SeatBattle, choice: Choice) -> None:
        if choice.kind == "move":
            self._log.chose(seat_of(battle), battle.last_request["active"][0]["moves"][choice.slot - 1]["id"])

    def action(self, choice: Choice) -> int:
        return action_of(choice)

    def sample(self, battle: SeatBattle, rng: random.Random) -> Root:
        return root_of(battle, self._log, sampled_team(battle, self._log, rng), rng)

    def legal(self, root: Root, seat: int) -> int:
        return int(legal(root.row, side_at(seat)))

    def plant(
        self, number: int, root: Root, allowed: tuple[int, int], seed: int, guide: NDArray[np.float32] | None
    ) -> Tree:
        tree = _trees(number)
        bits = np.array(allowed, np.int64)
        tree.plant(root.row, root.hidden, bits, self._settings, self._weights, seed, guide)
        return tree


def warm(weights: str) -> None:
    """Compiles the search or loads it from the cache."""
    from agents.engine.gen1.engine import initial

    team = "|mew||noability|tackle||||||||"
    row = initial((team, team), "gen5,0000000000000000")
    legal(row, side_at(0))
    tree = _trees(0)
    tree.plant(row, np.full((2, HIDDEN), -1, np.int64), np.full(2, 511, np.int64), TreeSettings(), read(weights), 1)
    tree.grow(0)
