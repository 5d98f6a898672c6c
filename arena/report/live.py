"""A run while it goes on: a live table in a terminal, a line every few seconds anywhere else."""

from __future__ import annotations

import time
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from arena.runner.coordinator import Progress

LINE_EVERY_SECONDS = 5.0


class Display(Protocol):
    """Something that shows progress. `show` may be called often; it decides itself how often to draw."""

    def show(self, progress: Progress) -> None: ...

    def close(self, progress: Progress) -> None: ...

    def abandon(self) -> None:
        """The run has failed: gives the terminal back, without a last line."""
        ...


def display(console: Console, seconds: float | None) -> Display:
    """The display that fits the console. seconds: the run's time limit, if it has one."""
    return LiveTable(console, seconds) if console.is_terminal else Lines(console, seconds)


def time_left(progress: Progress, seconds: float | None) -> float | None:
    """Seconds until the run is over, by its speed so far and its limit; None before anything has been played."""
    bounds = []
    if progress.played and progress.total is not None:
        bounds.append((progress.total - progress.done) / progress.speed)
    if seconds is not None:
        bounds.append(max(0.0, seconds - (time.monotonic() - progress.began)))
    return min(bounds) if bounds else None


def spoken(seconds: float | None) -> str:
    """A duration for people: "1 h 05 min", "3 min 20 s", "12 s"."""
    if seconds is None:
        return "–"
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 60} min {whole % 60:02d} s" if whole >= 60 else f"{whole} s"


def summary(progress: Progress, seconds: float | None) -> str:
    """Done of total, battles/s, time left, faults, what the schedule knows: one line."""
    total = "" if progress.total is None else f" of {progress.total:,}"
    parts = [
        f"{progress.done:,}{total} battles",
        f"{progress.speed:.1f} battles/s",
        f"{spoken(time_left(progress, seconds))} left",
        f"faults: {progress.faults.total()}",
    ]
    if progress.aborted:
        parts.append(f"aborted: {progress.aborted}")
    if progress.remark:
        parts.append(progress.remark)
    return " · ".join(parts)


class Lines:
    """A line every LINE_EVERY_SECONDS: for logs, CI, pipes."""

    def __init__(self, console: Console, seconds: float | None) -> None:
        self.console, self.seconds = console, seconds
        self._next = time.monotonic() + LINE_EVERY_SECONDS

    def show(self, progress: Progress) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + LINE_EVERY_SECONDS
            self._print(progress)

    def close(self, progress: Progress) -> None:
        self._print(progress)

    def abandon(self) -> None:
        """There is nothing to give back."""

    def _print(self, progress: Progress) -> None:
        leaders = ", ".join(f"{agent} {wins}" for agent, wins in progress.wins.most_common(3))
        self.console.print(
            summary(progress, self.seconds) + (f" · most wins: {leaders}" if leaders else ""),
            highlight=False,
            soft_wrap=True,
            markup=False,
        )


class LiveTable:
    """A table that is drawn anew four times a second: each agent's battles, wins and faults so far."""

    def __init__(self, console: Console, seconds: float | None) -> None:
        self.seconds = seconds
        self._live = Live(console=console, refresh_per_second=4, transient=True)
        self._live.start()
        self._next = 0.0

    def show(self, progress: Progress) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + 0.25
            self._live.update(self._draw(progress))

    def close(self, progress: Progress) -> None:
        self._live.stop()
        self._live.console.print(Text(summary(progress, self.seconds)))

    def abandon(self) -> None:
        self._live.stop()

    def _draw(self, progress: Progress) -> Group:
        table = Table(title_justify="left", box=None, pad_edge=False)
        for column in ("agent", "battles", "wins", "win rate", "faults"):
            table.add_column(column, justify="left" if column == "agent" else "right")
        ranked = sorted(progress.games, key=lambda a: (-progress.wins[a] / progress.games[a], a))
        for agent in ranked[: max(5, self._live.console.height - 6)]:
            games, wins, faults = progress.games[agent], progress.wins[agent], progress.faults[agent]
            table.add_row(
                Text(agent),
                str(games),
                str(wins),
                f"{100 * wins / games:.0f} %",
                Text(str(faults), style="red" if faults else ""),
            )
        bar = ProgressBar(total=progress.total and max(progress.total, 1), completed=progress.done, width=40)
        return Group(bar, Text(summary(progress, self.seconds)), Text(""), table)
