"""Proves that the joint choices of doubles (agents/battle/joint_choices.py) are those that stock Showdown accepts.

Node plays battles at random (joint_choices.mjs). Each choice that is listed for a request must be accepted, and whatever
Showdown accepts among choices put together at random must be in the list. Exit code 1 at a difference; the first ones are
shown with their request.

    python scripts/parity/joint_choices.py --format gen9randomdoublesbattle --battles 200 --seed 1
    python scripts/parity/joint_choices.py --format gen8doublesou --teams gen8randombattle --battles 200 --seed 1

--teams: the format whose generator makes the teams, some of them cut short; default: the format itself. any: any species,
moves and items, half of the Pokémon with what decides who may choose what (Revival Blessing, Commander, Shadow Tag, Eject
Button, explosions). The teams need not be legal in the format: what is compared is which choices it accepts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from agents.battle.joint_choices import legal_joint_choices
from teamsets.showdown import node, package

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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--format", required=True)
    parser.add_argument("--teams", help="any, or the format whose generator makes the teams (default: --format)")
    parser.add_argument("--battles", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tries", type=int, default=200, help="random choices for each request (default: %(default)s)")
    arguments = parser.parse_args()
    options = {name: getattr(arguments, name) for name in ("format", "battles", "first", "seed", "tries")}
    counts, differences = compare({**options, "teams": arguments.teams or arguments.format})
    for difference in differences[:SHOWN]:
        print(json.dumps(difference)[:4000])
    print(f"{arguments.format}, seed {arguments.seed}: {json.dumps(counts)}; {len(differences)} differences")
    return int(bool(differences))


if __name__ == "__main__":
    sys.exit(main())
