"""A stand-in for foul-play: its command line, the order of what it says, and its habits, without its search."""

import argparse
import json
import os

import poke_engine
import requests

from fp.websocket_client import PSWebsocketClient

FOLDER = os.path.dirname(os.path.abspath(__file__))


def load_team(name):
    with open(name) as file:
        return "no packed team", file.read(), os.path.basename(name)


def options():
    parser = argparse.ArgumentParser()
    for name in ("websocket-uri", "ps-username", "bot-mode", "user-to-challenge", "pokemon-format", "team-name"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("search-time-ms", "search-parallelism", "search-threads", "run-count"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--log-level", default="DEBUG")
    return parser.parse_args()


def known_sets(format_id):
    """Reads its caches as foul-play does, and would fetch what is not there."""
    found = {}
    for name in ("showdown_sets", "pokemon_full_sets", "replay_moves"):
        with open(os.path.join(FOLDER, "data", "pkmn_sets_cache", format_id, f"{name}.json")) as file:
            found[name] = json.load(file)
    with open(os.path.join(FOLDER, "data", "smogon_stats_cache", f"{format_id}-0.json")) as file:
        found["usage"] = json.load(file)
    assert requests.get("https://example.org/more-sets.json").status_code == 404
    return found


async def run_foul_play():
    said = options()
    assert said.pokemon_format[3] == poke_engine.GENERATION
    client = await PSWebsocketClient.create(said.ps_username, None, said.websocket_uri)
    await client.login()
    packed, export, _ = load_team(said.team_name)
    await client.send_message("", [f"/utm {packed}"])
    if said.bot_mode == "challenge_user":
        await client.send_message("", [f"/challenge {said.user_to_challenge},{said.pokemon_format}"])
    else:
        while f"/challenge {said.pokemon_format}" not in await client.receive_message():
            pass
        await client.send_message("", [f"/accept {said.user_to_challenge}"])
    sets = known_sets(said.pokemon_format)
    assert export.startswith(next(iter(export.split(" @")))) and sets["usage"]
    await battle(client)


async def battle(client):
    room = ""
    while True:
        message = await client.receive_message()
        head, _, rest = message.partition("\n")
        room = head[1:] if head.startswith(">battle-") else room
        if any(line.startswith("|win|") or line == "|tie" for line in rest.split("\n")):
            break
        if not rest.startswith("|request|{"):
            continue
        request = json.loads(rest[9:])
        if request.get("wait"):
            continue
        await client.send_message(room, [choice(request), str(request["rqid"])])
    await client.send_message("", [f"/leave {room}"])
    while "deinit" not in await client.receive_message():
        pass
    await client.websocket.close()


def choice(request):
    if request.get("teamPreview"):
        return "/team 213456"
    if request.get("forceSwitch"):
        return "/choose default"
    moves = [move["id"] for move in request["active"][0]["moves"] if not move.get("disabled")]
    assert "fight" not in moves
    return f"/choose move {moves[0]}"
