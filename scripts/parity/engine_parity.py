"""Proves that agents/engine plays the same battles as stock Pokémon Showdown, decision by decision.

Node plays battles on Showdown and prints a hash of the whole state at each decision (PRNG, HP, statuses, counters, PP,
stats, boosts, volatiles, last moves), the legal actions and the choices; the engine plays the same teams, seed and choices,
and its hashes and legal actions must be equal. The first difference is shown number by number, with the random draws and
the turn's log. Exit code 1 at a difference.

    python scripts/parity/engine_parity.py --battles 1000 --seed 1 --teams any --policy random

--teams any: random species, levels and moves (all 164 and Struggle); random: Showdown's own random battles; otherwise the
name of a gen1ou team set. --policy: random; rules (a rule player); switcher (half of the choices are switches); rare (moves
used least so far). --coverage prints how often each move was used and each branch of the rules was reached
(scripts/parity/engine_coverage.mjs). --ledger FILE keeps what was compared: a range that was stopped resumes with the same
command, and --summary FILE prints the totals.
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

import engine_coverage
import engine_ledger
import numpy as np
from engine_states import hashes, state

from agents.engine.compiled import DIGEST
from agents.engine.gen1.engine import Engine
from agents.engine.gen1.layout import STUCK, TIE, WINNER
from agents.engine.gen1.tables import DATA
from teamsets.errors import BadInput
from teamsets.loading import load_set
from teamsets.showdown import node, package

ORACLE = Path(__file__).parent / "engine_oracle.mjs"
#: Battles that one Node process plays.
CHUNK = 250
_END = {"p1": 0, "p2": 1, "tie": TIE}

Battle = dict[str, Any]


def oracle(options: dict[str, Any]) -> list[Battle]:
    """Battles as scripts/parity/engine_oracle.mjs prints them."""
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
        state_hashes, legal = hashes(engine.words, np.array(playing)), engine.legal()
        actions = np.zeros((len(battles), 2), np.int32)
        going: list[int] = []
        for battle, hashed in zip(playing, state_hashes, strict=True):
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
    first = options.get("first", 0)
    until = {"first": first, "battles": battle["index"] - first + 1, "only": battle["index"]}
    (reference,) = oracle({**options, **until, "state": True, "log": True, "coverage": False})
    engine = Engine(1)
    engine.reset([tuple(reference["teams"])], [reference["seed"]])
    for decision in reference["decisions"][:step]:
        engine.step(np.array([decision[3:5]], np.int32))
    ours, theirs = state(engine.words[0]).tolist(), reference["decisions"][step][0]
    unequal = [f"{place}: {a}, not {b}" for place, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b]
    turn = theirs[4]
    log = reference["log"]
    begin = next(
        (n for n, line in enumerate(log) if line in (f"|turn|{turn - 1}", f"|turn|{turn}")), max(0, len(log) - 40)
    )
    draws = [line for line in reference["draws"] if line.startswith(f"{step} ")]
    legal = f"legal {engine.legal()[0].tolist()}, not {reference['decisions'][step][1:3]}"
    head = f"battle {battle['index']} (seed {options['seed']}), decision {step}: {legal}"
    return "\n".join([head, "; ".join(unequal), *draws, *log[begin : begin + 40]])


def teams_option(name: str) -> str | list[str]:
    """The oracle's option for a set of teams. Raises BadInput."""
    if name in ("any", "random"):
        return name
    return [team.packed for team in load_set(name, "gen1ou").teams]


def chunks_of(arguments: argparse.Namespace) -> list[engine_ledger.Record]:
    """The range in chunks, each with what the ledger recognises it by."""
    names = {name: getattr(arguments, name) for name in ("seed", "teams", "policy")}
    versions = {"engine": DIGEST, "showdown": DATA["version"]}
    return [
        {**names, "first": first, "battles": min(CHUNK, arguments.battles - first), **versions}
        for first in range(0, arguments.battles, CHUNK)
    ]


