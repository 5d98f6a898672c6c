"""The rules of online training against numbers worked out by hand, and their state."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

from support.hand_made import rollout  # noqa: E402
from support.online import trainer, without_clock  # noqa: E402

from agents.policy import checkpoint  # noqa: E402
from agents.policy.distributions import kl, log_prob_of, log_probs  # noqa: E402
from agents.policy.network import Network, Output  # noqa: E402
from agents.policy.shape import PRESETS  # noqa: E402
from training.envs.network_players import SamplingSettings, behaviour_log_probs, returns_of  # noqa: E402
from training.online import rollout as rollouts  # noqa: E402
from training.online.policy_gradient import advantages, td_errors  # noqa: E402
from training.online.rollout import Rollout  # noqa: E402
from training.online.rules.ddqn import q_of  # noqa: E402
from training.online.rules.expert_iteration import improved, value_goal  # noqa: E402
from training.online.rules.magrpo import group_advantages  # noqa: E402
from training.online.rules.ppo import categorical_loss, losses, squared_loss  # noqa: E402

SELF = [{"who": "opponent", "weight": 1.0}]
#: Rule -> what makes a run of it small.
RULES: dict[str, dict[str, Any]] = {
    "ppo": {},
    "ddqn": {"algorithm__learning_starts": 100, "algorithm__updates": 2, "algorithm__batch_decisions": 16},
    "iac": {"algorithm__critic": "separate"},
    "maac": {"algorithm__critic_warmup": 0},
    "magrpo": {"algorithm__group": 4, "algorithm__branch_at": 4},
    "expert_iteration": {"algorithm__iterations": 20},
}


@pytest.mark.parametrize("rule", [name for name in RULES if name != "ddqn"])
def test_a_minibatch_in_pieces_has_the_gradient_and_the_metrics_of_the_whole(
    rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = {"algorithm__epochs": 1} if rule in ("ppo", "expert_iteration") else {}
    found = []
    for size in (1 << 30, 40):
        monkeypatch.setattr(rollouts, "PIECE_DECISIONS", size)
        one = trainer(rule, **(RULES[rule] | once), algorithm__minibatch_decisions=1 << 20)
        metrics = without_clock(one.iterate())
        metrics.pop("gradient_noise_scale", None)  # an estimate, from other halves of the minibatch
        role = one.roles["learner"]
        assert role.updates == 1
        found.append((metrics, [each.grad.clone() for each in role.network.parameters() if each.grad is not None]))
    (whole, gradients), (pieces, summed) = found
    assert len(gradients) == len(summed) > 10
    for one_gradient, other in zip(gradients, summed, strict=True):
        torch.testing.assert_close(other, one_gradient, rtol=1e-3, atol=2e-6)
    assert pieces == pytest.approx(whole, rel=1e-3, abs=1e-5)


def test_advantages_of_a_battle_that_ended_and_of_one_that_was_cut() -> None:
    one = rollout(
        [0.1, 0.2, 0.3, 0.4],
        [2, 2],
        [1.0, 0.0],
        terminated=torch.tensor([True, False]),
        bootstrap=torch.tensor([0.9, 0.5]),
    )
    # Won: δ = 0 + 0.5·0.2 - 0.1 = 0, 1 - 0.2 = 0.8; A = 0 + 0.5·0.5·0.8 = 0.2, 0.8; its bootstrap does not count.
    # Cut: δ = 0 + 0.5·0.4 - 0.3 = -0.1, 0.5·0.5 - 0.4 = -0.15; A = -0.1 + 0.25·(-0.15) = -0.1375, -0.15.
    torch.testing.assert_close(advantages(one, one.rewards, 0.5, 0.5), torch.tensor([0.2, 0.8, -0.1375, -0.15]))


def test_td_errors_and_that_no_gradient_flows_into_the_target() -> None:
    values = torch.tensor([[0.1, 0.2, 7.0], [0.3, 0.4, 0.5]], requires_grad=True)
    valid = torch.tensor([[True, True, False], [True, True, True]])
    rewards = torch.tensor([[0.0, 1.0, 9.0], [0.0, 0.0, 0.0]])
    found = td_errors(rewards, values, valid, torch.tensor([0.0, -0.5]), 0.9)
    expected = torch.tensor([[0.9 * 0.2 - 0.1, 1 - 0.2], [0.9 * 0.4 - 0.3, 0.9 * 0.5 - 0.4]])
    torch.testing.assert_close(found[:, :2], expected)
    torch.testing.assert_close(found[1, 2], torch.tensor(0.9 * -0.5 - 0.5))
    found[valid].sum().backward()
    assert values.grad is not None
    torch.testing.assert_close(values.grad, torch.where(valid, -1.0, 0.0))


def test_ppo_clips_the_ratio_and_the_value() -> None:
    old = torch.log(torch.tensor([0.5, 0.5, 0.5]))
    new = torch.log(torch.tensor([0.75, 0.75, 0.25]))  # ratios 1.5, 1.5, 0.5
    advantage = torch.tensor([1.0, -1.0, -1.0])
    found = losses(new, old, advantage, 0.2)
    # min(1.5, 1.2) = 1.2; min(-1.5, -1.2) = -1.5; min(-0.5, -0.8) = -0.8
    torch.testing.assert_close(found["policy_loss"], torch.tensor(-(1.2 - 1.5 - 0.8) / 3))
    torch.testing.assert_close(found["clipped"], torch.tensor(1.0))
    expected = sum(r - 1 - math.log(r) for r in (1.5, 1.5, 0.5)) / 3
    torch.testing.assert_close(found["approximate_kl"], torch.tensor(expected))
    value, old_value, target = torch.tensor([0.5, 0.0, 0.1]), torch.zeros(3), torch.ones(3)
    torch.testing.assert_close(squared_loss(value, old_value, target, 0.0), torch.tensor((0.25 + 1.0 + 0.81) / 3))
    clipped = squared_loss(value, old_value, target, 0.2)
    torch.testing.assert_close(clipped, torch.tensor((0.64 + 1.0 + 0.81) / 3))  # the first may move to 0.2 only


def test_the_categorical_value_loss_is_least_where_the_value_is_the_mean_return() -> None:
    """One position that is won twice and lost once: its value is 1/3, though no single return is."""
    logits = torch.zeros(51, requires_grad=True)
    returns = torch.tensor([1.0, 1.0, -1.0])
    optimizer = torch.optim.Adam([logits], lr=0.1)
    for _ in range(500):
        optimizer.zero_grad()
        loss = categorical_loss(logits.expand(3, 51), returns)
        loss.backward()
        optimizer.step()
    assert float(returns_of(logits.detach())) == pytest.approx(1 / 3, abs=0.01)
    assert float(loss.detach()) == pytest.approx(-(2 / 3) * math.log(2 / 3) - (1 / 3) * math.log(1 / 3), abs=0.02)


@pytest.mark.parametrize("name", ["iac", "maac", "magrpo"])
def test_what_earlier_weights_played_is_weighted_by_how_likely_it_is_now(name: str) -> None:
    """The later of a rollout's steps are off-policy. As if each action had been played with e^-0.5 times the probability."""
    none = {"kind": "constant", "value": 0.0}
    small = {"league__members": SELF, "algorithm__minibatch_decisions": 100_000, "algorithm__entropy": none}
    found = []
    for shift in (0.0, 0.5):
        one = trainer(name, **{**RULES[name], **small})
        learn = one.learn
        one.learn = lambda role, played, reference, learn=learn, shift=shift: learn(  # type: ignore[misc]
            role, replace(played, log_probs=played.log_probs - shift), reference
        )
        found.append(one.iterate())
    assert found[1]["gradient_norm"] == pytest.approx(math.exp(0.5) * found[0]["gradient_norm"], rel=1e-3)


