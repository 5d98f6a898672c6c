"""Servers by a short name, and the page that has a user's GXE and Glicko-1."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from arena.record import LadderRating
from arena.remote.servers import SERVERS, known_server, with_page
from arena.venues.server.login import USER
from teamsets.errors import BadInput

_RATING = LadderRating("ladder.example", 1000, 1040)
_ANSWERS = {
    "/users/mybot.json": (200, {"ratings": {"gen9ou": {"elo": 1040.2, "gxe": "55.5", "rpr": 1523.4, "rprd": 60}}}),
    "/users/odd.json": (200, {"ratings": {"gen9ou": {"gxe": None, "rpr": "many"}}}),
    "/users/list.json": (200, [1, 2]),
}


@pytest.fixture(scope="module")
def page() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, answer = _ANSWERS.get(self.path, (404, {}))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *_: object) -> None:
            """Silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/users/{{user}}.json"
        server.shutdown()


def _asked(page: str, user: str, format_id: str = "gen9ou") -> LadderRating:
    return asyncio.run(with_page(_RATING, page, user, format_id))


def test_gxe_and_glicko_are_those_of_the_users_page(page: str) -> None:
    assert _asked(page, "My Bot") == LadderRating("ladder.example", 1000, 1040, 55.5, 1523.4, 60.0)


@pytest.mark.parametrize(("user", "format_id"), [("My Bot", "gen1ou"), ("odd", "gen9ou"), ("list", "gen9ou")])
def test_a_page_without_them_leaves_them_unknown(page: str, user: str, format_id: str) -> None:
    assert _asked(page, user, format_id) == _RATING


def test_a_page_that_is_not_there_is_an_error_that_a_run_survives(page: str) -> None:
    with pytest.raises(OSError, match="HTTP status 404"):
        _asked(page, "nobody")
    with pytest.raises(OSError):
        _asked("http://127.0.0.1:9/{user}", "My Bot")


def test_a_short_name_is_a_server_and_asks_for_its_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(USER, "My Bot")
    assert known_server("showdown", None) == SERVERS["showdown"]
    assert known_server("localhost:8000", None).uri == "ws://localhost:8000/showdown/websocket"
    with pytest.raises(BadInput, match="names that begin with PAC"):
        known_server("pokeagent", None)
    monkeypatch.setenv(USER, "PAC-MyBot")
    assert known_server("pokeagent", None).uri == "wss://pokeagentshowdown.com/showdown/websocket"
    with pytest.raises(BadInput, match=r"must contain \{user\}"):
        known_server("showdown", "https://example.org/ratings.json")
