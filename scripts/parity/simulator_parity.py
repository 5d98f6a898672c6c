"""Proves that arena/venues/simulator/fast.mjs changes nothing: the same battles on Showdown's code as it is and made
quicker.

Battles of random choices, in every format of singles and doubles whose teams Showdown draws (hackmons and challenge cups
reach moves, abilities and items that nobody uses; of a format without teams of its own, random teams of anything), are
played both ways; all that both sides saw and were asked, the logs and the state of the random numbers must be equal. Exit
code 1 at a difference. A format that differs between two plays on Showdown's own code (some draw random numbers of their
own) proves nothing and is listed.

    python scripts/parity/simulator_parity.py [--battles 20] [--seed 1] [--turns 150] [--formats gen9hackmonscup ...]
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import subprocess
from pathlib import Path
from typing import Any

from teamsets.showdown import node, package

_PLAYS = Path(__file__).with_suffix(".mjs")

#: (format, number) -> what was printed of a battle.
Battles = dict[tuple[str, int], dict[str, Any]]


def play(options: dict[str, Any], stock: bool) -> Battles:
    """Battles as scripts/parity/simulator_parity.mjs prints them."""
    command = [node(), str(_PLAYS), json.dumps({**options, "package": str(package()), "stock": stock})]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return {(line["format"], line["battle"]): line for line in map(json.loads, done.stdout.splitlines())}


def differing(options: dict[str, Any]) -> tuple[Battles, list[tuple[str, int]], list[str]]:
    """Play both ways. Returns the stock battles, those that differ, and the formats that differ from themselves."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        stock, quick = pool.map(lambda stock: play(options, stock), (True, False))
    different = [key for key in stock if quick.get(key) != stock[key]]
    suspects = sorted({format_id for format_id, _ in different})
    repeated = play({**options, "formats": suspects}, stock=True) if suspects else {}
    unrepeatable = {
        format_id for format_id, number in repeated if repeated[format_id, number] != stock[format_id, number]
    }
    return stock, [key for key in different if key[0] not in unrepeatable], sorted(unrepeatable)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battles", type=int, default=20, help="of each format")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--turns", type=int, default=150, help="after which a battle is ended")
    parser.add_argument("--formats", nargs="+", default=[])
    options = vars(parser.parse_args())
    stock, different, unrepeatable = differing(options)
    counts = collections.Counter(format_id for format_id, _ in stock)
    turns = sum(line.get("turns", 0) for line in stock.values())
    errors = sum("error" in line for line in stock.values())
    for format_id in unrepeatable:
        print(f"{format_id}: not even two plays on Showdown's own code are equal")
    for format_id, number in different:
        print(f"{format_id}, battle {number} (--seed {options['seed'] + number} --battles 1): not equal")
    compared = sum(counts.values()) - sum(counts[format_id] for format_id in unrepeatable)
    print(
        f"{compared} battles of {len(counts) - len(unrepeatable)} formats: {len(different)} differ "
        f"({turns} turns; {errors} battles ended by an error of Showdown's own)"
    )
    raise SystemExit(1 if different else 0)


if __name__ == "__main__":
    main()
