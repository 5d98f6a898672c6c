"""Does a long run stay quick and small? Plays thousands of battles in one run and compares its last tenth with its first.

Prints, for each tenth of the run, battles/s, CPU time of all processes for a battle, CPU time of a fixed piece of work in a
process beside the run (ten times a tenth, the median: a machine that others use becomes slower and quicker, and this says
so), and the memory (resident, MB; medians of ten looks) of the coordinator, of the Python processes below it and of their
Node hosts, and the coordinator's largest. Then the ratios: speed of the last tenth to that of the first, as it was and at
the same speed of the machine, and memory in the last tenth to that in the second (by when every process has warmed up).
Then the size of the database for a battle, and how long commands on it take, each in a process of its own: `arena sql`, the
report with the ranking, and as HTML. Exit code 1 when the speed ratio as it was is below 0.95, the memory's above 1.15, or a
command has failed. Linux only.

    python scripts/bench/soak.py [--battles 5000] [--format gen1randombattle] [--agents A B] [--db FILE]
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from throughput import cpu_seconds

from arena.run.tournament import EvaluateSettings, play_into
from arena.workers.progress import RunProgress

TENTHS = 10
LOOKS = 10  # a tenth
#: Takes some 0.1 s of CPU time, and prints how many it took.
FIXED_WORK = "import time; sum(i * i % 7 for i in range(1_500_000)); print(time.process_time())"
QUERIES = (
    "SELECT count(*) AS battles, avg(turns) AS turns FROM battles",
    "SELECT agent, avg(score) AS score, count(*) AS battles FROM results GROUP BY agent ORDER BY score DESC",
    "SELECT choice, count(*) AS times FROM decisions GROUP BY choice ORDER BY times DESC LIMIT 10",
    "SELECT b.format, d.seat, avg(d.think_ms) AS ms FROM decisions d JOIN battles b USING (battle_id) GROUP BY ALL",
)


@dataclass
class Sample:
    """The state of the run at one moment. cpu: its seconds so far."""

    at: float
    played: int
    cpu: float


@dataclass
class Looks:
    """What was seen in a tenth of the run, a number a look. memory: role -> resident MB of its processes. work: CPU seconds
    of the fixed work."""

    memory: dict[str, list[float]] = field(default_factory=dict)
    work: list[float] = field(default_factory=list)


class Beside:
    """The fixed work, in processes beside the run. A run's CPU time is without it."""

    def __init__(self) -> None:
        self._running: list[subprocess.Popen[str]] = []
        self.started = 0
        self.seconds = 0.0

    def start(self) -> None:
        self.started += 1
        self._running.append(subprocess.Popen([sys.executable, "-c", FIXED_WORK], stdout=subprocess.PIPE, text=True))

    def finished(self, *, wait: bool = False) -> list[float]:
        """The CPU seconds of those that have ended since the last call."""
        ended = []
        for child in [child for child in self._running if wait or child.poll() is not None]:
            self._running.remove(child)
            ended.append(float(child.communicate()[0]))
        self.seconds += sum(ended)
        return ended


def resident_megabytes() -> dict[str, float]:
    """The resident memory of this process, of the Python processes below it, and of the Node hosts, from /proc."""
    sizes: Counter[str] = Counter()
    below = [(os.getpid(), "coordinator")]
    for pid, role in below:
        with contextlib.suppress(OSError, KeyError):  # it ended while we looked, or has ended: no VmRSS
            fields = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
            name = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]
            role = role or ("hosts" if name.endswith(b"node") else "workers")
            sizes[role] += int(fields["VmRSS"].split()[0]) / 1024
            for thread in Path(f"/proc/{pid}/task").iterdir():
                below += [(int(child), "") for child in (thread / "children").read_text().split()]
    return {role: sizes[role] for role in ("coordinator", "workers", "hosts")}


