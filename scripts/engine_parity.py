"""Proves that agents/engine plays the same battles as stock Pokémon Showdown, decision by decision.

Node plays battles on Showdown and prints a hash of the whole state at each decision (PRNG, HP, statuses, counters, PP,
stats, boosts, volatiles, last moves), the legal actions and the choices; the engine plays the same teams, seed and choices,
and its hashes and legal actions must be equal. The first difference is shown number by number, with the random draws and
the turn's log. Exit code 1 at a difference.

    python scripts/engine_parity.py --battles 1000 --seed 1 --teams any --policy random

--teams any: random species, levels and moves (all 164 and Struggle); random: Showdown's own random battles; otherwise the
name of a gen1ou team set. --policy: random, switcher (half of the choices are switches), rare (moves used least so far).
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from agents.engine.canonical import hashes, state
from agents.engine.engine import Engine
from agents.engine.layout import STUCK, TIE, WINNER
from agents.engine.tables import MOVE_IDS
from teamsets.errors import BadInput
from teamsets.loading import load_set
from teamsets.showdown import node, package

ORACLE = Path(__file__).parent / "engine_oracle.mjs"
#: Battles that one Node process plays.
CHUNK = 250
_END = {"p1": 0, "p2": 1, "tie": TIE}

Battle = dict[str, Any]


def oracle(options: dict[str, Any]) -> list[Battle]:
    """Battles as scripts/engine_oracle.mjs prints them."""
    command = [node(), str(ORACLE), json.dumps({**options, "package": str(package())})]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def compare(battles: list[Battle]) -> dict[int, int]:
    """Plays the battles again. Returns battle -> the first decision at which the two differ."""
    engine = Engine(len(battles))
    engine.reset([tuple(battle["teams"]) for battle in battles], [battle["seed"] for battle in battles])
    different: dict[int, int] = {}
    playing = list(range(len(battles)))
    step = 0
    while playing:
        found, legal = hashes(engine.words, np.array(playing)), engine.legal()
        actions = np.zeros((len(battles), 2), np.int32)
        going: list[int] = []
        for battle, hashed in zip(playing, found, strict=True):
            decisions = battles[battle]["decisions"]
            expected, first, second, *chosen = decisions[step]
            if int(hashed) != expected or legal[battle].tolist() != [first, second]:
                different[battle] = step
                engine.words[battle, WINNER] = TIE  # is not played on
                continue
            actions[battle] = chosen
            going.append(battle)
        last = [battle for battle in going if step + 1 == len(battles[battle]["decisions"])]
        stuck = [battle for battle in last if battles[battle]["end"].startswith("stuck")]
        for battle in set(last) - set(stuck):
            end = battles[battle]["end"]
            if end != "limit" and engine.words[battle, WINNER] != _END[end]:
                different[battle] = step
            engine.words[battle, WINNER] = TIE
        engine.step(actions)
        different.update({battle: step for battle in stuck if engine.words[battle, WINNER] != STUCK})
        playing = [battle for battle in going if step + 1 < len(battles[battle]["decisions"])]
        step += 1
    return different


def explain(options: dict[str, Any], battle: Battle, step: int) -> str:
    """The first difference of a battle: numbers by their place, and Showdown's log around it."""
    (told,) = oracle({**options, "first": battle["index"], "battles": 1, "state": True, "log": True})
    engine = Engine(1)
    engine.reset([tuple(told["teams"])], [told["seed"]])
    for decision in told["decisions"][:step]:
        engine.step(np.array([decision[3:5]], np.int32))
    ours, theirs = state(engine.words[0]).tolist(), told["decisions"][step][0]
    words = [f"{place}: {a}, not {b}" for place, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b]
    turn = theirs[4]
    log = told["log"]
    begin = next(
        (n for n, line in enumerate(log) if line in (f"|turn|{turn - 1}", f"|turn|{turn}")), max(0, len(log) - 40)
    )
    draws = [line for line in told["draws"] if line.startswith(f"{step} ")]
    legal = f"legal {engine.legal()[0].tolist()}, not {told['decisions'][step][1:3]}"
    head = f"battle {battle['index']} (seed {options['seed']}), decision {step}: {legal}"
    return "\n".join([head, "; ".join(words), *draws, *log[begin : begin + 40]])


def teams_option(name: str) -> str | list[str]:
    """The oracle's option for a set of teams. Raises BadInput."""
    if name in ("any", "random"):
        return name
    return [team.packed for team in load_set(name, "gen1ou").teams]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battles", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--teams", default="any")
    parser.add_argument("--policy", default="random", choices=("random", "switcher", "rare"))
    parser.add_argument("--workers", type=int, default=2, help="Node processes at once")
    parser.add_argument("--moves", action="store_true", help="print how often each move was used")
    arguments = parser.parse_args()
    try:
        teams = teams_option(arguments.teams)
    except BadInput as error:
        print(f"engine_parity: {error}", file=sys.stderr)
        return 2
    options = {"seed": arguments.seed, "policy": arguments.policy, "teams": teams, "moves": arguments.moves}
    started = time.monotonic()
    battles = decisions = differences = 0
    ends: collections.Counter[str] = collections.Counter()
    used: collections.Counter[str] = collections.Counter()
    chunks = [
        {**options, "first": first, "battles": min(CHUNK, arguments.battles - first)}
        for first in range(0, arguments.battles, CHUNK)
    ]
    with concurrent.futures.ThreadPoolExecutor(arguments.workers) as pool:
        for future in concurrent.futures.as_completed([pool.submit(oracle, chunk) for chunk in chunks]):
            played = future.result()
            different = compare(played)
            battles += len(played)
            decisions += sum(len(battle["decisions"]) for battle in played)
            ends.update(battle["end"].split(":")[0] for battle in played)
            for battle in played:
                used.update(battle.get("used", {}))
            if different and not differences:
                first = min(different)
                print(explain(options, played[first], different[first]))
            differences += len(different)
    seconds = time.monotonic() - started
    print(f"{battles:,} battles, {decisions:,} decision points, {differences} battles differ ({seconds:.0f} s)")
    print("ended by: " + ", ".join(f"{end} {number:,}" for end, number in ends.most_common()))
    if arguments.moves:
        never = [move for move in MOVE_IDS[1:166] if not used[move]]
        print("uses: " + ", ".join(f"{move} {number}" for move, number in reversed(used.most_common())))
        print(f"never used: {', '.join(never) or 'none'}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
