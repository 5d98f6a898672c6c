"""Shared by the commands that play battles: how a run is announced, and its closing lines."""

from __future__ import annotations

from rich.console import Console

from arena.fixture import SEATS
from arena.record import BattleRecord
from arena.report.numbers import counted, counted_minutes, unit_of
from arena.run.tournament import PlayedRun, Run
from arena.terminal.commands import ignore_interrupts, say


def say_unfinished(console: Console, run: Run, played: PlayedRun, resume: str) -> None:
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


def say_moved(console: Console, played: PlayedRun) -> None:
    """Prints how many battles the engine could not play, and why."""
    for why, battles in played.progress.moved.most_common():
        say(console, f"Note: {counted(battles, 'battle')} played in the simulator, not on the engine: {why}")


def battles_words(run: Run) -> str:
    """The number of battles of a fixed-length run, and how it is composed.

    "684 battles (2 battles x 2 team sets = 4 for each of 171 pairings)". Of series: "24 series of at most 3 battles (…)".
    """
    plan = run.plan
    unit = unit_of(plan.best_of)
    total = counted(len(plan), unit) + (f" of at most {plan.best_of} battles" if plan.best_of > 1 else "")
    each, pools, pairings = 2 * plan.pairs, len(plan.pools), len(plan.pairings)
    if pools == 1 and pairings == 1:
        return total
    of = "team sets" if len(plan.formats) == 1 else "combinations of format and team set"
    times = f"{counted(each, unit)} x {pools} {of} = {each * pools:,}" if pools > 1 else f"{each:,}"
    whom = "each pairing" if pairings == 1 else f"each of {pairings:,} pairings"
    return f"{total} ({times} for {whom})"


def reason(record: BattleRecord) -> str:
    """The detail of a battle's end, in brackets; empty if there is none: " (user:ash forfeited)"."""
    if record.detail is None:
        return ""
    detail = record.detail
    for seat, agent in zip(SEATS, record.fixture.agents, strict=True):
        if record.fault == seat:
            detail = f"{agent}: {detail}"
        elif detail.startswith(f"{seat} "):
            detail = f"{agent}{detail[2:]}"
    return f" ({detail})"
