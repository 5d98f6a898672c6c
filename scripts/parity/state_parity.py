"""Proves that agents see the true battle: what each seat's battle holds, against the simulator's own state.

Node plays battles on stock Pokémon Showdown. Each seat's own lines and requests are fed to the battle that agents read
(agents/battle), and at every decision of both seats everything that it holds is compared with the simulator's state, as far
as that is public or the seat's own. The first difference is shown with the last lines that the seat received. Exit code 1
at a difference.

    python scripts/parity/state_parity.py gen4randombattle --battles 1000 --seed 1
    python scripts/parity/state_parity.py gen4 --teams any --battles 1000 --policy rare
    python scripts/parity/state_parity.py gen4 --teams any --battles 100 --all        # counts by kind, an example of each
    python scripts/parity/state_parity.py gen9doublesou --teams any --battles 100     # doubles; choices are random
    python scripts/parity/state_parity.py gen9vgc2025regi --teams any --open-sheets   # with each other's team sheets

--teams any: random teams of any species, moves, items and abilities of the generation; random-battle: Showdown's own.
--policy: random; rules (a rule player); switcher (half of the choices are switches); rare (moves used least so far).
--unknowable prints what no seat can know from its lines, with the reason; it is not compared.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from state_compare import Difference, SeatComparison
from state_effects import UNKNOWABLE

from agents.battle import new_battle
from teamsets.errors import BadInput
from teamsets.showdown import node, package

ORACLE = Path(__file__).parent / "state_oracle.mjs"
#: Rules for teams of anything: hidden HP as on the ladder, and no team is checked.
_RULES = {1: "ubers", 2: "ubers", 3: "ubers", 4: "anythinggoes", 5: "ubers"}
#: Battles that one Node process plays.
CHUNK = 25
_TAIL = 40
ROLES = ("p1", "p2")


class LocatedDifference(NamedTuple):
    """A difference and where it is."""

    difference: Difference
    battle: int
    decision: int
    role: str
    lines: list[str]


def format_of(name: str, teams: str) -> tuple[int, str]:
    """Return generation and format of a name like "gen4" or "gen4randombattle". Raises BadInput."""
    match = re.fullmatch(r"gen([1-9])(\w*)", name)
    if match is None or (not match[2] and teams != "any"):
        raise BadInput(
            f"format '{name}' is not known: gen1randombattle … gen9randombattle, or gen1 … gen9 with --teams any."
        )
    gen = int(match[1])
    return gen, name if match[2] else f"gen{gen}{_RULES.get(gen, 'anythinggoes')}"


def oracle(options: dict[str, Any], script: Path = ORACLE) -> Iterator[dict[str, Any]]:
    """Yield battles as a script prints them, one line of JSON each."""
    command = [node(), str(script), json.dumps({**options, "package": str(package())})]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        assert process.stdout is not None
        for line in process.stdout:
            yield json.loads(line)
    if process.returncode:
        raise RuntimeError(f"the simulator stopped with code {process.returncode}: {command[-1]}")


def add_playing_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which battles are played, in how many processes, and what is shown of them."""
    parser.add_argument("--battles", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="number of the first battle")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--policy", default="random", choices=("random", "rules", "switcher", "rare"))
    parser.add_argument("--teams", default="random-battle", choices=("random-battle", "any"))
    parser.add_argument("--jobs", type=int, default=2, help="processes at once")
    parser.add_argument("--all", action="store_true", help="do not stop: count all differences by kind")
    parser.add_argument("--only", default="", metavar="TEXT", help="only kinds that contain this text")


def playing_options(arguments: argparse.Namespace, gen: int, format_id: str) -> dict[str, Any]:
    """Return what `oracle` needs besides the numbers of the battles."""
    return {
        "gen": gen, "format": format_id, "seed": arguments.seed, "policy": arguments.policy, "teams": arguments.teams,
    }  # fmt: skip


def chunks(options: dict[str, Any], arguments: argparse.Namespace, size: int) -> list[dict[str, Any]]:
    """Return the options of each process: at most `size` battles."""
    last = arguments.first + arguments.battles
    return [
        {**options, "first": first, "battles": min(size, last - first)} for first in range(arguments.first, last, size)
    ]


