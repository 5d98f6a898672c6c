"""What learning rules make of battles that were truncated, and of trajectories without a decision that is learned from."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

from support.hand_made import rollout  # noqa: E402
from support.online import matrix_trainer, settings  # noqa: E402

from training.envs.network_players import returns_of  # noqa: E402
from training.online.rollout import forward  # noqa: E402
from training.online.rules.iac import IAC  # noqa: E402
from training.runs.config_reader import BadConfig  # noqa: E402

EVEN = [[0.5, 0.5], [0.5, 0.5]]


def test_magrpo_learns_nothing_from_a_group_without_a_result() -> None:
    """Its value head is not trained: divided by their tiny deviation, its values would be advantages as large as any."""
    one = matrix_trainer(EVEN, "magrpo", battles=8)
    cut = rollout(
        [0.0] * 3,
        [1] * 3,
        [0.0] * 3,
        terminated=torch.zeros(3, dtype=torch.bool),
        bootstrap=torch.tensor([0.1, 0.2, 0.3]),
    )
    assert one.learn(one.roles["learner"], cut, None)["advantage"] == 0


def test_magrpo_counts_the_result_of_a_battle_in_which_a_seat_made_no_decision_after_the_branch() -> None:
    one = matrix_trainer(EVEN, "magrpo", battles=8)
    found = rollout([0.0] * 3, [1, 2], [-1.0, -1.0], in_loss=torch.tensor([False, False, True]))
    assert one.learn(one.roles["learner"], found, None)["advantage"] == 0  # both have lost


def test_a_separate_critic_goes_on_with_its_own_value() -> None:
    """The policy network's value, which the rollout has, is not trained then. δ = 0 + V_1 - V_0, and 0 + V_1 - V_1."""
    one = matrix_trainer(EVEN, "iac", battles=2, algorithm__critic="separate", algorithm__discount=1.0)
    cut = rollout([0.0] * 2, [2], [0.0], terminated=torch.tensor([False]), bootstrap=torch.tensor([0.9]))
    cut.features[1] = 1.0
    assert isinstance(one, IAC)
    with torch.no_grad():
        values = returns_of(forward(one._critics["learner"].network, cut, cut.padded()).value)[0]
    assert values[0] != values[1]
    expected = float((values[1] - values[0]).square()) / 2
    assert one.learn(one.roles["learner"], cut, None)["value_loss"] == pytest.approx(expected, rel=1e-4)


def test_a_separate_critic_begins_anew_where_a_roles_weights_are_replaced() -> None:
    own = settings("iac").learner.model_dump(mode="json") | {"kind": "own", "copy_every": 0}
    one = matrix_trainer(EVEN, "iac", battles=2, opponent=own, algorithm__critic="separate")
    assert isinstance(one, IAC)
    one.replace("opponent", "learner")
    learner = one.roles["learner"].network.state_dict()
    critic = one._critics["opponent"].network.state_dict()
    assert all((critic[name] == weights).all() for name, weights in learner.items())


def test_a_temperature_that_falls_to_0_is_refused_where_probabilities_are_learned_from() -> None:
    falls = {"kind": "linear", "start": 1.0, "end": 0.0, "steps": 20}
    with pytest.raises(BadConfig, match=r"learner\.exploration\.temperature: falls to 0\.0: must be above 0"):
        settings("iac", learner__exploration__temperature=falls)
    assert settings("iac", learner__exploration__temperature=falls, iterations=20).iterations == 20  # never reaches 0
    assert settings("ddqn", learner__exploration__temperature=falls).iterations == 200
