"""Environments on Showdown: other generations, opponents of every kind, failures; they need no Numba."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from support.command_line import is_running, wait
from support.environments import Chooser, First, Last, played, same_arrays

from teamsets.errors import ArenaError, BadInput
from training.envs import PokemonVectorEnv, TwoSeatEnv
from training.envs.background import wait_for


def made(num_envs: int = 3, **settings: Any) -> PokemonVectorEnv:
    return PokemonVectorEnv(num_envs, **{"venue": "showdown", "illegal_action": "error", **settings})


@pytest.mark.torch
def test_the_same_seed_gives_the_engines_battles(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr("training.envs.fixtures.RANDOM_TEAMS", 40)
    for format_id, opponent in (("gen1ou", "random"), ("gen1randombattle", First)):
        env = made(format=format_id, opponent=opponent)
        theirs = played(env, 90, seed=11)
        env.close()
        ours = played(made(venue="engine", format=format_id, opponent=opponent), 90, seed=11)
        assert any(step[2].any() for step in ours[1:])
        for mine, other in zip(ours, theirs, strict=True):
            assert same_arrays(mine[0], other[0])
            assert all(np.array_equal(a, b) for a, b in zip(mine[1:-1], other[1:-1], strict=True))
            assert set(mine[-1]) == set(other[-1])


def test_generation_nine_with_team_previews_and_terastallization() -> None:
    env = made(format="gen9ou", opponent={"heuristic:max-damage": 1, Last: 1, "random": 1})
    steps = played(env, 60, seed=2)
    env.close()
    masks = np.concatenate([step[0]["action_mask"] for step in steps])
    assert masks[:, 9:].any(), "there must have been terastallization among the legal actions"
    assert all(step[0] in env.observation_space for step in steps)
    assert steps[0][0]["features"].any(axis=(1, 2)).all()
    assert any(step[2].any() for step in steps[1:])


def test_an_opponents_failure_is_an_error_and_no_victory() -> None:
    env = made(1, opponent="bad_agents:Raises")
    env.reset(seed=1)
    with pytest.raises(ArenaError, match=r"opponent 'bad_agents:Raises': error: RuntimeError: out of ideas"):
        for _ in range(10):
            env.step(env.action_masks().argmax(axis=1))
    env.close()


def test_a_dead_simulator_truncates_its_battles_and_the_next_ones_are_played() -> None:
    env = made(2)
    env.reset(seed=1)
    host = env.learner.battles.exchange.host  # type: ignore[attr-defined]
    host.kill()
    wait_for(host.dead)
    observations, rewards, terminated, truncated, infos = env.step(env.action_masks().argmax(axis=1))
    assert truncated.all() and not terminated.any() and not rewards.any()
    assert set(infos["result"]) == {"failed"} and (observations["action_mask"].sum(axis=1) == 1).all()
    observations, _, _, truncated, _ = env.step(np.zeros(2, np.int64))
    assert not truncated.any() and observations["features"].any()
    env.step(env.action_masks().argmax(axis=1))
    env.close()


def test_an_environment_that_nobody_closed_leaves_no_process() -> None:
    env = TwoSeatEnv(venue="showdown")
    env.reset(seed=1)
    pid = env.battles.exchange.host.pid  # type: ignore[attr-defined]
    assert is_running(pid)
    del env
    gc.collect()
    wait(lambda: not is_running(pid))


def test_a_battle_beyond_its_last_turn_is_truncated_at_a_decision() -> None:
    env = made(2, max_turns=2, format="gen9randombattle", autoreset_mode="SameStep")
    choose = Chooser(1, 2)
    observations, _ = env.reset(seed=1)
    for _ in range(12):
        observations, rewards, _, truncated, infos = env.step(choose(observations["action_mask"]))
        if truncated.any():
            break
    row = int(truncated.argmax())
    assert truncated[row] and rewards[row] == 0 and infos["final_info"]["result"][row] == "turn-limit"
    assert infos["final_obs"][row]["features"].any(), "the last observation is that of a decision"
    assert infos["_fixture"][row]
    env.close()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"format": "gen9triples"}, "only singles and doubles of two sides"),
        ({"format": "gen9randomfantasy"}, "'gen9randomfantasy': .* is not known to the simulator"),
        ({"opponent": "foul-play"}, "an external program"),
        ({"opponent": "policy:no-such-network"}, "policy:no-such-network"),
    ],
)
def test_bad_input_is_one_line(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message) as raised:
        made(1, **settings).reset()
    assert "\n" not in str(raised.value)
