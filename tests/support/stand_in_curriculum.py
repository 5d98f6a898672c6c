"""A curriculum whose checkpoints are rule players and whose training is a table: quick, and the same battle by battle.

python stand_in_curriculum.py CONFIG      what `train curriculum run CONFIG` does, with the table in the place of training
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console

from training.experiments.curriculum import learn, loop
from training.experiments.curriculum.config import SET_HERE_ONLINE, Curriculum
from training.experiments.curriculum.learn import Learned
from training.offline.config import Config
from training.runs.config_reader import load
from training.runs.shipped import FOLDERS

SHIPPED = FOLDERS["curriculum"]
BASE = "heuristic:max-power"
#: The folder of an attempt -> what its training comes to.
LEARNED = {
    "01-first/attempt-1": "random",
    "01-first/attempt-2": "heuristic:expert",
    "02-worse/attempt-1": "poke-env:RandomPlayer",
    "03-selves/attempt-1": "heuristic:staller",
}
_LEARNING_SECONDS = 0.4


def toy(out: Path, **changes: Any) -> dict[str, Any]:
    """The shipped curriculum made small, as YAML holds it: three stages, of which the second is always rejected."""
    told = yaml.safe_load((SHIPPED / "gen1ou-cpu.yaml").read_text())
    told |= {"name": "toy", "out": str(out), "base": BASE, "hold_out": 0.0, "held_out": ["variety:12"], "workers": 1}
    told["evaluate_on"] = ["competitive"]
    told["pool"] |= {"agents": ["heuristic:max-damage", "poke-env:MaxBasePowerPlayer"], "battles": 4}
    told["think_limit"] = 60.0
    told["training"]["algorithm"]["targets"] = "choices"  # nobody watches the learner
    told["final_test"] |= {"against": "first", "elo1": 150, "alpha": 0.2, "beta": 0.2, "battles": 60}
    first = told["stages"][0] | {
        "name": "first",
        "battles": 12,
        "coaches": [{"agent": "heuristic:max-damage", "weight": 1}, {"agent": "poke-env:RandomPlayer", "weight": 1}],
        "teams": [{"set": "variety:8", "weight": 1, "growth": 2}, {"set": "competitive", "weight": 1, "growth": 1}],
        "retries": [{"epochs": 1}],
    }
    first["learn_from"] = first["learn_from"] | {"learner": {"policy_from": "won", "value_from": "all", "weight": 1}}
    first["learner"] = {"temperature": 0, "expert": ""}
    first["past"] = first["past"] | {"temperature": 0}
    first["gate"] = {
        "parent": {
            "require": "H1", "elo0": 0, "elo1": 150, "alpha": 0.2, "beta": 0.2, "model": "normalized", "battles": 60,
        },
        "pool": {"by": "high", "tolerance": 0},
    }  # fmt: skip
    worse = first | {"name": "worse", "retries": []}
    selves = first | {"name": "selves", "coaches": [], "retries": []}
    selves["past"] = first["past"] | {"weight": 1, "sampling": "prioritised"}
    selves["learn_from"] = {
        "learner": {"policy_from": "all", "value_from": "all", "weight": 1},
        "coaches": {"policy_from": "none", "value_from": "none", "weight": 0},
        "earlier": 0.5,
        "also": [],
    }
    selves["gate"] = {
        "parent": first["gate"]["parent"] | {"require": "nothing"},
        "pool": {"by": "nothing", "tolerance": 0},
    }
    return told | {"stages": [first, worse, selves]} | changes


def online_settings(preset: str = "ppo") -> dict[str, Any]:
    """A shipped configuration of online training without what a curriculum sets: `online` of a stage."""
    told: dict[str, Any] = yaml.safe_load((FOLDERS["online"] / f"{preset}.yaml").read_text())
    for key in SET_HERE_ONLINE:
        *way, last = key.split(".")
        inside = told
        for name in way:
            inside = inside[name]
        del inside[last]
    return told


def learned(config: Curriculum, told: Config) -> Learned:
    """The table, in the place of training."""
    time.sleep(_LEARNING_SECONDS)
    return Learned(LEARNED["/".join(Path(told.out).parts[-2:])], 10)


def run(path: Path, console: Console) -> None:
    """Goes on with the curriculum of a file."""
    kept = loop.pinned, loop.check_sizes, learn.learn
    loop.pinned, loop.check_sizes, learn.learn = (lambda spec: spec), (lambda config, base: None), learned
    try:
        loop.run_curriculum(load(Curriculum, path), console, "the same command")
    finally:
        loop.pinned, loop.check_sizes, learn.learn = kept


if __name__ == "__main__":
    run(Path(sys.argv[1]), Console())
