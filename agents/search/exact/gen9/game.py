"""The exact search's game in generation 9: positions from the log, trees in C++."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
from numpy.typing import NDArray

from agents.battle import SeatBattle
from agents.battle.choices import Choice
from agents.engine.gen9.choices import SWITCHING, TERASTALLIZING
from agents.search.exact.game import seat_of
from agents.search.exact.gen9.battle_log import BattleLog
from agents.search.exact.gen9.position import Root, engine_of, position
from agents.search.exact.gen9.sampled_team import known_teams
from agents.search.exact.gen9.tree import ACTIONS, Tree
from agents.search.exact.gen9.weights import PositionWeights
from agents.search.exact.root_values import TreeSettings


@cache
def _trees(number: int) -> Tree:
    """The trees of this process: their memory is kept, and used by one decision at a time."""
    return Tree()


class NinthGeneration:
    """One battle (game.Game)."""

    actions = ACTIONS

    def __init__(self, settings: TreeSettings, weights: PositionWeights) -> None:
        self._settings, self._weights = settings, weights
        self._log = BattleLog()

    def follow(self, battle: SeatBattle) -> None:
        self._log.follow(battle._replay_data, battle.last_request)

    def chose(self, battle: SeatBattle, choice: Choice) -> None:
        """Nothing: the log shows all that is done."""

    def action(self, choice: Choice) -> int:
        if choice.kind == "switch":
            return choice.slot - 2 + SWITCHING
        return choice.slot - 1 + (TERASTALLIZING if choice.extra else 0)

    def sample(self, battle: SeatBattle, rng: random.Random) -> Root:
        seat = seat_of(battle)
        return position(self._log, seat, battle.last_request, known_teams(battle, self._log, seat, rng))

    def legal(self, root: Root, seat: int) -> int:
        return int(engine_of(root.row[None]).legal()[0, seat, 0])

    def plant(
        self, number: int, root: Root, allowed: tuple[int, int], seed: int, guide: NDArray[np.float32] | None
    ) -> Tree:
        tree = _trees(number)
        tree.plant(root, np.array(allowed, np.int32), self._settings, self._weights, seed, guide)
        return tree
