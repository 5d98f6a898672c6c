"""The KL to the reference against numbers worked out by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402

from agents.observation.observation import FEATURES, TOKENS  # noqa: E402
from agents.policy import checkpoint  # noqa: E402
from agents.policy.distributions import kl  # noqa: E402
from agents.policy.network import Network  # noqa: E402
from training.offline.config import Config  # noqa: E402
from training.offline.reference import ADAPTATION_RATE, MAX_FACTOR, KlPenalty  # noqa: E402
from training.offline.tensors import Tensors  # noqa: E402
from training.offline.trainer import train  # noqa: E402
from training.runs.config_reader import BadConfig  # noqa: E402


def logits(*rows: list[float]) -> Tensor:
    """[1, T, 13]: those of each decision's first actions, the others illegal."""
    full = torch.full((1, len(rows), 13), -torch.inf)
    for t, row in enumerate(rows):
        full[0, t, : len(row)] = torch.tensor(row)
    return full


def reference(coefficient: float = 0.5, target: float = 0.0) -> KlPenalty:
    network, _ = checkpoint.load(checkpoint.find("gen1ou-tiny"))
    return KlPenalty(network, coefficient, target, "this one")


def test_k3_over_the_legal_actions_by_hand() -> None:
    policy, other = logits([0.0, 0.0], [math.log(3), 0.0]), logits([math.log(3), 0.0], [math.log(3), 0.0])
    # π = (1/2, 1/2), π_ref = (3/4, 1/4): r = (3/2, 1/2)
    by_hand = 0.5 * (1.5 - 1 - math.log(1.5)) + 0.5 * (0.5 - 1 - math.log(0.5))
    assert kl(policy, other, torch.isfinite(policy))[0].tolist() == pytest.approx([by_hand, 0.0], abs=1e-6)
    assert by_hand == pytest.approx(0.5 * math.log(0.5 / 0.75) + 0.5 * math.log(0.5 / 0.25)), "it is the KL itself"
    # The other way round it is another number: the policy's own probabilities weigh.
    back = 0.75 * (2 / 3 - 1 - math.log(2 / 3)) + 0.25 * (2 - 1 - math.log(2))
    assert kl(other, policy, torch.isfinite(policy))[0, 0].item() == pytest.approx(back, abs=1e-6)
    assert abs(back - by_hand) > 0.01


def test_the_gradient_is_that_of_the_kl() -> None:
    policy, other = logits([0.3, -0.2, 1.1]).requires_grad_(), logits([0.0, 0.5, -0.4]).requires_grad_()
    found = kl(policy, other.detach(), torch.isfinite(policy)).sum()
    found.backward()
    chances, ratio = policy[0, 0, :3].softmax(0), policy[0, 0, :3].log_softmax(0) - other[0, 0, :3].log_softmax(0)
    by_hand = chances * (ratio - (chances * ratio).sum())
    assert policy.grad is not None and torch.allclose(policy.grad[0, 0, :3], by_hand, atol=1e-6)
    assert not policy.grad[0, 0, 3:].any(), "nothing for what is illegal"


def test_policies_far_apart_give_a_number() -> None:
    policy, other = logits([0.0, 300.0]).requires_grad_(), logits([300.0, 0.0])
    found = kl(policy, other, torch.isfinite(policy)).sum()
    found.backward()
    assert found.item() == pytest.approx(300.0)
    assert policy.grad is not None and torch.isfinite(policy.grad).all()


