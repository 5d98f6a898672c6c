"""`arena dashboard`: runs in a browser while they are played and trained."""

from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path

import click

from arena.commands.options import RenamedOptions
from arena.dashboard.training_runs import printable
from arena.terminal.commands import db_option
from arena.validation import is_loopback
from teamsets.errors import BadInput, MissingTool

TOKEN = "ARENA_DASHBOARD_TOKEN"
_LEAST_TOKEN = 16
#: How much the dashboard yields to runs on the same machine.
_NICE = 10


@click.command(cls=RenamedOptions)
@click.option("--port", type=click.IntRange(0, 65535), default=8700, show_default=True, help="0 takes a free one.")
@click.option(
    "--runs",
    "folders",
    type=click.Path(path_type=Path, file_okay=False),
    multiple=True,
    default=("runs",),
    show_default=True,
    metavar="FOLDER",
    help="Where training runs are looked for; may be given several times.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="IP",
    help="Address to listen on. Any but the loopback's requires a token, which is in the URL that is printed; "
    f"the variable {TOKEN} sets one of your own.",
)
@db_option
def dashboard(port: int, folders: tuple[Path, ...], host: str, db: Path) -> None:
    """Show runs in a browser while they are played and trained.

    The page has rankings, battles, and curves of training.

    One read-only page, on this machine only. It may be started before, during and after runs; Ctrl-C ends it.
    docs/dashboard.md explains it.

    \b
    Examples:
      arena dashboard
      arena dashboard --db gen9.duckdb --runs runs --runs more --port 8701
    """
    try:
        from arena.dashboard.serving import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise MissingTool(
            "arena dashboard: starlette and uvicorn are not installed: pip install 'battle-arena[dashboard]', or in a clone "
            ".venv/bin/uv pip install --python .venv/bin/python -c constraints.txt -e '.[dashboard]'"
        ) from None
    token = os.environ.get(TOKEN) or None
    if token is not None and len(token) < _LEAST_TOKEN:
        raise BadInput(f"{TOKEN}: {len(token)} characters are too few: set at least {_LEAST_TOKEN}, or none at all")
    if token is not None and printable(token) != token:
        raise BadInput(f"{TOKEN}: it is not valid UTF-8: set letters, digits and signs")
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(24)
    listening = _listening(host, port)
    number = listening.getsockname()[1]
    os.nice(_NICE)
    serve(listening, db, folders, token, opened=lambda: _announce(host, number, token, db, folders))


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens there. Raises BadInput."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except OSError as error:
        raise BadInput(
            f"--host {host} --port {port}: {error.strerror}: choose another port (0 takes a free one), or an address of "
            "this machine"
        ) from None
    return listening


def _announce(host: str, port: int, token: str | None, db: Path, folders: tuple[Path, ...]) -> None:
    from arena.dashboard.access import encoded

    named = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    shown = f"[{named}]" if ":" in named else named
    click.echo(
        f"Dashboard of {printable(db)} and {', '.join(map(printable, folders))}: http://{shown}:{port}/"
        + (f"?token={encoded(token)}" if token else "")
    )
    if token:
        click.echo("Whoever has this URL can read everything on the page; the connection is not encrypted.")
    click.echo("Ctrl-C ends it; runs do not notice.")
