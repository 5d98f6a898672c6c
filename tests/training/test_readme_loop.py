"""The README's story of the loop: each of its commands, one after the other, with everything in it made small."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from arena_helpers import PROJECT

from agents.search import builds
from training.shipped import FOLDERS, Kind, located, names

pytest.importorskip("torch")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]

#: Where it is not built, another coach, who tells no shares.
_COACH = "heuristic:expert" if builds.missing(1) else "search:mcts?iterations=40&samples=2"


def commands() -> list[str]:
    """The indented lines of the section, but for those that only set up."""
    section = re.search(
        r"^## The loop.*?(?=^## )", (PROJECT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    assert section
    lines = re.findall(r"^    (\S.*?)(?:\s{2,}#.*)?$", section[0], re.MULTILINE)
    return [line for line in lines if not line.startswith("make ")]


def small_curriculum(told: dict[str, Any]) -> dict[str, Any]:
    """The same stages, with a handful of battles and steps each."""
    told["pool"] |= {"agents": ["heuristic:max-damage", "poke-env:SimpleHeuristicsPlayer"], "battles": 4}
    told["evaluate_on"], told["hold_out"] = ["variety:10"], 0.0  # of so few pairs none might be held out
    told["training"]["length"]["most_steps"] = 3
    told["training"]["data"] |= {"batch": 4, "longest": 24}
    told["verdict"]["battles"] = 4
    for stage in told["stages"]:
        stage["battles"] = 12
        stage["teams"] = [{"set": "variety:10", "weight": 1, "growth": 2}]
        stage["gate"] = {"parent": stage["gate"]["parent"] | {"battles": 4}, "pool": stage["gate"]["pool"]}
        if stage["learner"]["watched_by"].startswith("search:"):
            stage["learner"] = stage["learner"] | {"watched_by": _COACH}
    return told


def small_ablation(told: dict[str, Any]) -> dict[str, Any]:
    """The same variants, with one seed, and few battles and steps."""
    told["seeds"] = [1]
    told["evaluation"] |= {"battles": 4, "opponents": ["heuristic:max-damage", "poke-env:SimpleHeuristicsPlayer"]}
    if told["kind"] == "train":
        told["base"]["length"]["most_steps"] = 2
        told["base"]["data"] |= {"batch": 2, "longest": 24, "validate_on": []}
        for order in told["data"].values():
            order |= {"most_decisions": 0, "hold_out": 0.0}
        told["equal"].remove("data")  # so few battles cannot be cut to the same size
    else:
        told["base"]["training"]["data"] |= {"batch": 4, "longest": 24}
        told["base"]["training"]["length"]["most_steps"] = 2
        for variant in told["grid"]["rounds"].values():
            rounds = len(variant["stages"])
            for stage in variant["stages"]:
                stage |= {"battles": 36 // rounds, "overrides": {"length.most_steps": 6 // rounds}}
                stage["teams"] = [{"set": "variety:10", "weight": 1, "growth": 1}]
    return told


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The shipped files made small: under their names, where a file wins over a shipped one, and at their old paths."""
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    kinds: dict[Kind, Callable[[dict[str, Any]], dict[str, Any]]] = {
        "curriculum": small_curriculum,
        "ablation": small_ablation,
    }
    for kind, small in kinds.items():
        old = scripts / FOLDERS[kind].name
        old.mkdir()
        for name in names(kind):
            if name != "qabra":
                told = small(yaml.safe_load(located(name, kind).read_text("utf-8")))
                for path in (tmp_path / name, old / f"{name}.yaml"):
                    path.write_text(yaml.safe_dump(told, sort_keys=False), "utf-8")
    for script in (PROJECT / "scripts").glob("*.py"):
        (scripts / script.name).symlink_to(script)
    return tmp_path


def test_the_story_can_be_lived(folder: Path) -> None:
    told = commands()
    assert sum("curriculum" in command for command in told) >= 4 and sum("ablate" in command for command in told) >= 2
    programs = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    for command in told:
        said = subprocess.run(
            command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert said.returncode == 0, f"{command}\n{said.stdout[-2000:]}\n{said.stderr[-2000:]}"
