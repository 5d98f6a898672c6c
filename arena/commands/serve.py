"""`arena serve`: runs a Showdown server where people and bots play against agents."""

from __future__ import annotations

import asyncio
import ipaddress
import sys
from collections import Counter
from pathlib import Path

import click
from rich.live import Live
from rich.text import Text

from arena.commands.options import FiniteRange, RenamedOptions, run_option
from arena.commands.playing import reason
from arena.record import BattleRecord
from arena.remote.lobby import Limits, Lobby
from arena.remote.serve import ServeRun, ServeSettings, prepare
from arena.remote.serve import serve as open_server
from arena.report.numbers import counted
from arena.report.tables import print_results
from arena.run.pool import load_defaults
from arena.store import Store, open_store, rows
from arena.terminal.commands import STOPPED_CODE, db_argument, db_option, say
from arena.terminal.console import Console
from arena.venue import Rules
from arena.venues.server.local import LocalServer
from teamsets.errors import BadInput
from teamsets.formats import get_format

LOOPBACK, EVERYWHERE = "127.0.0.1", "0.0.0.0"


@click.command(cls=RenamedOptions)
@click.argument("agents", nargs=-1, metavar="[AGENT]...")
@click.option("--agents", "named", is_flag=True, help="Optional, before the AGENTs.  [default: the pool file's]")
@run_option("format", filled=True)
@run_option(
    "teams", single=True, filled=True, help="Team set or folder of teams for the AGENTs; each battle draws one."
)
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port; 0: any free port.")
@click.option("--host", metavar="IP", help="Address to listen on.  [default: 127.0.0.1; with --public: 0.0.0.0]")
@click.option(
    "--public",
    is_flag=True,
    help="Accept connections from other machines. There are no passwords: any user name can be taken by anyone.",
)
@click.option(
    "--battles", type=click.IntRange(min=1), help="Stop after this many battles.  [default: run until stopped]"
)
@click.option(
    "--patience",
    type=FiniteRange(min=1),
    default=150.0,
    show_default=True,
    help="A visitor's time limit for one decision, in seconds.",
)
@click.option(
    "--per-visitor",
    type=click.IntRange(min=1),
    default=Limits().visitor,
    show_default=True,
    help="Maximum number of open battles and requests (searches, challenges) per visitor.",
)
@click.option(
    "--at-once",
    type=click.IntRange(min=1),
    default=Limits().total,
    show_default=True,
    help="The same for all visitors together.",
)
@run_option("think_limit", filled=True, help="An agent's time limit for one decision, in seconds.")
@run_option("pool")
@db_option
def serve(
    agents: tuple[str, ...],
    named: bool,
    format: tuple[str, ...],
    teams: str,
    port: int,
    host: str | None,
    public: bool,
    battles: int | None,
    patience: float,
    per_visitor: int,
    at_once: int,
    think_limit: float,
    pool: Path | None,
    db: Path,
) -> None:
    """Let people and bots play against agents on a server here.

    AGENTs: those that visitors can meet; by default the pool.

    Visitors challenge an agent by its name or search the ladder. Every battle is stored. There are no passwords. Ctrl-C lets
    battles in progress finish; a second Ctrl-C drops them. At the end all ratings are printed.

    \b
    Examples:
      arena serve --format gen9ou
      arena serve heuristic:expert random --format gen1ou --format gen9randombattle --port 8010
    """
    if named and not agents:
        raise BadInput("--agents: no agent follows: name agents after it, or leave it out to use the pool")
    settings = ServeSettings(
        agents=agents or load_defaults(pool).agents,
        formats=tuple(dict.fromkeys(get_format(name).id for name in format)),
        team_set=teams,
        address=_address(host, public),
        port=port,
        patience=patience,
        battles=battles,
        limits=Limits(visitor=per_visitor, total=at_once),
        rules=Rules(think_limit=think_limit),
    )
    console = Console()
    with open_store(db) as store:
        run = prepare(store, settings)
        finished = _serve(console, run, store, db)
    console.print()
    if not rows("SELECT 1 FROM battles WHERE run_id = ? LIMIT 1", db, [run.run_id]):
        say(console, "No battles were played.")
    else:
        print_results(console, db, run.run_id)
        say(console, f"\nFull report: arena report {run.run_id} --html report.html{db_argument(db)}")
    if not finished:
        sys.exit(STOPPED_CODE)


