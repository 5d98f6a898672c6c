"""The dashboard's web application: the page, its stream of changes, battles. Every route only reads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import duckdb
import orjson
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Route

from arena.dashboard import tournaments
from arena.dashboard.access import Guard
from arena.dashboard.feed import LOOK_SECONDS, PATIENCE, Feed
from arena.report.story import stories
from arena.store import BadDatabase, connect
from teamsets.errors import BadInput

_OWN = Path(__file__).parent / "assets"
_REPORT = Path(__file__).parent.parent / "report" / "assets"
#: What the page loads -> where it lies, and its type; the styles and the battle viewer are the report's.
ASSETS = {
    "report.css": (_REPORT, "text/css"),
    "viewer.css": (_REPORT, "text/css"),
    "viewer.js": (_REPORT, "text/javascript"),
    "theme.js": (_REPORT, "text/javascript"),
    "dashboard.css": (_OWN, "text/css"),
    "parts.js": (_OWN, "text/javascript"),
    "tournament.js": (_OWN, "text/javascript"),
    "training.js": (_OWN, "text/javascript"),
    "battles.js": (_OWN, "text/javascript"),
    "dashboard.js": (_OWN, "text/javascript"),
}
#: Battles listed at once, at most.
BATTLES = 40
#: A stream that has nothing to say says so after so many looks: proxies and browsers close silent ones.
_SILENCE = 5


def application(db: Path, folders: tuple[Path, ...], token: str | None, closing: Callable[[], bool]) -> Starlette:
    """The application over a database and folders of training runs.

    token: what a request must carry; None: requests to this machine's own names need none. closing: whether the server is
    about to end, which ends the streams.
    """
    feed = Feed(db, folders)

    async def page(request: Request) -> Response:
        return FileResponse(_OWN / "dashboard.html", media_type="text/html", headers={"cache-control": "no-cache"})

    async def asset(request: Request) -> Response:
        known = ASSETS.get(request.path_params["name"])
        if known is None:
            return _json({"problem": "no such file"}, 404)
        folder, kind = known
        headers = {"cache-control": "no-cache"}
        return FileResponse(folder / request.path_params["name"], media_type=kind, headers=headers)

    async def events(request: Request) -> Response:
        lines = changes(feed, request.query_params.get("run") or None, closing)
        return StreamingResponse(lines, media_type="text/event-stream", headers={"cache-control": "no-store"})

    async def listed(request: Request) -> Response:
        return await asyncio.to_thread(_battles, db, request)

    async def battle(request: Request) -> Response:
        return await asyncio.to_thread(_story, db, request.path_params["battle"])

    routes = [
        Route("/", page),
        Route("/assets/{name}", asset),
        Route("/events", events),
        Route("/battles", listed),
        Route("/battle/{battle:int}", battle),
    ]
    return Starlette(routes=routes, middleware=[Middleware(Guard, token=token)])


async def changes(feed: Feed, run_id: str | None, closing: Callable[[], bool]) -> AsyncIterator[bytes]:
    """Server-sent events: {"part": name, "data": …} for a part that is new or has changed, with null for one that is gone.

    After all of the first look comes {"part": "ready"}. Ends when the server does.
    """
    sent: dict[str, bytes] = {}
    silent, ready = 0, False
    yield b"retry: 2000\n\n"
    while not closing():
        parts = await feed.parts(run_id)
        changed = [(name, data) for name, data in parts.items() if sent.get(name) != data]
        gone = [(name, b"null") for name in sent.keys() - parts.keys()]
        for name, data in [*gone, *changed]:
            yield b'data: {"part":' + orjson.dumps(name) + b',"data":' + data + b"}\n\n"
        if not ready:
            yield b'data: {"part":"ready","data":true}\n\n'
        silent = 0 if changed or gone or not ready else silent + 1
        if silent >= _SILENCE:
            silent = 0
            yield b": still here\n\n"
        sent, ready = parts, True
        await asyncio.sleep(LOOK_SECONDS)


def _battles(db: Path, request: Request) -> Response:
    """GET /battles?run=ID[&agent=…][&failed=1][&before=ID]: the latest battles of a run."""
    query = request.query_params
    before = query.get("before", "")
    try:
        connection = connect(db, read_only=True, patience=PATIENCE)
        try:
            battles = tournaments.battles(
                connection,
                query.get("run", ""),
                agent=query.get("agent", ""),
                failed=query.get("failed") == "1",
                before=int(before) if before.isdecimal() and len(before) < 18 else 2**62,
                count=BATTLES,
            )
        finally:
            connection.close()
    except (BadInput, duckdb.Error) as error:
        return _json({"problem": str(error)}, 503)
    return _json({"battles": battles, "more": len(battles) == BATTLES})


def _story(db: Path, battle_id: int) -> Response:
    """GET /battle/ID: a battle as the viewer shows it (arena/report/story_types.py)."""
    try:
        return _json(stories(db, [min(battle_id, 2**62)])[0])
    except BadInput as error:
        return _json({"problem": str(error)}, 503 if isinstance(error, BadDatabase) else 404)


def _json(value: object, status: int = 200) -> Response:
    headers = {"cache-control": "no-store"}
    return Response(orjson.dumps(value), status, media_type="application/json", headers=headers)
