"""What an open dashboard costs a run: the server's processor time, and battles/s with a page open against without.

One run is played all the time, and one `arena dashboard` stands beside it. A page is opened and closed by turns; each
window is counted once the page has settled, and which of the two comes first changes from pair to pair (ABBA). The page is
that of a headless browser, or, with --page reader (the default without a browser), a reader of the same stream of
events: the browser usually runs on another machine, and the server's work is the same.

A clock says little on a machine that is busy with other things, so the first figure is in processor time alone: what the
server used while the page was open, less what it used without, as a share of what the run used in the same windows. A
run that keeps all cores busy loses that share of its battles/s. Then come the ratios (with / without) of battles per
processor second of the run, of battles/s, and of turns/s, which the length of battles does not move. All with 95%
bootstrap intervals over pairs of windows.

    python scripts/bench/dashboard.py [--pairs 10] [--seconds 20] [--page browser|reader] [--workers 2] [--agents A B ...]
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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from arena.run.live_status import read_status
from arena.store import rows

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-port=0")
ARENA = (sys.executable, "-c", "from arena.cli import main; main()")
#: Reads the page's events until it is ended.
READER = "import sys, urllib.request as u; [0 for line in u.urlopen(sys.argv[1].rstrip('/') + '/events')]"
#: Seconds for a browser to start and draw the page for the first time.
SETTLE = 8.0
#: Battles before the first window.
BEGIN = 50
RESAMPLES = 2000


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
    parser.add_argument("--page", choices=["browser", "reader"], help="default: browser, where one is installed")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--format", default="gen1randombattle")
    parser.add_argument("--agents", nargs="+", default=["random", "heuristic:max-damage", "heuristic:expert"])
    options = parser.parse_args()
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if options.page == "browser" and browser is None:
        sys.exit("no browser is installed: apt-get install chromium, or --page reader")
    program = None if options.page == "reader" else browser
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


def window(opened: bool, program: str | None, url: str, others: tuple[int, int], seconds: float) -> Window:
    """Counts one window, with the page open or not. program: a browser; others: processes of the run and the dashboard."""
    if not opened:
        time.sleep(SETTLE)
        return counted(*others, None, seconds)
    with tempfile.TemporaryDirectory() as profile:
        page = [program, *FLAGS, f"--user-data-dir={profile}", url] if program else [sys.executable, "-c", READER, url]
        with started(page) as shown:
            time.sleep(SETTLE)
            return counted(*others, shown, seconds)


def counted(run: int, server: int, browser: int | None, seconds: float) -> Window:
    def now() -> list[float]:
        return [spent(family(run)), spent({server}), spent(family(browser))]

    start, before = time.time(), now()
    time.sleep(seconds)
    return Window(start, time.time(), *(after - earlier for after, earlier in zip(now(), before, strict=True)))


@contextmanager
def started(command: list[str]) -> Iterator[int]:
    """A program in a process group of its own, ended with all that it started. Its output is dropped."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
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
    members = set() if first is None else {first}
    parents = {int(stat.parent.name): parent(stat) for stat in Path("/proc").glob("[0-9]*/stat")}
    while more := {pid for pid, above in parents.items() if above in members} - members:
        members |= more
    return members


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
    ends, turns = np.array(rows("SELECT epoch(started) + seconds, turns FROM battles", db)).T

    def in_window(each: Window) -> np.ndarray:
        return (ends >= each.start) & (ends < each.end)

    def battles(each: Window) -> int:
        return int(in_window(each).sum())

    pairs = list(zip(windows[False], windows[True], strict=True))

    def interval(statistic: Callable[[Sequence[tuple[Window, Window]]], float]) -> str:
        generator = np.random.default_rng(0)
        drawn = [statistic([pairs[i] for i in generator.integers(0, len(pairs), len(pairs))]) for _ in range(RESAMPLES)]
        low, high = np.quantile(drawn, (0.025, 0.975))
        return f"{statistic(pairs):.4f} [{low:.4f}, {high:.4f}]"

    def added(process: str) -> Callable[[Sequence[tuple[Window, Window]]], float]:
        """What a process used with the page less without, as a share of what the run used with it."""

        def share(chosen: Sequence[tuple[Window, Window]]) -> float:
            more = sum(getattr(having, process) - getattr(without, process) for without, having in chosen)
            return more / sum(having.run for _, having in chosen)

        return share

    def ratio(speed: Callable[[Window], float]) -> Callable[[Sequence[tuple[Window, Window]]], float]:
        return lambda chosen: float(np.median([speed(having) / speed(without) for without, having in chosen]))

    seconds = sum(having.end - having.start for _, having in pairs)
    for process in ("server", "browser"):
        used = sum(getattr(having, process) for _, having in pairs)
        print(
            f"{process}: {1000 * used / seconds:.1f} ms of processor time a second with the page; more than without, as a "
            f"share of the run's: {interval(added(process))}"
        )
    for unit, speed in (
        ("battles per processor second of the run", lambda each: battles(each) / each.run),
        ("battles/s", lambda each: battles(each) / (each.end - each.start)),
        ("turns/s", lambda each: turns[in_window(each)].sum() / (each.end - each.start)),
    ):
        print(f"{unit}, with / without, median of {len(pairs)} pairs: {interval(ratio(speed))}")


if __name__ == "__main__":
    main()
