"""One battle at a time: Gymnasium's plain environment, for tools that have no vector environments."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from training.envs.learner import LearnerBattles
from training.envs.opponents import Mixture
from training.envs.spaces import Arrays, action_space, observation_space, row_of

_ROW = np.zeros(1, np.int64)


class PokemonEnv(gymnasium.Env[Arrays, np.int64]):
    """A battle of a learner against an opponent. See docs/environments.md. settings: see `LearnerBattles`.

    The battles of a seed are those of a vector environment's row with that seed. info: see `PokemonVectorEnv`.
    """

    def __init__(self, render_mode: str | None = None, **settings: Any) -> None:
        self.metadata = {"render_modes": []}
        self.render_mode = render_mode
        self.learner = LearnerBattles(1, **settings)
        layout = self.learner.layout
        self.observation_space, self.action_space = observation_space(layout), action_space(layout)
        self._begun = False

    @property
    def engine(self) -> Any:
        """The engine (agents/engine/gen1/engine.py); None on Showdown."""
        return getattr(self.learner.battles, "engine", None)

    def set_opponent(self, opponent: Mixture) -> None:
        """Sets the opponents of the battles that begin from now on."""
        self.learner.opponents.change(opponent)

    def action_masks(self) -> NDArray[np.bool_]:
        """[13]: the legal actions now; sb3-contrib asks for them under this name."""
        return self.learner.masks[0].copy()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Arrays, dict[str, Any]]:
        """Begins the first battle of `seed`; None: the next one."""
        super().reset(seed=seed)
        if seed is not None or not self._begun:
            self.learner.seed(0, int(self.np_random.integers(2**63)) if seed is None else seed)
        self._begun = True
        self.learner.begin(_ROW)
        game = self.learner.games[0]
        assert game is not None
        return self._observed(), {"fixture": game.about}

    def step(self, action: Any) -> tuple[Arrays, float, bool, bool, dict[str, Any]]:
        """Plays one decision of the learner, and what follows until its next one."""
        illegal = self.learner.play(_ROW, np.asarray([action], np.int64))
        terminated, truncated = self.learner.over(_ROW)
        reward = float(self.learner.rewards(_ROW, terminated)[0])
        info: dict[str, Any] = {"illegal_action": True} if illegal[0] else {}
        if terminated[0] or truncated[0]:
            info |= self.learner.result(0)
        return self._observed(), reward, bool(terminated[0]), bool(truncated[0]), info

    def close(self) -> None:
        self.learner.close()

    def _observed(self) -> Arrays:
        return row_of(self.learner.observe(_ROW), 0)
