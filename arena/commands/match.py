"""`arena match`: plays two agents against each other, with --sprt until a sequential test decides which is better."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Unpack

import click

from arena.commands.options import refuse_on_resume, resume_option, run_options
from arena.commands.playing import battles_words, say_moved, say_unfinished
from arena.options import MatchOptions
from arena.ratings.pentanomial import pair_counts
from arena.ratings.sprt import parse_sprt, report_lines
from arena.report.failures import own_failures
from arena.report.numbers import counted, counted_minutes, plural, unit_of
from arena.report.summary import summarize
from arena.run.settings import MATCH_BATTLES, MOST_BATTLES, match_settings
from arena.run.terminal import play_shown, stoppable
from arena.run.tournament import Run, match_of, prepare, resume
from arena.store import open_store
from arena.terminal.commands import STOPPED_CODE, db_argument, db_option, json_option, print_json, say
from arena.terminal.console import Console
from arena.workers.cluster.connection import connect_cluster
from teamsets.errors import BadInput


@click.command()
@click.argument("arguments", nargs=-1, metavar="AGENT OPPONENT [KEY=VALUE]...")
@click.option(
    "--sprt",
    is_flag=True,
    help="Play until a sequential probability ratio test (SPRT) decides; elo0, elo1, alpha, beta and model are given as "
    "KEY=VALUE.",
)
@run_options(
    MatchOptions,
    texts={
        "battles": {
            "help": "Maximum number of battles on each team set: 100 with two team sets are 200 battles. Battles are played "
            "in pairs, so an odd number is rounded up.",
            "default_text": f"{MATCH_BATTLES}; with --sprt {MOST_BATTLES}",
        },
        "seed": {"help": "Random seed. The same seed gives the same battles and decision."},
    },
)
@resume_option
@json_option
@db_option
def match(
    arguments: tuple[str, ...],
    sprt: bool,
    resumed: str | None,
    as_json: bool,
    db: Path,
    **options: Unpack[MatchOptions],
) -> None:
    """Estimate the Elo difference of two agents.

    AGENT plays against OPPONENT; the difference has a 95% interval.

    Battles are played in pairs in which the agents exchange teams. With --sprt the match ends as soon as the test decides
    between two hypotheses: H0, AGENT's lead is elo0 or less; H1, it is elo1 or more. --json prints the report as `arena
    report --json -` does.

    \b
    Examples:
      arena match heuristic:emerald poke-env:SimpleHeuristicsPlayer --sprt elo0=0 elo1=30 alpha=0.05 beta=0.05
      arena match heuristic:expert heuristic:staller --format gen9ou --battles 400
      arena match --resume
    """
    agents = tuple(argument for argument in arguments if not re.match(r"\w+=", argument))
    test_arguments = [argument for argument in arguments if argument not in agents]
    if resumed is not None:
        if arguments:
            raise BadInput("--resume: a match keeps the agents and the test that it started with: leave them out")
        refuse_on_resume(options)
    if test_arguments and not sprt:
        raise BadInput(f"{test_arguments[0]}: is a setting of --sprt: give --sprt as well")
    settings = None
    if resumed is None:
        settings = match_settings(agents, parse_sprt(test_arguments) if sprt else None, options)
    console = Console(stderr=as_json)
    on, workers = options.get("on"), options.get("workers")
    with connect_cluster(on, workers, lambda line: say(console, line)) as cluster, open_store(db) as store:
        if settings is not None:
            run = prepare(store, settings, kind="match")
        else:
            run = resume(store, resumed or None, options.get("minutes"), kind="match")
        resume_command = f"arena match --resume {run.run_id}{db_argument(db)}"
        with stoppable(console, store, run.run_id, resume_command):
            _announce(console, run, db)
            played = play_shown(console, store, run, cluster)
            say_moved(console, played)
            console.print()
            schedule = match_of(played)
            first, second = schedule.pairing
            if as_json:
                print_json(summarize(db, run.run_id))
            units = plural(unit_of(run.settings.best_of))
            for line in report_lines(first, second, pair_counts(schedule.points), run.settings.sprt, units):
                say(console, line)
            for line in own_failures(db, run.run_id):
                say(console, f"Note: {line} (arena report {run.run_id}{db_argument(db)} shows them)")
            say_unfinished(console, run, played, resume_command)
            if played.stopped:
                sys.exit(STOPPED_CODE)


def _announce(console: Console, run: Run, db: Path) -> None:
    first, second = run.plan.agents
    pools = ", ".join(f"{format_id}/{team_set}" for format_id, team_set in run.plan.pools)
    battles = battles_words(run)
    until = battles if run.settings.sprt is None else f"until the SPRT decides, at most {battles}"
    limit = f", at most {counted_minutes(run.settings.minutes)}" if run.settings.minutes else ""
    say(console, f"Run {run.run_id}: {first} against {second}, {until}, on {pools}{limit}; stored in {db}")
    if run.results:
        say(console, f"{counted(len(run.results), 'battle')} are finished already (--fresh: play all again).")
    for note in run.notes:
        say(console, f"Note: {note}")
