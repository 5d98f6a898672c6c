"""`arena evaluate`: plays agents against each other, stores every battle, ranks the agents."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Unpack

import click

from arena.commands.options import refuse_on_resume, resume_option, run_options
from arena.commands.playing import battles_words, say_moved, say_unfinished
from arena.options import EvaluateOptions
from arena.report.live import format_seconds
from arena.report.numbers import counted, counted_minutes, plural, unit_of
from arena.report.summary import summarize
from arena.report.tables import print_results
from arena.run.forecast import forecast
from arena.run.settings import evaluate_settings
from arena.run.terminal import play_shown, stoppable
from arena.run.tournament import Run, prepare, resume
from arena.store import Store, open_store
from arena.terminal.commands import STOPPED_CODE, db_argument, db_option, json_option, print_json, say
from arena.terminal.console import Console
from arena.workers.cluster.connection import Cluster, connect_cluster
from teamsets.errors import BadInput


@click.command()
@click.argument("agents", nargs=-1, metavar="[AGENT]...")
@click.option("--all", "everyone", is_flag=True, help="Play all agents of the pool file, in addition to AGENTs.")
@run_options(EvaluateOptions, from_pool=True)
@click.option("--dry-run", is_flag=True, help="Play nothing: print the number of battles and how long they take.")
@resume_option
@json_option
@db_option
def evaluate(
    agents: tuple[str, ...],
    everyone: bool,
    dry_run: bool,
    resumed: str | None,
    as_json: bool,
    db: Path,
    **options: Unpack[EvaluateOptions],
) -> None:
    """Play agents against each other and rank them.

    Every pairing is played on every team set, in pairs of battles in which the agents exchange teams. With --budget or
    --minutes the schedule is adaptive: it plays the pairings that narrow the ranking's confidence intervals most. Battles of
    earlier runs are reused if agents, teams and rules are the same. Every finished battle is stored at once: --resume
    continues a run that was stopped, was killed, or reached its time limit. --json prints the report as `arena report
    --json -` does.

    \b
    Examples:
      arena evaluate --all
      arena evaluate random heuristic:max-damage --format gen9ou --teams competitive --battles 100
      arena evaluate --all mybot:MyAgent --minutes 10
      arena evaluate "policy:runs/x@{10..100..10}?temperature={0.5,1.0}" random --battles 200
      arena evaluate --all --battles 100 --dry-run
      arena evaluate --all --challenger mybot:MyAgent --battles 20
      arena evaluate --resume
    """
    if resumed is not None:
        if agents or everyone:
            raise BadInput("--resume: a run keeps the agents that it started with: leave them out")
        refuse_on_resume(options)
        if dry_run:
            raise BadInput("--resume --dry-run: a dry run is of a new run: leave one of the two out")
    console = Console(stderr=as_json)
    settings = None
    if resumed is None:
        settings, lines = evaluate_settings(agents, everyone, options)
        for line in lines:
            say(console, line)
    on, workers = options.get("on"), options.get("workers")
    with connect_cluster(on, workers, lambda line: say(console, line)) as cluster, open_store(db) as store:
        if settings is not None:
            run = prepare(store, settings)
            if dry_run:
                store.forget_run(run.run_id)
                _forecast(console, run, db, workers, as_json)
                return
            known = "of earlier runs with the same agents, teams and rules are reused (--fresh: play all again)."
        else:
            run = resume(store, resumed or None, options.get("minutes"))
            known = "are finished already."
        resume_command = f"arena evaluate --resume {run.run_id}{db_argument(db)}"
        with stoppable(console, store, run.run_id, resume_command):
            _announce(console, run, db, known)
            _play(console, store, run, cluster, db, resume_command, as_json)


def _announce(console: Console, run: Run, db: Path, known: str) -> None:
    plan, settings = run.plan, run.settings
    pools = ", ".join(f"{format_id}/{team_set}" for format_id, team_set in plan.pools)
    against = f" ({', '.join(settings.challengers)} against the others)" if settings.challengers else ""
    limit = f", at most {counted_minutes(settings.minutes)}" if settings.minutes else ""
    say(
        console, f"Run {run.run_id}: {len(plan.agents)} agents{against}, {_size(run)} on {pools}{limit}; stored in {db}"
    )
    if run.results:
        say(console, f"{counted(len(run.results), 'battle')} {known}")
    for note in run.notes:
        say(console, f"Note: {note}")


def _forecast(console: Console, run: Run, db: Path, workers: int | None, as_json: bool) -> None:
    """Prints how many battles the run has, and how long they take. A few may be played to measure it."""
    say(
        console, f"{counted(len(run.plan.agents), 'agent')}, {counted(len(run.plan.pairings), 'pairing')}: {_size(run)}"
    )
    for note in run.notes:
        say(console, f"Note: {note}")
    estimate = forecast(run, db, workers)
    if as_json:
        print_json({**asdict(estimate), "left": estimate.left})
        return
    if estimate.stored:
        say(console, f"{counted(estimate.stored, 'battle')} of earlier runs are reused (--fresh: play all again).")
    if estimate.seconds is None:
        say(console, f"The time limit decides: {counted_minutes(run.settings.minutes or 0)}.")
        return
    speed = f", {estimate.left / estimate.seconds:.1f} battles/s" if estimate.left and estimate.seconds else ""
    basis = [f"{counted(estimate.from_store, 'stored battle')}"] if estimate.from_store else []
    basis += [f"{counted(estimate.measured, 'battle')} played now, which are not stored"] if estimate.measured else []
    left = counted(estimate.left or 0, "battle")
    most = "" if run.plan.best_of == 1 else "at most "
    say(console, f"{most}{left} to play: about {format_seconds(estimate.seconds)}{speed}, by {' and '.join(basis)}.")


def _size(run: Run) -> str:
    """The battles of a run, in words."""
    if run.settings.schedule != "adaptive":
        return battles_words(run)
    units = plural(unit_of(run.plan.best_of))
    battles = units if run.settings.budget is None else f"{run.settings.budget:,} {units}"
    return f"{battles} on the most informative pairings (adaptive)"


def _play(
    console: Console, store: Store, run: Run, cluster: Cluster, db: Path, resume_command: str, as_json: bool
) -> None:
    """Plays the run and prints its results; exits with code 130 if it was stopped."""
    played = play_shown(console, store, run, cluster)
    say_moved(console, played)
    console.print()
    if as_json:
        print_json(summarize(db, run.run_id))
    else:
        print_results(console, db, run.run_id)
        console.print()
    if played.stopped:  # where the time limit was reached, the notes of the results say so
        say_unfinished(console, run, played, resume_command)
    if not as_json:
        _say_next(console, db)
    if played.stopped:
        sys.exit(STOPPED_CODE)


def _say_next(console: Console, db: Path) -> None:
    say(console, f"All battles are in {db}. For the full report, and for SQL queries, run for example:")
    say(console, f"  arena report --html report.html{db_argument(db)}")
    query = "SELECT agent, outcome, count(*) FROM results GROUP BY ALL ORDER BY ALL"
    say(console, f'  arena sql "{query}"{db_argument(db)}')
