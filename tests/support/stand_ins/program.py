"""A program of other people, as the tests know it: it speaks Showdown over a websocket and has one habit.

python program.py HABIT URI USER OPPONENT ROLE FORMAT TEAM
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

from websockets.sync.client import ClientConnection, connect

HABIT, URI, USER, OPPONENT, ROLE, FORMAT, TEAM = sys.argv[1:]


def wait_for(socket: ClientConnection, sign: str) -> str:
    while True:
        message = str(socket.recv())
        if sign in message:
            return message


def meet(socket: ClientConnection) -> None:
    wait_for(socket, "|challstr|")
    socket.send(f"|/trn {USER},0,")
    wait_for(socket, f"|updateuser| {USER}|1|")
    socket.send(f"|/utm {'Mewtwo|||pressure|splash|||||||' if HABIT == 'brings its own' else TEAM or 'null'}")
    if HABIT == "mute":
        time.sleep(600)
    if HABIT == "late":
        time.sleep(1.5)
    if ROLE == "challenge":
        socket.send(f"|/challenge {OPPONENT}, {FORMAT}")
    else:
        wait_for(socket, "/challenge ")
        socket.send(f"|/accept {OPPONENT}")


def play(socket: ClientConnection) -> None:
    asked = 0
    while True:
        message = str(socket.recv())
        room, _, rest = message.partition("\n")
        if any(line.startswith("|win|") or line == "|tie" for line in rest.split("\n")):
            break
        if not rest.startswith("|request|{"):
            continue
        request = json.loads(rest[9:])
        if request.get("wait"):
            continue
        asked += 1
        choice = misbehave(socket, room[1:]) if asked == 3 else "default"
        socket.send(f"{room[1:]}|/choose {choice}|{request['rqid']}")
    # As foul-play does: it asks to leave, and all that comes until it has left is lost.
    socket.send(f"|/noreply /leave {room[1:]}")
    wait_for(socket, "|deinit")


def misbehave(socket: ClientConnection, room: str) -> str:
    """What this program does at its third decision."""
    if HABIT == "dies":
        print("lost its mind", file=sys.stderr)
        sys.exit(7)
    if HABIT == "is killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if HABIT == "hangs":
        time.sleep(600)
    if HABIT == "hangs up":
        socket.close()
        time.sleep(600)
    if HABIT == "forfeits":
        socket.send(f"{room}|/forfeit")
        time.sleep(600)
    if HABIT == "has children":
        children = [subprocess.Popen(["sleep", "600"], start_new_session=new) for new in (False, True)]
        print("children", *(child.pid for child in children), flush=True)
        sys.exit(7)
    return "move 9" if HABIT == "cheats" else "default"


if HABIT == "never comes":
    time.sleep(600)
with connect(URI, max_size=None, proxy=None) as connection:
    meet(connection)
    play(connection)
