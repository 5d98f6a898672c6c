"""A stand-in for foul-play's play: its reading of messages in their order, a choice without a search, and habits.

ARENA_STAND_IN_LOG: a file to which each message is written as foul-play has it read, with what it had selected before.
ARENA_STAND_IN_HABIT: what it does at its third decision.
"""

import json
import os
import signal
import subprocess
import sys
import time

from fp.battle.state import Battle
from fp.modes import base
from fp.search import main as search
from fp.search.main import Option, Result

HABIT = os.environ.get("ARENA_STAND_IN_HABIT", "")


def write(**entry):
    if "ARENA_STAND_IN_LOG" in os.environ:
        with open(os.environ["ARENA_STAND_IN_LOG"], "a") as log:
            log.write(json.dumps({"pid": os.getpid(), **entry}) + "\n")


def is_finished(message):
    return any(line.startswith("|win|") or line == "|tie" for line in message.split("\n"))


async def async_update_battle(battle, message):
    """Return whether a choice is asked for."""
    write(message=message, selected=battle.user.last_selected_move.move)
    rest = message.partition("\n")[2]
    if not rest.startswith("|request|{"):
        return False
    battle.request = json.loads(rest[9:])
    battle.wait = battle.request.get("wait", False)
    return not battle.wait


async def start_battle(client):
    message = await client.receive_message()
    while not message.startswith(">battle-"):
        message = await client.receive_message()
    battle = Battle(message.partition("\n")[0][1:])
    asked = False
    while not asked:  # what comes before the first request is read as one
        write(message=message, selected="")
        message = await client.receive_message()
        asked = "|request|{" in message and not json.loads(message.partition("|request|")[2]).get("wait")
    battle.request = json.loads(message.partition("|request|")[2])
    battle.user.initialize_first_turn_user_from_json(battle.request)
    mons = sorted([battle.user.active, *battle.user.reserve], key=lambda mon: mon.index)
    write(message=message, selected="", team=[[mon.name, mon.nature, list(mon.evs)] for mon in mons])
    await decide(client, battle, 1)
    await client.send_message(battle.battle_tag, ["hf"])
    await client.send_message(battle.battle_tag, ["/timer on"])
    return battle


async def pokemon_battle(client):
    battle = await start_battle(client)
    decisions = 1
    while True:
        message = await client.receive_message()
        if is_finished(message):
            return battle
        if await async_update_battle(battle, message) and not battle.wait:
            decisions += 1
            await decide(client, battle, decisions)


async def decide(client, battle, number):
    chosen = choice(battle) if number < 3 else misbehave(choice(battle))
    name = chosen.removeprefix("/choose ").removeprefix("/").removeprefix("move ")
    battle.user.last_selected_move = battle.user.last_selected_move._replace(move=name)
    message = [f"{chosen}|{battle.request['rqid']}"] if "team" in chosen else [chosen, str(battle.request["rqid"])]
    await client.send_message(battle.battle_tag, message)


def misbehave(chosen):
    if HABIT == "dies":
        raise RuntimeError("lost its mind")
    if HABIT == "is killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if HABIT == "hangs":
        time.sleep(600)
    if HABIT == "has children" and not os.fork():  # as it searches
        write(message="searches")
        time.sleep(600)
    if HABIT == "starts others":
        write(message="started", child=subprocess.Popen(["sleep", "600"], stdout=sys.stderr).pid)
        time.sleep(600)
    return "/choose move splash" if HABIT == "cheats" else chosen


def choice(battle):
    """Return the first usable move, at team preview the second Pokémon, as by two searches with weights of 1 and 1/2."""
    request = battle.request
    if request.get("forceSwitch"):
        return "/choose default"
    names = [f"switch {entry['details'].partition(',')[0]}" for entry in request["side"]["pokemon"]]
    if request.get("teamPreview"):
        moves, visits = names, [1, 3]
    else:
        moves = [move["id"] for move in request["active"][0]["moves"] if not move.get("disabled")]
        visits = [3, 1]
    assert "fight" not in moves
    options = [Option(*pair) for pair in zip(moves, visits, strict=False)] + [Option("none", 0)]
    results = [(Result(options, 4), chance, index) for index, chance in enumerate((1.0, 0.5))]
    text = base.format_decision(battle, search.select_move_from_mcts_results(results))[0]
    return "/team 213456" if request.get("teamPreview") else text
