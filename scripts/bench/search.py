"""How strong is the search agent, and what does a decision cost it? Its win rate against another agent, with an interval.

Plays an `arena match` (pairs: both teams with either seat) and prints the share of the points with its 95% interval over
pairs, the milliseconds of a decision (median and 99th percentile), the iterations of its searches, and its failures.

    python scripts/bench/search.py [--agent search:mcts] [--against heuristic:expert] [--format gen1ou] [--battles 200]
        [--workers N] [--seed 0] [--db FILE]

Needs poke-engine: `make search`. The strength of a search limited by time depends on the machine and on what else it does.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import orjson

from agents import resolve
from arena.ratings.pentanomial import PAIR_SCORES, Z95, pair_counts
from arena.ratings.rates import PRIOR_PAIRS
from arena.report.numbers import counted
from arena.run.tournament import EvaluateSettings, play_into
from arena.schedules.match import Match
from arena.store import rows
from arena.workers.local_pool import default_workers


def share(points: list[float]) -> tuple[float, float, float]:
    """The share of the points and its 95% interval, from the points of pairs (0 to 2 each).

    For the interval there is a prior of PRIOR_PAIRS, half won and half lost: two pairs won are no certainty.
    """
    counts = pair_counts(points)
    prior = counts + np.array([PRIOR_PAIRS / 2, 0, 0, 0, PRIOR_PAIRS / 2])
    middle = float(prior @ PAIR_SCORES / prior.sum())
    spread = float(np.sqrt(prior @ (PAIR_SCORES - middle) ** 2) / prior.sum())
    return float(counts @ PAIR_SCORES / counts.sum()), max(0.0, middle - Z95 * spread), min(1.0, middle + Z95 * spread)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", default="search:mcts")
    parser.add_argument("--against", default="heuristic:expert")
    parser.add_argument("--format", default="gen1ou")
    parser.add_argument("--battles", type=int, default=200)
    parser.add_argument("--workers", type=int, default=default_workers())
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--db", type=Path)
    options = parser.parse_args()
    agent, other = resolve(options.agent).spec, resolve(options.against).spec
    with tempfile.TemporaryDirectory() as folder:
        db = options.db or Path(folder) / "search.duckdb"
        settings = EvaluateSettings(
            agents=(agent, other),
            formats=(options.format,),
            schedule="match",
            battles=options.battles,
            seed=options.seed,
            anchor=other,
        )
        played = play_into(db, settings, kind="match", workers=options.workers)
        assert isinstance(played.schedule, Match)
        report(agent, other, played.schedule, db, played.run.run_id)


def report(agent: str, other: str, match: Match, db: Path, run_id: str) -> None:
    points = match.points
    mean, low, high = share(points)
    print(
        f"{agent} against {other}: {mean:.1%} [{low:.1%}, {high:.1%}] of the points in {counted(len(points), 'pair')}"
    )
    decisions = rows(
        "SELECT d.think_ms, d.diagnostics FROM decisions d JOIN battles b USING (battle_id)"
        " WHERE b.run_id = ? AND CASE d.seat WHEN 'p1' THEN b.p1 ELSE b.p2 END = ? AND d.diagnostics IS NOT NULL",
        db,
        [run_id, agent],
    )
    diagnostics = [orjson.loads(text) for _, text in decisions]
    times = np.array([ms for ms, _ in decisions])
    iterations = [each["iterations"] for each in diagnostics if "iterations" in each]
    print(f"a decision: {np.median(times):.0f} ms, 99th percentile {np.quantile(times, 0.99):.0f} ms")
    print(
        f"iterations of a decision: {np.median(iterations):.0f}; failed: {sum('failed' in each for each in diagnostics)}"
    )


if __name__ == "__main__":
    main()