def test_what_is_measured_and_padding() -> None:
    policy = logits([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).requires_grad_()
    other = logits([math.log(3), 0.0], [0.0, 0.0], [9.0, 0.0])
    batch = Tensors(
        token_ids=torch.zeros(1, 3, 19, 12),
        features=torch.zeros(1, 3, TOKENS, FEATURES),
        legal=torch.isfinite(other),
        actions=torch.zeros(1, 3),
        target_policy=torch.zeros(1, 3, 13),
        targets=torch.zeros(1, 3),
        values=torch.zeros(1, 3),
        results=torch.tensor([1.0]),
        valid_mask=torch.tensor([[True, True, False]]),
    )
    added, sums = reference(coefficient=0.5).penalty(policy, other, batch)
    total = kl(logits([0.0, 0.0]), logits([math.log(3), 0.0]), batch.legal[:, :1]).item()
    assert added.item() == pytest.approx(0.5 * total)
    means = {name: (part / count).item() for name, (part, count) in sums.items()}
    assert means == pytest.approx(
        {"kl": total / 2, "kl_coefficient": 0.5, "reward": 1.0, "shaped_return": 1.0 - 0.5 * total / 2}
    )
    assert added.requires_grad and not any(part.requires_grad for part, _ in sums.values())


def test_the_reference_is_asked_without_gradient_or_dropout() -> None:
    network, _ = checkpoint.load(checkpoint.find("gen1ou-tiny"))
    assert network.shape.dropout > 0
    frozen = KlPenalty(network.train(), 0.5, 0.0, "this one")
    batch = Tensors(
        token_ids=torch.ones(1, 2, 19, 12, dtype=torch.int16),
        features=torch.ones(1, 2, TOKENS, FEATURES),
        legal=torch.ones(1, 2, 13, dtype=torch.bool),
        actions=torch.zeros(1, 2),
        target_policy=torch.zeros(1, 2, 13),
        targets=torch.zeros(1, 2),
        values=torch.zeros(1, 2),
        results=torch.tensor([1.0]),
        valid_mask=torch.ones(1, 2, dtype=torch.bool),
    )
    assert torch.equal(frozen.logits(batch), frozen.logits(batch)) and not frozen.logits(batch).requires_grad


def test_the_kl_that_a_coefficient_follows_is_without_dropout() -> None:
    start, _ = checkpoint.load(checkpoint.find("gen1ou-tiny"))
    learner = Network(replace(start.shape, dropout=0.1)).train()
    learner.load_state_dict(start.state_dict())
    frozen = KlPenalty(start, 0.5, 0.02, "this one")
    generator = torch.Generator().manual_seed(3)
    batch = Tensors(
        token_ids=torch.randint(1, 5, (2, 4, 19, 12), generator=generator, dtype=torch.int16),
        features=torch.rand(2, 4, TOKENS, FEATURES, generator=generator),
        legal=torch.ones(2, 4, 13, dtype=torch.bool),
        actions=torch.zeros(2, 4),
        target_policy=torch.zeros(2, 4, 13),
        targets=torch.zeros(2, 4),
        values=torch.zeros(2, 4),
        results=torch.ones(2),
        valid_mask=torch.tensor([[True] * 4, [True, True, False, False]]),
    )
    there = frozen.logits(batch)
    total, count = frozen.kl_without_dropout(learner, there, batch)["kl_without_dropout"]
    assert total.item() == 0.0 and count.item() == 6 and learner.training
    output = learner(batch.token_ids, batch.features, batch.legal, batch.valid_mask)
    assert frozen.penalty(output.logits, there, batch)[1]["kl"][0].item() > 1e-4, "dropout alone is some distance"


def test_the_coefficient_follows_the_target() -> None:
    near = reference(coefficient=0.1, target=0.02)
    near.adapt(0.02)
    assert near.coefficient == pytest.approx(0.1)
    near.adapt(0.03)
    assert near.coefficient == pytest.approx(0.1 * math.exp(ADAPTATION_RATE * 0.5))
    near.adapt(5.0)
    assert near.coefficient == pytest.approx(0.1 * math.exp(ADAPTATION_RATE * 1.5)), (
        "one step moves it so far and no farther"
    )
    near.adapt(0.0)
    assert near.coefficient == pytest.approx(0.1 * math.exp(ADAPTATION_RATE * 0.5))
    for _ in range(1000):
        near.adapt(0.0)
    assert near.coefficient == pytest.approx(0.1 / MAX_FACTOR)
    for _ in range(1000):
        near.adapt(9.0)
    assert near.coefficient == pytest.approx(0.1 * MAX_FACTOR)
    fixed = reference(coefficient=0.1)
    fixed.adapt(9.0)
    assert fixed.coefficient == 0.1


def test_a_state_is_taken_up_and_anothers_refused() -> None:
    near = reference(target=0.02)
    near.restore({"identity": "this one", "coefficient": 0.7})
    assert near.coefficient == 0.7 and near.state == {"identity": "this one", "coefficient": 0.7}
    with pytest.raises(BadConfig, match=r"reference.checkpoint: differs from"):
        near.restore({"identity": "another", "coefficient": 0.7})


def test_a_learner_that_is_the_reference_does_not_raise_the_coefficient_by_its_dropout(
    small: Callable[..., Config],
) -> None:
    config = small(
        **{
            "network.dropout": 0.1,
            "network.start_from": "gen1ou-tiny",
            "reference.coefficient": 0.1,
            "reference.target": 0.002,
            "optimizer.learning_rate": 1e-12,
        }
    )
    train(config)
    lines = [json.loads(line) for line in (Path(config.out) / "metrics.jsonl").read_text().splitlines()]
    assert lines[0]["kl_without_dropout"] == 0.0 and lines[0]["kl"] > 0.002, "dropout alone exceeds the target"
    coefficients = [line["kl_coefficient"] for line in lines]
    assert coefficients == sorted(coefficients, reverse=True) and coefficients[-1] < 0.1
