"""How often do agents win when they say so? Brier scores and reliability of the chances to win in stored battles.

python scripts/calibration.py runs/gen1ou-cpu/arena.duckdb --agents "policy:%" --out calibration.svg
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from teamsets.atomic import write_atomic
from teamsets.errors import BadInput
from training.calibration import calibrations, picture


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database", type=Path)
    parser.add_argument("--agents", default="policy:%", help="specs LIKE this (%(default)s)")
    parser.add_argument("--out", type=Path, help="an SVG with the reliability plots")
    parser.add_argument("--seed", type=int, default=0, help="of the intervals (%(default)s)")
    asked = parser.parse_args()
    try:
        found = calibrations(asked.database, asked.agents, seed=asked.seed)
    except BadInput as error:
        sys.exit(_refused(str(error)))
    if not found:
        sys.exit(
            _refused(
                f"{asked.database}: no agent LIKE '{asked.agents}' predicted a win probability; select others with --agents"
            )
        )
    print("agent · battles · decisions · mean predicted P(win) · mean result · Brier · of the base rate · gain [95%]")
    for one in found:
        gain, low, high = one.gain
        print(
            f"{one.agent} · {one.battles:,} · {one.decisions:,} · {one.said:.3f} · {one.won:.3f} · {one.brier:.3f} · "
            f"{one.base_rate:.3f} · {gain:+.3f} [{low:+.3f}, {high:+.3f}]"
        )
    if asked.out:
        write_atomic(asked.out, picture(found))
        print(f"wrote {asked.out}", file=sys.stderr)


def _refused(words: str) -> int:
    print(f"calibration.py: {words}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
