"""The one writer of a battle database."""

from __future__ import annotations

import contextlib
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import orjson

from agents import AgentSource
from arena.fixture import FixtureTeam
from arena.record import score
from arena.schedules.schedule import KnownPair
from arena.store.database import BadDatabase, connect, writer_lock
from arena.store.journal import Journal
from arena.store.schema import FINISHED, RUNNING
from teamsets.atomic import sync
from teamsets.errors import BadInput

# `oddities` and `thought`: as `parse_warnings` and `diagnostics` were called in journals until schema 5.
_LINE = """{
    run: 'VARCHAR', key: 'VARCHAR', pair: 'VARCHAR', format: 'VARCHAR', team_set: 'VARCHAR', p1: 'VARCHAR', p2: 'VARCHAR',
    p1_team: 'VARCHAR', p2_team: 'VARCHAR', seed: 'VARCHAR', winner: 'VARCHAR', reason: 'VARCHAR', fault: 'VARCHAR',
    detail: 'VARCHAR', turns: 'INTEGER', started: 'DOUBLE', seconds: 'DOUBLE', parse_warnings: 'INTEGER',
    oddities: 'INTEGER', series: 'VARCHAR', game: 'INTEGER', best_of: 'INTEGER', open_sheets: 'BOOLEAN',
    input_log: 'VARCHAR', p1_log: 'VARCHAR', p2_log: 'VARCHAR', venue: 'VARCHAR',
    ladder: 'STRUCT(server VARCHAR, elo_before INTEGER, elo_after INTEGER, gxe DOUBLE, glicko DOUBLE, deviation DOUBLE)',
    decisions: 'STRUCT(seat VARCHAR, index INTEGER, turn INTEGER, legal VARCHAR[], choice VARCHAR,
        think_ms FLOAT, diagnostics VARCHAR, thought VARCHAR)[]'
}"""

#: What DuckDB raises for a damaged line, or one that is not a battle.
_BAD_LINE = (duckdb.DataError, duckdb.IntegrityError, duckdb.InvalidInputException)

_READ = f"""
    CREATE OR REPLACE TEMP TABLE lines AS
    SELECT row_number() OVER () AS number, *
    FROM read_ndjson(?, columns = {_LINE}, records = 'true', maximum_object_size = 268435456);
"""
# A segment may hold battles that the database has already (the process died between ingesting them and deleting the
# segment): those are skipped by their key. Ids follow the order in which the battles were finished. Only numbers and keys go
# through the window functions: with whole lines they take longer than all the rest.
_INSERT = """
    CREATE OR REPLACE TEMP TABLE incoming AS
    SELECT number, row_number() OVER (ORDER BY number) + (SELECT coalesce(max(battle_id), 0) FROM battles) AS battle_id
    FROM (
        SELECT number, run, key FROM lines
        QUALIFY row_number() OVER (PARTITION BY run, key ORDER BY number) = 1
    ) line
    ANTI JOIN battles b ON b.run_id = line.run AND b.key = line.key;
    INSERT INTO battles (battle_id, run_id, key, pair, format, team_set, p1, p2, p1_team, p2_team, seed, winner, reason,
        fault, detail, turns, started, seconds, parse_warnings, input_log, p1_log, p2_log, venue, series, game, best_of,
        open_sheets)
    SELECT battle_id, run, key, pair, format, team_set, p1, p2, p1_team, p2_team, seed, winner, reason, fault, detail,
        turns, to_timestamp(started), seconds, coalesce(parse_warnings, oddities), from_base64(input_log),
        from_base64(p1_log), from_base64(p2_log), venue, series, game, best_of, open_sheets
    FROM lines JOIN incoming USING (number) ORDER BY number;
    INSERT INTO decisions (battle_id, seat, index, turn, legal, choice, think_ms, diagnostics)
    SELECT battle_id, d.seat, d.index, d.turn, d.legal, d.choice, d.think_ms, coalesce(d.diagnostics, d.thought)
    FROM (SELECT battle_id, unnest(decisions) AS d FROM lines JOIN incoming USING (number));
    INSERT INTO ladder_ratings (battle_id, server, elo_before, elo_after, gxe, glicko, deviation)
    SELECT battle_id, ladder.server, ladder.elo_before, ladder.elo_after, ladder.gxe, ladder.glicko, ladder.deviation
    FROM lines JOIN incoming USING (number) WHERE ladder IS NOT NULL;
    DROP TABLE incoming;
    DROP TABLE lines;
"""


