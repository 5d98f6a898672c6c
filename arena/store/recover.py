"""What a killed run left in its journal is taken in by whoever looks next."""

from __future__ import annotations

from pathlib import Path

from arena.store.database import BadDatabase, writer_lock
from arena.store.journal import Journal
from arena.store.writer import Store


def recover(path: Path) -> None:
    """Takes in a journal that no living run owns. Does nothing while a run plays: its battles come by themselves."""
    if not Journal(path).pending():
        return
    try:
        with writer_lock(path):
            Store(path)
    except BadDatabase:
        return  # a run goes on, or another reader is in the file; reading goes on with what is there
