"""What the scripts that play the exact search with itself share: their options, the draw of an action, files of battles."""

from __future__ import annotations

import argparse
import io
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from teamsets.atomic import write_atomic

#: Of a battle's n positions: name -> an array of n; "won" among them.
Arrays = dict[str, Any]


def parser(description: str | None, iterations: int, teams: str | None = None) -> argparse.ArgumentParser:
    """The options. iterations, teams: the defaults; without teams they have to be given."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    made.add_argument("--battles", type=int, default=1000, metavar="N")
    made.add_argument("--part", type=int, default=250, metavar="N", help="battles in a file")
    made.add_argument("--seed", type=int, default=0, metavar="S")
    made.add_argument("--iterations", type=int, default=iterations, metavar="N", help="of the search, each turn")
    made.add_argument("--temperature", type=float, default=0.5, metavar="T")
    made.add_argument("--any", type=float, default=0.03, metavar="P", help="probability of any legal action")
    made.add_argument("--teams", default=teams, required=teams is None, metavar="SET")
    made.add_argument("--weights", default="network", metavar="WEIGHTS", help="of the search")
    return made


def sampled(visits: Any, legal: int, rng: random.Random, options: argparse.Namespace) -> int:
    """An action by the visits to the power of 1/T, now and then any that is legal. visits [A]; legal: as bits."""
    possible = [action for action in range(len(visits)) if legal >> action & 1]
    if rng.random() < options.any:
        return rng.choice(possible)
    most = max(visits[action] for action in possible)
    return rng.choices(possible, [(visits[action] / most) ** (1 / options.temperature) for action in possible])[0]


def play_parts(options: argparse.Namespace, battle: Callable[[int], Arrays], named: Arrays | None = None) -> None:
    """Plays battles by their numbers and writes them in files; one that exists is not played again.

    named: arrays that each file has besides.
    """
    options.out.mkdir(parents=True, exist_ok=True)
    for part in range(-(-options.battles // options.part)):
        file = options.out / f"{options.seed}-{part}.npz"
        if file.exists():
            continue
        began, numbers = (
            time.perf_counter(),
            range(part * options.part, min(options.battles, (part + 1) * options.part)),
        )
        played = [battle(number) for number in numbers]
        content = io.BytesIO()
        arrays: Arrays = {name: np.concatenate([one[name] for one in played]) for name in played[0]}
        np.savez_compressed(content, **arrays, **(named or {}))
        write_atomic(file, content.getvalue())
        positions = sum(len(one["won"]) for one in played)
        print(f"{file}: {positions:,} positions in {time.perf_counter() - began:.0f} s", flush=True)
