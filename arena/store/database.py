"""Opens a battle database: for the one writer, or for readers while a run is in progress.

DuckDB allows either one writing process or many readers. So a run's writer opens the file only while it ingests finished
battles (until then they are in a journal beside it), and readers connect in between. A lock on a file beside the database,
held for the whole run, keeps a second writer out.

A user's query may be copied from anywhere. So a read-only connection can neither change nor read anything but the
database's tables: see `_opened_for_reading`.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from arena.extensions import extensions
from arena.store.schema import MIGRATIONS, VERSION, VIEWS, VIEWS_VERSION, WILSON
from teamsets.errors import BadInput
from teamsets.locking import file_lock, holder
from teamsets.reading import is_no_file

if TYPE_CHECKING:  # it takes longer to import than most queries take
    import pandas

DEFAULT = Path("arena.duckdb")
#: How long to wait for other processes to close the file, in seconds.
PATIENCE = 15.0
#: The longest name of a file that most file systems take, in bytes, and what is put behind a database's for those beside it.
_MAX_NAME_BYTES = 255
_LONGEST_SUFFIX = ".journal.1000000"
_BESIDE = re.compile(r".+\.(journal(\.([0-9]+|bad))?|live|lock|tmp|wal)", re.DOTALL)
_LOCK = (
    "SET enable_external_access = false; SET disabled_filesystems = 'LocalFileSystem'; SET lock_configuration = true"
)
_LOCKING = threading.Lock()
#: The file that `kept_open` keeps open, and its connection.
_KEPT: ContextVar[tuple[Path | None, duckdb.DuckDBPyConnection | None]] = ContextVar("kept", default=(None, None))


class BadDatabase(BadInput):
    """Raised for a file that is not a battle database, has a newer schema, or is open in another process."""


class OlderSchema(BadDatabase):
    """Raised when a database that is opened for reading was written by an earlier version: a writer upgrades it."""


class BeingPlayed(BadDatabase):
    """Raised when another process writes to the database."""


def connect(path: Path, *, read_only: bool, patience: float | None = None) -> duckdb.DuckDBPyConnection:
    """A connection to the database. Waits up to `patience` seconds (PATIENCE) for another process to close it.

    Raises BadDatabase. For writing, the schema is brought up to date first; for reading it is only checked (OlderSchema).
    A connection for reading is locked: queries through it reach no file and cannot unlock it.
    """
    check_name(path)
    if problem := is_no_file(path):
        raise BadDatabase(f"database {path}: {problem}: name a file with --db FILE")
    if read_only and not os.path.exists(path):
        raise BadDatabase(f"database {path}: no such file; play battles first, or name another with --db FILE")
    connection = _connected(path, read_only, time.monotonic() + (PATIENCE if patience is None else patience))
    try:
        version = _version(connection, path)
        if version > VERSION:
            raise BadDatabase(
                f"database {path}: written by a newer arena (schema {version}, this one supports {VERSION}): update the "
                "arena, or name another with --db FILE"
            )
        if not read_only and version < VERSION:
            _migrate(connection, version)
        elif version < VERSION:
            raise OlderSchema(
                f"database {path}: has an older schema ({version}, this arena's is {VERSION}): `arena report --db {path}` "
                "upgrades it"
            )
        if not read_only:
            _renew_views(connection)
            _migrate_extensions(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def check_name(path: Path) -> None:
    """Raises BadDatabase for a name under which no database and no journal beside it can be kept."""
    try:
        whole = os.path.abspath(path).encode()
    except UnicodeEncodeError:
        raise BadDatabase(f"database {str(path)!r}: its name is not UTF-8: name another with --db FILE") from None
    if b"\\" in whole or b"?" in os.path.dirname(whole):  # DuckDB takes one for a slash, the other for a URL's
        raise BadDatabase(
            f"database {path}: DuckDB does not accept a backslash, or a question mark in a folder's name: name another "
            "with --db FILE"
        )
    if _BESIDE.fullmatch(path.name):
        raise BadDatabase(f"database {path}: reserved for the files beside a database: name another with --db FILE")
    if len(os.fsencode(path.name)) + len(_LONGEST_SUFFIX) > _MAX_NAME_BYTES:
        most = _MAX_NAME_BYTES - len(_LONGEST_SUFFIX)
        raise BadDatabase(f"database {path}: its name is longer than {most} bytes: give a shorter one with --db FILE")


def _connected(path: Path, read_only: bool, until: float) -> duckdb.DuckDBPyConnection:
    while True:
        try:
            # As an absolute path: DuckDB takes ":memory:…" for no file, and a prefix such as "sqlite:" for an extension.
            return _opened_for_reading(path) if read_only else duckdb.connect(os.path.abspath(path))
        except duckdb.Error as error:
            message = str(error)
            here = "different configuration" in message  # this process has it open, for writing if this is for reading
            if "Could not set lock" not in message and not here:
                problem = "not a battle database" if "not a valid DuckDB" in message else message.split("\n")[0]
                raise BadDatabase(f"database {path}: {problem}: name another with --db FILE") from None
            if time.monotonic() > until:
                holder = re.search(r"PID (\d+)", message)
                who = f"process {holder.group(1)}" if holder else "this process" if here else "another process"
                raise BadDatabase(
                    f"database {path}: {who} has it open: close it there, or name another with --db FILE"
                ) from None
            time.sleep(0.05)


def _opened_for_reading(path: Path) -> duckdb.DuckDBPyConnection:
    """A connection whose queries can access only the tables: no COPY … TO, no read_csv, no ATTACH, no extension.

    `enable_external_access = false` alone is not enough: COPY … TO still writes to the folder of temporary files, to the
    write-ahead log and over the database itself. So there is no such folder, and once the database is open, DuckDB may open
    no other file. Raises duckdb.Error.
    """
    with _LOCKING:
        opened = duckdb.connect(os.path.abspath(path), read_only=True, config={"temp_directory": ""})
        try:
            locked = opened.execute("SELECT current_setting('lock_configuration')").fetchone()
            opened.execute(f"CREATE OR REPLACE TEMP {WILSON}")  # a database of an earlier version has none
            if locked != (True,):  # it is, where this process has the file open already: DuckDB shares what is open
                opened.execute(_LOCK)
        except BaseException:
            opened.close()
            raise
    return opened


def _version(connection: duckdb.DuckDBPyConnection, path: Path) -> int:
    """0 for an empty file. Raises BadDatabase for a DuckDB file with other tables."""
    try:
        row = connection.execute("SELECT max(version) FROM arena_schema").fetchone()
    except duckdb.CatalogException:  # it has no such table; to ask for its tables first would take ten times as long
        tables = sorted(name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall())
        if tables:
            raise BadDatabase(
                f"database {path}: not a battle database (its tables: {', '.join(tables[:5])}): name another with --db "
                "FILE"
            ) from None
        return 0
    return row[0] if row and row[0] is not None else 0


def _migrate(connection: duckdb.DuckDBPyConnection, version: int) -> None:
    connection.execute("BEGIN")
    connection.execute("CREATE TABLE IF NOT EXISTS arena_schema (version INTEGER, applied TIMESTAMPTZ DEFAULT now())")
    for number in range(version, VERSION):
        connection.execute(MIGRATIONS[number])
        connection.execute("INSERT INTO arena_schema (version) VALUES (?)", [number + 1])
    connection.execute("COMMIT")


def _renew_views(connection: duckdb.DuckDBPyConnection) -> None:
    """Replace the views by those of this version, where they are others."""
    with suppress(duckdb.CatalogException):  # there is no such macro
        if connection.execute("SELECT views_version()").fetchone() == (VIEWS_VERSION,):
            return
    connection.execute("BEGIN")
    connection.execute(VIEWS)
    connection.execute("COMMIT")


def _migrate_extensions(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Brings the tables of all extensions up to date. Raises BadDatabase where some are newer than the extension."""
    with_tables = [extension for extension in extensions() if extension.migrations]
    if not with_tables:
        return
    connection.execute(
        "CREATE TABLE IF NOT EXISTS arena_extensions (extension VARCHAR, version INTEGER, applied TIMESTAMPTZ DEFAULT now())"
    )
    found = connection.execute("SELECT extension, max(version) FROM arena_extensions GROUP BY extension").fetchall()
    versions: dict[str, int] = dict(found)
    for extension in with_tables:
        name, version = extension.name, versions.get(extension.name, 0)
        if version > len(extension.migrations):
            raise BadDatabase(
                f"database {path}: the tables of extension '{name}' are of a newer version of it ({version}, this one has "
                f"{len(extension.migrations)}): update it, or name another database with --db FILE"
            )
        for number in range(version, len(extension.migrations)):
            connection.execute("BEGIN")
            connection.execute(extension.migrations[number])
            connection.execute("INSERT INTO arena_extensions (extension, version) VALUES (?, ?)", [name, number + 1])
            connection.execute("COMMIT")


