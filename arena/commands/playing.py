"""What the commands that play battles share: the live display, and the words when a run did not come to its end."""

from __future__ import annotations

import asyncio

from rich.console import Console

from arena.fixture import SEATS
from arena.record import BattleRecord
from arena.report.live import display
from arena.store import Store
from arena.tournament import Played, Run, play

STOPPED = 130  # the exit code of a run that Ctrl-C stopped


def say(console: Console, words: str) -> None:
    """A line as it is: no markup, no colours, not cut to the terminal's width."""
    console.print(words, soft_wrap=True, markup=False, highlight=False)


def play_shown(console: Console, store: Store, run: Run, workers: int, going_on: str) -> Played:
    """Plays a run under the live display. going_on: the command that goes on with it."""
    shown = display(console, None if run.settings.minutes is None else run.settings.minutes * 60)
    try:
        played = asyncio.run(play(run, store, workers=workers, show=shown.show))
    except BaseException:
        say(console, f"\nWhat was finished is kept. To go on: {going_on}")
        raise
    shown.close(played.progress)
    return played


def say_unfinished(console: Console, played: Played, going_on: str) -> None:
    """Says why a run has not come to its end, where it has not."""
    if played.finished:
        return
    why = "Stopped" if played.stopped else "Time is up"
    progress = played.progress
    left = "" if progress.total is None else f" with {progress.total - progress.done:,} battles left"
    say(console, f"{why}{left}. To go on: {going_on}")


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
