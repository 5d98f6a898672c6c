"""Delete the teams of a folder that have the same six Pokémon as a team of `competitive` or `verdict`.

    python scripts/build/leave_out_held_out_teams.py FOLDER FORMAT

FOLDER is what `arena teams make` has written. So a network that is trained on it can be measured on these sets.
"""

from __future__ import annotations

import sys
from pathlib import Path

from teamsets.loading import load_set


def main() -> None:
    folder, format_id = sys.argv[1:]
    held_out = {
        frozenset(team.species) for name in ("competitive", "verdict") for team in load_set(name, format_id).teams
    }
    left_out = 0
    for team in load_set(folder, format_id).teams:
        if frozenset(team.species) in held_out:
            (Path(folder) / format_id / f"{team.name}.txt").unlink()
            left_out += 1
    print(f"{folder}: {left_out} teams left out")


if __name__ == "__main__":
    main()