# The battles of earlier runs that a run could have played itself but for its agents' code: both agents are its own, both
# teams come from its pools, the rules, the length of series, the simulator and poke-env are the same. same: so is the
# agents' code.
_RULES = (
    "TRY_CAST(json_extract({}.config, '$.rules') AS STRUCT(think_limit DOUBLE, max_turns INTEGER))"  # 30 equals 30.0
)
_COMPARABLE = f"""
    WITH mine AS (
        SELECT config, {_RULES.format("runs")} AS rules, versions, coalesce((config->>'best_of')::INTEGER, 1) AS best_of
        FROM runs WHERE run_id = $run
    ), pools AS (
        SELECT pool->>0 AS format, pool->>1 AS team_set, unnest((pool->2)::VARCHAR[]) AS team_id
        FROM (SELECT unnest(json_extract(config, '$.pools[*]')) AS pool FROM mine)
    ), drawn AS (
        SELECT pool->>0 AS format FROM (SELECT unnest(json_extract(config, '$.pools[*]')) AS pool FROM mine)
        WHERE json_array_length(pool->2) = 0
    ), comparable AS (
        SELECT b.battle_id, b.key, b.p1, b.p2,
            m1.fingerprint = a1.fingerprint AND m2.fingerprint = a2.fingerprint AS same
        FROM battles b
        JOIN runs r ON r.run_id = b.run_id
        JOIN mine ON {_RULES.format("r")} = mine.rules AND coalesce(b.best_of, 1) = mine.best_of
            AND r.versions->>'pokemon-showdown' = mine.versions->>'pokemon-showdown'
            AND r.versions->>'poke-env' = mine.versions->>'poke-env'
        JOIN agents a1 ON a1.run_id = b.run_id AND a1.agent = b.p1
        JOIN agents a2 ON a2.run_id = b.run_id AND a2.agent = b.p2
        JOIN agents m1 ON m1.run_id = $run AND m1.agent = a1.agent
        JOIN agents m2 ON m2.run_id = $run AND m2.agent = a2.agent
        WHERE b.run_id <> $run AND b.reason <> 'aborted' AND (
            b.format IN (FROM drawn)
            OR ((b.format, b.team_set, b.p1_team) IN (FROM pools) AND (b.format, b.team_set, b.p2_team) IN (FROM pools))
        )
    )
"""
# A fixture that was played twice counts once.
_REUSE = f"""
    INSERT INTO evidence (run_id, battle_id) {_COMPARABLE}
    SELECT $run, battle_id FROM comparable WHERE same
    QUALIFY row_number() OVER (PARTITION BY key ORDER BY battle_id) = 1
"""
# Agents with code that no earlier run has seen, though some have seen the agent, and the battles that do not count for it.
_CHANGED = f"""
    {_COMPARABLE}, changed AS (
        SELECT agent FROM agents WHERE run_id = $run
            AND agent IN (SELECT agent FROM agents WHERE run_id <> $run)
            AND (agent, fingerprint) NOT IN (SELECT agent, fingerprint FROM agents WHERE run_id <> $run)
    ), lost AS (
        SELECT key, agent FROM comparable JOIN changed ON agent IN (p1, p2) WHERE NOT same
    )
    SELECT count(DISTINCT key), list(DISTINCT agent) FROM lost
"""


@contextmanager
def open_store(path: Path) -> Iterator[Store]:
    """The store of a database for its one writer: locked until this is left, its schema current, its journal ingested.

    A new database of a run that is refused (BadInput) is deleted again. Raises BeingPlayed when another process writes
    to it, and BadDatabase.
    """
    with writer_lock(path):
        new = not path.exists()
        store = Store(path)
        try:
            yield store
        except BadInput:
            if new and store.is_empty():
                path.unlink()
            raise


