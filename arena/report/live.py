"""Progress of a run: a live table in a terminal, otherwise a line every few seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from arena.ratings.interim import InterimStanding, standings
from arena.report.numbers import plural
from arena.workers.progress import RunProgress

LINE_EVERY_SECONDS = 5.0
FIT_EVERY_SECONDS = 2.0
#: How many times as long as a fit takes none is made, so that fits take a small part of the time; and at most so long.
FIT_SHARE = 100
LONGEST_PAUSE_SECONDS = 10.0
#: Machines of a cluster are named one by one up to this number.
MOST_NAMED = 4


class Display(Protocol):
    """Shows progress. `show` may be called often; the display limits how often it draws."""

    def show(self, progress: RunProgress) -> None: ...

    def close(self, progress: RunProgress) -> None: ...

    def abandon(self) -> None:
        """Called if the run fails: restores the terminal without a closing line."""
        ...


def display(console: Console, seconds: float | None) -> Display:
    """The display that fits the console. seconds: the run's time limit, if it has one."""
    return LiveTable(console, seconds) if console.is_terminal else Lines(console, seconds)


def time_left(progress: RunProgress, seconds: float | None) -> float | None:
    """Estimated seconds until the run ends, by its speed and its time limit; None before the first battle."""
    bounds = []
    if progress.played and progress.total is not None:
        bounds.append((progress.total - progress.done) / progress.speed)
    if seconds is not None:
        bounds.append(max(0.0, seconds - progress.seconds))
    return min(bounds) if bounds else None


def format_seconds(seconds: float | None) -> str:
    """A duration for people: "1 h 05 min", "3 min 20 s", "12 s"."""
    if seconds is None:
        return "–"
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 60} min {whole % 60:02d} s" if whole >= 60 else f"{whole} s"


def summary(progress: RunProgress, seconds: float | None) -> str:
    """One line: battles done, battles/s, time left, faults, the schedule's remark."""
    total = "" if progress.total is None else f" of {progress.total:,}"
    parts = [
        f"{progress.done:,}{total} battles",
        f"{progress.speed:.1f} battles/s",
        f"{format_seconds(time_left(progress, seconds))} left",
        f"faults: {progress.faults.total()}",
    ]
    if progress.aborted:
        parts.append(f"aborted: {progress.aborted}")
    if progress.moved:
        parts.append(f"moved to the simulator: {progress.moved.total()}")
    if progress.nodes:
        parts.append(machines(progress))
    if progress.remark:
        parts.append(progress.remark)
    return " · ".join(parts)


def machines(progress: RunProgress) -> str:
    """The machines of a cluster that play, with their workers and battles; only their numbers if they are many."""
    working = {name: counts for name, counts in progress.nodes.items() if counts[0]}
    idle = f" ({len(progress.nodes) - len(working)} without)" if len(working) < len(progress.nodes) else ""
    if len(working) > MOST_NAMED or not working:
        return f"{len(working)} machines{idle}, {sum(workers for workers, _ in working.values())} workers"
    return ", ".join(f"{name} {workers}w {played:,}" for name, (workers, played) in working.items()) + idle


class Lines:
    """A line every LINE_EVERY_SECONDS: for logs, CI, pipes."""

    def __init__(self, console: Console, seconds: float | None, ratings: Interim | None = None) -> None:
        self.console, self.seconds = console, seconds
        self._next: float | None = None
        self._ratings = ratings or Interim()

    def show(self, progress: RunProgress) -> None:
        now = progress.now()
        if self._next is None:
            self._next = now + LINE_EVERY_SECONDS
        if now >= self._next:
            self._next = now + LINE_EVERY_SECONDS
            self._print(progress)

    def close(self, progress: RunProgress) -> None:
        self._print(progress)

    def abandon(self) -> None:
        """Nothing to restore."""

    def _print(self, progress: RunProgress) -> None:
        of_formats = self._ratings.of(progress)
        leaders = "; ".join(
            (f"{format_id}: " if len(of_formats) > 1 else "")
            + ", ".join(f"{each.agent} {_elo(each)}" for each in found if each.elo is not None and each in found[:3])
            for format_id, found in of_formats.items()
        )
        self.console.print(
            summary(progress, self.seconds) + (f" · Elo so far: {leaders}" if leaders else ""),
            highlight=False,
            soft_wrap=True,
            markup=False,
        )


class LiveTable:
    """A table updated four times a second: in each format each agent's interim rating, battles and win rate.

    Agents are sorted by rating, not by win rate: an adaptive schedule gives strong agents strong opponents.
    """

    def __init__(self, console: Console, seconds: float | None) -> None:
        self.seconds = seconds
        self._live = Live(console=console, refresh_per_second=4, transient=True)
        self._live.start()
        self._next = 0.0
        self._ratings = Interim()

    def show(self, progress: RunProgress) -> None:
        now = progress.now()
        if now >= self._next:
            self._next = now + 0.25
            self._live.update(self._draw(progress))

    def close(self, progress: RunProgress) -> None:
        self._live.stop()
        self._live.console.print(Text(summary(progress, self.seconds)))

    def abandon(self) -> None:
        self._live.stop()

    def _draw(self, progress: RunProgress) -> Group:
        table = Table(title_justify="left", box=None, pad_edge=False)
        of_formats = self._ratings.of(progress)
        several = len(of_formats) > 1
        heads = (*(("format",) if several else ()), "agent", "Elo so far", plural(progress.unit), "win rate", "faults")
        for column in heads:
            table.add_column(column, justify="left" if column in ("format", "agent") else "right")
        room = max(5, (self._live.console.height - 6) // max(1, len(of_formats)))
        for format_id, found in of_formats.items():
            for place, each in enumerate(found[:room]):
                faults = progress.faults[each.agent]
                table.add_row(
                    *((format_id if place == 0 else "",) if several else ()),
                    Text(each.agent),
                    _elo(each),
                    f"{each.battles:,}",
                    f"{100 * each.score:.0f} %",
                    Text(str(faults), style="red" if faults else ""),
                )
        bar = ProgressBar(total=progress.total and max(progress.total, 1), completed=progress.done, width=40)
        line = Table.grid()  # a bar alone does not end its line
        line.add_row(bar)
        return Group(line, Text(summary(progress, self.seconds)), Text(""), table)


class Interim:
    """Interim ratings of each format, refitted at most every FIT_EVERY_SECONDS, less often if a fit takes long.

    fit(points, anchor): the standings of one format.
    """

    def __init__(self, fit: Callable[[dict[tuple[str, str], float], str], list[InterimStanding]] = standings) -> None:
        self._fit = fit
        self._standings: dict[str, list[InterimStanding]] = {}
        self._next = 0.0
        self._played = -1

    def of(self, progress: RunProgress) -> dict[str, list[InterimStanding]]:
        """Format -> its standings, at most LONGEST_PAUSE_SECONDS old."""
        begun = progress.now()
        if begun >= self._next and self._played != progress.played:
            self._standings = {name: self._fit(points, progress.anchor) for name, points in progress.points.items()}
            self._played = progress.played
            # The first fit takes long: it loads its libraries.
            pause = FIT_SHARE * (progress.now() - begun)
            self._next = begun + min(LONGEST_PAUSE_SECONDS, max(FIT_EVERY_SECONDS, pause))
        return self._standings


def _elo(each: InterimStanding) -> str:
    """ "1240 ± 85"; "–" where no battles link the agent to the anchor."""
    if each.elo is None or each.margin is None:
        return "–"
    return f"{each.elo:.0f} ± {each.margin:.0f}" if each.margin else f"{each.elo:.0f} (anchor)"
