"""Shared by the commands that play battles: the live display, stopping a run, the closing lines."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from arena.commands.group import STOPPED_CODE, is_interrupt
from arena.fixture import SEATS
from arena.record import BattleRecord
from arena.report.live import display
from arena.report.numbers import counted, counted_minutes
from arena.runs import stopped_by_errors
from arena.store import Store
from arena.store.recover import warn_of_bad_lines
from arena.tournament import Played, Run, play


def say(console: Console, words: str) -> None:
    """Prints a line without markup, colours or wrapping."""
    console.print(words, soft_wrap=True, markup=False, highlight=False)


@contextmanager
def stoppable(console: Console, store: Store, run_id: str, resume: str) -> Iterator[None]:
    """Context of a command's whole run: Ctrl-C at any moment marks the run as stopped and exits with code 130.

    resume: the command that continues the run; printed if the run ends early.
    """
    try:
        with stopped_by_errors(store, run_id):
            yield
    except BaseException as error:
        if isinstance(error, SystemExit):
            raise
        if not is_interrupt(error):
            say(console, f"\nFinished battles are stored. To resume: {resume}")
            raise
        ignore_interrupts()
        say(console, f"\nStopped. Finished battles are stored. To resume: {resume}")
        sys.exit(STOPPED_CODE)


def play_shown(console: Console, store: Store, run: Run, workers: int) -> Played:
    """Plays a run under the live display, to its end or until it is stopped."""
    shown = display(console, None if run.settings.minutes is None else run.settings.minutes * 60)
    try:
        played = asyncio.run(play(run, store, workers=workers, show=shown.show))
    except BaseException:
        shown.abandon()
        raise
    shown.close(played.progress)
    warn_of_bad_lines(store.path)
    return played


def say_unfinished(console: Console, run: Run, played: Played, resume: str) -> None:
    """Prints why a run is unfinished and how to resume it; nothing for a finished run."""
    if played.finished:
        return
    if played.stopped:
        ignore_interrupts()
    progress, minutes = played.progress, run.settings.minutes
    if played.stopped or minutes is None:
        left = "" if progress.total is None else f" with {counted(progress.total - progress.done, 'battle')} left"
        say(console, f"Stopped{left}. To resume: {resume}")
    else:
        far = "" if progress.total is None else f": {progress.done:,} of {counted(progress.total, 'battle')}"
        say(console, f"Time limit of {counted_minutes(minutes)} reached{far}. To resume: {resume}")


def ignore_interrupts() -> None:
    """Ignores further Ctrl-C while the closing lines are printed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def battles_words(run: Run) -> str:
    """The number of battles of a fixed-length run, and how it is composed.

    "684 battles (2 battles x 2 team sets = 4 for each of 171 pairings)".
    """
    plan = run.plan
    each, pools, pairings = 2 * plan.pairs, len(plan.pools), len(plan.pairings)
    if pools == 1 and pairings == 1:
        return counted(len(plan), "battle")
    of = "team sets" if len(plan.formats) == 1 else "combinations of format and team set"
    times = f"{counted(each, 'battle')} x {pools} {of} = {each * pools:,}" if pools > 1 else f"{each:,}"
    whom = "each pairing" if pairings == 1 else f"each of {pairings:,} pairings"
    return f"{counted(len(plan), 'battle')} ({times} for {whom})"


def reason(record: BattleRecord) -> str:
    """The detail of a battle's end, in brackets; empty if there is none: " (user:ash forfeited)"."""
    if record.detail is None:
        return ""
    words = record.detail
    for seat, agent in zip(SEATS, record.fixture.agents, strict=True):
        if record.fault == seat:
            words = f"{agent}: {words}"
        elif words.startswith(f"{seat} "):
            words = f"{agent}{words[2:]}"
    return f" ({words})"
