"""`train ablate`, end to end: killed at any moment it goes on, and every battle and step is there once."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from support.command_line import Said, start_arena, wait
from support.tournaments import table

pytest.importorskip("torch")

from arena.store import rows


@pytest.fixture
def config(settings: dict[str, Any], tmp_path: Path) -> Path:
    path = tmp_path / "toy.yaml"
    path.write_text(yaml.safe_dump(settings))
    return path


@pytest.mark.slow
def test_a_dry_run_prints_the_cells_and_makes_nothing(
    config: Path, settings: dict[str, Any], train_command: Callable[..., Said]
) -> None:
    said = train_command("ablate", config, "--dry-run", cwd=config.parent)
    assert said.code == 0, said.err
    assert "toy: 4 cells, 2 variants with the seeds 1, 2" in said.out
    assert "equal: parameters\nequal: data (decisions)\nequal: compute (processed and batch)" in said.out
    assert "held-out battles: 8 per cell, 32 in total" in said.out
    assert not Path(settings["out"]).exists()


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_an_ablation_killed_in_between_ends_in_a_table(
    config: Path, settings: dict[str, Any], train_command: Callable[..., Said]
) -> None:
    def run() -> Said:
        return train_command("ablate", config, cwd=config.parent)

    out, generator = Path(settings["out"]), random.Random(4)
    marks = ["data/winners", "cells/winners-1/checkpoints/step-*2", "cells/both-1/held-out.json"]
    for mark in marks:
        with start_arena("ablate", config, cwd=config.parent, program="train") as process:
            wait(lambda mark=mark, process=process: list(out.glob(mark)) or process.poll() is not None, 400)
            time.sleep(generator.uniform(0, 1))
            process.send_signal(signal.SIGKILL)
    said = run()
    assert said.code == 0, said.err
    found = json.loads((out / "results.json").read_text())
    assert [one["variant"] for one in found["variants"]] == ["both", "winners"]
    sizes = [one["sizes"] for one in found["variants"]]
    steps = {one["variant"]: one["sizes"]["steps"] for one in found["variants"]}
    assert max(steps.values()) == 2
    assert abs(sizes[0]["decisions"] - sizes[1]["decisions"]) <= 0.02 * sizes[0]["decisions"]
    # Every battle once, the same teams and seeds for all four checkpoints, and their scores in the table.
    db = Path(settings["evaluation"]["database"])
    assert found["battles"] == 32 and len({row[0] for row in table(db, "key")}) == len(table(db, "key")) == 32
    luck = rows("SELECT count(*) FROM battles GROUP BY seed, p1_team, p2_team, p1 LIKE 'policy:%' ORDER BY ALL", db)
    assert luck == [(4,)] * 8
    stored = rows("SELECT avg(score) FROM results WHERE agent LIKE '%/winners-%'", db)[0][0]
    assert found["variants"][1]["score"] == pytest.approx(stored)
    for one in found["variants"]:
        assert 0 <= one["low"] <= one["score"] <= one["high"] <= 1
    for cell in os.listdir(out / "cells"):
        lines_of_cell = (out / "cells" / cell / "metrics.jsonl").read_text().splitlines()
        assert len(lines_of_cell) == steps[cell.rpartition("-")[0]]
    # The words and the files say the same.
    assert all(sentence in said.out for sentence in found["sentences"])
    assert "# Ablation: toy" in (out / "results.md").read_text()
    lines = list(csv.DictReader((out / "results.csv").open()))
    assert len(lines) == 2 * (1 + 2 + 2)
    plot = "".join(ElementTree.parse(out / "results.svg").getroot().itertext())
    assert f"{found['differences'][0]['better']} minus {found['differences'][0]['worse']}" in plot
    # Nothing is left to do, and nothing is done.
    before = rows("SELECT count(*) FROM runs", db)
    assert run().code == 0 and rows("SELECT count(*) FROM runs", db) == before
    assert json.loads((out / "results.json").read_text()) == found
    # Another ablation does not go into its folder.
    config.write_text(yaml.safe_dump({**settings, "sample_seed": 4}))
    said = run()
    assert said.code == 2 and "was started with other settings (sample_seed " in said.err
