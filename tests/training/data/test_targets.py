"""What the policy learns at each decision: an expert's target policy where one gave it, else the choice that was played."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from click.testing import CliRunner
from support.tournaments import tournament

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402

from agents.coached import coached_spec  # noqa: E402
from agents.policy import checkpoint  # noqa: E402
from agents.policy.network import Output  # noqa: E402
from training.cli import cli  # noqa: E402
from training.commands.options import show_built  # noqa: E402
from training.data.build import build_once  # noqa: E402
from training.data.from_store import selected, trajectories  # noqa: E402
from training.data.gates import Gates  # noqa: E402
from training.data.shards import BadData, all_trajectories, opened  # noqa: E402
from training.data.stats import count  # noqa: E402
from training.data.stream import padded  # noqa: E402
from training.data.targets import Target, target_policy  # noqa: E402
from training.data.trajectory import MISSING, Trajectory  # noqa: E402
from training.offline import cloning  # noqa: E402
from training.offline.config import Cloning  # noqa: E402
from training.offline.tensors import Tensors, to_device  # noqa: E402

POLICY = "gen1ou-tiny"
OWN = "agent LIKE 'policy:%'"
SOFT = Cloning(name="cloning", targets="target_policy", expert_value_weight=0.0, value_weight=0.0)


@pytest.fixture(scope="module")
def own_battles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two battles of a policy that drew its actions, and that nobody watched."""
    db = tmp_path_factory.mktemp("own") / "arena.duckdb"
    tournament(
        db, f"policy:{POLICY}?temperature=1", "random", formats=("gen1ou",), workers=1, think_limit=60.0, max_turns=12
    )
    return db


@pytest.fixture(scope="module")
def own_sides(own_battles: Path) -> list[Trajectory]:
    """The policy's sides."""
    return list(trajectories(own_battles, selected(own_battles, OWN), processes=1))


def gradient_norm(batch: Tensors, settings: Cloning) -> tuple[Tensor, float]:
    """The policy's loss at the checkpoint that has played, a mean over decisions, and the norm of its gradient."""
    network, _ = checkpoint.load(checkpoint.find(POLICY))
    network.eval()
    loss, sums = cloning.loss(network(batch.token_ids, batch.features, batch.legal, batch.valid_mask), batch, settings)
    (loss / batch.valid_mask.sum()).backward()
    squares = [float((one.grad**2).sum()) for one in network.parameters() if one.grad is not None]
    return sums["policy_loss"][0] / sums["policy_loss"][1], sum(squares) ** 0.5


def test_an_unwatched_policy_learns_what_it_played_and_not_its_own_probabilities(own_sides: list[Trajectory]) -> None:
    batch = to_device(padded(own_sides), torch.device("cpu"))
    assert not batch.target_policy.any() and (batch.targets == Target.CHOICE).all()
    soft, norm = gradient_norm(batch, SOFT)
    hard, played = gradient_norm(batch, SOFT.model_copy(update={"targets": "choices"}))
    assert soft == hard and norm == played > 0.5

    network, _ = checkpoint.load(checkpoint.find(POLICY))
    logits = network.eval()(batch.token_ids, batch.features, batch.legal, batch.valid_mask).logits
    known = batch.valid_mask & (batch.actions != MISSING)
    by_hand = torch.nn.functional.cross_entropy(logits[known], batch.actions[known])
    assert soft.item() == pytest.approx(by_hand.item(), rel=1e-4), "one-hot on the choice"


def test_what_a_policy_kept_of_itself_is_no_target(own_sides: list[Trajectory]) -> None:
    """The fault that was: its own probabilities as the target, at the checkpoint that has played, teach nothing."""
    batch = to_device(padded(own_sides), torch.device("cpu"))
    network, _ = checkpoint.load(checkpoint.find(POLICY))
    with torch.no_grad():
        logits = network.eval()(batch.token_ids, batch.features, batch.legal, batch.valid_mask).logits
    itself = replace(batch, target_policy=logits.softmax(-1), targets=torch.full_like(batch.targets, Target.EXPERT))
    assert gradient_norm(itself, SOFT)[1] < 0.01


def test_another_policy_is_distilled_where_its_sides_are_said_to_be_an_expert_s(
    own_battles: Path, own_sides: list[Trajectory], tmp_path: Path
) -> None:
    out = tmp_path / "d"
    order = ["data", "build", "--db", str(own_battles), "--where", OWN, "--out", str(out), "--workers", "1"]
    done = CliRunner().invoke(cli, [*order, "--expert"])
    assert done.exit_code == 0, done.output
    for one, plain in zip(all_trajectories(opened(out)), own_sides, strict=True):
        assert (one.targets == Target.EXPERT).all() and np.allclose(one.target_policy.sum(1), 1, atol=1e-2)
        assert np.array_equal(one.actions, plain.actions)
    again = CliRunner().invoke(cli, order)
    assert isinstance(again.exception, BadData) and "built with other settings (by_expert true, now false)" in str(
        again.exception
    )


