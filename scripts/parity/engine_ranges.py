"""What parity of both engines shares: a range of battles in chunks, played by Node ahead of the comparison, the ledger, the
first difference, the totals.

A game's own script says in a `Game` how to play, compare and explain.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import engine_ledger
import numpy as np
from numpy.typing import NDArray

from teamsets.errors import BadInput, MissingTool
from teamsets.showdown import node

#: Battles that one Node process plays.
CHUNK = 250
#: Lines of the log that are shown at a difference.
LOG_LINES = 40

Battle = dict[str, Any]
Options = dict[str, Any]


class Game(NamedTuple):
    """An engine's side of a parity script.

    program: its name in messages; policies: the first is the default; versions: what a ledger's record keeps of the engine
    and of Showdown; oracle: the battles of options, which may end with an entry that goes into the record as it is; compare:
    battle -> the first decision at which the two differ; explain: that decision in words; report: the summed counts.
    Where the comparison counts and not the oracle: counts: what it reached since the last call; count: called before all.
    ready: called before battles, to compile the engine.
    """

    program: str
    teams: str
    policies: tuple[str, ...]
    versions: Options
    oracle: Callable[[Options], list[Battle]]
    compare: Callable[[list[Battle]], dict[int, int]]
    explain: Callable[[Options, Battle, int], str]
    report: Callable[[engine_ledger.Counts], str]
    counts: Callable[[], engine_ledger.Counts] | None = None
    count: Callable[[], None] = lambda: None
    ready: Callable[[], object] = lambda: None


def ask(script: Path, options: Options) -> list[Battle]:
    """What an oracle prints, a line of JSON each, for options on its standard input."""
    done = subprocess.run(
        [node(), str(script)], input=json.dumps(options), stdout=subprocess.PIPE, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def again(options: Options, battle: Battle) -> Options:
    """The options by which an oracle plays one of its battles once more, with states, draws and log."""
    first = options.get("first", 0)
    until = {"first": first, "battles": battle["index"] - first + 1, "only": battle["index"]}
    return {**options, **until, "state": True, "log": True, "coverage": False}


class Replay(NamedTuple):
    """An engine with a battle of a list in each row, as `compare` plays it.

    hashes and legal [N, 2]: of rows; step: actions [N, 2] in rows; winner: of a row; ends: what that is for each "end".
    """

    hashes: Callable[[NDArray[np.int64]], NDArray[np.uint32]]
    legal: Callable[[NDArray[np.int64]], NDArray[np.int32]]
    step: Callable[[NDArray[np.int32], NDArray[np.int64]], None]
    winner: Callable[[int], int]
    ends: dict[str, int]


def compare(battles: list[Battle], replay: Replay) -> dict[int, int]:
    """Plays the battles again. Returns battle -> the first decision at which the two differ.

    A battle that ends "stuck" (Showdown throws an error) is stepped once more than it has decisions.
    """
    different: dict[int, int] = {}
    going, step = list(range(len(battles))), 0
    while going:
        rows = np.array(going)
        states = zip(going, replay.hashes(rows).tolist(), replay.legal(rows).tolist(), strict=True)
        going = []
        for n, hashed, legal in states:
            decisions, end = battles[n]["decisions"], battles[n]["end"].partition(":")[0]
            expected, first, second, *_ = decisions[step]
            if hashed != expected or legal != [first, second]:
                different[n] = step
            elif step + 1 < len(decisions) or end == "stuck":
                going.append(n)
            elif end != "limit" and replay.winner(n) != replay.ends[end]:
                different[n] = step
        if going:
            replay.step(np.array([battles[n]["decisions"][step][3:5] for n in going], np.int32), np.array(going))
        last = [n for n in going if step + 1 == len(battles[n]["decisions"])]
        different.update({n: step for n in last if replay.winner(n) != replay.ends["stuck"]})
        going = [n for n in going if n not in last]
        step += 1
    return different


def difference(
    options: Options, reference: Battle, step: int, legal: list[int], unequal: Iterable[str], turn: int
) -> str:
    """The first difference of a battle in words.

    reference: the battle with its log and draws; legal: the engine's legal choices; unequal: a line for each number.
    """
    log = reference["log"]
    begin = next(
        (n for n, line in enumerate(log) if line in (f"|turn|{turn - 1}", f"|turn|{turn}")),
        max(0, len(log) - LOG_LINES),
    )
    draws = [line for line in reference["draws"] if line.startswith(f"{step} ")]
    masks = f"legal {legal}, not {reference['decisions'][step][1:3]}"
    head = f"battle {reference['index']} (seed {options['seed']}), decision {step}: {masks}"
    return "\n".join([head, "; ".join(unequal), *draws, *log[begin : begin + LOG_LINES]])


def chunks_of(game: Game, arguments: argparse.Namespace) -> list[engine_ledger.Record]:
    """The range in chunks, each with what the ledger recognises it by."""
    names = {name: getattr(arguments, name) for name in ("seed", "teams", "policy")} | game.versions
    if arguments.simulator != "stock":
        names["showdown"] += f", {arguments.simulator}"
    return [
        {**names, "first": first, "battles": min(CHUNK, arguments.battles - first)}
        for first in range(0, arguments.battles, CHUNK)
    ]


def play(game: Game, chunk: engine_ledger.Record, arguments: argparse.Namespace) -> tuple[Options, list[Battle]]:
    """A chunk on Showdown: the oracle's options, and its battles."""
    options = {name: chunk[name] for name in ("seed", "teams", "policy", "first", "battles")}
    options |= {"coverage": arguments.coverage, "simulator": arguments.simulator}
    return options, game.oracle(options)


