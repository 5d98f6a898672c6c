"""What a checkpoint is measured by: of each held-out dataset by itself, and of all as the mixture weighs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from agents.policy.network import Network  # noqa: E402
from agents.policy.shape import PRESETS  # noqa: E402
from training.data.shards import Dataset, DatasetWriter, all_trajectories, opened  # noqa: E402
from training.data.stream import padded  # noqa: E402
from training.offline.config import Config, Data, Source  # noqa: E402
from training.offline.losses import LOSSES  # noqa: E402
from training.offline.tensors import local_means, to_device  # noqa: E402
from training.offline.trainer import train  # noqa: E402
from training.offline.validation import held_out_parts, validated  # noqa: E402


@pytest.fixture
def parts(dataset: Dataset, tmp_path: Path) -> list[Dataset]:
    """Two held-out parts of very different sizes: three trajectories, and all others."""
    every = list(all_trajectories(dataset))
    for name, chosen in (("few-held-out", every[:3]), ("many-held-out", every[3:])):
        with DatasetWriter(tmp_path / name, {"where": "test"}) as writer:
            for one in chosen:
                writer.add(one)
    return [opened(tmp_path / name) for name in ("few-held-out", "many-held-out")]


def test_each_dataset_counts_as_the_mixture_has_it(
    parts: list[Dataset], tmp_path: Path, small: Callable[..., Config]
) -> None:
    few, many = parts
    data = Data(
        train=[Source(path=str(tmp_path / "few"), weight=3), Source(path=str(tmp_path / "many"), weight=1)],
        validate_on=[str(few.folder), str(many.folder)],
        batch_size=4,
        max_length=10_000,
    )
    held_out = held_out_parts(data)
    assert [(part.name, part.weight) for part in held_out] == [("few-held-out", 3), ("many-held-out", 1)]
    elsewhere = few.folder.rename(tmp_path / "elsewhere")
    known_and_not = data.model_copy(update={"validate_on": [str(many.folder), str(elsewhere)]})
    assert [part.weight for part in held_out_parts(known_and_not)] == [1, 1], "as the known ones on average"
    elsewhere.rename(few.folder)
    torch.manual_seed(0)
    network = Network(PRESETS["tiny"])
    settings = small().algorithm

    def loss(network: Any, batch: Any) -> Any:
        output = network(batch.token_ids, batch.features, batch.legal, batch.valid_mask)
        return LOSSES[settings.name](output, batch, settings)

    found = validated(network, held_out, data, torch.device("cpu"), loss)
    network.eval()
    means, sizes = [], []
    for part in parts:
        batch = padded(list(all_trajectories(part)))
        with torch.no_grad():
            means.append(local_means(loss(network, to_device(batch, torch.device("cpu")))[1])["policy_loss"])
        sizes.append(part.decisions / part.trajectories)
    assert found["few-held-out/policy_loss"] == pytest.approx(means[0], rel=1e-4)
    assert found["many-held-out/policy_loss"] == pytest.approx(means[1], rel=1e-4)
    shares = [3 * sizes[0], sizes[1]]  # weights are of trajectories, and a mean is of decisions
    together = sum(share * mean for share, mean in zip(shares, means, strict=True)) / sum(shares)
    assert found["policy_loss"] == pytest.approx(together, rel=1e-4)
    # By their sizes alone it would be the large one's.
    assert abs(together - means[1]) > 0.2 * abs(means[0] - means[1])


def test_a_run_says_how_often_it_goes_through_each_dataset_and_measures_each(
    parts: list[Dataset], small: Callable[..., Config], capsys: pytest.CaptureFixture[str]
) -> None:
    few, many = (str(part.folder) for part in parts)
    sources = [{"path": few, "weight": 1.0}, {"path": many, "weight": 1.0}]
    config = small(
        **{"data.train": sources, "data.validate_on": [few, many], "length.epochs": 30, "length.max_steps": 3}
    )
    train(config)
    err = capsys.readouterr().err
    rest = parts[1].trajectories
    assert f"passes over the data: {few} 2.0 times; {many} {6 / rest:.1f} times" in err
    lines = [json.loads(line) for line in (Path(config.out) / "metrics.jsonl").read_text().splitlines()]
    (last,) = [line for line in lines if "validation/policy_loss" in line and line["step"] == 3]
    assert {"validation/few-held-out/policy_loss", "validation/many-held-out/agreement"} <= last.keys()