def compare(played: dict[str, Any], gen: int, format_id: str) -> tuple[list[LocatedDifference], int]:
    """Feed a battle to both seats. Return its differences and the number of decisions compared.

    A difference is listed at the first decision that has it, and again only after one without it.
    """
    located: list[LocatedDifference] = []
    compared = 0
    seats = [
        new_battle("battle-parity-1", f"Player {role[1]}", role, gen, format_id, random.Random(0)) for role in ROLES
    ]
    for role, battle in zip(ROLES, seats, strict=True):
        comparison = SeatComparison(battle, role)
        heard: list[str] = []
        known: set[tuple[str, str]] = set()
        for number, decision in enumerate(played["decisions"]):
            view = decision[role]
            warned = battle.parse_warnings
            battle.feed(view["lines"])
            heard += view["lines"]
            if view["ask"] is None:
                continue
            battle.ask(view["ask"])
            compared += 1
            differences = comparison.differences(decision)
            if battle.parse_warnings != warned:
                differences.append(Difference("parse warnings", "", battle.parse_warnings, warned))
            for difference in differences:
                if (difference.kind, difference.who) not in known:
                    located.append(LocatedDifference(difference, played["index"], number, role, heard[-_TAIL:]))
            known = {(difference.kind, difference.who) for difference in differences}
    return located, compared


def run_chunk(options: dict[str, Any]) -> tuple[list[LocatedDifference], int]:
    """Play and compare the battles of one Node process."""
    located: list[LocatedDifference] = []
    compared = 0
    for played in oracle(options):
        more, decisions = compare(played, options["gen"], options["format"])
        located += more
        compared += decisions
    return located, compared


def explain(entry: LocatedDifference, options: dict[str, Any]) -> str:
    """Return a difference in words, with the lines before it, and how to see it again.

    The policy `rare` remembers the battles of its process.
    """
    kind, who, seen, true = entry.difference
    first = entry.battle - entry.battle % CHUNK
    where = (
        f"{options['format']} seed {options['seed']} battle {entry.battle} decision {entry.decision} seat {entry.role} "
        f"(again: --first {first} --battles {entry.battle - first + 1})"
    )
    return "\n".join([f"{where}: {kind} of {who or 'the field'}: seen {seen}, true {true}", *entry.lines])


def table(differences: list[LocatedDifference], options: dict[str, Any], lines: int) -> str:
    """Return the differences by kind, the most frequent first, with one example each."""
    by_kind: dict[str, list[LocatedDifference]] = collections.defaultdict(list)
    for each in differences:
        by_kind[each.difference.kind].append(each)
    rows = []
    for kind, all_of_kind in sorted(by_kind.items(), key=lambda item: -len(item[1])):
        example = min(all_of_kind, key=lambda each: len(each.lines))
        difference = example.difference
        rows.append(
            f"{len(all_of_kind):6} {kind:36} battle {example.battle} decision {example.decision} {example.role}: "
            f"{difference.who} seen {difference.seen}, true {difference.true}"
        )
        rows += [f"           {line}" for line in example.lines[-lines:]] if lines else []
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("format", nargs="?", help="gen1randombattle … gen9randombattle; with --teams any: gen1 … gen9")
    add_playing_options(parser)
    parser.add_argument(
        "--lines", type=int, default=0, metavar="N", help="with --all: the last N lines before each example"
    )
    parser.add_argument("--open-sheets", action="store_true", help="show both team sheets, where there is team preview")
    parser.add_argument("--unknowable", action="store_true", help="print what no seat can know, with the reason")
    arguments = parser.parse_args()
    if arguments.unknowable:
        print("\n".join(f"{what}: {reason}" for what, reason in UNKNOWABLE.items()))
        return 0
    started = time.monotonic()
    try:
        if not arguments.format:
            raise BadInput("no format: give one, for example gen4randombattle.")
        gen, format_id = format_of(arguments.format, arguments.teams)
    except BadInput as error:
        print(f"state_parity: {error}", file=sys.stderr)
        return 2
    options = {**playing_options(arguments, gen, format_id), "openSheets": arguments.open_sheets}
    if arguments.first % CHUNK:
        print(f"state_parity: --first must be a multiple of {CHUNK}: a process begins there.", file=sys.stderr)
        return 2
    differences: list[LocatedDifference] = []
    compared = 0
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        for more, decisions in pool.map(run_chunk, chunks(options, arguments, CHUNK)):
            differences += [each for each in more if arguments.only in each.difference.kind]
            compared += decisions
            if differences and not arguments.all:
                pool.shutdown(wait=False, cancel_futures=True)
                break
    if differences and arguments.all:
        print(table(differences, options, arguments.lines))
    elif differences:
        print(explain(differences[0], options))
    print(
        f"{format_id}, teams {arguments.teams}, policy {arguments.policy}: {arguments.battles} battles, "
        f"{compared:,} decisions, {len(differences):,} differences ({time.monotonic() - started:.0f} s)"
    )
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