ACTIONS_OF = {"move surf": 0, "move rest": 1, "switch Chansey": 4}


@pytest.mark.parametrize(
    ("thought", "target", "shares"),
    [
        (None, Target.CHOICE, {}),
        ({"score": 2.5}, Target.CHOICE, {}),
        ({"probabilities": {"move surf": 1.0}, "learner": None, "coach": "move surf"}, Target.EXPERT, {0: 1.0}),
        ({"visits": {"move surf": 0.6, "move rest": 0.4}}, Target.EXPERT, {0: 0.6, 1: 0.4}),
        # A search with a network: the probabilities by which it acts, not its visits.
        (
            {"probabilities": {"move surf": 1.0}, "search": {"visits": {"move rest": 1.0}}, "coach": "move surf"},
            Target.EXPERT,
            {0: 1.0},
        ),
        ({"visits": {"move surf": 0.8, "move surf mega": 0.2}}, Target.EXPERT, {0: 1.0}),
        ({"visits": {"move surf": 0.1, "move surf mega": 0.9}}, Target.UNMAPPED, {}),
        ({"visits": {"move surf": 0.79, "move surf mega": 0.21}, "coach": "move surf"}, Target.UNMAPPED, {}),
        ({"probabilities": {"move surf mega": 1.0}, "coach": "move surf mega"}, Target.UNMAPPED, {}),
        ({"coach": None}, Target.EMPTY, {}),
        ({"learner": {"value": 0.5}}, Target.EMPTY, {}),
        # A search that found nothing has chosen at random.
        ({"iterations": 0, "failed": "…", "probabilities": {"move rest": 1.0}, "coach": "move rest"}, Target.EMPTY, {}),
        ({"iterations": 0}, Target.CHOICE, {}),
    ],
)  # fmt: skip
def test_the_target_of_a_decision(thought: dict[str, Any] | None, target: Target, shares: dict[int, float]) -> None:
    found, kind = target_policy(thought, ACTIONS_OF)
    assert kind == target and {place: share for place, share in enumerate(found) if share} == pytest.approx(shares)


def test_a_decision_whose_expert_gave_nothing_of_use_has_no_target() -> None:
    """Four decisions: the choice, an expert's target policy, an expert that was silent, one outside of the actions."""
    logits = torch.zeros(1, 4, 13, requires_grad=True)
    batch = Tensors(
        token_ids=torch.zeros(1, 4, 19, 12, dtype=torch.int16),
        features=torch.zeros(1, 4, 19, 56),
        legal=torch.ones(1, 4, 13, dtype=torch.bool),
        actions=torch.tensor([[0, MISSING, 0, 0]]),
        target_policy=torch.zeros(1, 4, 13),
        targets=torch.tensor([[Target.CHOICE, Target.EXPERT, Target.EMPTY, Target.UNMAPPED]]),
        values=torch.full((1, 4), torch.nan),
        results=torch.tensor([1.0]),
        valid_mask=torch.ones(1, 4, dtype=torch.bool),
    )
    batch.target_policy[0, 1, 2] = 1.0
    output = Output(logits, torch.zeros(1, 4, 51))
    loss, sums = cloning.loss(output, batch, SOFT)
    loss.backward()
    assert logits.grad is not None
    assert [bool(row.any()) for row in logits.grad[0]] == [True, True, False, False]
    assert sums["policy_loss"][1].item() == 2
    assert logits.grad[0, 1].argmin() == 2, "an expert's target needs no choice that is known"
    _, sums = cloning.loss(output, batch, SOFT.model_copy(update={"targets": "choices"}))
    assert sums["policy_loss"][1].item() == 3, "with `choices` what was played is learned"


def test_a_build_counts_decisions_without_a_target_by_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A watched learner whose expert's thoughts are changed in the store: some silent, some outside of the actions."""
    db = tmp_path / "arena.duckdb"
    watched = coached_spec("heuristic:max-damage", "heuristic:expert")
    tournament(db, watched, "random", formats=("gen1ou",), workers=1, think_limit=60.0, max_turns=12)
    with duckdb.connect(str(db)) as connection:
        for index, thought in ((1, '{"coach": null}'), (2, '{"probabilities": {"move 9": 1.0}, "coach": "move 9"}')):
            connection.execute("UPDATE decisions SET diagnostics = ? WHERE index = ?", [thought, index])
    built = build_once(db, "agent LIKE 'coached%'", tmp_path / "d", Gates(), 0.0, workers=1)
    assert sorted(built.no_target.values()) == [2, 2], "two sides"
    outside, silent = sorted(built.no_target)
    assert silent == "the expert gave no target policy"
    assert outside == "less than 80% of the expert's target policy is on actions of the model"
    show_built(built)
    assert f"without a policy target: 2 decisions: {outside}" in capsys.readouterr().out
    assert count(opened(tmp_path / "d"))["without_target"] == dict(built.no_target)
