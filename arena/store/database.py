"""Opening a battle database: for the one writer, or for readers while the writer goes on.

DuckDB lets either one process write or many read. So the writer of a run opens the file only for the moment in which it
takes in finished battles (they wait, safe, in a journal beside it), and readers come in between. That there is only one
writer is kept by a lock on a file beside the database, held for the whole run.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pandas

from arena.store.schema import MIGRATIONS, VERSION, VIEWS
from teamsets.errors import BadInput

DEFAULT = Path("arena.duckdb")
#: How long to wait for others to be done with the file, in seconds.
PATIENCE = 15.0


class BadDatabase(BadInput):
    """A file that is no battle database, of a newer schema, or in the hands of another process."""


def connect(path: Path, *, read_only: bool, patience: float | None = None) -> duckdb.DuckDBPyConnection:
    """A connection to the database. Waits up to `patience` seconds (PATIENCE) for another process to let go of it.

    Raises BadDatabase. For writing, the schema is brought up to date first; for reading it is only checked.
    """
    if read_only and not path.exists():
        raise BadDatabase(f"database {path}: there is none yet: play something first, or say --db FILE")
    connection = _connected(path, read_only, time.monotonic() + (PATIENCE if patience is None else patience))
    try:
        version = _version(connection, path)
        if version > VERSION:
            raise BadDatabase(
                f"database {path}: written by a newer arena (schema {version}, this one knows {VERSION}): "
                "update the arena, or say --db FILE"
            )
        if not read_only and version < VERSION:
            _migrate(connection, version)
        elif version < VERSION:
            raise BadDatabase(
                f"database {path}: of an older schema ({version}): play into it once to bring it up to date"
            )
    except BaseException:
        connection.close()
        raise
    return connection


def _connected(path: Path, read_only: bool, until: float) -> duckdb.DuckDBPyConnection:
    while True:
        try:
            return duckdb.connect(str(path), read_only=read_only)
        except duckdb.Error as error:
            words = str(error)
            if "Could not set lock" not in words:
                problem = "not a battle database" if "not a valid DuckDB" in words else words.split("\n")[0]
                raise BadDatabase(f"database {path}: {problem}: say --db FILE") from None
            if time.monotonic() > until:
                holder = re.search(r"PID (\d+)", words)
                who = f"process {holder.group(1)}" if holder else "another process"
                raise BadDatabase(f"database {path}: {who} holds it: close it there, or say --db FILE") from None
            time.sleep(0.05)


def _version(connection: duckdb.DuckDBPyConnection, path: Path) -> int:
    """0 for an empty file. Raises BadDatabase for a DuckDB file of somebody else's tables."""
    tables = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    if "arena_schema" not in tables:
        if tables:
            names = ", ".join(sorted(tables)[:5])
            raise BadDatabase(f"database {path}: not a battle database (its tables: {names}): say --db FILE")
        return 0
    row = connection.execute("SELECT max(version) FROM arena_schema").fetchone()
    return row[0] if row and row[0] is not None else 0


def _migrate(connection: duckdb.DuckDBPyConnection, version: int) -> None:
    connection.execute("BEGIN")
    connection.execute("CREATE TABLE IF NOT EXISTS arena_schema (version INTEGER, applied TIMESTAMPTZ DEFAULT now())")
    for number in range(version, VERSION):
        connection.execute(MIGRATIONS[number])
        connection.execute("INSERT INTO arena_schema (version) VALUES (?)", [number + 1])
    connection.execute(VIEWS)
    connection.execute("COMMIT")


@contextmanager
def writer_lock(path: Path) -> Iterator[None]:
    """Holds the right to write to the database `path` until left. Raises BadDatabase when another process holds it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(f"{path}.lock", "a+", encoding="ascii")  # noqa: SIM115 (closed below)
    except OSError as error:
        raise BadDatabase(f"database {path}: {error.strerror}: say --db FILE") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            pid = file.read().strip() or "unknown"
            raise BadDatabase(f"database {path}: process {pid} is playing into it: wait, or say --db FILE") from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
        file.truncate(0)


def frame(sql: str, db: str | Path = DEFAULT, parameters: list[Any] | None = None) -> pandas.DataFrame:
    """The answer to an SQL query over a battle database as a pandas frame; also while a run writes to it.

    The query can read only: neither the database nor any other file can be changed by it. Raises BadDatabase, and
    BadInput with DuckDB's words for a query that fails.
    """
    with _reading(Path(db)) as connection:
        return _asked(connection, sql, parameters).df()


def rows(sql: str, db: str | Path = DEFAULT, parameters: list[Any] | None = None) -> list[tuple[Any, ...]]:
    """As `frame`, but as plain tuples of Python values."""
    with _reading(Path(db)) as connection:
        return _asked(connection, sql, parameters).fetchall()


def _asked(connection: duckdb.DuckDBPyConnection, sql: str, parameters: list[Any] | None) -> duckdb.DuckDBPyConnection:
    answer: duckdb.DuckDBPyConnection | None = connection.execute(sql, parameters or [])
    if answer is None:  # nothing but blanks and comments
        raise BadInput("sql: there is no query in it: say for example SELECT count(*) FROM battles")
    return answer


@contextmanager
def _reading(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection through which nothing can be changed, neither the database nor a file beside it."""
    connection = connect(path, read_only=True)
    try:
        connection.execute("SET enable_external_access = false; SET lock_configuration = true")
        yield connection
    except duckdb.Error as error:
        raise BadInput(f"sql: {' '.join(str(error).split())[:400]}") from None
    finally:
        connection.close()
