"""The two-seat environment: waiting seats, results, equal battles on both venues."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

from gymnasium.utils.env_checker import data_equivalence
from support.compilers import need_compiler
from support.environments import Chooser, same_arrays

from agents.engine.gen1.layout import WINNER
from teamsets.errors import BadInput
from training.envs import TwoSeatEnv

WAITS = np.eye(13, dtype=np.int8)[0]


def battle(env: TwoSeatEnv, seed: int) -> list[tuple[Any, ...]]:
    """Plays a battle at random to its end; what each call returned."""
    choose = Chooser(seed, 2)
    found: list[tuple[Any, ...]] = [env.reset(seed=seed)]
    while env.agents:
        masks = np.stack([found[-1][0][agent]["action_mask"] for agent in env.agents])
        found.append(env.step(dict(zip(env.agents, choose(masks).tolist(), strict=True))))
    return found


def test_a_battle_has_one_winner_and_its_rewards_come_at_the_end() -> None:
    env = TwoSeatEnv(illegal_action="error")
    first, *steps = battle(env, 1)
    assert set(first[1]["p1"]["fixture"]) == {"format", "seed", "team_1", "team_2"}
    assert first[1]["p1"]["fixture"] == first[1]["p2"]["fixture"]
    assert all(set(step[1].values()) == {0.0} for step in steps[:-1])
    _, rewards, terminated, truncated, infos = steps[-1]
    assert sorted(rewards.values()) == [-1.0, 1.0]
    assert rewards["p2" if env.engine.words[0, WINNER] else "p1"] == 1.0
    assert set(terminated.values()) == {True} and set(truncated.values()) == {False}
    assert infos["p1"]["turns"] == infos["p2"]["turns"] > 5
    assert env.step({}) == ({}, {}, {}, {}, {}), "nobody plays on after the end"


def test_a_seat_that_waits_has_one_action_which_is_ignored() -> None:
    env, other = (TwoSeatEnv(illegal_action="error") for _ in range(2))
    choose = Chooser(3, 2)
    (observations, infos), _ = env.reset(seed=3), other.reset(seed=3)
    waited = 0
    while env.agents:
        actions = dict(
            zip(env.agents, choose(np.stack([o["action_mask"] for o in observations.values()])), strict=True)
        )
        changed = {agent: 7 if infos[agent]["waiting"] else action for agent, action in actions.items()}
        for agent, info in infos.items():
            assert not info["waiting"] or np.array_equal(observations[agent]["action_mask"], WAITS)
            waited += info["waiting"]
        observations, *_, infos = env.step(actions)
        assert data_equivalence(observations, other.step(changed)[0])
    assert waited > 3


@pytest.mark.parametrize("format_id", ["gen1ou", "gen9ou"])
def test_both_venues_play_the_same_battles(format_id: str) -> None:
    if format_id == "gen9ou":
        need_compiler()
    engine, showdown = (TwoSeatEnv(venue=venue, format=format_id) for venue in ("engine", "showdown"))
    try:
        ours, theirs = battle(engine, 5), battle(showdown, 5)
    finally:
        showdown.close()
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        assert data_equivalence(mine[1:], other[1:])
        for agent in ("p1", "p2"):
            assert same_arrays(mine[0][agent], other[0][agent])
    *steps, (_, rewards, terminated, _, infos) = ours
    assert any(seat["waiting"] for step in steps for seat in step[-1].values()), "a fainted Pokémon is replaced alone"
    assert sorted(rewards.values()) == [-1.0, 1.0] and set(terminated.values()) == {True} and infos["p1"]["turns"] > 5


def test_a_battle_beyond_its_last_turn_is_truncated() -> None:
    env = TwoSeatEnv(max_turns=2, illegal_action="error")
    _, rewards, terminated, truncated, infos = battle(env, 1)[-1]
    assert set(rewards.values()) == {0.0} and set(terminated.values()) == {False} and set(truncated.values()) == {True}
    assert infos["p1"]["turns"] == 3


def test_illegal_actions_are_replaced_or_an_error() -> None:
    env = TwoSeatEnv()
    env.reset(seed=1)
    *_, infos = env.step({"p1": 12, "p2": 0})
    assert infos["p1"]["illegal_action"] and "illegal_action" not in infos["p2"]
    strict = TwoSeatEnv(illegal_action="error")
    strict.reset(seed=1)
    with pytest.raises(BadInput, match="p2: action 12 is not legal: choose one of"):
        strict.step({"p1": 0, "p2": 12})
    with pytest.raises(BadInput, match="p1: action -1 is not legal"):
        strict.step({"p2": 0})