@contextmanager
def writer_lock(path: Path) -> Iterator[None]:
    """Holds the right to write to the database `path` until left. Raises BeingPlayed when another process holds it.

    The lock's file stays beside a database; where there is none in the end, it is deleted.
    """
    check_name(path)
    lock = Path(f"{path}.lock")
    with ExitStack() as stack:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            held = stack.enter_context(file_lock(lock, wait=False))
        except OSError as error:
            raise BadDatabase(f"database {path}: {error.strerror}: name another with --db FILE") from None
        if not held:
            raise BeingPlayed(
                f"database {path}: process {holder(lock)} is writing to it: wait, or name another with --db FILE"
            )
        try:
            yield
        finally:
            if not path.exists():
                lock.unlink(missing_ok=True)


def frame(sql: str, db: str | Path = DEFAULT, parameters: list[Any] | None = None) -> pandas.DataFrame:
    """The answer to an SQL query over a battle database as a pandas frame; also while a run writes to it.

    The query can read only: neither the database nor any other file can be changed by it. Raises BadDatabase, and
    BadInput with DuckDB's words for a query that fails.
    """
    with _reading(Path(db)) as connection:
        return _executed(connection, sql, parameters).df()


def rows(sql: str, db: str | Path = DEFAULT, parameters: list[Any] | None = None) -> list[tuple[Any, ...]]:
    """As `frame`, but as plain tuples of Python values."""
    with _reading(Path(db)) as connection:
        return _executed(connection, sql, parameters).fetchall()


def _executed(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: list[Any] | None
) -> duckdb.DuckDBPyConnection:
    answer: duckdb.DuckDBPyConnection | None = connection.execute(sql, parameters or [])
    if answer is None:  # nothing but blanks and comments
        raise BadInput("sql: there is no query in it: say for example SELECT count(*) FROM battles")
    return answer


@contextmanager
def kept_open(path: Path) -> Iterator[None]:
    """Has the queries of this thread read `path` through one connection until left: to open one costs 40 ms.

    A run that writes waits meanwhile: only for queries, without calculations between them. Raises BadDatabase.
    """
    connection = connect(path, read_only=True)
    token = _KEPT.set((path, connection))
    try:
        yield
    finally:
        _KEPT.reset(token)
        connection.close()


@contextmanager
def _reading(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection for reading, whose errors are those of the query."""
    kept_path, kept = _KEPT.get()
    connection = kept if kept is not None and kept_path == path else connect(path, read_only=True)
    try:
        yield connection
    except duckdb.Error as error:
        raise BadInput(f"sql: {' '.join(str(error).split())[:400]}") from None
    finally:
        if connection is not kept:
            connection.close()
