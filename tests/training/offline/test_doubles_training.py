"""A run learns doubles where its data is of doubles: what was cloned or won comes back, and networks do not change sides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

pytest.importorskip("torch")

from agents.observation.layout import DOUBLES, SINGLES, Layout
from agents.policy import checkpoint
from agents.policy.network import Network
from agents.policy.shape import PRESETS
from training.data.shards import BadData, DatasetWriter
from training.data.targets import Target
from training.data.trajectory import Trajectory
from training.machines.memory.fitting import setup_of
from training.offline.config import Config
from training.offline.learner import build_network
from training.offline.run_data import RunData
from training.offline.trainer import train
from training.runs.config_reader import BadConfig, validated
from training.runs.shipped import text

LENGTH = 12


def trajectory(layout: Layout, seed: int, *, won: bool = True) -> Trajectory:
    """Decisions whose action follows from one token id; a side that lost has chosen the next move instead."""
    draw = np.random.default_rng(seed)
    actions = draw.integers(0, 4, LENGTH)
    token_ids = np.zeros((LENGTH, layout.tokens, layout.ids), np.int16)
    token_ids[:, layout.moves[0] : layout.moves[0] + 4, 0] = 5
    token_ids[np.arange(LENGTH), layout.moves[0] + actions, 0] = 9
    legal = np.zeros((LENGTH, layout.actions), np.bool_)
    actions = actions if won else (actions + 1) % 4
    chosen = actions * 4 + 2 if layout is DOUBLES else actions
    legal[:, [4 * move + 2 for move in range(4)] if layout is DOUBLES else [0, 1, 2, 3]] = True
    return Trajectory(
        token_ids=token_ids,
        features=np.zeros((LENGTH, layout.tokens, layout.features), np.float16),
        legal=legal,
        actions=chosen.astype(np.int8),
        target_policy=np.zeros((LENGTH, layout.actions), np.float16),
        targets=np.full(LENGTH, Target.CHOICE, np.int8),
        values=np.full(LENGTH, np.nan, np.float16),
        result=float(won),
        about={"format": "gen9doublesou" if layout is DOUBLES else "gen9ou"},
    )


def dataset(folder: Path, layout: Layout, *, won: bool = True) -> str:
    with DatasetWriter(folder, {}) as writer:
        for seed in range(8):
            writer.add(trajectory(layout, seed, won=won))
    return str(folder)


def configured(out: Path, train_on: list[str], steps: int, start: str = "tiny", **network: str) -> Config:
    told = yaml.safe_load(text(start, "preset")) | {"out": str(out)}
    told["data"] |= {
        "train": [{"path": path, "weight": 1.0} for path in train_on], "validate_on": train_on[:1], "batch_size": 4,
        "max_length": LENGTH,
    }  # fmt: skip
    told["network"] |= {"preset": "micro", **network}
    told["length"] = {"epochs": steps / 2, "max_steps": 0}
    told["optimizer"] |= {"learning_rate": 0.01, "warmup_steps": 1}
    told["checkpoints"] |= {"every": steps}
    told["evaluation"] |= {"every": 0}
    told["compute"] |= {"threads": 1}
    told["tracking"] |= {"wandb": "disabled"}
    return validated(Config, told, "test")


def test_a_run_on_doubles_makes_a_network_of_doubles_that_has_learned_them(tmp_path: Path) -> None:
    doubles, singles = dataset(tmp_path / "doubles", DOUBLES), dataset(tmp_path / "singles", SINGLES)
    config = configured(tmp_path / "run", [doubles], 40)
    assert setup_of(config, 1, "cpu").shape.slots == 2
    finished = train(config)
    folder = checkpoint.folder_of(finished.folder, finished.step)
    network, about = checkpoint.load(folder)
    assert network.shape.slots == 2 and about.layout is DOUBLES
    assert about.metrics["agreement"] > 0.9
    with pytest.raises(BadData, match=r"of singles, and .+ is of doubles"):
        RunData(configured(tmp_path / "other", [doubles, singles], 4))
    with pytest.raises(BadConfig, match="plays doubles, and the data is of singles"):
        train(configured(tmp_path / "further", [singles], 4, start_from=str(folder)))
    of_singles = checkpoint.save(tmp_path / "s" / "checkpoints" / "step-000000001", Network(PRESETS["micro"]), 1)
    with pytest.raises(BadConfig, match="plays singles, and the data is of doubles"):
        train(configured(tmp_path / "further", [doubles], 4, start_from=str(of_singles)))


@pytest.mark.parametrize("policy_filter", ["binary", "exponential"])
def test_offline_rl_on_doubles_learns_what_the_winners_chose(tmp_path: Path, policy_filter: str) -> None:
    """Of battles that are cut, too: half of the decisions are those of sides that lost, in the same states."""
    won, lost = dataset(tmp_path / "won", DOUBLES), dataset(tmp_path / "lost", DOUBLES, won=False)
    config = configured(tmp_path / "run", [won, lost], 80, "tiny-offline-rl")
    told = config.model_dump()
    told["data"]["max_length"] = LENGTH - 4
    told["algorithm"]["filter"] = policy_filter
    finished = train(validated(Config, told, "test"))
    network, about = checkpoint.load(checkpoint.folder_of(finished.folder, finished.step))
    assert network.shape.slots == 2 and about.layout is DOUBLES
    assert about.metrics["agreement"] > 0.9, "of the winners' decisions, on which it is validated"
    assert 0 < about.metrics["value_loss"] < np.log(51), "less than of a value that knows nothing"


def test_a_network_for_each_slot_is_refused_as_a_start(tmp_path: Path) -> None:
    two = Network(replace(PRESETS["micro"], slots=2, policies=2))
    folder = checkpoint.save(checkpoint.folder_of(tmp_path / "two", 1), two, 1)
    config = configured(tmp_path / "run", ["nowhere"], 1, start_from=str(folder), preset="micro")
    with pytest.raises(BadConfig, match="has a network for each slot, which only `train online` trains"):
        build_network(config.network, None, 2)
