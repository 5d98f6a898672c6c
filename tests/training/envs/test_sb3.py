"""The vector environment in Stable-Baselines3."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba")
pytest.importorskip("stable_baselines3")

from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from support.environments import Chooser, played

from training.envs import PokemonVectorEnv
from training.envs.sb3 import MaskableVecEnv

SETTINGS = {"illegal_action": "error", "max_turns": 40}


def test_it_steps_as_the_vector_environment_and_tells_the_ends() -> None:
    env, choose = MaskableVecEnv(3, **SETTINGS), Chooser(4, 3)
    env.seed(4)
    observations = env.reset()
    reference = played(PokemonVectorEnv(3, autoreset_mode="SameStep", **SETTINGS), 100, seed=4)
    assert is_masking_supported(env) and env.reset_infos[0]["fixture"]["seed"] == reference[0][1]["fixture"]["seed"][0]
    lengths, ended = np.zeros(3, np.int64), 0
    for expected, rewards, terminated, truncated, _ in reference[1:]:
        masks = get_action_masks(env)
        assert np.array_equal(masks, observations["action_mask"].astype(np.bool_))
        observations, earned, done, infos = env.step(choose(masks))
        lengths += 1
        assert all(np.array_equal(observations[key], expected[key]) for key in expected)
        assert np.array_equal(earned, rewards) and np.array_equal(done, terminated | truncated)
        for row in np.flatnonzero(done).tolist():
            assert infos[row]["episode"]["r"] == rewards[row] and infos[row]["episode"]["l"] == lengths[row]
            assert infos[row]["TimeLimit.truncated"] == truncated[row] == (infos[row]["result"] == "turn-limit")
            assert infos[row]["terminal_observation"]["token_ids"].shape == (19, 12)
            assert infos[row]["fixture"]["seat"] in (0, 1)
            lengths[row], ended = 0, ended + 1
    assert ended > 3
    env.close()
