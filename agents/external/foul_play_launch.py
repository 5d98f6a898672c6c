"""Runs in foul-play's own environment: `python foul_play_launch.py COPY ENGINE TEAM [OPTION of foul-play]...`.

COPY: the folder with the package `fp`. ENGINE: the folder with poke-engine for the generation. TEAM: its packed team,
because Showdown's validator rejects some of the teams that foul-play packs itself.

foul-play's play is not changed. Two things are adapted to our server:

- It signs in at the public login server and downloads sets. Here it does neither: our server accepts any name, and
  everything that it needs is in its caches.
- In generation 1 Showdown offers "Fight" instead of moves to a Pokémon that cannot act (asleep, frozen, trapped). foul-play
  does not know it, and would exit. It receives a request with moves instead, and its answer is sent as "Fight".
"""

import asyncio
import json
import sys

_REQUEST = "|request|"


class _NotFound:
    """The response to every download."""

    status_code = 404
    text = ""
    content = b""

    @staticmethod
    def json():
        return {"data": {}}


async def _sign_in(client):
    await client.get_id_and_challstr()
    await client.send_message("", [f"/trn {client.username},0,"])
    while True:
        words = (await client.receive_message()).split("|")
        if words[1] == "updateuser" and words[3] == "1":
            return client.username


def _with_moves(message):
    """Return a request for "Fight" with the Pokémon's moves instead; None for any other message."""
    head, _, text = message.partition(_REQUEST)
    request = json.loads(text or "null") or {}
    active = request.get("active", [{}])[0]
    if [move["id"] for move in active.get("moves", [])] != ["fight"]:
        return None
    (fighter,) = [mon for mon in request["side"]["pokemon"] if mon["active"]]
    active["moves"] = [{"move": move, "id": move, "pp": 10, "disabled": False} for move in fighter["moves"]]
    return head + _REQUEST + json.dumps(request)


def translate_fight(client_class):
    """Let connections of a class show moves instead of "Fight", and answer with it."""
    receive, send = client_class.receive_message, client_class.send_message

    async def receive_message(self):
        message = await receive(self)
        if _REQUEST not in message:
            return message
        changed = _with_moves(message)
        self.must_fight = changed is not None
        return changed or message

    async def send_message(self, room, message_list):
        if getattr(self, "must_fight", False) and message_list[0].startswith("/choose move "):
            message_list = ["/choose move fight", *message_list[1:]]
        await send(self, room, message_list)

    client_class.receive_message, client_class.send_message = receive_message, send_message


def import_foul_play(copy, engine):
    """Import foul-play, without its downloads. Returns its main module and its class of connections."""
    sys.path[:1] = [copy, engine]  # without this file's folder, whose modules are not foul-play's

    import fp.main
    import requests
    from fp.websocket_client import PSWebsocketClient

    for name in ("get", "post"):
        setattr(requests, name, lambda *_, **__: _NotFound)
    return fp.main, PSWebsocketClient


def play_on_server(copy, engine, team, *options):
    """Play one battle over a websocket."""
    main, client_class = import_foul_play(copy, engine)
    client_class.login = _sign_in
    translate_fight(client_class)
    load_team = main.load_team
    main.load_team = lambda name: (team, *load_team(name)[1:])
    run(main, options)


def run(main, options):
    """Run foul-play with its options, until its battle is over."""
    sys.argv = ["run.py", *options]
    asyncio.run(main.run_foul_play())


if __name__ == "__main__":
    play_on_server(*sys.argv[1:])
