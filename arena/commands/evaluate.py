"""`arena evaluate`: agents against each other, every battle kept."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from arena.commands.options import db_option
from arena.evaluate import EvaluateSettings, Run, default_workers, play, prepare, resume
from arena.pool import load_defaults
from arena.report.live import display
from arena.report.tables import print_results
from arena.showdown.simulator import Rules
from arena.store import Store, writer_lock
from teamsets.errors import BadInput

STOPPED = 130  # the exit code of a run that Ctrl-C stopped


@click.command()
@click.argument("agents", nargs=-1, metavar="[AGENT]...")
@click.option("--all", "everyone", is_flag=True, help="The whole pool of the pool file, and the AGENTs named besides.")
@click.option(
    "--format", "formats", multiple=True, metavar="F", help="A format, e.g. gen1ou; may be given several times."
)
@click.option(
    "--teams", "team_sets", multiple=True, metavar="SET", help="A team set or a folder of teams; several times."
)
@click.option("--battles", type=click.IntRange(min=1), help="For each pairing on each team set, as pairs.")
@click.option("--minutes", type=click.FloatRange(min=0, min_open=True), help="Begin no new battle after so long.")
@click.option("--no-limit", is_flag=True, help="No time limit, whatever the pool file says.")
@click.option("--workers", type=click.IntRange(min=1), help="Worker processes.  [default: the cores]")
@click.option("--seed", type=int, help="The same seed and pool: the same battles.")
@click.option("--think-limit", type=click.FloatRange(min=0, min_open=True), help="Seconds for one decision.")
@click.option("--max-turns", type=click.IntRange(1, 1000), help="Turns for one battle.")
@click.option("--skip-invalid", is_flag=True, help="Leave teams out that the validator refuses, and count them.")
@click.option(
    "--pool", type=click.Path(path_type=Path), help="The pool file.  [default: arena.toml here, or the shipped]"
)
@click.option(
    "--resume", "resumed", is_flag=False, flag_value="", metavar="[RUN]", help="Go on with a run (the latest)."
)
@click.option("--stock-simulator", "stock", is_flag=True, help="Showdown's code untouched: slower, the same battles.")
@db_option
def evaluate(
    agents: tuple[str, ...], everyone: bool, resumed: str | None, workers: int | None, db: Path, **said: Any
) -> None:
    """Play agents against each other and say who won.

    Every pairing is played on every team set, in pairs of battles with the teams exchanged. What is finished is kept at
    once: a run that was stopped or killed goes on with --resume.

    \b
    Examples:
      arena evaluate --all
      arena evaluate random heuristic:max-damage --format gen9ou --teams competitive --battles 100
      arena evaluate --all mybot:MyAgent --minutes 10
      arena evaluate --resume
    """
    if resumed is not None and (agents or everyone or _said_more(said)):
        raise BadInput("--resume: a run goes on with the agents and settings that it began with: leave the others out")
    settings = _settings(agents, everyone, **said) if resumed is None else None
    console = Console()
    with writer_lock(db):
        store = Store(db)
        if settings is not None:
            run = prepare(store, settings)
        else:
            run = resume(store, resumed or None)
            run = replace(run, settings=replace(run.settings, minutes=said["minutes"]))
        _announce(console, run, db)
        stopped = _play(console, store, run, workers or default_workers(), db)
    if stopped:
        sys.exit(STOPPED)


def _said_more(said: dict[str, Any]) -> bool:
    """Whether an option was given that a resumed run cannot change; its time limit it can."""
    return any(value is not None and value is not False and value != () for k, value in said.items() if k != "minutes")


def _settings(
    agents: tuple[str, ...],
    everyone: bool,
    *,
    formats: tuple[str, ...],
    team_sets: tuple[str, ...],
    battles: int | None,
    minutes: float | None,
    no_limit: bool,
    seed: int | None,
    think_limit: float | None,
    max_turns: int | None,
    skip_invalid: bool,
    pool: Path | None,
    stock: bool,
) -> EvaluateSettings:
    """What was said on the command line, over what the pool file says."""
    defaults = load_defaults(pool)
    if not agents and not everyone:
        raise BadInput("agents: say which, or --all for the pool of the pool file; `arena agents list` shows them")
    # A limit on the time is the pool's; somebody who names a number of battles wants that number.
    limit = minutes if minutes is not None or battles is not None or no_limit else defaults.minutes
    return EvaluateSettings(
        agents=(defaults.agents if everyone else ()) + agents,
        formats=formats or defaults.formats,
        team_sets=team_sets or defaults.teams,
        battles=battles or defaults.battles,
        minutes=limit,
        seed=defaults.seed if seed is None else seed,
        rules=Rules(think_limit or float(defaults.think_limit), max_turns or defaults.max_turns),
        skip_invalid=skip_invalid,
        stock=stock,
    )


def _announce(console: Console, run: Run, db: Path) -> None:
    plan = run.plan
    pools = ", ".join(f"{format_id}/{team_set}" for format_id, team_set in plan.pools)
    limit = f", at most {run.settings.minutes:g} min" if run.settings.minutes else ""
    done = f", {len(run.done):,} of them done" if run.done else ""
    console.print(
        f"Run {run.run_id}: {len(plan.agents)} agents, {len(plan):,} battles on {pools}{done}{limit}; kept in {db}",
        highlight=False,
        soft_wrap=True,
        markup=False,
    )
    for note in run.notes:
        console.print(f"Note: {note}", highlight=False, soft_wrap=True, markup=False)


def _play(console: Console, store: Store, run: Run, workers: int, db: Path) -> bool:
    """Plays the run and prints what became of it; True when it was stopped."""
    shown = display(console, None if run.settings.minutes is None else run.settings.minutes * 60)
    try:
        progress, stopped = asyncio.run(play(run, store, workers=workers, show=shown.show))
    except BaseException:
        console.print(
            f"\nWhat was finished is kept. To go on: {_resume_command(run, db)}", soft_wrap=True, markup=False
        )
        raise
    shown.close(progress)
    console.print()
    print_results(console, db, run.run_id)
    console.print()
    if progress.done < progress.total:
        why = "Stopped" if stopped else "Time is up"
        left = progress.total - progress.done
        console.print(
            f"{why} with {left:,} battles left. To go on: {_resume_command(run, db)}", soft_wrap=True, markup=False
        )
    target = "" if db == Path("arena.duckdb") else f" --db {db}"
    console.print(f"Every battle lies in {db}. To ask it, for example:", soft_wrap=True, markup=False)
    query = "SELECT agent, outcome, count(*) FROM results GROUP BY ALL ORDER BY ALL"
    console.print(f'  arena sql "{query}"{target}', soft_wrap=True, markup=False, highlight=False)
    return stopped


def _resume_command(run: Run, db: Path) -> str:
    target = "" if db == Path("arena.duckdb") else f" --db {db}"
    return f"arena evaluate --resume {run.run_id}{target}"
