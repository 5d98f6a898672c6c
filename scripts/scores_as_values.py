"""A dataset as it was before 2026-11-23: an expert's score, cut to [0, 1], stands for its chance to win.

For the ablation `targets` alone, which measures what that did to players:

    python scripts/scores_as_values.py --db runs/gen1ou-cpu/arena.duckdb --where "agent = 'heuristic:expert'" \\
        --expert --out data/expert-scores
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from teamsets.errors import ArenaError
from training.data import trajectory as observing
from training.data.from_store import StoredSide, selected, trajectories, trajectory
from training.data.gates import Gates
from training.data.shards import DatasetWriter


def score(diagnostics: dict[str, Any] | None, agent: str, refused: Counter[str]) -> float:
    """The score that an agent left with a decision, cut to [0, 1]; NaN where it left none."""
    found = (diagnostics or {}).get("score")
    return math.nan if found is None else min(max(float(found), 0.0), 1.0)


def with_scores(side: StoredSide, *, by_expert: bool) -> observing.Trajectory | None:
    """A side's trajectory whose values are scores. In a process of its own: it stays changed."""
    observing.win_probability = score
    return trajectory(side, by_expert=by_expert)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--db", type=Path, required=True)
    parser.add_argument("--where", required=True, help="as for `train data build`")
    parser.add_argument("--expert", action="store_true", help="as for `train data build`")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    try:
        chosen = Gates(drop_faulty=True).passed(asked.db, selected(asked.db, asked.where), Counter())
        about = {"source": "scores as values", "database": str(asked.db), "where": asked.where}
        with DatasetWriter(asked.out, about) as writer:
            for one in trajectories(asked.db, chosen, by_expert=asked.expert, make=with_scores):
                writer.add(one)
    except ArenaError as error:
        print(f"scores_as_values.py: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
