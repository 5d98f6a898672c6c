"""A network beside the exact search: it acts by log π(a) + β·Q(a), the policy improved by the values of its actions.

As in Gumbel MuZero (Danihelka et al. 2022, section 4), but for the values of actions with few visits: they are pulled to
their first guess, so that a few visits do not outweigh the network by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from agents.battle import SeatBattle
from agents.battle.choices import Choice

if TYPE_CHECKING:
    from agents.search.exact.game import Game, SearchTree

#: Visits at which an action's value counts as much as its first guess.
_TRUST = 8.0


@dataclass
class Guidance:
    """A network's answer at one request.

    choices: the legal ones in the action space. log_policy [n]: theirs. win_probability: the network's. game: the battle's.
    """

    game: Game
    choices: list[Choice]
    log_policy: NDArray[np.float64]
    win_probability: float

    def priors(self, seat: int, share: float) -> NDArray[np.float32]:
        """The policy as a guide for `Tree.plant`, with this share of the seat's priors."""
        guide = np.zeros((2, self.game.actions), np.float32)
        guide[seat, self._actions()] = share * np.exp(self.log_policy)
        return guide

    def improved(
        self, trees: Sequence[SearchTree], seat: int, beta: float
    ) -> tuple[dict[Choice, float], dict[str, Any]]:
        """The probabilities of the choices by log π + β·Q, and the diagnostics. trees: of the samples; none: by log π."""
        scores, win_probability = self.log_policy, self.win_probability
        values: dict[str, float] = {}
        search: dict[str, Any] = {}
        if trees:
            actions = self._actions()
            positions, of_actions = zip(*(tree.values(seat, _TRUST) for tree in trees), strict=True)
            q = np.mean(of_actions, axis=0)[actions]
            shares = np.mean([tree.edges(seat)[0] / tree.edges(seat)[0].sum() for tree in trees], axis=0)[actions]
            scores, win_probability = scores + beta * q, sum(positions) / len(positions)
            values, search = self._by_label(q), {"visits": self._by_label(shares)}
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        diagnostics = {
            "probabilities": self._by_label(weights),
            "win_probability": round(win_probability, 4),
            "values": values,
            "network": {
                "probabilities": self._by_label(np.exp(self.log_policy)),
                "win_probability": round(self.win_probability, 4),
            },
            "search": search,
        }
        return dict(zip(self.choices, weights.tolist(), strict=True)), diagnostics

    def _actions(self) -> list[int]:
        return [self.game.action(choice) for choice in self.choices]

    def _by_label(self, numbers: NDArray[np.float64]) -> dict[str, float]:
        return {choice.label: round(x, 4) for choice, x in zip(self.choices, numbers.tolist(), strict=True)}


async def ask(network: Any, battle: SeatBattle, game: Game) -> Guidance | None:
    """The answer of a network (`NetworkAgent`) at the battle's request; None if no legal choice is in its action space."""
    log_policy, win_probability = await network.judge(battle)
    return (
        Guidance(game, list(log_policy), np.array(list(log_policy.values())), win_probability) if log_policy else None
    )
