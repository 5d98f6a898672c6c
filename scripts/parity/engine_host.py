"""Compares the messages of the generation-9 engine's host with those of Showdown's, battle by battle.

Both hosts play the same battles with the same random choices, one in eight of them one that need not be legal; every message
(lines, requests, refusals, the end with its input log) must be equal. The first difference of a battle is shown.

    python scripts/parity/engine_host.py --battles 200 --seed 1 --teams competitive
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
from typing import Any

from agents.engine.gen9.teams import side_words
from arena.processes.child import Message
from arena.venues.engine.engine_host import EngineHost
from arena.venues.simulator.host import Host
from teamsets.errors import BadInput
from teamsets.loading import load_set

FORMAT = "gen9ou"


def pairs(team_set: str, count: int, rng: random.Random) -> list[tuple[str, str]]:
    teams = []
    for team in load_set(team_set, FORMAT).teams:
        try:
            side_words(team.packed, 0)
        except BadInput:
            continue
        teams.append(team.packed)
    return [(rng.choice(teams), rng.choice(teams)) for _ in range(count)]


def choice(asked: dict[str, Any], rng: random.Random) -> str:
    """One that the request lists; one in eight, anything."""
    team = len(asked["side"]["pokemon"])
    if asked.get("teamPreview"):
        return "team " + "".join(map(str, rng.sample(range(1, team + 1), rng.randint(1, team))))
    if rng.randrange(8) == 0:
        return rng.choice([f"move {rng.randint(1, 5)}", f"switch {rng.randint(1, 7)}", "move 1 terastallize"])
    switches = [
        f"switch {place}"
        for place, entry in enumerate(asked["side"]["pokemon"], 1)
        if place > 1 and entry["condition"] != "0 fnt"
    ]
    if "forceSwitch" in asked:
        fainted = [
            f"switch {place}"
            for place, entry in enumerate(asked["side"]["pokemon"], 1)
            if entry["condition"] == "0 fnt"
        ]
        reviving = asked["side"]["pokemon"][0]["reviving"]
        return rng.choice((fainted if reviving else switches) or ["default"])
    active = asked["active"][0]
    moves = [f"move {slot}" for slot, move in enumerate(active["moves"], 1) if not move.get("disabled")]
    if "canTerastallize" in active and rng.randrange(6) == 0:
        moves = [f"{move} terastallize" for move in moves]
    return rng.choice(moves + ([] if active.get("trapped") else switches * (rng.randrange(3) == 0)))


class Play:
    """A battle on both hosts: each message of Showdown's is answered at random, on both."""

    def __init__(self, hosts: tuple[Host, EngineHost], teams: tuple[str, str], seed: int, max_turns: int) -> None:
        self.rng = random.Random(seed)
        self.chosen: dict[str, str] = {}
        self.hosts = hosts
        self.said: list[list[Message]] = [[], []]
        self.known: dict[str, dict[str, Any]] = {"p1": {}, "p2": {}}
        self.over: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        showdown, engine = hosts
        self.numbers = (
            showdown.open(lambda told: self.receive(0, told)),
            engine.open(lambda told: self.receive(1, told)),
        )
        drawn = "gen5," + "".join(self.rng.choice("0123456789abcdef") for _ in range(16))
        players = {f"p{1 + seat}": {"name": f"p{1 + seat}", "team": packed} for seat, packed in enumerate(teams)}
        self.send({"op": "start", "format": FORMAT, "seed": drawn, "maxTurns": max_turns, **players})

    def send(self, message: Message) -> None:
        showdown, engine = self.hosts
        showdown.send({**message, "id": self.numbers[0]})
        engine.send({**message, "id": self.numbers[1]})

    def receive(self, which: int, message: Message) -> None:
        self.said[which].append({key: value for key, value in message.items() if key != "id"})
        if not self.over.done() and all(self.said):
            showdown, engine = (said.pop(0) for said in self.said)
            engine = json.loads(json.dumps(engine))  # as a message of a process: nothing but JSON
            found = difference(showdown, engine)
            if found:
                found = f"after {self.chosen}: {found}"
            if found or "end" in showdown or "p1" not in showdown:
                self.over.set_result(found)
            else:
                self.answer(showdown)

    def answer(self, message: Message) -> None:
        choices = {}
        for role in ("p1", "p2"):
            asked = message[role].get("ask")
            if asked:
                entries = [
                    self.known[role].get(entry, entry) if isinstance(entry, str) else entry
                    for entry in asked["side"]["pokemon"]
                ]
                self.known[role].update((entry["ident"], entry) for entry in entries)
                choices[role] = choice({**asked, "side": {"pokemon": entries}}, self.rng)
        self.chosen = choices
        self.send({"op": "choose", **choices})


def difference(showdown: Message, engine: Message) -> str:
    """The first difference of two messages, or ""."""
    for role in ("p1", "p2"):
        ours, theirs = engine.get(role, {}), showdown.get(role, {})
        ours["error"], theirs["error"] = bool(ours.get("error")), bool(theirs.get("error"))
        for key in ("log", "error", "ask"):
            first, second = theirs.get(key), ours.get(key)
            if first != second:
                return f"{role} {key}:\n  Showdown: {shown(first, second)}\n  engine:   {shown(second, first)}"
    first, second = showdown.get("end"), engine.get("end")
    if first != second:
        return f"end:\n  Showdown: {shown(first, second)}\n  engine:   {shown(second, first)}"
    return ""


def shown(value: Any, other: Any) -> str:
    """What differs, as text."""
    if isinstance(value, str) and isinstance(other, str):
        lines, others = value.split("\n"), other.split("\n")
        place = next(
            (n for n, (one, two) in enumerate(zip(lines, others, strict=False)) if one != two),
            min(len(lines), len(others)),
        )
        return " ⏎ ".join(lines[max(0, place - 3) : place + 3])
    if isinstance(value, dict) and isinstance(other, dict):
        return ", ".join(
            f"{key}: {shown(value.get(key), other.get(key))}"
            for key in {**value, **other}
            if value.get(key) != other.get(key)
        )
    if isinstance(value, list) and isinstance(other, list) and len(value) == len(other):
        return ", ".join(
            f"[{n}] {shown(one, two)}" for n, (one, two) in enumerate(zip(value, other, strict=True)) if one != two
        )
    return json.dumps(value, ensure_ascii=False)[:400]


async def compared(options: argparse.Namespace) -> int:
    rng = random.Random(options.seed)
    teams = pairs(options.teams, options.battles, rng)
    differing = 0
    async with await Host.launch(stock=True) as showdown:
        engine = EngineHost()
        for start in range(0, len(teams), 50):
            plays = [
                Play((showdown, engine), pair, options.seed * 1_000_003 + n, options.max_turns)
                for n, pair in enumerate(teams[start : start + 50], start)
            ]
            for number, play in enumerate(plays, start):
                found = await asyncio.wait_for(play.over, 300)
                if found:
                    differing += 1
                    if differing <= options.show:
                        print(f"battle {number}: {found}", flush=True)
    print(f"{len(teams)} battles, {differing} differ")
    return differing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battles", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--teams", default="competitive", help="a team set")
    parser.add_argument("--max-turns", type=int, default=150)
    parser.add_argument("--show", type=int, default=5)
    sys.exit(bool(asyncio.run(compared(parser.parse_args()))))


if __name__ == "__main__":
    main()