def _address(address: str | None, public: bool) -> str:
    """The address to listen on. Raises BadInput for a public address without --public."""
    address = address or (EVERYWHERE if public else LOOPBACK)
    address = LOOPBACK if address == "localhost" else address
    try:
        here = ipaddress.ip_address(address).is_loopback
    except ValueError:
        raise BadInput(f"--host {address}: not an IP address: use e.g. {LOOPBACK}") from None
    if not here and not public:
        raise BadInput(
            f"--host {address}: other machines could connect, and the server has no passwords: add --public to allow that"
        )
    return address


def _serve(console: Console, run: ServeRun, store: Store, db: Path) -> bool:
    """Runs the server and shows what happens there."""
    points: Counter[str] = Counter()
    # Nothing is drawn into a pipe; finished battles are printed anyway.
    live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None

    def log(line: str) -> None:
        say(console, line)

    def on_open(server: LocalServer, lobby: Lobby) -> None:
        for line in _welcome(run, server, lobby, db):
            log(line)
        if live is not None:
            live.start()

    def show(lobby: Lobby) -> None:
        if live is not None:
            live.update(Text(_now(lobby), "dim"), refresh=True)

    def on_battle(record: BattleRecord) -> None:
        points["battles"] += 1
        log(f"{points['battles']}: {_result_line(record)}")

    try:
        return asyncio.run(open_server(run, store, log=log, on_open=on_open, show=show, on_battle=on_battle))
    finally:
        if live is not None:
            live.stop()


def _welcome(run: ServeRun, server: LocalServer, lobby: Lobby, db: Path) -> list[str]:
    """The lines that say how to connect."""
    settings = run.settings
    host = "localhost" if settings.address in (LOOPBACK, EVERYWHERE) else settings.address
    first, format_id = lobby.agents[0].name, settings.formats[0]
    drawn = not run.pools[format_id]
    warning = "It has no passwords and accepts connections from this machine only."
    if not ipaddress.ip_address(settings.address).is_loopback:
        warning = "WARNING: every machine that can reach this one may connect, and there are no passwords."
    team = "" if drawn else ", team=..."
    return [
        f"Run {run.run_id}: {counted(len(lobby.agents), 'agent')}, {', '.join(settings.formats)}; stored in {db}",
        f"The server listens at {server.uri}. {warning}",
        "",
        f"  In a browser: https://play.pokemonshowdown.com/~~{host}:{server.port}/ (the page comes from there, the battles",
        f'  from here). Choose any free name, find the user "{first}" and challenge it in {format_id}, or press "Battle!".',
        "",
        "  With poke-env:",
        f'    server = ServerConfiguration("{server.uri}", "")',
        f'    me = MyPlayer(account_configuration=AccountConfiguration("me", None), battle_format="{format_id}",'
        f" server_configuration=server{team})",
        f'    await me.ladder(1)  # or: await me.send_challenges("{first}", 1)',
        "",
        f"  Agents: {', '.join(f'{r.name} ({r.spec})' if r.name != r.spec else r.name for r in lobby.agents)}",
        "",
        "Ctrl-C stops the server.",
    ]


def _now(lobby: Lobby) -> str:
    """One line about the battles in progress."""
    if not lobby.in_progress:
        return "No battles in progress."
    playing = [f"{m.visitor} – {m.agent.name} (turn {m.turn})" for m in lobby.in_progress]
    shown = playing[:5] + [f"and {len(playing) - 5} more"] * (len(playing) > 5)
    return f"{len(playing)} playing: {', '.join(shown)}"


def _result_line(record: BattleRecord) -> str:
    """One line about a finished battle."""
    fixture = record.fixture
    if record.winner is None:
        ended = "a tie" if record.reason == "tie" else f"no winner ({record.reason})"
    else:
        ended = f"{fixture.agents[0 if record.winner == 'p1' else 1]} wins"
    return f"{' against '.join(fixture.agents)}, {fixture.format}: {ended} in {record.turns} turns{reason(record)}"
