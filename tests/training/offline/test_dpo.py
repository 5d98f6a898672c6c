"""Direct preference optimisation: TRL's numbers, what learns and what does not, and a run from pairs to a checkpoint."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from click.testing import CliRunner  # noqa: E402

from agents.observation.observation import FEATURES  # noqa: E402
from agents.policy.network import Output  # noqa: E402
from training.commands.dpo import dpo as command  # noqa: E402
from training.data.shards import BadData, Dataset, DatasetWriter, all_trajectories, opened, read_shard  # noqa: E402
from training.data.trajectory import MISSING, Trajectory  # noqa: E402
from training.offline.config import DPO, Config  # noqa: E402
from training.offline.dpo import pair_loss  # noqa: E402
from training.offline.losses import LOSSES, Tensors  # noqa: E402
from training.offline.trainer import train  # noqa: E402
from training.runs.config_reader import BadConfig, read_yaml, validated  # noqa: E402
from training.runs.shipped import resolve_path  # noqa: E402

#: Log-probabilities of three pairs: the policy's and the reference's, of the chosen and the rejected answer.
POLICY_CHOSEN, POLICY_REJECTED = [-0.35, -2.10, -0.90], [-1.60, -0.45, -0.90]
REFERENCE_CHOSEN, REFERENCE_REJECTED = [-0.80, -1.20, -1.50], [-1.10, -1.20, -0.40]
#: Losses that the lines of trl/trainer/dpo_trainer.py (TRL at f2cd57710, evaluated in float64) give for those numbers with
#: β = 0.5: `sigmoid`, `robust` (ε = 0.2) and `ipo` pair by pair. `conservative` is the expression that TRL had under
#: `sigmoid` with label smoothing (until 0.2x) and has in `aot`.
TRL = {
    "sigmoid": [0.483589, 1.188417, 0.455492],
    "robust": [0.325256, 1.463417, 0.272159],
    "conservative": [0.578589, 1.023417, 0.565492],
    "ipo": [0.0025, 7.0225, 0.01],
}
#: The three as one answer of three tokens: `sigmoid` of the sums, TRL's `sigmoid_norm`, and its `ipo`, always normalised.
TRL_ONE_ANSWER = {("sigmoid", False): 0.598139, ("sigmoid", True): 0.660369, ("ipo", True): 0.751111}


def settings(**changes: object) -> DPO:
    plain = {"loss": "sigmoid", "beta": 0.5, "label_smoothing": 0.0, "unit": "decision", "length_normalized": False}
    return DPO(**{"name": "dpo", **plain, "value_weight": 0.0, **changes})


def logits(chosen: list[float], rejected: list[float]) -> torch.Tensor:
    """[1, T, 13]: action 0 has the log-probability of `chosen`, 1 that of `rejected`, 2 the rest; the others are illegal."""
    full = torch.full((1, len(chosen), 13), -torch.inf)
    first, second = torch.tensor(chosen), torch.tensor(rejected)
    rest = (1 - first.exp() - second.exp()).log()
    full[0, :, :3] = torch.stack([first, second, rest], dim=1)
    return full


def case() -> tuple[Output, Tensors, torch.Tensor]:
    """The three pairs as the decisions of one side of a battle, then a decision without a pair."""
    policy = logits([*POLICY_CHOSEN, -1.0], [*POLICY_REJECTED, -1.5])
    reference = logits([*REFERENCE_CHOSEN, -1.2], [*REFERENCE_REJECTED, -1.1])
    batch = Tensors(
        token_ids=torch.zeros(1, 4, 19, 12, dtype=torch.int16),
        features=torch.zeros(1, 4, 19, FEATURES),
        legal=torch.isfinite(policy),
        actions=torch.tensor([[0, 0, 0, MISSING]]),
        target_policy=torch.zeros(1, 4, 13),
        targets=torch.zeros(1, 4, dtype=torch.int8),
        values=torch.full((1, 4), torch.nan),
        results=torch.tensor([1.0]),
        valid_mask=torch.ones(1, 4, dtype=torch.bool),
        rejected=torch.tensor([[1, 1, 1, MISSING]]),
    )
    return Output(policy.requires_grad_(), torch.zeros(1, 4, 51)), batch, reference


@pytest.mark.parametrize("name", TRL)
def test_the_losses_of_pairs_are_trls(name: str) -> None:
    output, batch, reference = case()
    smoothing = 0.2 if name in ("robust", "conservative") else 0.0
    loss, sums = LOSSES["dpo"](output, batch, settings(loss=name, label_smoothing=smoothing), reference)
    assert loss.item() == pytest.approx(sum(TRL[name]), abs=1e-5)
    assert sums["policy_loss"][1].item() == 3
    for place in range(3):  # and each by itself
        alone = replace(batch, rejected=torch.where(torch.arange(4) == place, batch.rejected, MISSING))
        loss, _ = LOSSES["dpo"](output, alone, settings(loss=name, label_smoothing=smoothing), reference)
        assert loss.item() == pytest.approx(TRL[name][place], abs=1e-5)


@pytest.mark.parametrize(("name", "normalized"), TRL_ONE_ANSWER)
def test_the_loss_of_a_battle_is_that_of_an_answer_of_several_tokens(name: str, normalized: bool) -> None:
    output, batch, reference = case()
    told = settings(loss=name, unit="battle", length_normalized=normalized)
    loss, sums = LOSSES["dpo"](output, batch, told, reference)
    assert loss.item() == pytest.approx(TRL_ONE_ANSWER[name, normalized], abs=1e-5)
    assert sums["policy_loss"][1].item() == 1


def test_the_conservative_loss_is_least_where_the_policy_believes_a_pair_as_often_as_it_is_right() -> None:
    """By hand: -(1 - ε) log σ(βΔ) - ε log σ(-βΔ) is the cross-entropy of (1 - ε, ε) and (σ, 1 - σ).

    So it is least, the entropy of ε, at βΔ = log((1 - ε) / ε), and pulls back what lies beyond; the plain loss has no end.
    """
    shipped = validated(Config, read_yaml(resolve_path("dpo", "preset")), "dpo").algorithm
    assert isinstance(shipped, DPO)
    ε = shipped.label_smoothing
    assert shipped.loss == "conservative" and 0 < ε <= 0.1
    best = math.log((1 - ε) / ε) / shipped.beta
    delta = torch.tensor([0.0, 1 / shipped.beta, best, 2 * best], requires_grad=True)
    found = pair_loss(delta, shipped)
    at_one = (1 - ε) * math.log(1 + math.exp(-1)) + ε * math.log(1 + math.e)
    entropy = -ε * math.log(ε) - (1 - ε) * math.log(1 - ε)
    assert found[:3].tolist() == pytest.approx([math.log(2), at_one, entropy], abs=1e-6)
    found.sum().backward()
    assert delta.grad is not None
    slopes = (delta.grad / shipped.beta).tolist()  # σ(βΔ) - (1 - ε)
    assert slopes == pytest.approx([ε - 0.5, 1 / (1 + math.exp(-1)) - (1 - ε), 0.0, slopes[3]], abs=1e-6)
    assert slopes[3] > 0


def test_what_is_logged_is_over_pairs() -> None:
    output, batch, reference = case()
    _, sums = LOSSES["dpo"](output, batch, settings(), reference)
    found = {name: (total / count).item() for name, (total, count) in sums.items() if count}
    chosen = np.subtract(POLICY_CHOSEN, REFERENCE_CHOSEN)
    rejected = np.subtract(POLICY_REJECTED, REFERENCE_REJECTED)
    assert found["pair_accuracy"] == pytest.approx(2 / 3)
    assert found["reward_chosen"] == pytest.approx(0.5 * chosen.mean(), abs=1e-5)
    assert found["reward_rejected"] == pytest.approx(0.5 * rejected.mean(), abs=1e-5)
    assert found["reward_margin"] == pytest.approx(0.5 * (chosen - rejected).mean(), abs=1e-5)


def test_the_gradient_raises_what_was_chosen_and_lowers_what_was_rejected_and_nothing_else() -> None:
    output, batch, reference = case()
    LOSSES["dpo"](output, batch, settings(), reference)[0].backward()
    gradient = output.logits.grad
    assert gradient is not None
    assert (gradient[0, :3, 0] < 0).all() and (gradient[0, :3, 1] > 0).all()
    assert not gradient[0, 3].any(), "a decision without a pair"
    assert gradient[0, :3, 2].abs().max() < 1e-6, "the third action is only what is left"


def test_at_the_reference_itself_a_pair_is_neither_right_nor_wrong() -> None:
    output, batch, _ = case()
    loss, sums = LOSSES["dpo"](output, batch, settings(), output.logits.detach())
    assert loss.item() == pytest.approx(3 * np.log(2), abs=1e-5)
    assert sums["pair_accuracy"][0].item() == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"label_smoothing": 0.0}, "label_smoothing: 0 has no meaning with `loss: conservative`: set it above 0"),
        ({"loss": "sigmoid"}, "label_smoothing: 0.05 has no meaning with `loss: sigmoid`: use 0"),
        ({"length_normalized": True}, "length_normalized: true has no effect on single decisions"),
        ({"beta": 0.0}, "algorithm.beta: .*greater than 0"),
    ],
)
def test_settings_that_do_not_go_together_are_named(
    small: Callable[..., Config], changes: dict[str, object], words: str
) -> None:
    with pytest.raises(BadConfig, match=words):
        small("dpo", **{f"algorithm.{key}": value for key, value in changes.items()})


@pytest.fixture
def pairs(observed_sides: list[Trajectory], tmp_path: Path) -> Dataset:
    """Sides with a pair at every other decision that has two legal actions: what was played against another action."""
    with DatasetWriter(tmp_path / "pairs", {"source": "preferences"}) as writer:
        for one in observed_sides:
            free = one.legal.copy()
            free[np.arange(len(one)), one.actions] = False
            used = free.any(1) & (np.arange(len(one)) % 2 == 0) & (one.actions != MISSING)
            rejected = np.where(used, free.argmax(1), MISSING).astype(np.int8)
            writer.add(replace(one, actions=np.where(used, one.actions, MISSING).astype(np.int8), rejected=rejected))
    return opened(tmp_path / "pairs")


def test_pairs_come_back_from_the_disk_and_datasets_without_any_are_as_before(pairs: Dataset, dataset: Dataset) -> None:
    assert all((one.rejected != MISSING).any() for one in all_trajectories(pairs))
    assert (read_shard(dataset, 0).arrays["rejected"] == MISSING).all()


def test_a_run_learns_its_pairs_and_logs_accuracy_margin_and_kl(pairs: Dataset, small: Callable[..., Config]) -> None:
    data = {"data.train": [{"path": str(pairs.folder), "weight": 1.0}], "data.validate_on": [str(pairs.folder)]}
    size = {"data.batch_size": 4, "length.max_steps": 12, "checkpoints.every": 6, "optimizer.learning_rate": 0.001}
    finished = train(small("dpo", **data, **size))
    lines = [json.loads(line) for line in (finished.folder / "metrics.jsonl").read_text().splitlines()]
    steps = [line for line in lines if "pair_accuracy" in line]
    assert len(steps) == 12 and steps[0]["pair_accuracy"] == 0.5 and steps[0]["kl"] == pytest.approx(0, abs=1e-6)
    assert steps[-1]["kl"] > 0 and steps[-1]["reward_margin"] > 0
    held_out = [line["validation/pair_accuracy"] for line in lines if "validation/pair_accuracy" in line]
    assert len(held_out) == 2 and held_out[-1] > 0.75
    # The same command resumes it: nothing is left to do, and the reference is still the checkpoint that it started from.
    assert train(small("dpo", **data, **size)).step == 12


def test_a_rule_is_refused_the_dataset_that_it_cannot_use(
    pairs: Dataset, dataset: Dataset, small: Callable[..., Config]
) -> None:
    with pytest.raises(BadData, match="holds no pairs: `train preferences build` makes a dataset for `dpo`"):
        train(small("dpo"))
    told = {"data.train": [{"path": str(pairs.folder), "weight": 1.0}]}
    with pytest.raises(BadData, match=r"so they have no returns: use algorithm\.name: dpo or cloning"):
        train(small("tiny-offline-rl", **told))
    with pytest.raises(BadConfig, match="set one, `dpo` needs a reference"):
        train(small("dpo", **told, **{"network.start_from": ""}))


def test_the_command_takes_configurations_of_dpo_only() -> None:
    result = CliRunner().invoke(command, ["tiny"])
    assert isinstance(result.exception, BadConfig)
    assert str(result.exception) == "tiny: algorithm.name: cloning, not dpo: use `train base tiny`"