@dataclass(frozen=True)
class StoredRun:
    """A stored run: its config and its agents' fingerprints."""

    run_id: str
    config: dict[str, Any]
    fingerprints: dict[str, str]


class Store:
    """Writes a battle database: see `open_store`, which holds its lock meanwhile.

    `add` keeps a battle in the journal; `ingest_journal` moves what the journal holds into the tables, each segment in one
    transaction. bad_lines: how many lines of the journal were not battles, and are in `FILE.journal.bad` now.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal = Journal(path)
        self.bad_lines = 0
        self._ingesting = threading.Lock()  # a run ingests in threads
        self.ingest_journal()

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """For several steps in a row: the file is opened and closed once, not for each. No reader can open it meanwhile."""
        with self._connection():  # DuckDB gives all connections of a process the file that is open already
            yield

    def add(self, line: bytes) -> None:
        """Stores one battle: a record's line (see `BattleRecord.to_line`)."""
        self.journal.append(line)

    def ingest_journal(self, patience: float | None = None) -> None:
        """Ingests the journal. Raises BadDatabase if another process has the file open; nothing is lost then.

        It may be stopped at any moment: a segment is deleted only when its battles are in the tables and on the disk, and
        what is in both is skipped by its key. Thread-safe.
        """
        with self._ingesting:
            self._ingest(patience)

    def _ingest(self, patience: float | None) -> None:
        try:
            segments = self.journal.segments()
            connection = connect(self.path, read_only=False, patience=patience)
            try:
                # A commit writes the tables' blocks themselves, not the write-ahead log first and then the blocks.
                connection.execute("SET checkpoint_threshold = '1KB'")
                bad = [line for segment in segments for line in _move_file(connection, segment)]
            finally:
                connection.close()
            if bad:
                self.journal.set_aside(bad)
            if segments:
                sync(self.path.parent)  # the database's own file, where it is new
            for segment in segments:
                segment.unlink()
        except (duckdb.Error, OSError) as error:  # a full disk, say
            words = str(error).split("\n")[0]
            raise BadDatabase(f"database {self.path}: {words}: the battles are safe in {self.journal.path}*") from None
        self.bad_lines += len(bad)

    def try_flush(self) -> bool:
        """Flushes the journal to disk; what is added from now on comes into another segment. False when the disk fails: the
        battles stay where they are."""
        try:
            self.journal.segments()
        except OSError:
            return False
        return True

    def try_ingest_journal(self) -> bool:
        """As `ingest_journal`, without waiting: False when a reader has the file open."""
        try:
            self.ingest_journal(patience=0.2)
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
        """Records a new run with all that is needed to repeat or resume it."""
        with self._connection() as connection:
            connection.execute("BEGIN")
            connection.execute(
                "INSERT INTO runs (run_id, kind, started, status, config, git, versions) VALUES (?, ?, now(), ?, ?, ?, ?)",
                [run_id, kind, RUNNING, orjson.dumps(config).decode(), git, orjson.dumps(versions).decode()],
            )
            for agent in agents:
                values = [run_id, agent.spec, agent.fingerprint, agent.repeatable, agent.about]
                connection.execute(
                    "INSERT INTO agents (run_id, agent, fingerprint, repeatable, about) VALUES (?, ?, ?, ?, ?)", values
                )
            _note_teams(connection, teams)
            connection.execute("COMMIT")

    def add_teams(self, teams: Mapping[tuple[str, str], Iterable[FixtureTeam]]) -> None:
        """Records teams that were drawn during a run."""
        with self._connection() as connection:
            connection.execute("BEGIN")
            _note_teams(connection, teams)
            connection.execute("COMMIT")

    def resume_run(self, run_id: str | None, kind: str) -> StoredRun:
        """Returns a run to resume; if None, the latest of its kind that is not finished, or the latest if all are.

        The latest is the one that was recorded last: the clock of the system may have been set back since.

        Raises BadDatabase when there is none, or when it is of another kind.
        """
        with self._connection() as connection:
            row = connection.execute(
                "SELECT run_id, config, kind FROM runs WHERE CASE WHEN ?::VARCHAR IS NULL THEN kind = ? ELSE run_id = ? END "
                "ORDER BY status = ?, rowid DESC LIMIT 1",
                [run_id, kind, run_id, FINISHED],
            ).fetchone()
            if row is None:
                raise self._no_run(connection, run_id)
            if row[2] != kind:
                raise BadDatabase(f"run '{run_id}': started by `arena {row[2]}`; resume it with that command")
            found = row[0]
            prints = connection.execute("SELECT agent, fingerprint FROM agents WHERE run_id = ?", [found]).fetchall()
        return StoredRun(found, orjson.loads(row[1]), dict(prints))

    def continue_run(self, run_id: str, config: dict[str, Any]) -> None:
        """Marks a run as running again, with the config with which it continues."""
        with self._connection() as connection:
            connection.execute(
                "UPDATE runs SET status = ?, ended = NULL, config = ? WHERE run_id = ?",
                [RUNNING, orjson.dumps(config).decode(), run_id],
            )

    def forget_run(self, run_id: str) -> None:
        """Removes a run in which nothing was played."""
        with self._connection() as connection:
            connection.execute("BEGIN")
            for table in ("evidence", "agents", "runs"):
                connection.execute(f"DELETE FROM {table} WHERE run_id = ?", [run_id])
            connection.execute("COMMIT")

    def forget_aborted(self, run_id: str) -> None:
        """Removes a run's aborted battles, which have no result, so that they can be played again under their keys."""
        with self._connection() as connection:
            connection.execute("BEGIN")
            aborted = "SELECT battle_id FROM battles WHERE run_id = ? AND reason = 'aborted'"
            connection.execute(f"DELETE FROM decisions WHERE battle_id IN ({aborted})", [run_id])
            connection.execute("DELETE FROM battles WHERE run_id = ? AND reason = 'aborted'", [run_id])
            connection.execute("COMMIT")

    def _no_run(self, connection: duckdb.DuckDBPyConnection, run_id: str | None) -> BadDatabase:
        if run_id is None:
            return BadDatabase(f"database {self.path}: no run to resume; start one without --resume")
        recent = connection.execute("SELECT run_id FROM runs ORDER BY rowid DESC LIMIT 3").fetchall()
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
        """Records how a running run ended: FINISHED, STOPPED or TIME_LIMIT. One that has ended already keeps its status."""
        with self._connection() as connection:
            connection.execute(
                "UPDATE runs SET status = ?, ended = now() WHERE run_id = ? AND status = ?", [status, run_id, RUNNING]
            )

    def is_empty(self) -> bool:
        """Whether there is neither a run nor a battle in it."""
        count = "SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM battles)"
        with self._connection() as connection:
            return not connection.execute(count).fetchall()[0][0]

    def new_run_id(self) -> str:
        """The time to the second, with a letter behind it where that is taken."""
        stem = datetime.now().strftime("%Y%m%d-%H%M%S")
        with self._connection() as connection:
            taken = {name for (name,) in connection.execute("SELECT run_id FROM runs").fetchall()}
        return next(name for name in (stem, *(stem + c for c in "bcdefghijklmnopqrstuvwxyz")) if name not in taken)

    def reuse_battles(self, run_id: str) -> None:
        """Records which battles of earlier runs count for a run: those that it could have played itself (see _REUSE)."""
        with self._connection() as connection:
            connection.execute(_REUSE, {"run": run_id})

    def changed_since(self, run_id: str) -> tuple[int, list[str]]:
        """How many battles of earlier runs do not count for a run because of code that it is the first to play with, and
        the agents with that code."""
        with self._connection() as connection:
            battles, agents = connection.execute(_CHANGED, {"run": run_id}).fetchall()[0]
        return battles, sorted(agents or ())

    def results(self, run_id: str) -> dict[str, float | None]:
        """Of every battle that is a run's own or reused: its fixture's key, and p1's score (None: aborted)."""
        with self._connection() as connection:
            battles = connection.execute(
                "SELECT key, winner, reason FROM battles WHERE run_id = $run OR battle_id IN "
                "(SELECT battle_id FROM evidence WHERE run_id = $run)",
                {"run": run_id},
            ).fetchall()
        return {key: score(winner, reason) for key, winner, reason in battles}

    def reused_pairs(self, run_id: str) -> tuple[KnownPair, ...]:
        """The pairs that a run reuses, in an order that depends on the pairs only."""
        with self._connection() as connection:
            pairs = connection.execute(
                "SELECT pair, format, agent, opponent, sum(score), count(score) FROM counted_results "
                "WHERE for_run = $run AND agent < opponent AND battle_id IN "
                "(SELECT battle_id FROM evidence WHERE run_id = $run) "
                "GROUP BY ALL HAVING count(score) > 0 ORDER BY ALL",
                {"run": run_id},
            ).fetchall()
        return tuple(KnownPair(pair, f, (a, b), float(points), games) for pair, f, a, b, points, games in pairs)

    def points(self, run_id: str) -> dict[str, dict[tuple[str, str], float]]:
        """Format -> (agent, opponent) -> the agent's points against the opponent, over the results that count for a run."""
        with self._connection() as connection:
            sums = connection.execute(
                "SELECT format, agent, opponent, sum(score)::DOUBLE FROM counted_results "
                "WHERE for_run = ? AND score IS NOT NULL GROUP BY ALL ORDER BY format",
                [run_id],
            ).fetchall()
        points: dict[str, dict[tuple[str, str], float]] = {}
        for format_id, agent, opponent, won in sums:
            points.setdefault(format_id, {})[agent, opponent] = won
        return points

    def _connection(self) -> duckdb.DuckDBPyConnection:
        return connect(self.path, read_only=False)