def check(game: Game, chunk: engine_ledger.Record, options: Options, played: list[Battle]) -> engine_ledger.Record:
    """Compares a chunk; prints its first difference. Returns the record for the ledger."""
    rest = {} if "decisions" in played[-1] else played.pop()
    different = game.compare(played)
    if game.counts and options["coverage"]:
        rest = {**rest, "coverage": game.counts()}
    if different:
        first = min(different)
        print(game.explain(options, played[first], different[first]), flush=True)
    return {
        **chunk,
        "decisions": sum(len(battle["decisions"]) for battle in played),
        "differences": len(different),
        "ends": collections.Counter(battle["end"].split(":")[0] for battle in played),
        **rest,
    }


def run(game: Game, arguments: argparse.Namespace) -> list[engine_ledger.Record]:
    """Plays what is not in the ledger, a few chunks ahead. Returns the records of the whole range."""
    ledger = Path(arguments.ledger) if arguments.ledger else None
    known = engine_ledger.read(ledger) if ledger else {}
    chunks = chunks_of(game, arguments)
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
                    waiting.append((pending[0], pool.submit(play, game, pending.pop(0), arguments)))
                chunk, future = waiting.popleft()
                record = check(game, chunk, *future.result())
                records.append(record)
                if ledger:
                    engine_ledger.append(ledger, record)
        finally:
            pool.shutdown(cancel_futures=True)
    return records


def show(game: Game, records: list[engine_ledger.Record], coverage: bool) -> None:
    """Prints the table of ranges, and what was covered by the records that counted it."""
    print(engine_ledger.summary(records))
    unread = sorted({name for record in records for name in record.get("unread", ())})
    if unread:
        print(f"\nShowdown keeps what is compared with nothing: {', '.join(unread)}")
    counted = [record["coverage"] for record in records if "coverage" in record]
    if coverage and counted:
        total: engine_ledger.Counts = {}
        for counts in counted:
            engine_ledger.add_coverage(total, counts)
        print(f"\n{game.report(total)}")


def add_simulator(parser: argparse.ArgumentParser) -> None:
    """Add the option that says which Showdown is played."""
    text = "Showdown as it is, or as the arena plays it (simulator_parity.py compares the two): twice as fast"
    parser.add_argument("--simulator", default="stock", choices=("stock", "fast"), help=text)


def check_least(arguments: argparse.Namespace, **least: int) -> None:
    """Raise BadInput for an option with a number below its least; None, not given, is accepted."""
    for option, number in least.items():
        given = getattr(arguments, option)
        if given is not None and given < number:
            raise BadInput(f"--{option} {given}: must be {number} or more.")


def main(game: Game, description: str | None) -> int:
    """The command line of a parity script. Returns its exit code: 1 at a difference."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battles", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--teams", default=game.teams)
    parser.add_argument("--policy", default=game.policies[0], choices=game.policies)
    add_simulator(parser)
    parser.add_argument("--workers", type=int, default=2, help="Node processes at once")
    parser.add_argument("--coverage", action="store_true", help="count what was reached, and print the table")
    parser.add_argument("--ledger", metavar="FILE", help="append what was compared, and leave out what is in it")
    parser.add_argument("--summary", metavar="FILE", help="print the totals of a ledger; nothing is played")
    arguments = parser.parse_args()
    started = time.monotonic()
    try:
        check_least(arguments, battles=1, workers=1)
        if arguments.coverage or arguments.summary:
            game.count()
        if arguments.summary:
            records = list(engine_ledger.read(Path(arguments.summary)).values())
            if not records:
                raise BadInput(f"{arguments.summary} has no records: --ledger {arguments.summary} writes them.")
        else:
            if arguments.ledger:
                engine_ledger.check_writable(Path(arguments.ledger))
            game.ready()
            records = run(game, arguments)
        show(game, records, arguments.coverage or bool(arguments.summary))
    except (BadInput, MissingTool) as error:
        print(f"{game.program}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"{game.program}: stopped; with --ledger the same command resumes.", file=sys.stderr)
        return 130
    if not arguments.summary:
        print(f"({time.monotonic() - started:.0f} s)")
    return 1 if any(record["differences"] for record in records) else 0
