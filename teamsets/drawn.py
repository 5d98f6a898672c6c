"""Teams that Showdown generates for its random battles, as packed text."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence

from teamsets.showdown import node, package

_SCRIPT = (
    "const {Teams} = require(process.argv[1]); const {format, seeds} = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
    "console.log(JSON.stringify(seeds.map(seed => Teams.pack(Teams.getGenerator(format, seed).getTeam()))))"
)


def drawn_teams(format_id: str, seeds: Sequence[str]) -> list[str]:
    """The packed teams that a format generates from these seeds ("gen5,…"), as for a player with that seed."""
    asked = json.dumps({"format": format_id, "seeds": list(seeds)})
    command = [node(), "-e", _SCRIPT, str(package())]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    teams: list[str] = json.loads(done.stdout)
    return teams
