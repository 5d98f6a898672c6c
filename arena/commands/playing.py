"""What the commands that play battles share: the live display, how a run is stopped, and what is said at its end."""

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
from arena.store import STOPPED, Store
from arena.store.recover import warn_of_bad_lines
from arena.tournament import Played, Run, play


def say(console: Console, words: str) -> None:
    """A line as it is: no markup, no colours, not cut to the terminal's width."""
    console.print(words, soft_wrap=True, markup=False, highlight=False)


@contextmanager
def stoppable(console: Console, store: Store, run_id: str, resume: str) -> Iterator[None]:
    """Around all that a command does with a run: Ctrl-C, at whatever moment, ends it as stopped with the exit code 130.

    resume: the command that continues the run, which is said when the run ends before the command has said it itself.
    """
    try:
        yield
    except BaseException as error:
        if isinstance(error, SystemExit):
            raise
        if not is_interrupt(error):
            say(console, f"\nFinished battles are kept. To resume: {resume}")
            raise
        ignore_interrupts()
        store.end_run(run_id, STOPPED)
        say(console, f"\nStopped. Finished battles are kept. To resume: {resume}")
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
    """Says why a run has not come to its end, where it has not, and how to continue it."""
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
    """From here on the command only says its last words: another Ctrl-C has nothing left to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def battles_words(run: Run) -> str:
    """How many battles a run of fixed length has, and how they come about.

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
    """Why a battle ended as it did, where there is more to say than who won: " (user:ash forfeited)"."""
    if record.detail is None:
        return ""
    words = record.detail
    for seat, agent in zip(SEATS, record.fixture.agents, strict=True):
        if record.fault == seat:
            words = f"{agent}: {words}"
        elif words.startswith(f"{seat} "):
            words = f"{agent}{words[2:]}"
    return f" ({words})"
