"""The one writer of a battle database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pandas

from agents import AgentSource
from arena.fixture import FixtureTeam
from arena.store.database import BadDatabase, connect
from arena.store.journal import Journal

_LINE = """{
    run: 'VARCHAR', key: 'VARCHAR', pair: 'VARCHAR', format: 'VARCHAR', team_set: 'VARCHAR', p1: 'VARCHAR', p2: 'VARCHAR',
    p1_team: 'VARCHAR', p2_team: 'VARCHAR', seed: 'VARCHAR', winner: 'VARCHAR', reason: 'VARCHAR', fault: 'VARCHAR',
    detail: 'VARCHAR', turns: 'INTEGER', started: 'DOUBLE', seconds: 'DOUBLE', oddities: 'INTEGER',
    input_log: 'VARCHAR', p1_log: 'VARCHAR', p2_log: 'VARCHAR',
    decisions: 'STRUCT(seat VARCHAR, index INTEGER, turn INTEGER, legal VARCHAR[], choice VARCHAR,
        think_ms FLOAT, thought VARCHAR)[]'
}"""

# A segment may hold battles that the database has already (the process died between taking them in and deleting the
# segment): those are passed over by their key. Ids follow the order in which the battles were finished.
_TAKE_IN = f"""
    CREATE OR REPLACE TEMP TABLE incoming AS
    SELECT row_number() OVER (ORDER BY number) + (SELECT coalesce(max(battle_id), 0) FROM battles) AS battle_id, line.*
    FROM (
        FROM (
            SELECT row_number() OVER () AS number, *
            FROM read_ndjson(?, columns = {_LINE}, maximum_object_size = 268435456)
        )
        QUALIFY row_number() OVER (PARTITION BY run, key ORDER BY number) = 1
    ) line
    ANTI JOIN battles b ON b.run_id = line.run AND b.key = line.key;
"""
_INSERT = """
    INSERT INTO battles
    SELECT battle_id, run, key, pair, format, team_set, p1, p2, p1_team, p2_team, seed, winner, reason, fault, detail,
        turns, to_timestamp(started), seconds, oddities, from_base64(input_log), from_base64(p1_log), from_base64(p2_log)
    FROM incoming;
    INSERT INTO decisions
    SELECT battle_id, d.seat, d.index, d.turn, d.legal, d.choice, d.think_ms, d.thought
    FROM (SELECT battle_id, unnest(decisions) AS d FROM incoming);
    DROP TABLE incoming;
"""


@dataclass(frozen=True)
class StoredRun:
    """A run as the store knows it: its config, its agents' fingerprints, and the keys of its finished fixtures."""

    run_id: str
    status: str
    config: dict[str, Any]
    fingerprints: dict[str, str]
    finished: frozenset[str]


