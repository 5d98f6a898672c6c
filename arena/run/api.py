"""`evaluate` and `match` as Python functions, with results as pandas frames: for notebooks and scripts (docs/python.md).

The keyword arguments are the options of `arena evaluate` and `arena match`. Both functions work where an event loop runs
already, as in a notebook: the run then has a thread of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Unpack

from arena.options import EvaluateOptions, MatchOptions, checked, pool_keys, shows_options
from arena.ratings.sprt import SprtSettings
from arena.report.live import display
from arena.report.numbers import unit_of
from arena.run.lifecycle import mark_stopped_on_error
from arena.run.results import Evaluation, MatchResult
from arena.run.settings import evaluate_settings, match_settings
from arena.run.tournament import EvaluateSettings, PlayedRun, Run, match_of, play, prepare
from arena.run.tournament import resume as resume_run
from arena.store import DEFAULT, Store, open_store
from arena.terminal.console import Console
from arena.terminal.output import shown
from arena.workers.cluster.connection import Cluster, connect_cluster
from arena.workers.progress import RunProgress
from teamsets.errors import BadInput

#: The event loop of a run, and its task there.
Begun = Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[PlayedRun]]]
#: True: the display of the command line; False: nothing; a function is called with the counts four times a second.
Show = bool | Callable[[RunProgress], None]


@shows_options(EvaluateOptions, dict.fromkeys(pool_keys().values()))
def evaluate(
    *agents: str,
    all: bool = False,
    resume: bool | str = False,
    db: str | Path = DEFAULT,
    progress: Show = True,
    **options: Unpack[EvaluateOptions],
) -> Evaluation:
    """Plays agents against each other and ranks them, as `arena evaluate` does. Without agents, the pool file's pool.

    Options that are None are as the pool file has them. format, teams, challenger: one or several. resume: True continues
    the latest run, an id that run; of the other arguments only minutes, workers, on, db and progress are read then. on:
    "ray" or "ray://HOST:PORT" (docs/scale.md). Raises BadInput for what cannot be used, and KeyboardInterrupt when the run
    was interrupted; finished battles are stored in any case.
    """
    if resume:
        checked(EvaluateOptions, options)
        if agents or all:
            raise BadInput("evaluate(resume=…): a resumed run keeps its agents: leave them out")
        settings = None
    else:
        settings, lines = evaluate_settings(agents, all or not agents, options)
        if progress is True:
            print(*map(shown, lines), sep="\n", end="\n" if lines else "")
    path = Path(db)
    played = _run(settings, "evaluate", resume, options, path, progress)
    return Evaluation(played.run.run_id, path, played.status)


@shows_options(MatchOptions, {"battles": None})
def match(
    *agents: str,
    sprt: bool | SprtSettings = False,
    resume: bool | str = False,
    db: str | Path = DEFAULT,
    progress: Show = True,
    **options: Unpack[MatchOptions],
) -> MatchResult:
    """Plays two agents against each other and says which is stronger, as `arena match` does.

    sprt: True for a sequential test with its defaults, or `SprtSettings(elo0=0, elo1=30, alpha=0.05, beta=0.05)` from
    arena.ratings.sprt. battles: None: 100 on each team set, with a test at most 20,000. The other arguments and what is
    raised: as for `evaluate`.
    """
    if resume:
        checked(MatchOptions, options)
        if agents:
            raise BadInput("match(resume=…): a resumed match keeps its agents: leave them out")
    test = SprtSettings() if sprt is True else sprt or None
    settings = None if resume else match_settings(agents, test, options)
    path = Path(db)
    played = _run(settings, "match", resume, options, path, progress)
    settings, schedule = played.run.settings, match_of(played)
    points = tuple(schedule.points)
    return MatchResult(
        played.run.run_id, path, played.status, *schedule.pairing, points, settings.sprt, unit_of(settings.best_of)
    )


def _run(
    settings: EvaluateSettings | None,
    kind: str,
    resume: bool | str,
    options: EvaluateOptions | MatchOptions,
    db: Path,
    progress: Show,
) -> PlayedRun:
    """Plays a run. settings: None resumes one. Raises KeyboardInterrupt when it was stopped by a signal."""

    begun: Begun = Future()

    async def playing(run: Run, store: Store, cluster: Cluster, show: Callable[[RunProgress], None]) -> PlayedRun:
        task = asyncio.current_task()
        assert task is not None
        begun.set_result((asyncio.get_running_loop(), task))
        return await play(run, store, cluster=cluster, show=show)

    def work() -> PlayedRun:
        with connect_cluster(options.get("on"), options.get("workers")) as cluster, open_store(db) as store:
            if settings is not None:
                run = prepare(store, settings, kind)
            else:
                run = resume_run(store, None if resume is True else str(resume), options.get("minutes"), kind)
            limit = run.settings.minutes
            shown = display(Console(), None if limit is None else limit * 60) if progress is True else None
            show = shown.show if shown else progress if callable(progress) else _nothing
            try:
                with mark_stopped_on_error(store, run.run_id):
                    played = asyncio.run(playing(run, store, cluster, show))
            except BaseException:
                if shown:
                    shown.abandon()
                raise
        if shown:
            shown.close(played.progress)
        return played

    played = _in_a_thread(work, begun) if _a_loop_runs() else work()
    if played.stopped:
        if progress is True:
            print(f"Stopped. To resume: {kind}(resume={played.run.run_id!r}, db={str(db)!r})")
        raise KeyboardInterrupt
    return played


def _nothing(progress: RunProgress) -> None:
    """Shows no progress."""


def _a_loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _in_a_thread(work: Callable[[], PlayedRun], begun: Begun) -> PlayedRun:
    """Does the work in a thread of its own. A KeyboardInterrupt here ends the run as stopped.

    begun: gets the loop and the task of the run once it plays.
    """
    result: Future[PlayedRun] = Future()

    def settle() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)
        finally:
            begun.cancel()  # nothing where it has begun

    thread = threading.Thread(target=settle, name="arena")
    try:
        thread.start()
        return result.result()
    except BaseException:
        if thread.is_alive():  # so it will begin, or fail
            with contextlib.suppress(CancelledError, RuntimeError):  # it has failed; its loop is closed already
                loop, task = begun.result()
                loop.call_soon_threadsafe(task.cancel)
        raise
    finally:
        if thread.is_alive():
            thread.join()