def test_a_central_critic_of_random_weights_drives_no_policy() -> None:
    one = trainer("maac", league__members=SELF, algorithm__critic_warmup=2)
    role = one.roles["learner"]
    before = copy.deepcopy(role.network.state_dict())
    for _ in range(2):
        assert one.iterate()["value_loss"] > 0
    assert all(torch.equal(value, before[name]) for name, value in role.network.state_dict().items())
    one.iterate()
    assert any(not torch.equal(value, before[name]) for name, value in role.network.state_dict().items())


def test_what_is_played_is_a_mixture_at_a_temperature() -> None:
    legal = torch.tensor([True, True, False])
    logits = torch.tensor([2.0, 0.0, -torch.inf])
    sharp = 1 / (1 + math.exp(-4))
    found = behaviour_log_probs(logits, legal, SamplingSettings(0.5, 0.1)).exp()
    torch.testing.assert_close(found[:2], torch.tensor([0.9 * sharp + 0.05, 0.9 * (1 - sharp) + 0.05]))


@pytest.mark.parametrize(
    ("kind", "normalize", "expected"),
    [
        ("mean", False, [1.5, -0.5, -0.5, -0.5, 0.0, 0.0]),
        ("max", False, [0.0, -2.0, -2.0, -2.0, 0.0, 0.0]),
        ("leave-one-out", False, [2.0, -2 / 3, -2 / 3, -2 / 3, 0.0, 0.0]),
        ("raw", False, [1.0, -1.0, -1.0, -1.0, 1.0, 1.0]),
        ("mean", True, [3**0.5, -(3**-0.5), -(3**-0.5), -(3**-0.5), 0.0, 0.0]),
    ],
)
def test_group_advantages(kind: str, normalize: bool, expected: list[float]) -> None:
    returns = torch.tensor([1.0, -1.0, -1.0, -1.0, 1.0, 1.0])
    groups = torch.tensor([4, 4, 4, 4, 7, 7])
    torch.testing.assert_close(group_advantages(returns, groups, kind, normalize), torch.tensor(expected))


