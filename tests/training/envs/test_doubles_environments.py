"""Environments of doubles on Showdown: a learner decides slot by slot, and each slot can be an agent of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from agents.observation.columns import FIELD
from agents.observation.doubles.columns import FieldFeature
from agents.observation.layout import DOUBLES
from teamsets.errors import BadInput
from teamsets.errors import UnknownFormat as Unknown
from training.envs import PokemonEnv, PokemonVectorEnv
from training.envs.fixtures import FixtureSampler
from training.envs.showdown_battles import ShowdownBattles
from training.envs.slot_agents import SlotAgentsEnv
from training.envs.two_seats import TwoSeatEnv

FORMAT = "gen9championsvgc2026regma"


def drawn(mask: Any, generator: np.random.Generator) -> int:
    return int(generator.choice(np.flatnonzero(mask)))


@pytest.mark.slow
@pytest.mark.parametrize("opponent", ["random", "heuristic:max-power"])
def test_a_learner_plays_whole_battles_by_the_mask(opponent: str) -> None:
    """Against an opponent that decides by the mask, and one that answers for both slots at once."""
    env = PokemonVectorEnv(
        2, venue="showdown", format=FORMAT, opponent=opponent, illegal_action="error", autoreset_mode="SameStep"
    )
    assert env.single_action_space.n == DOUBLES.actions
    generator = np.random.default_rng(0)
    seen, _ = env.reset(seed=4)
    assert env.single_observation_space.contains({name: array[0] for name, array in seen.items()})
    assert (seen["features"][:, FIELD, FieldFeature.PREVIEW] == 1).all(), "team preview is the first decision"
    ended, seconds = 0, 0
    for _ in range(400):
        seen, rewards, terminated, truncated, _ = env.step([drawn(mask, generator) for mask in seen["action_mask"]])
        seconds += int(seen["features"][:, FIELD, FieldFeature.SECOND_SLOT].sum())
        assert not truncated.any() and set(rewards[terminated]) <= {-1.0, 0.0, 1.0}
        ended += int(terminated.sum())
        if ended >= 2:
            break
    assert ended >= 2 and seconds > 10
    env.close()


@pytest.mark.slow
def test_the_battles_of_a_seed_are_the_same_in_the_plain_environment() -> None:
    lengths = []
    for _ in range(2):
        env = PokemonEnv(venue="showdown", format="gen9randomdoublesbattle", opponent="random", max_turns=6)
        generator = np.random.default_rng(1)
        seen, _ = env.reset(seed=9)
        totals = [float(seen["features"].sum())]
        over = False
        while not over:
            seen, _, terminated, truncated, _ = env.step(drawn(seen["action_mask"], generator))
            totals.append(float(seen["features"].sum()))
            over = terminated or truncated
        lengths.append(totals)
        env.close()
    assert lengths[0] == lengths[1] and len(lengths[0]) > 8


@pytest.mark.slow
def test_both_sides_decide_in_steps_of_their_own() -> None:
    env = TwoSeatEnv(venue="showdown", format=FORMAT, illegal_action="error")
    generator = np.random.default_rng(2)
    seen, infos = env.reset(seed=1)
    waited = 0
    while env.agents:
        seen, _, _, _, infos = env.step({side: drawn(one["action_mask"], generator) for side, one in seen.items()})
        waited += sum(info["waiting"] for info in infos.values())
    assert waited > 0, "one side has two slots left to decide and the other one"
    env.close()


def test_the_two_slots_of_a_side_are_agents_that_share_its_reward() -> None:
    env = SlotAgentsEnv(format=FORMAT, illegal_action="error")
    generator = np.random.default_rng(3)
    seen, infos = env.reset(seed=1)
    assert env.agents == ["p1a", "p1b", "p2a", "p2b"] and not infos["p1a"]["waiting"] and infos["p1b"]["waiting"]
    decided = dict.fromkeys(env.agents, 0)
    rewards: dict[str, float] = {}
    while env.agents:
        for agent, one in seen.items():
            assert env.observation_space(agent).contains(one)
            if infos[agent]["waiting"]:
                assert one["action_mask"].sum() == 1
                continue
            decided[agent] += 1
            field = one["features"][FIELD]
            assert field[FieldFeature.PREVIEW] or field[FieldFeature.SECOND_SLOT] == (agent[-1] == "b")
        seen, rewards, terminated, _, infos = env.step(
            {agent: drawn(one["action_mask"], generator) for agent, one in seen.items()}
        )
    assert min(decided.values()) > 3 and all(terminated.values())
    assert rewards["p1a"] == rewards["p1b"] == -rewards["p2a"] == -rewards["p2b"]
    env.close()


@pytest.mark.slow
def test_a_copy_stands_at_the_same_decision_also_between_two_slots() -> None:
    battles = ShowdownBattles(2, "gen9doublesou")
    leader, copy = np.array([0]), np.array([1])
    battles.begin(
        leader,
        [FixtureSampler("gen9doublesou", "competitive", "p1", packed=False).game(5, 0, {"x": 1.0}).fixture],
        [(None, None)],
    )
    between = 0
    for _ in range(14):
        battles.copy(leader, copy, ["gen5,0123456789abcdef"])
        assert (battles.needs_decision(leader) == battles.needs_decision(copy)).all()
        seats = np.flatnonzero(battles.needs_decision(leader)[0])
        rows = np.zeros(len(seats), np.int64)
        ours, theirs = battles.observe(rows, seats), battles.observe(rows + 1, seats)
        assert all((one == other).all() for one, other in zip(ours, theirs, strict=True))
        between += int(ours.features[:, FIELD, FieldFeature.SECOND_SLOT].sum())
        actions = np.full((1, 2), -1)
        actions[0, seats] = battles.masks(rows, seats).argmax(1)
        battles.play(leader, actions)
    assert between > 3
    battles.close()


def test_what_has_no_doubles_is_refused_in_one_line() -> None:
    with pytest.raises(Unknown, match=r"'gen9doublesou': the engines play gen1ou, .*, or the venue showdown"):
        PokemonEnv(venue="engine", format="gen9doublesou")
    with pytest.raises(BadInput, match="'gen9ou': has one slot a side"):
        SlotAgentsEnv(format="gen9ou")
