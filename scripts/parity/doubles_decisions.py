"""Proves that what a network may do in doubles is what stock Showdown accepts, and that nothing legal is out of its reach.

Plays battles in which both sides decide at random by the mask, slot after slot (agents/observation/doubles). A choice that
Showdown refuses is a difference; one that only a hidden ability forbids is counted as "trapped", and its request is
repeated. At every `--every`-th request all choices that can be reached by decisions are compared with all legal joint
choices. Resumes: what is in --out is not played again. Exit code 1 at a difference.

    python scripts/parity/doubles_decisions.py --decisions 500000 --out decisions.jsonl

--teams FOLDER: a folder of teams in Showdown's export format for --formats; without it teams that Showdown generates, which
need not be legal in the format, in every other block of any species, moves and items.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from engine_ranges import add_simulator

from agents.battle import SeatDoubleBattle, new_battle
from agents.battle.joint_choices import joint_choices
from agents.observation.decisions import decisions_of
from arena.battles.seat import complete_request
from arena.fixture import SEATS, showdown_seed
from arena.processes.child import Message
from arena.venues.simulator.host import Host
from teamsets.drawn import drawn_teams
from teamsets.formats import DOUBLES_FORMATS, get_format
from teamsets.loading import load_set
from teamsets.showdown import node, package

#: Battles that are counted together, one line of --out.
BLOCK = 20
_MAX_TURNS = 200
_ANY, _ROLLS = (Path(__file__).with_name(name) for name in ("any_teams.mjs", "engine_policies.mjs"))
_TRAPPED = "[Unavailable choice]"


class Battle:
    """A battle of two seats that decide at random. counts, differences: of all battles of a block."""

    def __init__(self, format_id: str, number: int, every: int, counts: Counter[str], differences: list[Any]) -> None:
        gen, self.rng = get_format(format_id).gen, random.Random(f"{format_id} {number}")
        self.battles = [
            new_battle(f"battle-{format_id}-{number}", role, role, gen, format_id, self.rng) for role in SEATS
        ]
        self.entries: dict[str, Any] = {role: {} for role in SEATS}
        self.every, self.counts, self.differences = every, counts, differences
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def answers(self, message: Message) -> dict[str, str]:
        """Return what the seats that are asked choose."""
        chosen: dict[str, str] = {}
        for role, battle in zip(SEATS, self.battles, strict=True):
            view = message[role]
            battle.feed(view["log"].split("\n") if view["log"] else [])
            if "error" in view:
                kind = "trapped" if view["error"].startswith(_TRAPPED) else "refused"
                self.counts[kind] += 1
                if kind == "refused":
                    self.differences.append({"refused": view["error"], "request": battle.last_request})
            if view.get("ask") is not None:
                complete_request(view["ask"], self.entries[role])
                battle.ask(view["ask"])
                chosen[role] = self.choose(battle)
        return chosen

    def choose(self, battle: Any) -> str:
        """Decide slot by slot, at random."""
        self.counts["requests"] += 1
        if self.counts["requests"] % self.every == 0:
            self.compare(battle)
        turn = decisions_of(battle)
        while turn.actions:
            seen = turn.observe()
            if set(np.flatnonzero(seen.legal).tolist()) != set(turn.actions) or not np.isfinite(seen.features).all():
                self.differences.append({"mask": battle.last_request})
            self.counts["decisions"] += 1
            turn.take(self.rng.choice(sorted(turn.actions)))
        return turn.choice.wire

    def compare(self, battle: SeatDoubleBattle) -> None:
        """Compare all choices that decisions reach with those that are legal."""
        self.counts["compared"] += 1
        slots = battle.legal_slots
        legal = {choice.wire for choice in (battle.legal if slots is None else joint_choices(slots))}
        reached = set(_reached(battle, []))
        if reached != legal:
            self.differences.append(
                {
                    "missing": sorted(legal - reached),
                    "too many": sorted(reached - legal),
                    "request": battle.last_request,
                }
            )


def _reached(battle: Any, taken: list[int]) -> list[str]:
    """Return every choice that can be reached. taken: what was decided so far."""
    turn = decisions_of(battle)
    for action in taken:
        turn.take(action)
    if not turn.actions:
        return [turn.choice.wire]
    return [wire for action in turn.actions for wire in _reached(battle, [*taken, action])]


async def play(host: Host, format_id: str, number: int, teams: list[str | None], battle: Battle) -> None:
    """Play one battle to its end."""

    def receive(message: Message) -> None:
        try:
            if "p1" not in message:
                raise RuntimeError(f"{format_id}, battle {number}: {json.dumps(message)[:500]}")
            answers = battle.answers(message)
            if "end" in message:
                battle.over.set_result(None)
            else:
                host.send({"op": "choose", "id": place, **answers})
        except Exception as error:
            if not battle.over.done():
                battle.over.set_exception(error)

    place = host.open(receive)
    seeds = [showdown_seed(format_id, "team", number, role) for role in SEATS]
    players = {
        role: {"name": role, **({"team": team} if team else {"seed": seed})}
        for role, team, seed in zip(SEATS, teams, seeds, strict=True)
    }
    start = {"op": "start", "format": format_id, "seed": showdown_seed(format_id, "decisions", number)}
    host.send({**start, "maxTurns": _MAX_TURNS, "id": place, **players})
    await battle.over
    host.forget(place)


def deciding_teams(format_id: str, seed: int, number: int) -> list[str | None]:
    """Return teams of any species and moves, with what decides who may choose what (Commander, Revival Blessing …)."""
    code = (
        "import {createRequire} from 'node:module'; const [, package_, file, rolls, format, seed, n] = process.argv;"
        "const {Dex, Teams} = createRequire(file)(package_); const {decidingTeam} = await import(file);"
        "const {generator} = await import(rolls); const roll = generator(+seed); console.log(JSON.stringify("
        "Array.from({length: +n}, () => Teams.pack(decidingTeam(Dex.forFormat(format), roll)))))"
    )
    command = [node(), "--input-type=module", "-e", code, str(package()), str(_ANY), str(_ROLLS)]
    done = subprocess.run([*command, format_id, str(seed), str(number)], capture_output=True, text=True, check=True)
    teams: list[str | None] = json.loads(done.stdout)
    return teams


def teams_of(format_id: str, block: int, folder: Path | None) -> list[str | None]:
    """Return two teams for each battle of a block."""
    chosen, need = get_format(format_id), 2 * BLOCK
    if folder is not None:
        loaded = [team.packed for team in load_set(str(folder), format_id).teams]
        return list(random.Random(f"{format_id} {block}").choices(loaded, k=need))
    if chosen.random:
        return [None] * need
    if block % 2:
        return deciding_teams(format_id, block, need)
    generator = "gen9randomdoublesbattle" if chosen.gen == 9 else f"gen{chosen.gen}randombattle"
    return [*drawn_teams(generator, [showdown_seed(format_id, block, index) for index in range(need)])]


async def play_block(format_id: str, block: int, options: argparse.Namespace) -> dict[str, Any]:
    """Play a block of battles, all at once. Returns its line."""
    counts: Counter[str] = Counter()
    differences: list[Any] = []
    teams = teams_of(format_id, block, options.teams)
    async with await Host.launch(stock=options.simulator == "stock") as host:
        await asyncio.gather(
            *(
                play(host, format_id, number, teams[2 * index : 2 * index + 2],
                     Battle(format_id, number, options.every, counts, differences))
                for index, number in enumerate(range(block * BLOCK, (block + 1) * BLOCK))
            )
        )  # fmt: skip
    line = {"format": format_id, "block": block, "battles": BLOCK, **counts}
    return {**line, "differences": len(differences), "first": differences[:2]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--formats", nargs="+", default=list(DOUBLES_FORMATS))
    parser.add_argument("--decisions", type=int, default=500_000, help="of all formats together")
    parser.add_argument("--every", type=int, default=20, help="requests at which all choices are compared")
    parser.add_argument("--teams", type=Path)
    add_simulator(parser)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    lines = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.exists() else []
    played = {(line["format"], line["block"]) for line in lines}
    for block in itertools.count():
        for format_id in options.formats:
            if sum(line.get("decisions", 0) for line in lines) >= options.decisions:
                return report(lines)
            if (format_id, block) not in played:
                lines.append(asyncio.run(play_block(format_id, block, options)))
                with options.out.open("a") as file:
                    file.write(json.dumps(lines[-1]) + "\n")
    raise AssertionError("unreachable")


def report(lines: list[dict[str, Any]]) -> int:
    """Print the sums by format. Returns 1 if there is a difference."""
    names = ("battles", "requests", "decisions", "compared", "trapped", "refused", "differences")
    for format_id in [*dict.fromkeys(line["format"] for line in lines), "all"]:
        some = [line for line in lines if format_id in (line["format"], "all")]
        print(f"{format_id}: {', '.join(f'{sum(line.get(name, 0) for line in some):,} {name}' for name in names)}")
    for line in lines:
        for difference in line["first"]:
            print(json.dumps(difference)[:3000])
    return int(any(line["differences"] for line in lines))


if __name__ == "__main__":
    sys.exit(main())
