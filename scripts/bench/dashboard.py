"""What an open dashboard costs a run: battles/s with a page open in a browser against without, by turns within one run.

One run is played all the time, and one `arena dashboard` stands beside it. A browser with the page is opened and closed by
turns; each window is counted once the browser has settled. Which of the two comes first changes from pair to pair. Prints
each pair in battles/s and, for a machine that is busy with other things, in battles per processor second of the run; the
medians of the ratios (with / without) with 95% bootstrap intervals; and the processor time of the server and of the browser
while the page was open, as a share of all cores: the browser usually runs on another machine.

    python scripts/bench/dashboard.py [--pairs 10] [--seconds 20] [--workers 2] [--agents A B ...] [--format FORMAT]
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from arena.live_status import read_status
from arena.store import rows

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-port=0")
ARENA = (sys.executable, "-c", "from arena.cli import main; main()")
#: Seconds for a browser to start and draw the page for the first time.
SETTLE = 8.0
#: Battles before the first window.
BEGIN = 50


@dataclass
class Window:
    """A counted time, as Unix time. run, server, browser: processor seconds in it."""

    start: float
    end: float
    run: float
    server: float
    browser: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--format", default="gen1randombattle")
    parser.add_argument("--agents", nargs="+", default=["random", "heuristic:max-damage", "heuristic:expert"])
    options = parser.parse_args()
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        sys.exit("no browser is installed: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "arena.duckdb"
        run = [*ARENA, "evaluate", *options.agents, "--format", options.format, "--battles", "1000000", "--db", str(db)]
        with started([*run, "--workers", str(options.workers)]) as playing, served(db) as (server, url):
            while (read_status(db) or {"played": 0})["played"] < BEGIN:  # every worker is warm
                time.sleep(1)
            windows: dict[bool, list[Window]] = {False: [], True: []}
            for pair in range(options.pairs):
                for opened in (pair % 2 == 0, pair % 2 == 1):
                    windows[opened].append(window(opened, program, url, (playing, server), options.seconds))
            time.sleep(5)  # the last battles are ingested
        report(windows, db)


def window(opened: bool, program: str, url: str, others: tuple[int, int], seconds: float) -> Window:
    """Counts one window, with the page open or not. others: the processes of the run and of the dashboard."""
    if not opened:
        time.sleep(SETTLE)
        return counted(*others, None, seconds)
    with (
        tempfile.TemporaryDirectory() as profile,
        started([program, *FLAGS, f"--user-data-dir={profile}", url]) as browser,
    ):
        time.sleep(SETTLE)
        return counted(*others, browser, seconds)


def counted(run: int, server: int, browser: int | None, seconds: float) -> Window:
    def now() -> list[float]:
        return [spent(family(run)), spent({server}), spent(family(browser))]

    start, before = time.time(), now()
    time.sleep(seconds)
    return Window(start, time.time(), *(after - earlier for after, earlier in zip(now(), before, strict=True)))


@contextmanager
def started(words: list[str]) -> Iterator[int]:
    """A program in a process group of its own, ended with all that it started. Its output is dropped."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        yield process.pid
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


@contextmanager
def served(db: Path) -> Iterator[tuple[int, str]]:
    """The process id and the address of a dashboard."""
    words = [*ARENA, "dashboard", "--db", str(db), "--runs", str(db.parent), "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield process.pid, line.split()[-1]
        finally:
            process.send_signal(signal.SIGINT)


def family(first: int | None) -> set[int]:
    """A process and all that descend from it; none for None."""
    found = set() if first is None else {first}
    parents = {int(stat.parent.name): parent(stat) for stat in Path("/proc").glob("[0-9]*/stat")}
    while more := {pid for pid, above in parents.items() if above in found} - found:
        found |= more
    return found


def parent(stat: Path) -> int | None:
    try:
        return int(stat.read_text().rsplit(")", 1)[1].split()[1])
    except (OSError, IndexError):  # it has ended
        return None


def spent(processes: set[int]) -> float:
    """Processor seconds of processes so far; of one that has ended, none."""
    total = 0
    for pid in processes:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def report(windows: dict[bool, list[Window]], db: Path) -> None:
    ends = np.array([end for (end,) in rows("SELECT epoch(started) + seconds FROM battles", db)])

    def battles(each: Window) -> int:
        return int(((ends >= each.start) & (ends < each.end)).sum())

    def compare(unit: str, speed: Callable[[Window], float]) -> None:
        pairs = [(speed(a), speed(b)) for a, b in zip(windows[False], windows[True], strict=True)]
        for without, having in pairs:
            print(f"without {without:.2f} {unit}, with {having:.2f}: {having / without:.3f}")
        ratios = np.array([having / without for without, having in pairs])
        drawn = np.median(np.random.default_rng(0).choice(ratios, (10_000, len(ratios))), axis=1)
        low, high = np.quantile(drawn, (0.025, 0.975))
        print(f"{unit}: median of {len(pairs)} ratios {np.median(ratios):.3f} [{low:.3f}, {high:.3f}]", flush=True)

    compare("battles/s", lambda each: battles(each) / (each.end - each.start))
    compare("battles per processor second of the run", lambda each: battles(each) / each.run)
    capacity = (os.cpu_count() or 1) * sum(each.end - each.start for each in windows[True])
    for name in ("server", "browser"):
        used = sum(getattr(each, name) for each in windows[True])
        print(f"{name}: {100 * used / capacity:.2f}% of all cores while the page was open")


if __name__ == "__main__":
    main()
