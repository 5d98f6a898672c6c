"""Ingests the journal of a killed run, and reports lines that could not be read."""

from __future__ import annotations

import sys
from pathlib import Path

from arena.store.database import BadDatabase, BeingPlayed
from arena.store.journal import Journal
from arena.store.writer import open_store


def recover(path: Path) -> None:
    """Ingests a journal that no living run owns. Does nothing while a run is in progress, which ingests its battles itself.

    Says on stderr, in a line each, if the journal could not be ingested, and if lines of it are damaged.
    """
    if Journal(path).pending():
        try:
            with open_store(path):
                pass  # opening it ingests the journal
        except BeingPlayed:
            return
        except BadDatabase as error:
            print(f"warning: {error}: the battles of {path}.journal* are not included", file=sys.stderr)
    warn_of_bad_lines(path)


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
