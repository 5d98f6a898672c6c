"""What the policy learns at each decision: an expert's target policy where one gave it, else the choice that was played."""

from __future__ import annotations

from dataclasses import replace

import pytest
from arena_helpers import tournament

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402

from agents.policy import checkpoint  # noqa: E402
from training.algorithms import cloning  # noqa: E402
from training.algorithms.tensors import Tensors, on_device  # noqa: E402
from training.config import Cloning  # noqa: E402
from training.data.from_store import selected, trajectories  # noqa: E402
from training.data.stream import padded  # noqa: E402
from training.data.targets import Target  # noqa: E402
from training.data.trajectory import MISSING, Trajectory  # noqa: E402

POLICY = "gen1ou-tiny"
SOFT = Cloning(name="cloning", targets="shares", only_won=False, coach_value_share=0.0, value_weight=0.0)


@pytest.fixture(scope="module")
def own_sides(tmp_path_factory: pytest.TempPathFactory) -> list[Trajectory]:
    """A policy's sides of two battles, in which it drew its actions and nobody watched."""
    db = tmp_path_factory.mktemp("own") / "arena.duckdb"
    tournament(
        db, f"policy:{POLICY}?temperature=1", "random", formats=("gen1ou",), workers=1, think_limit=60.0, max_turns=12
    )
    return list(trajectories(db, selected(db, "agent LIKE 'policy:%'"), processes=1))


def gradient_norm(batch: Tensors, settings: Cloning) -> tuple[Tensor, float]:
    """The policy's loss at the checkpoint that has played, a mean over decisions, and the norm of its gradient."""
    network, _ = checkpoint.load(checkpoint.find(POLICY))
    network.eval()
    loss, sums = cloning.loss(network(batch.ids, batch.numbers, batch.legal, batch.real), batch, settings)
    (loss / batch.real.sum()).backward()
    squares = [float((one.grad**2).sum()) for one in network.parameters() if one.grad is not None]
    return sums["policy_loss"][0] / sums["policy_loss"][1], sum(squares) ** 0.5


def test_an_unwatched_policy_learns_what_it_played_and_not_its_own_probabilities(own_sides: list[Trajectory]) -> None:
    batch = on_device(padded(own_sides), torch.device("cpu"))
    assert not batch.shares.any() and (batch.targets == Target.CHOICE).all()
    soft, norm = gradient_norm(batch, SOFT)
    hard, played = gradient_norm(batch, SOFT.model_copy(update={"targets": "choices"}))
    assert soft == hard and norm == played > 0.5

    network, _ = checkpoint.load(checkpoint.find(POLICY))
    logits = network.eval()(batch.ids, batch.numbers, batch.legal, batch.real).logits
    known = batch.real & (batch.actions != MISSING)
    by_hand = torch.nn.functional.cross_entropy(logits[known], batch.actions[known])
    assert soft.item() == pytest.approx(by_hand.item(), rel=1e-4), "one-hot on the choice"


def test_what_a_policy_kept_of_itself_is_no_target(own_sides: list[Trajectory]) -> None:
    """The fault that was: its own probabilities as the target, at the checkpoint that has played, teach nothing."""
    batch = on_device(padded(own_sides), torch.device("cpu"))
    network, _ = checkpoint.load(checkpoint.find(POLICY))
    with torch.no_grad():
        logits = network.eval()(batch.ids, batch.numbers, batch.legal, batch.real).logits
    itself = replace(batch, shares=logits.softmax(-1), targets=torch.full_like(batch.targets, Target.EXPERT))
    assert gradient_norm(itself, SOFT)[1] < 0.01
