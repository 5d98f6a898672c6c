"""`arena serve`: our server, open for people and bots."""

from __future__ import annotations

import asyncio
import ipaddress
import sys
from collections import Counter
from pathlib import Path

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from arena.commands.group import STOPPED_CODE
from arena.commands.options import THINK_LIMIT, FiniteRange, db_option, db_words, team_set_option
from arena.commands.playing import reason, say
from arena.pool import load_defaults
from arena.record import BattleRecord
from arena.report.numbers import counted
from arena.report.tables import print_results
from arena.serve import ServeRun, ServeSettings, prepare
from arena.serve import serve as open_server
from arena.showdown.server.local import LocalServer
from arena.showdown.server.residents import House, Limits
from arena.showdown.simulator import Rules
from arena.store import Store, rows, writer_lock
from teamsets.errors import BadInput
from teamsets.formats import get_format

LOOPBACK, EVERYWHERE = "127.0.0.1", "0.0.0.0"


@click.command()
@click.argument("agents", nargs=-1, metavar="[AGENT]...")
@click.option("--agents", "named", is_flag=True, help="Before the AGENTs, if you like.  [default: the pool file's]")
@click.option("--format", "formats", multiple=True, metavar="F", help="A format; several times.  [default: gen9ou]")
@team_set_option
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any that is free.")
@click.option("--address", metavar="IP", help="Where to listen.  [default: 127.0.0.1; with --public: 0.0.0.0]")
@click.option("--public", is_flag=True, help="Let other machines in. There are no passwords: anybody may be anybody.")
@click.option("--battles", type=click.IntRange(min=1), help="End after so many.  [default: when it is stopped]")
@click.option(
    "--patience",
    type=FiniteRange(min=1),
    default=150.0,
    show_default=True,
    help="Seconds that a visitor has for one decision.",
)
@click.option(
    "--per-visitor",
    type=click.IntRange(min=1),
    default=Limits.visitor,
    show_default=True,
    help="Battles and requests (searches, challenges) that one visitor may have open.",
)
@click.option(
    "--at-once", type=click.IntRange(min=1), default=Limits.total, show_default=True, help="The same, for all visitors."
)
@click.option("--think-limit", type=THINK_LIMIT, default=10.0, help="The agents' seconds.")
@click.option(
    "--pool", type=click.Path(path_type=Path), help="The pool file.  [default: arena.toml here, or the shipped]"
)
@db_option
def serve(
    agents: tuple[str, ...],
    named: bool,
    formats: tuple[str, ...],
    team_set: str,
    port: int,
    address: str | None,
    public: bool,
    battles: int | None,
    patience: float,
    per_visitor: int,
    at_once: int,
    think_limit: float,
    pool: Path | None,
    db: Path,
) -> None:
    """Open a Showdown server on this machine, where people and bots play against the AGENTs (the pool).

    They challenge an agent by its name or search the ladder; every battle is kept. There are no passwords. Ctrl-C lets
    nobody begin another battle, and once more drops those that go on; then everybody's ratings are shown.

    \b
    Examples:
      arena serve --format gen9ou
      arena serve heuristic:expert random --format gen1ou --format gen9randombattle --port 8010
    """
    if named and not agents:
        raise BadInput("--agents: names none: write them behind it, or leave it out for the pool")
    settings = ServeSettings(
        agents or load_defaults(pool).agents,
        tuple(dict.fromkeys(get_format(name).id for name in formats or ("gen9ou",))),
        team_set,
        _address(address, public),
        port,
        patience,
        battles,
        Limits(per_visitor, at_once),
        Rules(think_limit),
    )
    console = Console()
    with writer_lock(db):
        store = Store(db)
        run = prepare(store, settings)
        finished = _serve(console, run, store, db)
    console.print()
    if not rows("SELECT 1 FROM battles WHERE run_id = ? LIMIT 1", db, [run.run_id]):
        say(console, "Nobody has played.")
    else:
        print_results(console, db, run.run_id)
        say(console, f"\nThe whole report: arena report {run.run_id} --html report.html{db_words(db)}")
    if not finished:
        sys.exit(STOPPED_CODE)


def _address(address: str | None, public: bool) -> str:
    """Where to listen. Raises BadInput for an address that others can reach, unless that was asked for."""
    address = address or (EVERYWHERE if public else LOOPBACK)
    address = LOOPBACK if address == "localhost" else address
    try:
        here = ipaddress.ip_address(address).is_loopback
    except ValueError:
        raise BadInput(f"--address {address}: not an IP address: write e.g. {LOOPBACK}") from None
    if not here and not public:
        raise BadInput(
            f"--address {address}: others could reach it, and the server has no passwords: say --public if they may"
        )
    return address


def _serve(console: Console, run: ServeRun, store: Store, db: Path) -> bool:
    """Keeps the server open, and shows what goes on there."""
    points: Counter[str] = Counter()
    # Nothing is drawn into a pipe; finished battles are printed anyway.
    live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None

    def tell(words: str) -> None:
        say(console, words)

    def opened(server: LocalServer, house: House) -> None:
        for line in _welcome(run, server, house, db):
            tell(line)
        if live is not None:
            live.start()

    def show(house: House) -> None:
        if live is not None:
            live.update(Text(_now(house), "dim"), refresh=True)

    def told(record: BattleRecord) -> None:
        points["battles"] += 1
        tell(f"{points['battles']}: {_told(record)}")

    try:
        return asyncio.run(open_server(run, store, tell=tell, opened=opened, show=show, told=told))
    finally:
        if live is not None:
            live.stop()


def _welcome(run: ServeRun, server: LocalServer, house: House, db: Path) -> list[str]:
    """How to come in."""
    settings = run.settings
    host = "localhost" if settings.address in (LOOPBACK, EVERYWHERE) else settings.address
    first, format_id = house.residents[0].name, settings.formats[0]
    drawn = not run.pools[format_id]
    warning = "It has no passwords and is for this machine only."
    if not ipaddress.ip_address(settings.address).is_loopback:
        warning = "WARNING: open to every machine that can reach this one, without passwords: anybody may be anybody."
    team = "" if drawn else ", team=..."
    return [
        f"Run {run.run_id}: {counted(len(house.residents), 'agent')}, {', '.join(settings.formats)}; kept in {db}",
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
        f"  Who is there: {', '.join(f'{r.name} ({r.spec})' if r.name != r.spec else r.name for r in house.residents)}",
        "",
        "Ctrl-C ends it.",
    ]


def _now(house: House) -> str:
    """Who plays at the moment, in a line."""
    if not house.meetings:
        return "Nobody plays."
    playing = [f"{m.visitor} – {m.resident.name} (turn {m.turn})" for m in house.meetings]
    shown = playing[:5] + [f"and {len(playing) - 5} more"] * (len(playing) > 5)
    return f"{len(playing)} playing: {', '.join(shown)}"


def _told(record: BattleRecord) -> str:
    """A finished battle in a line."""
    fixture = record.fixture
    if record.winner is None:
        ended = "a tie" if record.reason == "tie" else f"no winner ({record.reason})"
    else:
        ended = f"{fixture.agents[0 if record.winner == 'p1' else 1]} wins"
    return f"{' against '.join(fixture.agents)}, {fixture.format}: {ended} in {record.turns} turns{reason(record)}"