def test_q_values_have_the_policys_order_and_the_values_maximum() -> None:
    logits = torch.tensor([[1.0, 3.0, -torch.inf], [-torch.inf] * 3])
    value = torch.zeros((2, 51))
    value[0, 50] = 100.0  # certainly won
    found = q_of(Output(logits, value), 0.1)
    torch.testing.assert_close(found[0], torch.tensor([0.8, 1.0, -torch.inf]))
    assert (found[1] == -torch.inf).all() and not found.isnan().any()


@pytest.mark.parametrize("name", RULES)
def test_a_restored_trainer_goes_on_with_the_same_numbers(name: str) -> None:
    changes = {"league__members": SELF, **RULES[name]}
    one = trainer(name, **changes)
    for _ in range(2):
        before = one.iterate()
    state = copy.deepcopy(one.state())  # as a file would be: tensors of its own
    other = trainer(name, **changes)
    assert other.iterate()["entropy"] != before["entropy"]
    other.restore(state)
    resumed, again = one.iterate(), other.iterate()
    assert without_clock(resumed) == without_clock(again)
    pairs = zip(one.roles["learner"].network.parameters(), other.roles["learner"].network.parameters(), strict=True)
    assert all((a == b).all() for a, b in pairs)
    assert resumed["gradient_norm"] > 0


def test_the_policy_improved_by_a_search_and_what_its_value_learns() -> None:
    legal = torch.tensor([True, True, False])
    logits = torch.tensor([[0.0, 0.0, -torch.inf], [0.0, math.log(3), -torch.inf]])
    values = torch.tensor([[0.7, 0.5, torch.nan], [torch.nan] * 3])  # the second decision was not searched
    found = improved(logits, values, 10.0).softmax(-1)
    torch.testing.assert_close(found[0, :2], torch.tensor([math.e**2, 1.0]) / (math.e**2 + 1))
    torch.testing.assert_close(found[1, :2], torch.tensor([0.25, 0.75]))
    assert (found[:, 2] == 0).all() and float(kl(found.log(), logits, legal)[1]) == pytest.approx(0, abs=1e-6)
    one = rollout(
        [0.0, 0.0, 0.0],
        [2, 1],
        [1.0, 0.0],
        terminated=torch.tensor([True, False]),
        bootstrap=torch.tensor([0.9, 0.5]),
        searched_value=torch.tensor([0.6, torch.nan, 0.1]),
    )
    # Won: a quarter of 2·0.6 - 1 and the rest of 1, then 1 alone. Truncated: a quarter of 2·0.1 - 1 and the rest of 0.5.
    torch.testing.assert_close(value_goal(one, 0.25), torch.tensor([0.75 + 0.25 * 0.2, 1.0, 0.375 - 0.2]))


