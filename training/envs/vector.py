"""The vector environment: thousands of battles on the engine, or some on Showdown, stepped in batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from teamsets.errors import BadInput
from training.envs.learner import LearnerBattles
from training.envs.opponents import Mixture
from training.envs.spaces import Arrays, action_space, observation_space, row_of
from training.envs.venue import Ints

Step = tuple[Arrays, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class PokemonVectorEnv(VectorEnv):
    """`num_envs` battles of a learner against opponents. See docs/environments.md.

    autoreset_mode: Gymnasium's "NextStep", "SameStep" or "Disabled". copy: False returns the same arrays at each step,
    overwritten. settings: see `LearnerBattles`.

    info: "fixture" (format, seed, team_1, team_2, seat, opponent) where a battle has begun, "result" and "turns" where one
    has ended, "illegal_action" where an action was replaced.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        **settings: Any,
    ) -> None:
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.num_envs, self.copy, self.render_mode = num_envs, copy, None
        self.learner = LearnerBattles(num_envs, **settings)
        layout = self.learner.layout
        self.single_observation_space, self.single_action_space = observation_space(layout), action_space(layout)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._out: Arrays | None = None
        self._rows = np.arange(num_envs)
        self._ended = np.zeros(num_envs, np.bool_)
        self._begun = False

    @property
    def engine(self) -> Any:
        """The engine (agents/engine/gen1/engine.py), whose row k is environment k; None on Showdown."""
        return getattr(self.learner.battles, "engine", None)

    def set_opponent(self, opponent: Mixture) -> None:
        """Sets the opponents of the battles that begin from now on."""
        self.learner.opponents.change(opponent)

    def action_masks(self) -> NDArray[np.bool_]:
        """[num_envs, 13]: the legal actions now. The same as the observation's `action_mask`, except where none is legal."""
        return self.learner.masks.copy()

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Arrays, dict[str, Any]]:
        """Begins a battle in every environment, or in those of options["reset_mask"] (bool [num_envs]).

        seed: environment k plays the battles of seed + k, or of seed[k]. None: random seeds at first, then the next battles.
        """
        mask = (options or {}).get("reset_mask")
        rows = self._rows if mask is None else np.flatnonzero(mask)
        if mask is not None and not self._begun:
            raise BadInput("reset_mask: the first reset is one of all environments")
        self._seed(rows, seed)
        self.learner.begin(rows)
        self._ended[rows] = False
        self._begun = True
        infos: dict[str, Any] = {}
        self._add_fixtures(infos, rows)
        return self._observed(), infos

    def step(self, actions: Any) -> Step:
        """Plays one decision of the learner in each environment, and what follows until its next one."""
        if not self._begun:
            raise BadInput("step: call reset first")
        given = np.asarray(actions, np.int64)
        if given.shape != (self.num_envs,):
            raise BadInput(f"actions: shape {given.shape}: must be ({self.num_envs},)")
        if self.autoreset_mode is AutoresetMode.DISABLED and self._ended.any():
            row = int(np.flatnonzero(self._ended)[0])
            raise BadInput(f"environment {row} has ended: call reset with options={{'reset_mask': …}} first")
        infos: dict[str, Any] = {}
        restarted, rows = np.flatnonzero(self._ended), np.flatnonzero(~self._ended)
        if len(restarted):
            self.learner.begin(restarted)
            self._add_fixtures(infos, restarted)
        illegal = self.learner.play(rows, given[rows])
        for row in rows[illegal].tolist():
            self._add_info(infos, {"illegal_action": True}, row)
        terminated, truncated = np.zeros(self.num_envs, np.bool_), np.zeros(self.num_envs, np.bool_)
        rewards = np.zeros(self.num_envs)
        terminated[rows], truncated[rows] = self.learner.over(rows)
        rewards[rows] = self.learner.rewards(rows, terminated[rows])
        ended = terminated | truncated
        observations = self._end(np.flatnonzero(ended), infos)
        self._ended = ended if self.autoreset_mode is not AutoresetMode.SAME_STEP else np.zeros_like(ended)
        return observations, rewards, terminated, truncated, infos

    def close_extras(self, **kwargs: Any) -> None:
        self.learner.close()

    def _end(self, ended: Ints, infos: dict[str, Any]) -> Arrays:
        """Notes the results of battles that have ended and, in same-step mode, begins the next. Returns the observations."""
        results = [self.learner.result(row) for row in ended.tolist()]
        if self.autoreset_mode is not AutoresetMode.SAME_STEP:
            for row, result in zip(ended.tolist(), results, strict=True):
                self._add_info(infos, result, row)
            return self._observed()
        if len(ended):
            last = self.learner.observe(ended)
            for k, (row, result) in enumerate(zip(ended.tolist(), results, strict=True)):
                self._add_info(infos, {"final_obs": row_of(last, k, copy=True), "final_info": result}, row)
            self.learner.begin(ended)
            self._add_fixtures(infos, ended)
        return self._observed()

    def _seed(self, rows: Ints, seed: int | list[int | None] | None) -> None:
        if isinstance(seed, int | np.integer):
            self._np_random_seed, first = int(seed), int(seed)
            seed = [first + row for row in range(self.num_envs)]
        if seed is None:
            if not self._begun:
                drawn = np.random.SeedSequence().generate_state(self.num_envs, np.uint64)
                for row in rows.tolist():
                    self.learner.seed(row, int(drawn[row]) >> 1)
            return
        if len(seed) != self.num_envs:
            raise BadInput(f"seed: {len(seed)} seeds for {self.num_envs} environments")
        for row in rows.tolist():
            one = seed[row]
            if one is not None:
                self.learner.seed(row, int(one))

    def _add_fixtures(self, infos: dict[str, Any], rows: Ints) -> None:
        for row in rows.tolist():
            game = self.learner.games[row]
            assert game is not None
            self._add_info(infos, {"fixture": game.about}, row)

    def _observed(self) -> Arrays:
        seen = self.learner.observe(self._rows, None if self.copy else self._out)
        if not self.copy:
            self._out = seen
        return seen


def _mode(mode: str | AutoresetMode) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        names = ", ".join(each.value for each in AutoresetMode)
        raise BadInput(f"autoreset_mode '{mode}': must be one of {names}") from None