def _move_file(connection: duckdb.DuckDBPyConnection, segment: Path) -> list[bytes]:
    """Moves a segment of the journal into the tables. Returns the lines that are not battles; all others are moved."""
    with open(segment, "rb") as file:
        # DuckDB passes over a bare number without a word, so that is looked for first.
        if all(map(_may_be_battle, file)):
            with contextlib.suppress(*_BAD_LINE):
                _move(connection, file.fileno())
                return []
        file.seek(0)
        lines = file.read().split(b"\n")
    bad = [line for line in lines if not _may_be_battle(line)]
    return bad + _move_lines(connection, [line for line in lines if _may_be_battle(line)])


def _may_be_battle(line: bytes) -> bool:
    """Whether a line of a journal is an object of JSON, by its first sign, or nothing."""
    return line.lstrip()[:1] in (b"{", b"")


def _move_lines(connection: duckdb.DuckDBPyConnection, lines: list[bytes]) -> list[bytes]:
    """As _move_file, for some of the lines: by halves, so that few bad ones among many cost little."""
    with tempfile.TemporaryFile() as file:
        file.write(b"\n".join(lines))
        file.flush()
        try:
            _move(connection, file.fileno())
            return []
        except _BAD_LINE:
            if len(lines) == 1:
                return lines
    half = len(lines) // 2
    return _move_lines(connection, lines[:half]) + _move_lines(connection, lines[half:])


