"""Prepares a database for a reader: upgrades an older schema, ingests the journal of a killed run, reports damaged lines."""

from __future__ import annotations

import sys
from pathlib import Path

from arena.store.database import BadDatabase, BeingPlayed, OlderSchema, connect
from arena.store.journal import Journal
from arena.store.writer import open_store


def recover(path: Path) -> None:
    """Ingests a journal that no living run owns, and upgrades a database of an earlier version.

    Does nothing while a run is in progress, which does both itself. Says on stderr, in a line each, if the database could
    not be written, and if lines of the journal are damaged.
    """
    if Journal(path).pending() or _has_older_schema(path):
        try:
            with open_store(path):
                pass  # opening it upgrades the schema and ingests the journal
        except BeingPlayed:
            return
        except BadDatabase as error:
            print(f"warning: {error}: the battles of {path}.journal* are not included", file=sys.stderr)
    warn_of_bad_lines(path)


def _has_older_schema(path: Path) -> bool:
    try:
        connect(path, read_only=True, patience=0).close()
    except OlderSchema:
        return True
    except BadDatabase:
        pass
    return False


def warn_of_bad_lines(path: Path) -> None:
    """Says on stderr, in one line, how many lines of the journal were damaged, if there are any."""
    journal = Journal(path)
    count = len(journal.set_aside_lines())
    if count:
        lines, are = ("lines", "are") if count > 1 else ("line", "is")
        print(
            f"warning: {journal.bad}: {count} damaged {lines} of the journal {are} not counted: "
            "`arena evaluate --resume` plays the missing battles again; delete the file to hide this warning",
            file=sys.stderr,
        )
