"""A stand-in for foul-play: its command line and the order of what it says. run_battle.py plays."""

import argparse
import json
import os

import poke_engine
import requests

from fp.run_battle import pokemon_battle
from fp.websocket_client import PSWebsocketClient

FOLDER = os.path.dirname(os.path.abspath(__file__))


def load_team(name):
    with open(name) as file:
        return "no packed team", file.read(), os.path.basename(name)


def options():
    parser = argparse.ArgumentParser()
    for name in ("websocket-uri", "ps-username", "bot-mode", "user-to-challenge", "pokemon-format"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--team-name")
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
    assert sets["usage"] and (export is None or export.startswith(next(iter(export.split(" @")))))
    battle = await pokemon_battle(client)
    await client.send_message("", [f"/leave {battle.battle_tag}"])
    while "deinit" not in await client.receive_message():
        pass
    await client.websocket.close()