def play(chunk: engine_ledger.Record, teams: str | list[str], coverage: bool) -> tuple[dict[str, Any], list[Battle]]:
    """A chunk on Showdown: the oracle's options, its battles, and with coverage a last entry with the counts."""
    options = {name: chunk[name] for name in ("seed", "policy", "first", "battles")}
    options.update(teams=teams, coverage=coverage)
    return options, oracle(options)


def check(chunk: engine_ledger.Record, options: dict[str, Any], played: list[Battle]) -> engine_ledger.Record:
    """Compares a chunk; prints its first difference. Returns the record for the ledger."""
    counts = played.pop()["coverage"] if options["coverage"] else None
    different = compare(played)
    if different:
        first = min(different)
        print(explain(options, played[first], different[first]))
    record = {
        **chunk,
        "decisions": sum(len(battle["decisions"]) for battle in played),
        "differences": len(different),
        "ends": collections.Counter(battle["end"].split(":")[0] for battle in played),
    }
    return record if counts is None else {**record, "coverage": counts}


def run(arguments: argparse.Namespace) -> list[engine_ledger.Record]:
    """Plays what is not in the ledger, a few chunks ahead. Returns the records of the whole range."""
    teams = teams_option(arguments.teams)
    ledger = Path(arguments.ledger) if arguments.ledger else None
    known = engine_ledger.read(ledger) if ledger else {}
    chunks = chunks_of(arguments)
    recorded = [known[key] for chunk in chunks if (key := engine_ledger.key(chunk)) in known]
    records = [record for record in recorded if "coverage" in record or not arguments.coverage]
    done = {engine_ledger.key(record) for record in records}
    if done:
        print(f"{sum(record['battles'] for record in records):,} battles are in {ledger} already")
    pending = [chunk for chunk in chunks if engine_ledger.key(chunk) not in done]
    with concurrent.futures.ThreadPoolExecutor(arguments.workers) as pool:
        waiting: collections.deque[tuple[engine_ledger.Record, concurrent.futures.Future[Any]]] = collections.deque()
        try:
            while pending or waiting:
                while pending and len(waiting) <= arguments.workers:  # no more: a chunk takes some 15 MB
                    waiting.append((pending[0], pool.submit(play, pending.pop(0), teams, arguments.coverage)))
                chunk, future = waiting.popleft()
                record = check(chunk, *future.result())
                records.append(record)
                if ledger:
                    engine_ledger.append(ledger, record)
        finally:
            pool.shutdown(cancel_futures=True)
    return records


def show(records: list[engine_ledger.Record], coverage: bool) -> None:
    """Prints the table of ranges, and what was covered by the records that counted it."""
    print(engine_ledger.summary(records))
    counted = [record["coverage"] for record in records if "coverage" in record]
    if coverage and counted:
        total: engine_coverage.Counts = {"moves": {}, "branches": {}}
        for counts in counted:
            engine_ledger.add_coverage(total, counts)
        print(f"\n{engine_coverage.report(total)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battles", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--teams", default="any")
    parser.add_argument("--policy", default="random", choices=("random", "rules", "switcher", "rare"))
    parser.add_argument("--workers", type=int, default=2, help="Node processes at once")
    parser.add_argument("--coverage", action="store_true", help="count moves and branches, and print their table")
    parser.add_argument("--ledger", metavar="FILE", help="append what was compared, and leave out what is in it")
    parser.add_argument("--summary", metavar="FILE", help="print the totals of a ledger; nothing is played")
    arguments = parser.parse_args()
    started = time.monotonic()
    try:
        if arguments.summary:
            records = list(engine_ledger.read(Path(arguments.summary)).values())
            if not records:
                raise BadInput(f"{arguments.summary} has no records: --ledger {arguments.summary} writes them.")
        else:
            records = run(arguments)
    except BadInput as error:
        print(f"engine_parity: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("engine_parity: stopped; with --ledger the same command resumes.", file=sys.stderr)
        return 130
    show(records, arguments.coverage or bool(arguments.summary))
    if not arguments.summary:
        print(f"({time.monotonic() - started:.0f} s)")
    return 1 if any(record["differences"] for record in records) else 0


if __name__ == "__main__":
    sys.exit(main())
