"""Servers by a short name, and what a user's page says of its ratings."""

from __future__ import annotations

import asyncio
import contextlib
import os
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import orjson
from poke_env.data import to_id_str

from agents.http import BadAnswer, request
from arena.record import LadderRating
from arena.remote.ladder import server_uri
from arena.venues.server.login import USER
from teamsets.errors import BadInput

#: Time limit for a user's page, in seconds, and the most bytes of it that are read.
_PAGE_SECONDS, _MOST_BYTES = 10.0, 1 << 20


@dataclass(frozen=True)
class KnownServer:
    """A server's websocket; user_page: JSON with a user's ratings, {user} stands for the name, "" where there is none.

    prefix: what the names of its users begin with.
    """

    uri: str
    user_page: str = ""
    prefix: str = ""


#: Short name -> server. The PokéAgent Challenge registers accounts whose names begin with PAC (its public page).
SERVERS = {
    "showdown": KnownServer("wss://sim3.psim.us/showdown/websocket", "https://pokemonshowdown.com/users/{user}.json"),
    "pokeagent": KnownServer("wss://pokeagentshowdown.com/showdown/websocket", prefix="PAC"),
}


def known_server(text: str, user_page: str | None) -> KnownServer:
    """Return a server by its short name or address. user_page: in the place of the known one. Raises BadInput.

    The user's name is read from the environment: a server may accept only names with its prefix.
    """
    server = SERVERS.get(text) or KnownServer(server_uri(text))
    name = os.environ.get(USER, "").strip()
    if server.prefix and not name.upper().startswith(server.prefix):
        raise BadInput(
            f"--server {text}: its accounts have names that begin with {server.prefix}: register one on its page, and set "
            f"{USER}"
        )
    if user_page is not None:
        if "{user}" not in user_page:
            raise BadInput(f"--user-page {user_page}: must contain {{user}}, which stands for the user name")
        return KnownServer(server.uri, user_page, server.prefix)
    return server


async def with_page(rating: LadderRating, page: str, user: str, format_id: str) -> LadderRating:
    """Return a rating with GXE and Glicko-1 of the user's page, where it has them. Raises OSError if it cannot be read.

    page: JSON with `ratings`: format -> `gxe`, `rpr` and `rprd` (Glicko-1's rating and deviation), as Showdown's site has
    it.
    """
    try:
        async with asyncio.timeout(_PAGE_SECONDS):
            address = page.replace("{user}", quote(to_id_str(user), safe=""))
            response = await request("GET", address, {"User-Agent": "battle-arena"}, max_body=_MOST_BYTES, proxies=True)
    except (TimeoutError, BadAnswer) as error:
        raise OSError(str(error) or "no answer in time") from None
    if response.status != 200:
        raise OSError(f"HTTP status {response.status}")
    try:
        user_ratings = orjson.loads(response.body)["ratings"][format_id]
    except (ValueError, KeyError, TypeError):
        return rating  # it has no rating in this format yet
    gxe, glicko, deviation = (_number(user_ratings, key) for key in ("gxe", "rpr", "rprd"))
    return rating._replace(gxe=gxe, glicko=glicko, deviation=deviation)


def _number(user_ratings: Any, key: str) -> float | None:
    with contextlib.suppress(TypeError, ValueError, KeyError):
        number = float(user_ratings[key])
        return number if abs(number) < 1e6 else None
    return None
