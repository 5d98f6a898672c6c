"""A curriculum in doubles: `heuristic:expert` labels a learner's own decisions, slot by slot, at toy size."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console
from support.stand_in_curriculum import SHIPPED

pytest.importorskip("torch")

from agents.observation.layout import DOUBLES
from agents.policy import checkpoint
from arena.store import rows
from training.data.shards import opened
from training.experiments.curriculum.config import Curriculum
from training.experiments.curriculum.loop import run_curriculum
from training.experiments.curriculum.store import CurriculumStore
from training.runs.config_reader import BadConfig, validated

FORMAT = "gen9randomdoublesbattle"
EXPERT = "heuristic:expert"


def small(out: Path, base: str = "new") -> dict[str, Any]:
    """Two stages of the shipped curriculum in which an expert labels decisions, with four battles each."""
    told: dict[str, Any] = yaml.safe_load((SHIPPED / "gen9ou-cpu.yaml").read_text())
    told |= {
        "name": "small",
        "out": str(out),
        "format": FORMAT,
        "base": base,
        "held_out": [],
        "workers": 1,
        "hold_out": 0,
    }
    told["pool"] |= {"agents": ["random", "heuristic:max-power"], "battles": 2, "anchor": "random"}
    told["training"]["network"] |= {"preset": "micro"}
    told["training"]["data"] |= {"batch_size": 4}
    told["training"]["optimizer"] |= {"warmup_steps": 1}
    told["training"]["compute"] |= {"threads": 1}
    told["final_test"] |= {"against": "base", "teams": [], "battles": 2}
    for stage in told["stages"]:
        stage |= {
            "opponents": [{"agent": "heuristic:max-power", "weight": 1}],
            "coaches": [{"agent": EXPERT, "weight": 1}],
            "teams": [],
            "battles": 4,
            "epochs": 2,
            "retries": [],
            "gate": stage["gate"] | {"parent": stage["gate"]["parent"] | {"require": "nothing"}},
        }
        stage["gate"]["pool"] = stage["gate"]["pool"] | {"by": "nothing"}
    return told


@pytest.mark.slow
def test_two_stages_are_played_learned_and_evaluated(tmp_path: Path) -> None:
    config = validated(Curriculum, small(tmp_path / "small"), "small.yaml")
    run_curriculum(config, Console(file=io.StringIO()), "the same command")
    store = CurriculumStore(config.db, config.name)
    base, first, last = store.lineage()
    assert all(
        checkpoint.load(checkpoint.find(spec.removeprefix("policy:")))[1].layout is DOUBLES for spec in (base, last)
    )
    assert first.endswith("01-labelled/attempt-1@3") and store.attempts()[1].parent == first
    learner = store.attempts()[1].learner
    assert learner is not None and learner.startswith(f"coached?coach={EXPERT}&learner=policy:")
    for attempt in store.attempts():
        assert attempt.status == "kept" and attempt.datasets is not None
        assert [opened(Path(each["path"])).slots for each in attempt.datasets] == [2, 2], (
            "the learner's and the expert's"
        )
    labels = rows(
        "SELECT diagnostics FROM decisions JOIN results USING (battle_id, seat) WHERE agent = ?", config.db, [learner]
    )
    assert len(labels) > 20 and all(json.loads(text)["coach"] for (text,) in labels)
    assert rows("SELECT count(*) FROM faults", config.db) == [(0,)]
    assert rows("SELECT gate FROM gates WHERE passed IS NOT NULL", config.db) == [("verdict: against base",)]


def test_a_base_that_plays_singles_is_refused_before_a_battle(tmp_path: Path) -> None:
    config = validated(Curriculum, small(tmp_path / "small", "gen9ou-tiny"), "small.yaml")
    with pytest.raises(BadConfig, match=r"^base: .+ plays singles only, not doubles: choose a format of singles"):
        run_curriculum(config, Console(file=io.StringIO()), "the same command")
    assert rows("SELECT count(*) FROM battles", config.db) == [(0,)]
