"""`arena evaluate`: agents against each other, every battle kept."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from arena.commands.options import db_option, db_words, isolate_option
from arena.commands.playing import STOPPED, play_shown, say, say_unfinished
from arena.pool import load_defaults
from arena.report.tables import print_results
from arena.showdown.simulator import Rules
from arena.store import Store, writer_lock
from arena.tournament import EvaluateSettings, Run, default_workers, prepare, resume
from teamsets.errors import BadInput


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
@click.option(
    "--budget", type=click.IntRange(min=2), help="So many battles in all, placed where they make the ranking surer."
)
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    help="Begin no new battle after so long.\nWithout --battles they are placed as with --budget.",
)
@click.option(
    "--challenger",
    "challengers",
    multiple=True,
    metavar="AGENT",
    help="A gauntlet: AGENT against all others; several times. The others' own battles come from the store.",
)
@click.option("--anchor", metavar="AGENT", help="Who is rated 1000.  [default: heuristic:max-damage where it plays]")
@click.option("--fresh", is_flag=True, help="Count no battles of earlier runs, play everything.")
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
@click.option(
    "--venue",
    type=click.Choice(["simulator", "server"]),
    help="Where: in process, or over websockets on a Showdown server of our own (slower, the same battles).  "
    "[default: simulator]",
)
@isolate_option
@db_option
def evaluate(
    agents: tuple[str, ...], everyone: bool, resumed: str | None, workers: int | None, db: Path, **said: Any
) -> None:
    """Play agents against each other and say who won.

    Every pairing is played on every team set, in pairs of battles with the teams exchanged; with --budget or --minutes,
    those pairs are played that make the ranking surer. Battles of earlier runs count where agents, teams and rules are the
    same. What is finished is kept at once: a run that was stopped or killed goes on with --resume.

    \b
    Examples:
      arena evaluate --all
      arena evaluate random heuristic:max-damage --format gen9ou --teams competitive --battles 100
      arena evaluate --all mybot:MyAgent --minutes 10
      arena evaluate --all --challenger mybot:MyAgent --battles 20
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
            known = "known from earlier runs and count, too (--fresh: only new ones)."
        else:
            run = resume(store, resumed or None, said["minutes"])
            known = "done or known already."
        _announce(console, run, db, known)
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
    budget: int | None,
    minutes: float | None,
    challengers: tuple[str, ...],
    anchor: str | None,
    fresh: bool,
    no_limit: bool,
    seed: int | None,
    think_limit: float | None,
    max_turns: int | None,
    skip_invalid: bool,
    pool: Path | None,
    stock: bool,
    venue: str | None,
    isolate: bool,
) -> EvaluateSettings:
    """What was said on the command line, over what the pool file says."""
    defaults = load_defaults(pool)
    formats = formats or defaults.formats
    everybody, left_out = defaults.pool(formats) if everyone else ((), ())
    for line in left_out:
        say(Console(), f"Note: {line}")
    if not agents and not everyone:
        raise BadInput("agents: say which, or --all for the pool of the pool file; `arena agents list` shows them")
    if battles is not None and budget is not None:
        raise BadInput(f"--battles {battles} --budget {budget}: give one: battles for each pairing, or in all")
    if battles is None and minutes is None and budget is None:
        budget = defaults.budget
    adaptive = budget is not None or (minutes is not None and battles is None)
    # A limit on the time is the pool's; somebody who names a number of battles wants that number.
    own = battles is not None or budget is not None or no_limit
    return EvaluateSettings(
        agents=everybody + agents + challengers,
        formats=formats,
        team_sets=team_sets or defaults.teams,
        schedule="adaptive" if adaptive else "round-robin",
        battles=battles or defaults.battles,
        budget=budget,
        minutes=minutes if minutes is not None or own else defaults.minutes,
        seed=defaults.seed if seed is None else seed,
        rules=Rules(think_limit or float(defaults.think_limit), max_turns or defaults.max_turns),
        challengers=challengers,
        anchor=anchor or defaults.anchor,
        fresh=fresh,
        skip_invalid=skip_invalid,
        stock=stock,
        venue=venue or "simulator",
        isolate=isolate,
    )


def _announce(console: Console, run: Run, db: Path, known: str) -> None:
    plan, settings = run.plan, run.settings
    pools = ", ".join(f"{format_id}/{team_set}" for format_id, team_set in plan.pools)
    if settings.schedule == "adaptive":
        battles = "battles" if settings.budget is None else f"{settings.budget:,} battles"
        battles += " where they tell most"
    else:
        battles = f"{len(plan):,} battles"
    against = f" ({', '.join(settings.challengers)} against the others)" if settings.challengers else ""
    limit = f", at most {settings.minutes:g} min" if settings.minutes else ""
    say(console, f"Run {run.run_id}: {len(plan.agents)} agents{against}, {battles} on {pools}{limit}; kept in {db}")
    if run.results:
        say(console, f"{len(run.results):,} battles are {known}")
    for note in run.notes:
        say(console, f"Note: {note}")


def _play(console: Console, store: Store, run: Run, workers: int, db: Path) -> bool:
    """Plays the run and prints what became of it; True when it was stopped."""
    going_on = f"arena evaluate --resume {run.run_id}{db_words(db)}"
    played = play_shown(console, store, run, workers, going_on)
    console.print()
    print_results(console, db, run.run_id)
    console.print()
    say_unfinished(console, played, going_on)
    say(console, f"Every battle lies in {db}. The whole report, and a question to the battles, for example:")
    say(console, f"  arena report --html report.html{db_words(db)}")
    query = "SELECT agent, outcome, count(*) FROM results GROUP BY ALL ORDER BY ALL"
    say(console, f'  arena sql "{query}"{db_words(db)}')
    return played.stopped
