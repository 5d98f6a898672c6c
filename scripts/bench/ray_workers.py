"""What Ray costs: battles a second of the same run on worker processes of this machine and on a Ray cluster of it, in turns.

    python scripts/bench/ray_workers.py [--battles 400] [--rounds 7] [--workers 2] [--formats gen1randombattle]

Both sides have the same number of workers and play the same fixtures. Counting begins when the workers have had their first
battles, so the start of the processes and of the cluster is not in it. Each round plays both, the order changes from round
to round; a first round is not counted. Ray is started once. Prints a line for each round, then the median of the ratios.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from arena.cluster.connecting import reached
from arena.runner.progress import Progress
from arena.tournament import EvaluateSettings, play_into

AGENTS = ("poke-env:RandomPlayer", "random")
#: Battles of each worker before counting begins.
WARM = 15


def speed(on: str | None, format_id: str, battles: int, workers: int, seed: int) -> float:
    """Battles a second of a run between its first and its last battles."""
    marks: list[tuple[float, int]] = []

    def mark(progress: Progress) -> None:
        marks.append((time.perf_counter(), progress.played))

    warm = WARM * workers
    settings = EvaluateSettings(agents=AGENTS, formats=(format_id,), battles=battles + 2 * warm, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        play_into(Path(folder) / "bench.duckdb", settings, workers=workers, on=on, show=mark)
    # The last battles are left out, too: they end one by one, with workers idle.
    counted = [found for found in marks if warm <= found[1] <= battles + warm]
    (began, first), (ended, last) = counted[0], counted[-1]
    return (last - first) / (ended - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battles", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--formats", nargs="+", default=["gen1randombattle"])
    options = parser.parse_args()
    with reached("ray", options.workers):  # started once, and used by all turns on Ray
        for format_id in options.formats:
            ratios = []
            for turn in range(options.rounds + 1):
                sides = (None, "ray") if turn % 2 == 0 else ("ray", None)
                found = {on: speed(on, format_id, options.battles, options.workers, turn) for on in sides}
                ratio = found["ray"] / found[None]
                print(
                    f"{format_id}, {options.workers} workers: processes {found[None]:.1f}, "
                    f"Ray {found['ray']:.1f} battles/s, "
                    f"ratio {ratio:.3f}{'' if turn else ' (not counted)'}",
                    flush=True,
                )
                if turn:  # in the first one Ray's own processes are still starting
                    ratios.append(ratio)
            print(
                f"{format_id}, {options.workers} workers: Ray has {statistics.median(ratios):.3f} of the battles/s of "
                f"processes (median of {len(ratios)} rounds)",
                flush=True,
            )


if __name__ == "__main__":
    main()
