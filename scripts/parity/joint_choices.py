"""Proves that the joint choices of doubles (agents/battle/joint_choices.py) are those that stock Showdown accepts.

Node plays battles at random (joint_choices.mjs). Each choice that is listed for a request must be accepted, and whatever
Showdown accepts among choices put together at random must be in the list. Exit code 1 at a difference; the first ones are
shown with their request.

    python scripts/parity/joint_choices.py --format gen9randomdoublesbattle --battles 200 --seed 1
    python scripts/parity/joint_choices.py --format gen8doublesou --teams gen8randombattle --battles 200 --seed 1

    python scripts/parity/joint_choices.py --ledger joint_choices.jsonl --decisions 200000 --seed 70

--ledger: all formats of doubles in turn, on teams of both kinds, until the file has so many decisions; a killed run
resumes when the same command is run again.

--teams: the format whose generator makes the teams, some of them cut short; default: the format itself. any: any species,
moves and items, half of the Pokémon with what decides who may choose what (Revival Blessing, Commander, Shadow Tag, Eject
Button, explosions). The teams need not be legal in the format: what is compared is which choices it accepts.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from engine_ranges import add_simulator

from agents.battle.joint_choices import legal_joint_choices
from teamsets.formats import DOUBLES_FORMATS
from teamsets.showdown import node, package

#: What --ledger plays in turn: formats, each with the teams of --teams.
PLAYED = (
    *((format_id, "any") for format_id in DOUBLES_FORMATS if "random" not in format_id),
    ("gen9randomdoublesbattle", "gen9randomdoublesbattle"),
    *((f"gen{gen}doublesou", f"gen{gen}randombattle") for gen in range(4, 9)),
    *(
        (name, "gen9randomdoublesbattle")
        for name in DOUBLES_FORMATS
        if name.startswith("gen9") and "random" not in name
    ),
)
#: Battles of one entry of a ledger.
CHUNK = 20
ORACLE = Path(__file__).with_suffix(".mjs")
SHOWN = 5


def listed(request: dict[str, Any]) -> list[str]:
    """What is listed for a request, as it is sent to Showdown."""
    return [choice.wire for choice in legal_joint_choices(request)]


def compare(options: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Play battles. Returns the counts, and the differences."""
    command = [node(), str(ORACLE), json.dumps({**options, "package": str(package())})]
    differences: list[dict[str, Any]] = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        for line in process.stdout:
            message = json.loads(line)
            if "counts" in message:
                return message["counts"], differences
            if "different" in message:
                differences.append(message["different"])
                continue
            process.stdin.write(json.dumps(listed(message["request"])) + "\n")
            process.stdin.flush()
    raise SystemExit("joint_choices: Showdown has ended before the battles were played")


def continue_ledger(path: Path, decisions: int, seed: int, settings: dict[str, Any]) -> tuple[int, int]:
    """Play until a ledger has so many decisions. Returns the decisions and the differences that it has."""
    known = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(entry["format"], entry["teams"], entry["first"], entry["seed"]) for entry in known}
    total = sum(entry["counts"]["decisions"] for entry in known)
    differing = sum(len(entry["differences"]) for entry in known)
    for number in itertools.count():
        for format_id, teams in PLAYED:
            if total >= decisions:
                return total, differing
            if (format_id, teams, number * CHUNK, seed) in done:
                continue
            options = {"format": format_id, "teams": teams, "battles": CHUNK, "first": number * CHUNK, "seed": seed}
            counts, differences = compare({**options, **settings})
            with path.open("a") as file:
                file.write(json.dumps({**options, **settings, "counts": counts, "differences": differences}) + "\n")
            total, differing = total + counts["decisions"], differing + len(differences)
            print(f"{total:,} decisions, {differing} differences: {format_id}, teams {teams}", flush=True)
    raise AssertionError


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--format")
    what.add_argument("--ledger", type=Path, help="play all formats and append the results to this file")
    parser.add_argument("--decisions", type=int, default=200_000, help="of --ledger (default: %(default)s)")
    parser.add_argument("--teams", help="any, or the format whose generator makes the teams (default: --format)")
    parser.add_argument("--battles", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tries", type=int, default=200, help="random choices for each request (default: %(default)s)")
    add_simulator(parser)
    arguments = parser.parse_args()
    settings = {"tries": arguments.tries, "simulator": arguments.simulator}
    if arguments.ledger:
        total, differing = continue_ledger(arguments.ledger, arguments.decisions, arguments.seed, settings)
        print(f"{total:,} decisions, {differing} differences")
        return int(bool(differing))
    options = {name: getattr(arguments, name) for name in ("format", "battles", "first", "seed")}
    counts, differences = compare({**options, **settings, "teams": arguments.teams or arguments.format})
    for difference in differences[:SHOWN]:
        print(json.dumps(difference)[:4000])
    print(f"{arguments.format}, seed {arguments.seed}: {json.dumps(counts)}; {len(differences)} differences")
    return int(bool(differences))


if __name__ == "__main__":
    sys.exit(main())
