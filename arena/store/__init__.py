"""Every battle, in one DuckDB file: the schema, the one writer, and reading by SQL."""

from arena.store.database import DEFAULT, BadDatabase, connect, frame, kept_open, rows, writer_lock
from arena.store.schema import FINISHED, STOPPED, TIME_LIMIT
from arena.store.writer import Store, StoredRun, open_store

__all__ = [
    "DEFAULT",
    "FINISHED",
    "STOPPED",
    "TIME_LIMIT",
    "BadDatabase",
    "Store",
    "StoredRun",
    "connect",
    "frame",
    "kept_open",
    "open_store",
    "rows",
    "writer_lock",
]
