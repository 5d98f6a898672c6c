"""A curriculum with a stage of online training, played and trained for real at toy size."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console
from support.stand_in_curriculum import SHIPPED, online_settings

pytest.importorskip("torch")

from agents.policy import checkpoint
from arena.store import rows
from training.experiments.curriculum.config import Curriculum
from training.experiments.curriculum.loop import run_curriculum
from training.experiments.curriculum.report import PAGE
from training.experiments.curriculum.store import CurriculumStore
from training.runs.config_reader import validated

pytestmark = pytest.mark.slow


def small(out: Path) -> dict[str, Any]:
    """One stage, from random weights of `micro`."""
    told: dict[str, Any] = yaml.safe_load((SHIPPED / "gen1ou-cpu.yaml").read_text())
    online = online_settings()
    online["iterations"], online["rollout"]["battles"], online["compute"]["threads"] = 2, 6, 1
    online["rollout"]["teams"] = [{"set": "variety:8", "weight": 1.0}]
    online["checkpoints"]["every"], online["tracking"]["wandb"] = 1, "disabled"
    gate = told["stages"][0]["gate"]
    gate["parent"]["require"], gate["pool"]["by"] = "nothing", "nothing"
    told |= {
        "name": "small",
        "out": str(out),
        "base": "new",
        "held_out": ["competitive"],
        "evaluate_on": [],
        "workers": 1,
    }
    told["pool"] |= {"agents": ["random", "heuristic:max-damage"], "battles": 2, "anchor": "random"}
    told["training"]["network"]["preset"] = "micro"
    told["final_test"] |= {"against": ""}
    return told | {
        "stages": [{"kind": "online", "name": "league", "online": online, "gate": gate, "retries": []}],
    }


def test_it_trains_is_kept_and_evaluated_and_a_second_start_repeats_nothing(tmp_path: Path) -> None:
    config = validated(Curriculum, small(tmp_path / "small"), "small.yaml")
    said = io.StringIO()
    run_curriculum(config, Console(file=said, width=200), "the same command")
    assert "stage league: online training, 2 iterations from policy:" in said.getvalue()
    store = CurriculumStore(config.db, config.name)
    base, last = store.lineage()
    folder = tmp_path / "small/01-league/attempt-1"
    assert last == f"policy:{folder}@2" and max(checkpoint.steps_of(folder)) == 2
    assert store.attempts()[0].play_run is None and store.attempts()[0].status == "kept"
    assert (tmp_path / "small" / PAGE).exists()
    played = rows("SELECT count(*) FROM battles", config.db)
    run_curriculum(config, Console(file=said, width=200), "the same command")
    assert rows("SELECT count(*) FROM battles", config.db) == played
    assert store.measured(last) is not None and base != last


def test_gates_and_evaluations_are_played_on_the_engine_where_it_knows_the_agents(tmp_path: Path) -> None:
    settings = small(tmp_path / "small") | {"venue": "engine"}
    settings["stages"][0]["gate"]["parent"] |= {"require": "not H0", "battles": 40}
    config = validated(Curriculum, settings, "small.yaml")
    run_curriculum(config, Console(file=io.StringIO(), width=200), "the same command")
    met = rows(
        "SELECT DISTINCT venue, ((p1 = 'heuristic:max-damage') OR (p2 = 'heuristic:max-damage'))::INT FROM battles "
        "ORDER BY ALL",
        config.db,
    )
    assert met == [("engine", 0), ("simulator", 1)]
    ((played,),) = rows("SELECT count(*) FROM battles JOIN gates USING (run_id) WHERE gate = 'parent'", config.db)
    assert 0 < played <= 40
