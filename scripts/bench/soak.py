"""Does a long run stay quick and small? Plays thousands of battles in one run and compares its last tenth with its first.

Prints, for each tenth of the run, battles/s and the memory (resident, MB) of the coordinator, of the workers and of their
Node hosts; at the end the two ratios: speed of the last tenth to that of the first, memory of the last to that after the
second (by when every process has warmed up). Exit code 1 when the speed ratio is below 0.9 or the memory's above 1.15.

    python scripts/bench/soak.py [--battles 5000] [--format gen1randombattle] [--agents A B]
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from arena.runner.progress import Progress
from arena.tournament import EvaluateSettings, play_into

TENTHS = 10


@dataclass
class Sample:
    """The state of the run at one moment. memory: role -> resident MB, the sum over its processes."""

    at: float
    played: int
    memory: dict[str, float]


def resident_megabytes() -> dict[str, float]:
    """The resident memory of this process, of its workers, and of their hosts, from /proc."""
    parents: dict[int, int] = {}
    sizes: dict[int, float] = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
        except (OSError, ProcessLookupError):
            continue  # it ended while we looked
        if "VmRSS" in fields:
            pid = int(status.parent.name)
            parents[pid] = int(fields["PPid"])
            sizes[pid] = int(fields["VmRSS"].split()[0]) / 1024
    me = int(Path("/proc/self").readlink().name)
    workers = {pid for pid, parent in parents.items() if parent == me}
    hosts = {pid for pid, parent in parents.items() if parent in workers}
    return {
        "coordinator": sizes[me],
        "workers": sum(sizes[pid] for pid in workers),
        "hosts": sum(sizes[pid] for pid in hosts),
    }


def soak(battles: int, format_id: str, agents: tuple[str, str]) -> list[Sample]:
    """Plays the run; a sample for its beginning (the first finished battles) and for the end of each tenth."""
    samples: list[Sample] = []

    def watch(progress: Progress) -> None:
        # The last sample is taken just before the end: afterwards the workers are gone.
        due = min(progress.total * len(samples) // TENTHS, progress.total - TENTHS)
        if len(samples) <= TENTHS and progress.played >= max(due, 1):
            samples.append(Sample(time.perf_counter(), progress.played, resident_megabytes()))

    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "soak.duckdb"
        settings = EvaluateSettings(agents=agents, formats=(format_id,), battles=battles)
        progress = play_into(db, settings, show=watch).progress
        print(
            f"{progress.played} battles, {db.stat().st_size / 1e6:.0f} MB of database, faults: {progress.faults.total()}"
        )
    return samples


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battles", type=int, default=5000)
    parser.add_argument("--format", default="gen1randombattle")
    parser.add_argument("--agents", nargs=2, default=["poke-env:RandomPlayer", "poke_env.player:RandomPlayer"])
    options = parser.parse_args()
    samples = soak(options.battles, options.format, (options.agents[0], options.agents[1]))
    speeds = []
    for before, after in itertools.pairwise(samples):
        speeds.append((after.played - before.played) / (after.at - before.at))
        memory = "  ".join(f"{role} {size:6.0f} MB" for role, size in after.memory.items())
        print(f"to battle {after.played:6}: {speeds[-1]:6.1f} battles/s  {memory}")
    speed = speeds[-1] / speeds[0]
    print(f"speed, last tenth to first: {speed:.2f}")
    growth = {role: samples[-1].memory[role] / samples[2].memory[role] for role in samples[-1].memory}
    for role, ratio in growth.items():
        print(f"memory of {role}, at the end to after the second tenth: {ratio:.2f}")
    return 0 if speed >= 0.9 and max(growth.values()) <= 1.15 else 1


if __name__ == "__main__":
    sys.exit(main())
