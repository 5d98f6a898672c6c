"""A run in a terminal: its live display, and Ctrl-C from its preparation to its closing lines."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from arena.report.live import display
from arena.run.lifecycle import mark_stopped_on_error
from arena.run.tournament import PlayedRun, Run, play
from arena.store import Store
from arena.store.recover import warn_of_bad_lines
from arena.terminal.commands import STOPPED_CODE, ignore_interrupts, is_interrupt, say
from arena.workers.cluster.connection import Cluster


@contextmanager
def stoppable(console: Console, store: Store, run_id: str, resume: str) -> Iterator[None]:
    """Context of a command's whole run: Ctrl-C at any moment marks the run as stopped and exits with code 130.

    resume: the command that continues the run; printed if the run ends early.
    """
    try:
        with mark_stopped_on_error(store, run_id):
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


def play_shown(console: Console, store: Store, run: Run, cluster: Cluster) -> PlayedRun:
    """Plays a run under the live display, to its end or until it is stopped."""
    shown = display(console, None if run.settings.minutes is None else run.settings.minutes * 60)
    try:
        played = asyncio.run(play(run, store, cluster=cluster, show=shown.show))
    except BaseException:
        shown.abandon()
        raise
    shown.close(played.progress)
    for remark in played.progress.remarks:
        say(console, f"Note: {remark}")
    warn_of_bad_lines(store.path)
    return played