class Store:
    """Writes a battle database. Hold `writer_lock(path)` while one exists.

    `add` is safe at once (the journal); `take_in` moves what the journal holds into the tables, in one transaction.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal = Journal(path)
        self.take_in()

    def add(self, line: bytes) -> None:
        """Keeps one battle: a record's line (see `BattleRecord.to_line`)."""
        self.journal.append(line)

    def take_in(self, patience: float | None = None) -> None:
        """Moves the journal into the tables. Raises BadDatabase when others hold the file; nothing is lost then."""
        segments = self.journal.segments()
        connection = connect(self.path, read_only=False, patience=patience)
        try:
            for segment in segments:
                connection.execute("BEGIN")
                connection.execute(_TAKE_IN, [str(segment)])
                connection.execute(_INSERT)
                connection.execute("COMMIT")
                segment.unlink()
        except duckdb.Error as error:  # a full disk, say
            words = str(error).split("\n")[0]
            raise BadDatabase(f"database {self.path}: {words}: the battles are safe in {self.journal.path}*") from None
        finally:
            connection.close()

    def try_take_in(self) -> bool:
        """As `take_in`, without patience: False when a reader is in the file at the moment."""
        try:
            self.take_in(patience=0.2)
        except BadDatabase:
            return False
        return True

    def begin_run(
        self,
        run_id: str,
        kind: str,
        config: dict[str, Any],
        git: str | None,
        versions: dict[str, str],
        agents: Iterable[AgentSource],
        teams: Mapping[tuple[str, str], Iterable[FixtureTeam]],
    ) -> None:
        """Notes a new run with all that is needed to repeat it or go on with it."""
        known = pandas.DataFrame(
            [
                (t.id, format_id, team_set, t.name, t.packed, t.seed)
                for (format_id, team_set), ts in teams.items()
                for t in ts
            ],
            columns=["team_id", "format", "team_set", "name", "packed", "seed"],
            dtype="string",
        )
        with self._connection() as connection:
            connection.execute("BEGIN")
            connection.execute(
                "INSERT INTO runs VALUES (?, ?, now(), NULL, 'running', ?, ?, ?)",
                [run_id, kind, orjson.dumps(config).decode(), git, orjson.dumps(versions).decode()],
            )
            for agent in agents:
                values = [run_id, agent.spec, agent.fingerprint, agent.repeatable, agent.about]
                connection.execute("INSERT INTO agents VALUES (?, ?, ?, ?, ?)", values)
            connection.register("known", known)
            connection.execute("INSERT INTO teams SELECT DISTINCT ON (team_id) * FROM known ON CONFLICT DO NOTHING")
            connection.execute("COMMIT")

    def resume_run(self, run_id: str | None) -> StoredRun:
        """A run to go on with (the latest when None), marked as running again. Raises BadDatabase when there is none."""
        with self._connection() as connection:
            row = connection.execute(
                "SELECT run_id, status, config FROM runs WHERE run_id = coalesce(?, run_id) ORDER BY started DESC LIMIT 1",
                [run_id],
            ).fetchone()
            if row is None:
                raise self._no_run(connection, run_id)
            found = row[0]
            finished = connection.execute("SELECT key FROM battles WHERE run_id = ?", [found]).fetchall()
            prints = connection.execute("SELECT agent, fingerprint FROM agents WHERE run_id = ?", [found]).fetchall()
            connection.execute("UPDATE runs SET status = 'running', ended = NULL WHERE run_id = ?", [found])
        return StoredRun(found, row[1], orjson.loads(row[2]), dict(prints), frozenset(key for (key,) in finished))

    def _no_run(self, connection: duckdb.DuckDBPyConnection, run_id: str | None) -> BadDatabase:
        if run_id is None:
            return BadDatabase(f"database {self.path}: no run to resume: start one without --resume")
        recent = connection.execute("SELECT run_id FROM runs ORDER BY started DESC LIMIT 3").fetchall()
        known = ", ".join(name for (name,) in recent) or "none"
        return BadDatabase(f"run '{run_id}': not in {self.path}: the latest are {known}")

    def teams(self, team_ids: Iterable[str]) -> dict[str, FixtureTeam]:
        """Stored teams by their id."""
        with self._connection() as connection:
            rows = connection.execute(
                "SELECT team_id, name, packed, seed FROM teams WHERE list_contains(?, team_id)", [list(team_ids)]
            ).fetchall()
        return {row[0]: FixtureTeam(*row) for row in rows}

    def end_run(self, run_id: str, status: str) -> None:
        """Notes how a run ended: "finished" or "stopped"."""
        with self._connection() as connection:
            connection.execute("UPDATE runs SET status = ?, ended = now() WHERE run_id = ?", [status, run_id])

    def run_exists(self, run_id: str) -> bool:
        with self._connection() as connection:
            return connection.execute("SELECT 1 FROM runs WHERE run_id = ?", [run_id]).fetchone() is not None

    def _connection(self) -> duckdb.DuckDBPyConnection:
        return connect(self.path, read_only=False)
