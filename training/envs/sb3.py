"""The vector environment as Stable-Baselines3 takes it, with the masks of sb3-contrib's MaskablePPO."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from teamsets.errors import MissingTool
from training.envs.spaces import Arrays
from training.envs.vector import PokemonVectorEnv

try:
    from stable_baselines3.common.vec_env import VecEnv
except ModuleNotFoundError:
    raise MissingTool(
        "stable-baselines3 is not installed: pip install 'battle-arena[envs-examples]' (in a clone: `make training`)"
    ) from None

Indices = int | Iterable[int] | None


class MaskableVecEnv(VecEnv):
    """`num_envs` battles as one VecEnv of Stable-Baselines3; settings: see `PokemonVectorEnv`.

    Stable-Baselines3's own VecEnvs step one environment after the other; this one steps them as a batch.
    """

    def __init__(self, num_envs: int, **settings: Any) -> None:
        self.env = PokemonVectorEnv(num_envs, autoreset_mode=AutoresetMode.SAME_STEP, **settings)
        super().__init__(num_envs, self.env.single_observation_space, self.env.single_action_space)
        self._actions: NDArray[np.int64] = np.zeros(num_envs, np.int64)
        self._returns, self._lengths = np.zeros(num_envs), np.zeros(num_envs, np.int64)

    def action_masks(self) -> NDArray[np.bool_]:
        """[num_envs, 13]: the legal actions now."""
        return self.env.action_masks()

    def reset(self) -> Arrays:
        seeds = self._seeds if any(seed is not None for seed in self._seeds) else None
        observations, infos = self.env.reset(seed=seeds)
        self.reset_infos = [_of_row(infos, row) for row in range(self.num_envs)]
        self._returns[:], self._lengths[:] = 0, 0
        self._reset_seeds()
        return observations

    def step_async(self, actions: NDArray[np.int64]) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[Arrays, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        observations, rewards, terminated, truncated, infos = self.env.step(self._actions)
        self._returns += rewards
        self._lengths += 1
        row_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(infos.get("_illegal_action", ())).tolist():
            row_infos[row]["illegal_action"] = True
        done = terminated | truncated
        for row in np.flatnonzero(done).tolist():
            row_infos[row] |= {
                "terminal_observation": infos["final_obs"][row],
                "TimeLimit.truncated": bool(truncated[row]),
                "episode": {"r": float(self._returns[row]), "l": int(self._lengths[row]), "t": 0.0},
                **_of_row(infos["final_info"], row),
                **_of_row({key: infos[key] for key in ("fixture", "_fixture")}, row),
            }
        self._returns[done], self._lengths[done] = 0, 0
        return observations, rewards.astype(np.float32), done, row_infos

    def close(self) -> None:
        self.env.close()

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        return [
            getattr(self if attr_name == "action_masks" else self.env, attr_name) for _ in self._get_indices(indices)
        ]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        raise AttributeError(f"{attr_name}: one environment of a batch has no attributes of its own")

    def env_method(self, method_name: str, *arguments: Any, indices: Indices = None, **options: Any) -> list[Any]:
        if method_name != "action_masks":
            raise AttributeError(f"{method_name}: one environment of a batch has the method action_masks only")
        masks = self.action_masks()
        return [masks[row] for row in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Indices = None) -> list[bool]:
        return [False for _ in self._get_indices(indices)]


def _of_row(infos: dict[str, Any], row: int) -> dict[str, Any]:
    """One environment's info from Gymnasium's batched one."""
    info: dict[str, Any] = {}
    for key, value in infos.items():
        mask = infos.get(f"_{key}")
        if mask is not None and mask[row]:
            info[key] = _of_row(value, row) if isinstance(value, dict) else value[row]
    return info