def test_a_reference_in_the_reward_pulls_on_the_mean_as_one_in_the_loss_does(tmp_path: Any) -> None:
    """E[∇ log π(a) · reward(a)] over actions drawn from π is -coefficient · ∇ KL(π || π_ref); so is no constant's."""
    torch.manual_seed(3)
    checkpoint.save(tmp_path / "other", Network(PRESETS["micro"]), 0)
    one = trainer(
        "iac",
        reference__checkpoint=str(tmp_path / "other"),
        reference__coefficient={"kind": "constant", "value": 0.3},
        reference__where="reward",
    )
    played = rollout([0.0, 0.0], [1, 1], [0.0, 0.0], actions=torch.tensor([0, 1]))  # each of the two legal actions once
    logits = torch.tensor([[2.0, 0.0]]).expand(2, 2).clone()
    played = replace(played, logits=torch.cat([logits, played.logits[:, 2:]], dim=1))
    reference = played.logits.new_zeros(played.logits.shape).masked_fill(~played.legal, -torch.inf)
    rewards = one.shaped(played, reference)

    policy = torch.tensor([2.0, 0.0], requires_grad=True)
    drawn = policy.log_softmax(-1)
    weights = drawn.exp().detach() * rewards
    (found,) = torch.autograd.grad((weights * drawn).sum(), policy)
    moved = torch.cat([policy, torch.full((11,), -torch.inf)])
    (wanted,) = torch.autograd.grad(-0.3 * kl(moved, reference[0], played.legal[0]), policy)
    torch.testing.assert_close(found, wanted)
    assert wanted[0] < -0.01  # towards the reference's even share


@pytest.mark.parametrize("name", [name for name in RULES if name != "expert_iteration"])  # it learns from no rewards
def test_raw_and_shaped_returns_never_mix(name: str, tmp_path: Any) -> None:
    """With the KL in the reward the learner gets other rewards, and what is reported as the result stays the result."""
    torch.manual_seed(3)
    checkpoint.save(tmp_path / "other", Network(PRESETS["micro"]), 0)
    given: list[tuple[Rollout, Any]] = []
    one = trainer(
        name,
        league__members=SELF,
        reference__checkpoint=str(tmp_path / "other"),
        reference__coefficient={"kind": "constant", "value": 0.5},
        reference__where="reward",
        **RULES[name],
    )
    learn = one.learn
    one.learn = lambda role, found, reference: given.append((found, reference)) or learn(role, found, reference)  # type: ignore[method-assign]
    told = one.iterate()
    found, reference = given[0]
    assert set(found.rewards.tolist()) <= {-1.0, 0.0, 1.0}
    assert told["raw_return"] == pytest.approx(float(found.results.mean()))
    taken = found.rewards - one.shaped(found, reference)
    log_policy, log_reference = log_probs(found.logits, found.legal), log_probs(reference, found.legal)
    torch.testing.assert_close(taken, 0.5 * log_prob_of(log_policy - log_reference, found.actions))
    assert one.reference is not None and taken.abs().mean() > 1e-4
    battles = len(found.lengths)
    divergence = kl(found.logits, reference, found.legal)
    assert told["shaped_return"] == pytest.approx(
        told["raw_return"] - 0.5 * float(divergence.sum()) / battles, abs=1e-4
    )
    logits = found.logits.clone()
    assert float(one.penalty(logits, reference, found.legal)) == 0.0  # not in the loss as well
