"""`arena ladder`: plays an agent on a remote Showdown server."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from urllib.parse import urlsplit

import click
from poke_env.data import to_id_str

from arena.commands.options import RenamedOptions, run_option
from arena.commands.playing import reason
from arena.record import BattleRecord
from arena.remote.ladder_run import LadderSettings, play, prepare
from arena.remote.servers import SERVERS, known_server
from arena.remote.user_battle import UserBattle
from arena.report.numbers import counted, unit_of
from arena.report.summary import summarize
from arena.store import open_store
from arena.terminal.commands import STOPPED_CODE, db_argument, db_option, json_option, print_json, say
from arena.terminal.console import Console
from arena.validation import is_loopback
from arena.venue import Rules
from arena.venues.server.client import PUBLIC_RATE_LIMIT
from arena.venues.server.login import PUBLIC_LOGIN, Account
from teamsets.errors import BadInput
from teamsets.formats import get_format, split_series


@click.command(cls=RenamedOptions)
@click.option(
    "--server", required=True, metavar="URI",
    help=f"Host or websocket URI of the server, e.g. sim3.psim.us; or {' or '.join(SERVERS)}.",
)  # fmt: skip
@click.option("--agent", required=True, metavar="AGENT", help="The agent that plays.")
@click.option(
    "--battles",
    required=True,
    type=click.IntRange(min=1),
    help="Number of battles, one after the other; of series in formats such as gen9championsvgc2026regmabo3.",
)
@run_option("format", single=True, filled=True)
@run_option(
    "teams", single=True, filled=True, help="Team set or folder of teams for the AGENTs; each battle draws one."
)
@click.option("--challenge", metavar="USER", default="", help="Challenge USER instead of searching the ladder.")
@click.option("--accept", is_flag=True, help="Wait for challenges instead of searching the ladder.")
@run_option("think_limit", filled=True)
@click.option(
    "--login-server",
    default=PUBLIC_LOGIN,
    show_default=True,
    metavar="URL",
    help="Login server that checks the password.",
)
@click.option(
    "--user-page",
    metavar="URL",
    help="JSON with a user's ratings, from which GXE and Glicko-1 are stored; {user} stands for the name.  [default: "
    "the server's, where it is known]",
)
@click.option(
    "--unthrottled",
    is_flag=True,
    help="Send messages without throttling: for a server without rate limits. To a server on this machine (localhost) they "
    "are never throttled.",
)
@json_option
@db_option
def ladder(
    server: str,
    agent: str,
    battles: int,
    format: str,
    teams: str,
    challenge: str,
    accept: bool,
    think_limit: float,
    login_server: str,
    user_page: str | None,
    unthrottled: bool,
    as_json: bool,
    db: Path,
) -> None:
    """Play with AGENT on another Showdown server.

    Every battle is stored, rated by the server or not; the server's ratings are, too (table ladder_ratings).

    The user name is read from ARENA_SHOWDOWN_USER, the password (if the server requires one) from ARENA_SHOWDOWN_PASSWORD.
    The password is sent only to the login server and is not stored. Ctrl-C finishes the current battle and stops; a second
    Ctrl-C forfeits it, a third one leaves it at once.

    \b
    Examples:
      arena ladder --server sim3.psim.us --agent heuristic:expert --format gen9ou --battles 20
      arena ladder --server pokeagent --agent policy:gen9ou --format gen9ou --battles 50
      arena ladder --server localhost:8000 --agent random --challenge rival --battles 1
    """
    place = known_server(server, user_page)
    account = Account.from_environment(login_server)
    if challenge and accept:
        raise BadInput(f"--challenge {challenge} --accept: give only one of them")
    if challenge and to_id_str(challenge) == to_id_str(account.name):
        raise BadInput(f"--challenge {challenge}: this is the agent's own user name: give another user")
    battle_format, best_of = split_series(format)
    settings = LadderSettings(
        server=place.uri,
        user_page=place.user_page,
        agent=agent,
        format=get_format(battle_format).id,
        best_of=best_of,
        team_set=teams,
        battles=battles,
        challenge=to_id_str(challenge),
        accept=accept,
        rules=Rules(think_limit=think_limit),
    )
    console = Console(stderr=as_json)
    with open_store(db) as store:
        run = prepare(store, settings)
        say(console, f"Run {run.run_id}: {_what(settings)}; stored in {db}")

        def show(number: int, battle: UserBattle, record: BattleRecord) -> None:
            game = f", battle {battle.entrant.game}" if best_of > 1 else ""
            say(console, f"{number} of {settings.battles}{game}: {_result_line(battle, record)}")

        rate_limit = None if unthrottled or is_loopback(urlsplit(settings.server).hostname or "") else PUBLIC_RATE_LIMIT
        finished = asyncio.run(play(run, store, account, rate_limit, log=lambda line: say(console, line), show=show))
    if as_json:
        print_json(summarize(db, run.run_id))
    say(console, f"Full report: arena report {run.run_id}{db_argument(db)}")
    if not finished:
        sys.exit(STOPPED_CODE)


def _what(settings: LadderSettings) -> str:
    how = "on the ladder of"
    if settings.challenge:
        how = f"challenging {settings.challenge} on"
    elif settings.accept:
        how = "accepting challenges on"
    number = counted(settings.battles, unit_of(settings.best_of))
    return f"{settings.agent}, {number} of {settings.format}, {how} {settings.server}"


def _result_line(battle: UserBattle, record: BattleRecord) -> str:
    """One line about a finished battle."""
    if record.winner is None:
        ended = "a tie" if record.reason == "tie" else "no result"
    else:
        ended = "won" if record.winner == battle.role else "lost"
    line = f"{ended} against {battle.opponent}, {record.turns} turns{reason(record)}"
    if battle.rating is not None:
        line += f"; rating {battle.rating[0]} → {battle.rating[1]}"
    if record.ladder is not None and record.ladder.gxe is not None:
        line += f", GXE {record.ladder.gxe:g}"
    return line
