"""The loss of training/offline/dpo.py is TRL's own: its trainer computes it on the same log-probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("trl")

from support.language_models import tiny_model  # noqa: E402

from training.offline.config import DPO  # noqa: E402
from training.offline.dpo import pair_loss  # noqa: E402

ROWS = [
    {"prompt": "Turn 1.\n", "chosen": "Action: move surf", "rejected": "Action: switch tauros"},
    {"prompt": "Turn 2.\n", "chosen": "Plan: use surf\nAction: move surf", "rejected": "nonsense"},
    {"prompt": "Turn 3.\n", "chosen": "Action: move blizzard", "rejected": "Action: move surf"},
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A policy and a reference of other weights, with the same tokenizer."""
    folder = tmp_path_factory.mktemp("models")
    return tiny_model(folder / "policy", seed=1), tiny_model(folder / "reference", seed=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("theirs", "ours", "smoothing"),
    [("sigmoid", "sigmoid", 0.0), ("robust", "robust", 0.2), ("sigmoid_norm", "sigmoid", 0.0)],
)
def test_the_loss_is_that_of_trls_trainer(
    theirs: str,
    ours: Any,
    smoothing: float,
    folders: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from datasets import Dataset  # here: every test process imports this module, and TRL takes seconds
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import DPOConfig, DPOTrainer

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    policy, reference = (AutoModelForCausalLM.from_pretrained(folder).eval() for folder in folders)
    tokenizer = AutoTokenizer.from_pretrained(folders[0])
    beta = 0.5
    arguments = DPOConfig(
        output_dir=str(tmp_path), loss_type=[theirs], beta=beta, label_smoothing=smoothing, bf16=False, use_cpu=True,
        gradient_checkpointing=False, per_device_train_batch_size=3, report_to="none", disable_tqdm=True,
    )  # fmt: skip
    trainer = DPOTrainer(
        policy, reference, arguments, train_dataset=Dataset.from_list(ROWS), processing_class=tokenizer
    )
    batch = next(iter(torch.utils.data.DataLoader(trainer.train_dataset, 3, collate_fn=trainer.data_collator)))
    found = trainer.compute_loss(trainer.model, batch).item()

    plain = [AutoModelForCausalLM.from_pretrained(folder).eval() for folder in folders]  # TRL replaces their last layer
    normalized = theirs == "sigmoid_norm"
    with torch.no_grad():
        ratios = {
            name: torch.stack([_ratio(plain, tokenizer, row["prompt"], row[name], normalized) for row in ROWS])
            for name in ("chosen", "rejected")
        }
    settings = DPO(
        name="dpo", loss=ours, beta=beta, label_smoothing=smoothing, unit="battle", length_normalized=normalized,
        value_weight=0.0,
    )  # fmt: skip
    loss = pair_loss(ratios["chosen"] - ratios["rejected"], settings).mean().item()
    assert loss == pytest.approx(found, abs=1e-5)
    assert abs(loss - 0.693147) > 1e-3, "policy and reference differ, so the loss is not that of the first step"


def _ratio(models: list[Any], tokenizer: Any, prompt: str, answer: str, normalized: bool) -> Any:
    """log π(answer) - log π_ref(answer), as the sum (or mean) over its tokens, its end included."""
    ids = torch.tensor([tokenizer(prompt + answer + tokenizer.eos_token)["input_ids"]])
    start = len(tokenizer(prompt)["input_ids"])
    sums = []
    for model in models:
        each = model(input_ids=ids).logits[0, :-1].log_softmax(-1).gather(1, ids[0, 1:, None])[start - 1 :, 0]
        sums.append(each.mean() if normalized else each.sum())
    return sums[0] - sums[1]
