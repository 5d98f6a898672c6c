"""The vector environment on the engine: spaces, seeds, ends of battles, autoreset, opponents, bad input."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

import gymnasium
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode
from support.environments import Chooser, First, Illegal, Last, played

import training.envs
from agents.engine.gen1.layout import REQUEST, SIDE_WORDS, SIDES, WAITING, WINNER
from teamsets.errors import ArenaError, BadInput
from training.envs import PokemonVectorEnv
from training.envs.venue import STUCK, TIE


def made(num_envs: int = 4, **settings: Any) -> PokemonVectorEnv:
    return PokemonVectorEnv(num_envs, **{"illegal_action": "error", **settings})


def test_make_vec_makes_it_and_its_observations_are_in_its_space(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.envs.fixtures.RANDOM_TEAMS", 40)
    env = gymnasium.make_vec("PokemonGen1-v0", num_envs=3, format="gen1randombattle", illegal_action="error")
    assert isinstance(env.unwrapped, training.envs.PokemonVectorEnv)
    assert env.unwrapped.engine.words.shape[0] == 3
    for observations, *_ in played(env, 20, seed=1):
        assert observations in env.observation_space
        assert observations["token_ids"].dtype == np.int16 and observations["features"].dtype == np.float32
    assert env.action_space.shape == (3,) and env.single_action_space.n == 13


def test_the_same_seed_gives_the_same_battles() -> None:
    one, same, other = (played(made(), 120, seed) for seed in (5, 5, 6))
    assert data_equivalence(one, same, exact=True)
    assert not data_equivalence(one[0][1], other[0][1])
    ended = sum(int((step[2] | step[3]).sum()) for step in one[1:])
    assert ended > 2, "the comparison has to include ends and new battles"


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_a_batch_is_what_gymnasium_makes_of_single_environments(mode: AutoresetMode) -> None:
    settings = {"illegal_action": "error", "max_turns": 45, "opponent": {First: 1, "random": 1}}
    batch = PokemonVectorEnv(3, autoreset_mode=mode, **settings)
    singles = gymnasium.make_vec(
        "PokemonGen1-v0", num_envs=3, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **settings
    )
    ours, theirs = played(batch, 200, seed=2), played(singles, 200, seed=2)
    ends = Counter[str]()
    for mine, other in zip(ours, theirs, strict=True):
        assert data_equivalence(mine[0], other[0], exact=True)
        assert all(np.array_equal(a, b) for a, b in zip(mine[1:-1], other[1:-1], strict=True))
        assert set(mine[-1]) == set(other[-1])
        for key in ("_fixture", "_result", "_final_obs"):
            assert np.array_equal(mine[-1].get(key, 0), other[-1].get(key, 0))
        told = mine[-1].get("final_info", mine[-1])
        ends.update(told["result"][told["_result"]] if "result" in told else [])
    assert ends["turn-limit"] and ends["win"] + ends["loss"]


def test_disabled_autoreset_waits_for_a_reset_of_the_ended_ones() -> None:
    env = made(4, autoreset_mode="Disabled", max_turns=15)
    choose = Chooser(0, 4)
    with pytest.raises(BadInput, match="call reset first"):
        env.step(np.zeros(4))
    observations, _ = env.reset(seed=0)
    ended = np.zeros(4, np.bool_)
    while not ended.any():
        observations, _, terminated, truncated, _ = env.step(choose(observations["action_mask"]))
        ended = terminated | truncated
    with pytest.raises(BadInput, match="reset_mask"):
        env.step(choose(observations["action_mask"]))
    after, infos = env.reset(options={"reset_mask": ended})
    assert np.array_equal(infos["_fixture"], ended)
    assert data_equivalence(
        {key: value[~ended] for key, value in observations.items()},
        {key: value[~ended] for key, value in after.items()},
    )
    env.step(choose(after["action_mask"]))


def test_the_learner_has_a_decision_after_each_step_and_the_opponent_plays_alone_meanwhile() -> None:
    First.calls.clear()
    env = made(8, opponent=First)
    alone = 0
    for _ in played(env, 60, seed=4):
        words, seats = env.engine.words, env.learner.seats
        requests = words[np.arange(8), SIDES + seats * SIDE_WORDS + REQUEST]
        playing = words[:, WINNER] < 0
        assert (requests[playing] != WAITING).all()
        assert np.array_equal(env.action_masks().any(axis=1), playing)
    alone = sum(0 < size < 4 for size in First.calls)
    assert alone, "opponents who replace a fainted Pokémon decide without the others"


@pytest.mark.parametrize(
    ("winner", "seat", "expected"),
    [
        (0, 0, (1.0, True, False, "win")),
        (0, 1, (-1.0, True, False, "loss")),
        (1, 1, (1.0, True, False, "win")),
        (TIE, 0, (0.0, True, False, "tie")),
        (STUCK, 0, (0.0, False, True, "failed")),
    ],
)
def test_the_reward_is_the_result(winner: int, seat: int, expected: tuple[float, bool, bool, str]) -> None:
    learner = made(1, seat=f"p{seat + 1}").learner
    row = np.zeros(1, np.int64)
    learner.seed(0, 1)
    learner.begin(row)
    learner.battles.winners[0] = winner  # type: ignore[index]
    terminated, truncated = learner.over(row)
    reward = learner.rewards(row, terminated)
    assert (reward[0], terminated[0], truncated[0], learner.result(0)["result"]) == expected


def test_a_battle_beyond_its_last_turn_is_truncated_at_a_decision() -> None:
    env = made(4, max_turns=3, autoreset_mode="Disabled")
    choose = Chooser(0, 4)
    observations, _ = env.reset(seed=1)
    for _ in range(20):
        observations, rewards, terminated, truncated, infos = env.step(choose(observations["action_mask"]))
        if truncated.any():
            break
    assert truncated.any() and not terminated[truncated].any() and not rewards[truncated].any()
    assert set(infos["result"][truncated]) == {"turn-limit"} and set(infos["turns"][truncated]) == {4}
    assert env.action_masks()[truncated].any(axis=1).all(), (
        "the last observation is that of a decision: its value counts"
    )


def test_the_observation_after_the_end_has_one_action_that_is_ignored() -> None:
    env = made(4)
    choose = Chooser(0, 4)
    observations, _ = env.reset(seed=1)
    terminated = np.zeros(4, np.bool_)
    while not terminated.any():
        observations, _, terminated, _, _ = env.step(choose(observations["action_mask"]))
    assert (observations["action_mask"][terminated] == np.eye(13)[0]).all()
    assert not observations["features"][terminated].any() and not observations["token_ids"][terminated].any()
    assert not env.action_masks()[terminated].any()
    _, rewards, again, _, infos = env.step(choose(observations["action_mask"]))
    assert not (again | (rewards != 0))[terminated].any() and infos["_fixture"][terminated].all()


@pytest.mark.parametrize(("seat", "seats"), [("p1", [0, 0, 0]), ("p2", [1, 1, 1]), ("alternate", [0, 1, 0])])
def test_the_seat_is_chosen(seat: str, seats: list[int]) -> None:
    env = made(1, seat=seat)
    env.reset(seed=1)
    found = [env.reset()[1]["fixture"]["seat"][0] for _ in range(2)]
    assert [*env.reset(seed=1)[1]["fixture"]["seat"], *found] == seats


def test_drawn_seats_and_opponents_follow_their_weights() -> None:
    env = made(400, opponent={First: 3, "random": 1})
    _, infos = env.reset(seed=7)
    fixtures = infos["fixture"]
    # 400 draws: 5 standard deviations are 50 of 200 seats and 43 of 300 opponents.
    assert abs(int(fixtures["seat"].sum()) - 200) < 50
    assert abs(int((fixtures["opponent"] == "First").sum()) - 300) < 43
    assert len(set(fixtures["seed"])) == 400 and len(set(fixtures["team_1"])) > 20


def test_the_opponent_can_be_changed_for_the_next_battles() -> None:
    env = made(4, opponent=First)
    env.reset(seed=1)
    env.set_opponent(Last)
    assert env.step(env.action_masks().argmax(axis=1))[0] is not None, "running battles keep theirs"
    _, infos = env.reset()
    assert set(infos["fixture"]["opponent"]) == {"Last"}
    env.step(env.action_masks().argmax(axis=1))


def test_without_copies_the_same_arrays_come_back() -> None:
    env, other = made(3, copy=False), made(3)
    first, kept = env.reset(seed=1)[0], other.reset(seed=1)[0]
    actions = env.action_masks().argmax(axis=1)
    second, fresh = env.step(actions)[0], other.step(actions)[0]
    assert all(first[key] is second[key] or np.shares_memory(first[key], second[key]) for key in first)
    assert data_equivalence(second, fresh) and not any(np.shares_memory(kept[key], fresh[key]) for key in kept)


def test_an_illegal_action_is_replaced_and_counted_or_is_an_error() -> None:
    env = made(2, illegal_action="random")
    env.reset(seed=1)
    legal = int(env.action_masks()[1].argmax())
    *_, infos = env.step([12, legal])
    assert infos["illegal_action"].tolist() == [True, False]
    strict = made(2)
    strict.reset(seed=1)
    before = strict.engine.words.copy()
    with pytest.raises(BadInput, match="environment 0: action 12 is not legal: choose one of 0, "):
        strict.step([12, legal])
    assert np.array_equal(strict.engine.words, before)
    with pytest.raises(BadInput, match=r"shape \(3,\)"):
        strict.step([0, 0, 0])


def test_an_opponents_illegal_action_is_an_error_that_names_it() -> None:
    env = made(2, opponent=Illegal)
    env.reset(seed=1)
    with pytest.raises(ArenaError, match="opponent 'Illegal'"):
        env.step(env.action_masks().argmax(axis=1))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"format": "gen8ou"},
            "the engines play gen1ou, gen1randombattle and gen9ou: choose one of them, or the venue",
        ),
        ({"opponent": "foul-play"}, "'foul-play': an external program, which plays in `arena evaluate` only"),
        ({"opponent": {"random": 0}}, "weight above 0"),
        ({"opponent": "randum"}, "randum"),
        ({"seat": "p3"}, "seat 'p3': must be one of drawn, alternate, p1, p2"),
        ({"venue": "server"}, "venue 'server': must be engine or showdown"),
        ({"max_turns": 1001}, "max_turns=1001: must be from 1 to 1000"),
        ({"illegal_action": "skip"}, "must be random or error"),
        ({"autoreset_mode": "later"}, "autoreset_mode 'later': must be one of"),
        ({"num_envs": 0}, "num_envs=0"),
        ({"format": "gen1randombattle", "teams": "competitive"}, "leave out teams='competitive'"),
        ({"cores": 4096}, "cores=4096: must be from 1 to"),
    ],
)
def test_bad_input_is_one_line(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message) as raised:
        PokemonVectorEnv(**settings)
    assert "\n" not in str(raised.value)
