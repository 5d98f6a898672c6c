"""Double DQN against numbers worked out by hand, its exploration, and its target network where weights are replaced."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

import numpy as np  # noqa: E402
from support.hand_made import rollout  # noqa: E402
from support.online import matrix_trainer, settings  # noqa: E402
from torch import Tensor  # noqa: E402

from agents.policy import checkpoint  # noqa: E402
from agents.policy.network import Network, Output  # noqa: E402
from agents.policy.shape import PRESETS  # noqa: E402
from training.envs.network_players import SamplingSettings, behaviour_log_probs  # noqa: E402
from training.online.replay import Windows  # noqa: E402
from training.online.rollout import Rollout  # noqa: E402
from training.online.rules.ddqn import DDQN, Calibration, q_of  # noqa: E402

ROCK_PAPER_SCISSORS = [[0.5, 0.0, 1.0], [1.0, 0.5, 0.0], [0.0, 1.0, 0.5]]


def network(logits: Tensor, chances: list[list[float]]) -> Any:
    """A stand-in with these logits [B, T, 3], and a value of two bins (lost, won) with these chances of a win [B, T]."""
    won = torch.tensor(chances, dtype=torch.float32)
    return lambda *_: Output(logits, torch.stack([1 - won, won], -1).log())


def test_the_loss_of_double_dqn() -> None:
    """The online network picks the next action, the target network says what it is worth, and illegal actions do not count.

    τ = 0.5. Row 0: Q(s, 1) = 0.2 + 0.5 (1 - 3) = -0.8. The online network prefers action 0 next (2 is illegal, however much
    the target network would like it); there the target has V = 0.6 and Q = 0.6 + 0.5 (1 - 2) = 0.1, where its own best has
    0.6. y = 0.25 + 0.5 · 0.1 = 0.3; error 1.1; Huber with δ = 1: 1.1 - 0.5 = 0.6.
    Row 1: the battle ends: y = -1, Q(s, 0) = -0.6, error -0.4, Huber 0.08, and a weight of a half.
    """
    inf = torch.inf
    online = torch.tensor(
        [[[3.0, 1.0, -inf], [5.0, 4.0, -inf]], [[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]], requires_grad=True
    )
    target = torch.tensor([[[0.0, 0.0, -inf], [1.0, 2.0, -inf]], [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]])
    legal = torch.tensor([[[True, True, False]] * 2, [[True] * 3] * 2])
    windows = Windows(
        fields={
            "token_ids": torch.zeros(2, 2),
            "features": torch.zeros(2, 2),
            "legal": legal,
            "actions": torch.tensor([[1, 0], [0, 0]]),
            "reference": torch.zeros(2, 2, 3),
        },
        valid=torch.tensor([[True, True], [True, False]]),
        at=torch.tensor([0, 0]),
        next_at=torch.tensor([1, 0]),
        returns=torch.tensor([0.25, -1.0]),
        discounts=torch.tensor([0.5, 0.0]),
        weights=torch.tensor([1.0, 0.5]),
        indices=torch.tensor([0, 1]),
    )
    rule: Any = SimpleNamespace(huber=1.0)
    one = DDQN.__new__(DDQN)
    one.reference = None
    role: Any = SimpleNamespace(network=network(online, [[0.6, 0.9], [0.2, 0.5]]))
    loss, errors, q = one._loss(role, network(target, [[0.5, 0.8], [0.5, 0.5]]), windows, rule, 0.5)
    torch.testing.assert_close(q, torch.tensor([-0.8, -0.6]))
    torch.testing.assert_close(errors, torch.tensor([1.1, -0.4]))
    torch.testing.assert_close(loss, torch.tensor((0.6 + 0.5 * 0.08) / 2))
    loss.backward()
    assert online.grad is not None and (online.grad[0, 1] == 0).all()  # none into the target
    # Row 0, d loss / dQ = -1 / 2; Q rises with logit 1 and falls with the greatest one, both by τ.
    torch.testing.assert_close(online.grad[0, 0], torch.tensor([0.25, -0.25, 0.0]))


def test_at_temperature_0_the_share_of_random_actions_is_played() -> None:
    legal = torch.tensor([True, True, False])
    found = behaviour_log_probs(torch.tensor([0.5, 0.0, -torch.inf]), legal, SamplingSettings(0.0, 0.2)).exp()
    torch.testing.assert_close(found[:2], torch.tensor([0.9, 0.1]))
    one = matrix_trainer(
        ROCK_PAPER_SCISSORS,
        "ddqn",
        battles=400,
        learner__exploration__temperature={"kind": "constant", "value": 0.0},
        learner__exploration__epsilon={"kind": "constant", "value": 0.6},
    )
    kept: list[Rollout] = []
    one.learn = lambda role, rollout, reference: kept.append(rollout) or {}  # type: ignore[method-assign,func-returns-value]
    one.iterate()
    greedy = kept[0].actions == kept[0].logits.argmax(-1)
    share = 0.4 + 0.6 / 3
    assert float(greedy.float().mean()) == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / len(greedy)))
    torch.testing.assert_close(kept[0].log_probs[greedy].exp(), torch.full((int(greedy.sum()),), share))


def test_the_target_network_follows_where_a_roles_weights_are_replaced() -> None:
    own = settings("ddqn").learner.model_dump(mode="json") | {"kind": "own", "copy_every": 0}
    one = matrix_trainer(ROCK_PAPER_SCISSORS, "ddqn", battles=2, opponent=own)
    assert isinstance(one, DDQN)
    one.replace("opponent", "learner")
    learner, target = one.roles["learner"].network.state_dict(), one._targets["opponent"].state_dict()
    assert all((target[name] == weights).all() for name, weights in learner.items())


def test_nothing_is_learned_before_a_decision_can_be_drawn() -> None:
    one = matrix_trainer(ROCK_PAPER_SCISSORS, "ddqn", battles=2, algorithm__learning_starts=0)
    cut = rollout([0.0], [1], [0.0], terminated=torch.tensor([False]))  # has no successor
    assert one.learn(one.roles["learner"], cut, None) == {"replay": 1.0, "advantage_scale": 0.1}


def known_values(worth: float, count: int = 3000) -> Rollout:
    """Single decisions between three actions, played at temperature 2 with a share of random ones.

    The return of an action is `worth` for each nat of its logit, plus noise. The network's value is wrong, by the more, the
    further apart the logits are.
    """
    draws = torch.Generator().manual_seed(4)
    logits = torch.full((count, 13), -torch.inf)
    logits[:, :3] = 4 * torch.randn((count, 3), generator=draws)
    legal = logits.isfinite()
    manner = SamplingSettings(2.0, 0.3)
    played = behaviour_log_probs(logits, legal, manner).exp() * legal
    actions = torch.multinomial(played, 1, generator=draws)[:, 0]
    taken = logits.gather(1, actions[:, None])[:, 0]
    results = worth * taken + 0.3 * torch.randn(count, generator=draws)
    values = 0.05 * logits[:, :3].std(-1) - 0.2
    made = rollout(values.tolist(), [1] * count, results.tolist(), actions=actions, logits=logits, legal=legal)
    return replace(made, manner=manner)


@pytest.mark.parametrize(("calibrate", "read_as"), [(False, 0.4), (True, 0.06)])
def test_what_a_gap_of_four_nats_in_a_checkpoint_is_read_as(calibrate: bool, read_as: float, tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "cloned", Network(PRESETS["micro"]), 0)
    given = {"learner__network__start_from": str(tmp_path / "cloned"), "algorithm__learning_starts": 10**6}
    one = matrix_trainer(ROCK_PAPER_SCISSORS, "ddqn", battles=2, algorithm__calibrate=calibrate, **given)
    assert isinstance(one, DDQN)
    role = one.roles["learner"]
    scale = one.learn(role, known_values(0.015), None)["advantage_scale"]
    assert scale == one.advantage_scale(role)
    output = Output(torch.tensor([0.0, 4.0]), torch.zeros(51))
    gap = q_of(output, scale).diff()
    assert float(gap) == pytest.approx(read_as, abs=4 * 0.0025)  # standard error of τ: 0.0025
    other = matrix_trainer(ROCK_PAPER_SCISSORS, "ddqn", battles=2, algorithm__calibrate=calibrate, **given)
    assert isinstance(other, DDQN)
    other.restore(one.state())
    assert other.advantage_scale(other.roles["learner"]) == scale


def test_the_measured_scale_has_limits() -> None:
    """Nothing was measured; the logits mean nothing, or the opposite: not 0, but the standard error; and the upper limit."""
    assert Calibration().scale(0.1) == 0.1
    assert Calibration(covariance=-3.0, variance=100.0, noise=4.0).scale(0.1) == 0.02
    assert Calibration(covariance=3.0, variance=100.0, noise=4.0).scale(0.1) == 0.03
    assert Calibration(covariance=50.0, variance=100.0, noise=4.0).scale(0.1) == 0.1