def _move(connection: duckdb.DuckDBPyConnection, descriptor: int) -> None:
    """Moves all battles of an open file into the tables, or none. Raises duckdb.Error."""
    connection.execute("BEGIN")
    try:
        # By its descriptor: DuckDB would take brackets and stars in a path for a pattern.
        connection.execute(_READ, [f"/dev/fd/{descriptor}"])
        connection.execute(_INSERT)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


_TEAM_COLUMNS = ("team_id", "format", "team_set", "name", "packed", "seed")


def _note_teams(connection: duckdb.DuckDBPyConnection, teams: Mapping[tuple[str, str], Iterable[FixtureTeam]]) -> None:
    known = [
        (t.id, format_id, team_set, t.name, t.packed, t.seed) for (format_id, team_set), ts in teams.items() for t in ts
    ]
    columns = [list(column) for column in zip(*known, strict=True)] if known else [[]] * 6
    unnested = ", ".join(f"unnest(?::VARCHAR[]) AS {name}" for name in _TEAM_COLUMNS)
    names = ", ".join(_TEAM_COLUMNS)
    connection.execute(
        f"INSERT INTO teams ({names}) SELECT DISTINCT ON (team_id) {names} FROM (SELECT {unnested}) ON CONFLICT DO NOTHING",
        columns,
    )
