"""The battles of a run as games in PGN, as Ordo, BayesElo and `arena rate` read them: headers and a result, no moves."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from arena.store import rows

_RESULTS = {1.0: "1-0", 0.0: "0-1", 0.5: "1/2-1/2"}
_QUERY = """
    SELECT battle_id, agent, opponent, score::DOUBLE, format, team_set, started, turns FROM evidence_results
    WHERE for_run = ? AND format = ? AND seat = 'p1' AND score IS NOT NULL ORDER BY battle_id
"""


def games(db: Path, run_id: str, format_id: str) -> Iterator[str]:
    """Yield a game for each battle that counts for a run in a format. White is p1; aborted battles are left out."""
    for battle_id, first, second, score, event, team_set, started, turns in rows(_QUERY, db, [run_id, format_id]):
        yield _game(battle_id, first, second, _RESULTS[score], event, team_set, started, turns)


def _game(
    battle_id: int, white: str, black: str, result: str, event: str, team_set: str, started: datetime, turns: int
) -> str:
    tags = {
        "Event": event,
        "Site": "battle-arena",
        "Date": f"{started:%Y.%m.%d}",
        "Round": str(battle_id),
        "White": white,
        "Black": black,
        "Result": result,
        "TeamSet": team_set,
        "Turns": str(turns),
    }
    head = "\n".join(f'[{name} "{_escaped(value)}"]' for name, value in tags.items())
    return f"{head}\n\n{result}\n\n"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')
