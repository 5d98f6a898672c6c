"""A toy ablation: a tiny network, really played datasets, a dozen battles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from training.data.shards import Dataset
from training.offline.config import Config

Small = Callable[..., Config]


@pytest.fixture
def settings(small: Small, dataset: Dataset, played: Path, tmp_path: Path) -> dict[str, Any]:
    """Settings of an ablation of data, as YAML would hold them: a dataset that is there against one to be built."""
    base = small(**{"data.train": [{"path": "both", "weight": 1.0}], "length.max_steps": 2}).model_dump(mode="json")
    return {
        "name": "toy",
        "out": str(tmp_path / "toy"),
        "kind": "train",
        "base": base,
        "seeds": [1, 2],
        "data": {
            "both": {"path": str(dataset.folder), "max_decisions": 0},
            "winners": {
                "database": str(played),
                "where": "won AND format IN ('gen1ou', 'gen9ou')",
                "hold_out": 0.2,
                "max_decisions": 0,
            },
        },
        "sample_seed": 3,
        "equal": ["parameters", "data", "compute"],
        "grid": {
            "data": {
                "both": {"data.train": [{"path": "both", "weight": 1.0}]},
                "winners": {"data.train": [{"path": "winners", "weight": 1.0}]},
            }
        },
        "evaluation": {
            "checkpoint": "last",
            "opponents": ["random", "heuristic:max-power"],
            "formats": ["gen1ou"],
            "teams": ["competitive"],
            "battles": 4,
            "seed": 1000,
            "workers": 1,
            "database": str(tmp_path / "held-out.duckdb"),
        },
    }
