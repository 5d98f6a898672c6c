"""The curricula of a database as a section of the dashboard: the stage at work, the time left, lineage, gates, costs."""

from __future__ import annotations

import json
import time
from pathlib import Path

from arena.report.live import format_seconds
from arena.report.numbers import counted
from arena.report.sections import Html, Section, el, join
from training.experiments.curriculum.clock import CLOCK
from training.experiments.curriculum.lineage import Lineage, attempt_label, curricula, lineage
from training.experiments.curriculum.page.section import facts, findings, with_parts

#: A clock that has not been written for so many seconds is of a process that is gone; it writes every second.
_STALE_SECONDS = 30.0


def live_section(db: Path) -> Section | None:
    """The curriculum at work, or the latest, with all its parts; a line of each other one. None where there is none."""
    known = [lineage(db, name) for name in curricula(db)]
    if not known:
        return None
    known.sort(key=lambda each: (at_work(each) is not None, each["ended"] is None, each["started"]), reverse=True)
    shown, results = known[0], findings(known[0])
    opening = join(
        el("h2", "Curricula"),
        [_line(each) for each in known],
        el("p", el("strong", shown["name"]), ": ", " · ".join(facts(shown)), cls="note"),
        el("ul", results, cls="sentences") if results else None,
    )
    return with_parts("Curricula", opening, shown)


def _line(known: Lineage) -> Html:
    return el("p", el("strong", known["name"]), f": {describe_progress(known)}", cls="lead")


def at_work(known: Lineage) -> tuple[str, float] | None:
    """The phase that a process works on now and the seconds that it has taken; None where none does."""
    path = Path(known["folder"]) / CLOCK
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
        age = time.time() - path.stat().st_mtime
    except (OSError, json.JSONDecodeError):
        return None
    return (row["phase"], float(row["seconds"])) if age < _STALE_SECONDS else None


def seconds_left(known: Lineage, spent_now: float) -> float | None:
    """An estimate from the mean time of the attempts that are over; None before the first is.

    Each stage that is left is expected to take one attempt; the time of the attempt in progress is subtracted. spent_now:
    seconds of its phase that are not stored yet.
    """
    attempts = [attempt for attempt in known["attempts"] if attempt["stage"] > 0 and attempt["spent"]]
    over = [attempt["spent"]["seconds"] for attempt in attempts if attempt["status"] != "running" and attempt["spent"]]
    if known["ended"] or not over:
        return None
    mean = sum(over) / len(over)
    running = [attempt for attempt in known["attempts"] if attempt["status"] == "running"]
    now = spent_now + sum(attempt["spent"]["seconds"] for attempt in running if attempt["spent"])
    begun = max((attempt["stage"] for attempt in known["attempts"]), default=0)
    return max(0.0, mean - now) * bool(running) + mean * max(0, known["stages"] - begun)


def describe_progress(known: Lineage) -> str:
    """ "stage 2 of 4, play for 3 min 20 s; about 1 h 05 min left"."""
    if known["ended"]:
        return f"finished, {counted(known['stages'], 'stage')}"
    latest = known["attempts"][-1]
    where = attempt_label(latest) if latest["stage"] else "before the first stage"
    now = at_work(known)
    remaining = seconds_left(known, 0.0 if now is None else now[1])
    progress = f"stage {where} of {known['stages']}" if latest["stage"] else where
    progress += ", no process works on it" if now is None else f", {now[0]} for {format_seconds(now[1] // 10 * 10)}"
    return progress + ("" if remaining is None else f"; about {format_seconds(remaining)} left")
