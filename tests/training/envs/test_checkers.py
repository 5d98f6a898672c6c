"""The environments pass Gymnasium's and PettingZoo's own checkers, on the engine and on Showdown."""

from __future__ import annotations

import warnings

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test, parallel_seed_test

pytest.importorskip("numba")

import training.envs

IDS = ("PokemonGen1-v0", "PokemonGen9-v0", "PokemonShowdown-v0")


@pytest.mark.parametrize("name", IDS)
def test_gymnasiums_checker(name: str) -> None:
    env = gymnasium.make(name)
    assert isinstance(env.unwrapped, training.envs.PokemonEnv)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "unclosed transport", ResourceWarning)
        # The features are not bounded.
        warnings.filterwarnings("ignore", r".*A Box observation space (minimum|maximum) value is -?infinity")
        check_env(env.unwrapped)
    env.close()


@pytest.mark.parametrize(("venue", "format_id"), [("engine", "gen1ou"), ("engine", "gen9ou"), ("showdown", "gen1ou")])
def test_pettingzoos_checkers(venue: str, format_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    env = training.envs.TwoSeatEnv(venue=venue, format=format_id)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        parallel_api_test(env, num_cycles=100)
    assert "Passed" in capsys.readouterr().out
    env.close()
    opened: list[training.envs.TwoSeatEnv] = []

    def make() -> training.envs.TwoSeatEnv:
        opened.append(training.envs.TwoSeatEnv(venue=venue, format=format_id))
        return opened[-1]

    parallel_seed_test(make, num_cycles=60)
    for one in opened:
        one.close()
