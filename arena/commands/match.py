"""`arena match`: two agents against each other until it is decided who is better."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click
from rich.console import Console

from arena.commands.options import db_option, db_words, isolate_option
from arena.commands.playing import STOPPED, play_shown, say, say_unfinished
from arena.ratings.pentanomial import pair_counts
from arena.ratings.sprt import parse_sprt, report_lines
from arena.schedules.match import Match
from arena.showdown.simulator import Rules
from arena.store import Store, writer_lock
from arena.tournament import EvaluateSettings, Run, default_workers, prepare, resume
from teamsets.errors import BadInput

#: Battles on each team set after which a test that is still undecided ends.
MOST_BATTLES = 20_000
#: Battles on each team set of a match without a test.
BATTLES = 100


@click.command()
@click.argument("words", nargs=-1, metavar="AGENT OPPONENT [KEY=VALUE]...")
@click.option(
    "--sprt", is_flag=True, help="Until the test is decided; with elo0, elo1, alpha, beta, model as KEY=VALUE."
)
@click.option("--format", "format_id", default="gen1ou", show_default=True, metavar="F", help="The format.")
@click.option(
    "--teams", "team_sets", multiple=True, metavar="SET", help="Sets or folders of teams.  [default: competitive]"
)
@click.option("--battles", type=click.IntRange(min=1), help="On each team set, at most.  [default: 100; --sprt: 20000]")
@click.option("--minutes", type=click.FloatRange(min=0, min_open=True), help="Begin no new battle after so long.")
@click.option("--workers", type=click.IntRange(min=1), help="Worker processes.  [default: the cores]")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed: the same battles and decision.")
@click.option(
    "--think-limit", type=click.FloatRange(min=0, min_open=True), default=10.0, help="Seconds for one decision."
)
@click.option("--fresh", is_flag=True, help="Play what earlier runs have played already, too.")
@click.option(
    "--resume", "resumed", is_flag=False, flag_value="", metavar="[RUN]", help="Go on with a match (the latest)."
)
@isolate_option
@db_option
def match(
    words: tuple[str, ...],
    sprt: bool,
    format_id: str,
    team_sets: tuple[str, ...],
    battles: int | None,
    minutes: float | None,
    workers: int | None,
    seed: int,
    think_limit: float,
    fresh: bool,
    resumed: str | None,
    isolate: bool,
    db: Path,
) -> None:
    """Play AGENT against OPPONENT in pairs of battles with the teams exchanged, and say who is better and how sure it is.

    With --sprt the match ends as soon as a sequential test has decided between two statements: H0, the agent's lead is
    elo0 or less, and H1, it is elo1 or more.

    \b
    Examples:
      arena match heuristic:emerald poke-env:SimpleHeuristicsPlayer --sprt elo0=0 elo1=30 alpha=0.05 beta=0.05
      arena match heuristic:expert heuristic:staller --format gen9ou --battles 400
      arena match --resume
    """
    agents = tuple(word for word in words if not re.match(r"\w+=", word))
    test_words = [word for word in words if word not in agents]
    if resumed is not None and isolate:
        raise BadInput("--resume --isolate: a match goes on as it began: leave --isolate out")
    if resumed is not None and words:
        raise BadInput("--resume: a match goes on with the agents and the test that it began with: leave them out")
    if test_words and not sprt:
        raise BadInput(f"{test_words[0]}: belongs to a test: say --sprt before it")
    if resumed is None and len(agents) != 2:
        raise BadInput(f"agents: a match is between two, not {len(agents)}: `arena evaluate` plays with more")
    console = Console()
    with writer_lock(db):
        store = Store(db)
        if resumed is None:
            settings = EvaluateSettings(
                agents,
                (format_id,),
                team_sets or ("competitive",),
                schedule="match",
                battles=battles or (MOST_BATTLES if sprt else BATTLES),
                minutes=minutes,
                seed=seed,
                rules=Rules(think_limit),
                anchor=agents[1],
                sprt=parse_sprt(test_words) if sprt else None,
                fresh=fresh,
                isolate=isolate,
            )
            run = prepare(store, settings, kind="match")
        else:
            run = resume(store, resumed or None, minutes, kind="match")
        _announce(console, run, db)
        going_on = f"arena match --resume {run.run_id}{db_words(db)}"
        played = play_shown(console, store, run, workers or default_workers(), going_on)
    console.print()
    assert isinstance(played.schedule, Match)
    first, second = played.schedule.pairing
    for line in report_lines(first, second, pair_counts(played.schedule.points), run.settings.sprt):
        say(console, line)
    say_unfinished(console, played, going_on)
    if played.stopped:
        sys.exit(STOPPED)


def _announce(console: Console, run: Run, db: Path) -> None:
    first, second = run.plan.agents
    pools = ", ".join(f"{format_id}/{team_set}" for format_id, team_set in run.plan.pools)
    until = f"{len(run.plan):,} battles" if run.settings.sprt is None else "until the test is decided"
    say(console, f"Run {run.run_id}: {first} against {second}, {until}, on {pools}; kept in {db}")
    if run.results:
        say(console, f"{len(run.results):,} battles are known already (--fresh: play everything anew).")
    for note in run.notes:
        say(console, f"Note: {note}")
