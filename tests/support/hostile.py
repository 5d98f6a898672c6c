"""Really played battles whose agents, teams and failures have names that would break a careless page."""

from __future__ import annotations

import shutil
from pathlib import Path

from arena.store import connect, rows

AGENTS = {
    "random": '<img src=x onerror="hacked=1">',
    "poke-env:RandomPlayer": "policy:/very/long/path/to/some/checkpoints/that/never/seems/to/end/in/any/way.pt@best",
    "poke-env:MaxBasePowerPlayer": "</script><script>hacked=2</script>",
    "poke-env:SimpleHeuristicsPlayer": 'it\'s "&amp;" $title `code` *bold* | [x](y)',
}
DETAIL = "</style></td><script>hacked=3</script> ${hacked} <!--"
TEAM = "<b>bold</b> team"


def hostile_copy(played: Path, folder: Path) -> tuple[Path, str]:
    """A copy of the played database with AGENTS' names in its first run, and that run's id; one battle in it failed."""
    db = folder / "hostile.duckdb"
    shutil.copy(played, db)
    ((run_id,),) = rows("SELECT run_id FROM runs ORDER BY started, run_id LIMIT 1", db)
    with connect(db, read_only=False) as connection:
        for old, new in AGENTS.items():
            for column in ("p1", "p2"):
                statement = f"UPDATE battles SET {column} = ? WHERE {column} = ? AND run_id = ?"
                connection.execute(statement, [new, old, run_id])
            connection.execute(
                "UPDATE agents SET agent = ?, about = ? WHERE agent = ? AND run_id = ?", [new, new, old, run_id]
            )
        connection.execute("UPDATE teams SET name = ?", [TEAM])
        connection.execute(
            "UPDATE battles SET reason = 'error', fault = CASE winner WHEN 'p1' THEN 'p2' ELSE 'p1' END, detail = ? "
            "WHERE battle_id = (SELECT min(battle_id) FROM battles WHERE run_id = ? AND reason = 'win')",
            [DETAIL, run_id],
        )
    return db, run_id