def soak(db: Path, battles: int, format_id: str, agents: tuple[str, str]) -> tuple[list[Sample], list[Looks]]:
    """Plays the run. Returns a sample for its beginning (the first finished battles) and for the end of each tenth, and what
    was seen in each tenth."""
    samples: list[Sample] = []
    tenths = [Looks()]
    beside = Beside()

    def mark(progress: RunProgress) -> None:
        cpu = cpu_seconds(os.getpid()) - beside.seconds
        samples.append(Sample(time.perf_counter(), progress.played, cpu))

    def watch(progress: RunProgress) -> None:
        if not progress.played or len(samples) > TENTHS:
            return
        if not samples:
            mark(progress)
        now = tenths[-1]
        now.work += beside.finished()
        if progress.played >= battles * beside.started // (TENTHS * LOOKS):
            for role, size in resident_megabytes().items():
                now.memory.setdefault(role, []).append(size)
            beside.start()
        # The last tenth ends before the run does: afterwards the workers are gone, and what they took.
        ends = min(battles * len(samples) // TENTHS, battles - max(battles // 100, TENTHS))
        # A tenth that went by between two looks is part of the next, which ends only after further battles.
        if progress.played >= ends and progress.played > samples[-1].played:
            now.work += beside.finished(wait=True)
            mark(progress)
            tenths.append(Looks())

    settings = EvaluateSettings(agents=agents, formats=(format_id,), battles=battles)
    progress = play_into(db, settings, show=watch).progress
    megabytes = db.stat().st_size / 1e6
    print(
        f"{progress.played} battles, database {megabytes:.0f} MB, {1000 * megabytes / progress.played:.1f} kB a battle, "
        f"faults: {progress.faults.total()}",
        flush=True,
    )
    return samples, tenths[:-1]


def show(samples: list[Sample], tenths: list[Looks]) -> bool:
    """Prints the tenths and the ratios. Returns whether speed and memory are flat."""
    speeds = []
    for (before, after), looks in zip(itertools.pairwise(samples), tenths, strict=True):
        played = after.played - before.played
        speeds.append(played / (after.at - before.at))
        memory = "  ".join(f"{role} {statistics.median(sizes):4.0f} MB" for role, sizes in looks.memory.items())
        cpu = 1000 * (after.cpu - before.cpu) / played
        print(
            f"to battle {after.played:6}: {speeds[-1]:6.1f} battles/s  {cpu:5.1f} ms of CPU a battle, fixed work "
            f"{1000 * statistics.median(looks.work):5.1f} ms  {memory} (up to {max(looks.memory['coordinator']):.0f})"
        )
    machine = statistics.median(tenths[0].work) / statistics.median(tenths[-1].work)
    speed = speeds[-1] / speeds[0]
    print(f"speed, last tenth to first: {speed:.2f}; the machine's {machine:.2f}; at the same {speed / machine:.2f}")
    growth = {}
    for role, sizes in tenths[-1].memory.items():
        growth[role] = statistics.median(sizes) / statistics.median(tenths[1].memory[role])
        print(f"memory of {role}, in the last tenth to in the second: {growth[role]:.2f}")
    return speed >= 0.95 and max(growth.values()) <= 1.15


def commands(db: Path, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """What people do with a database after a run: a label, and the arguments of `arena`."""
    for query in QUERIES:
        yield f'sql "{query}"', ["sql", query, "--db", str(db)]
    yield "report (the ranking)", ["report", "--db", str(db)]
    yield "report --html", ["report", "--html", str(folder / "report.html"), "--db", str(db)]


def run(label: str, arguments: list[str]) -> bool:
    """Runs a command of `arena`; prints its seconds and peak memory. Returns whether it succeeded."""
    began = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-c", "from arena.cli import main; main()", *arguments], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - began
    cpu = usage.ru_utime + usage.ru_stime
    print(f"{seconds:6.1f} s ({cpu:.1f} s of CPU), {usage.ru_maxrss / 1024:5.0f} MB: arena {label}", flush=True)
    return child.returncode == 0


@contextmanager
def database(chosen: Path | None) -> Iterator[Path]:
    """The chosen file, or one in a temporary folder."""
    if chosen is not None:
        yield chosen
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "soak.duckdb"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battles", type=int, default=5000)
    parser.add_argument("--format", default="gen1randombattle")
    parser.add_argument("--agents", nargs=2, default=["poke-env:RandomPlayer", "poke_env.player:RandomPlayer"])
    parser.add_argument("--db", type=Path, help="a new database to keep (default: a temporary one)")
    options = parser.parse_args()
    if options.db is not None and options.db.exists():
        parser.error(f"--db {options.db}: it exists; name a new file")
    with database(options.db) as db, tempfile.TemporaryDirectory() as folder:
        flat = show(*soak(db, options.battles, options.format, (options.agents[0], options.agents[1])))
        done = [run(label, arguments) for label, arguments in commands(db, Path(folder))]
    return 0 if flat and all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
