"""The journal: what was appended is handed out once, whole, and in order, whatever happens in between."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from arena.store.journal import Journal


def _lines(segments: list[Path]) -> list[bytes]:
    return [line for segment in segments for line in segment.read_bytes().split(b"\n")[:-1]]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "arena.duckdb"


def test_an_unused_journal_leaves_no_file_and_has_nothing_pending(database: Path) -> None:
    journal = Journal(database)
    assert not journal.pending()
    assert journal.segments() == []
    assert list(database.parent.iterdir()) == []


def test_segments_hold_all_lines_in_order_and_close_the_current_one(database: Path) -> None:
    journal = Journal(database)
    journal.append(b"one")
    journal.append(b"two")
    first = journal.segments()
    journal.append(b"three")
    assert _lines(first) == [b"one", b"two"]
    assert _lines(journal.segments()) == [b"one", b"two", b"three"]


def test_more_than_nine_segments_stay_in_order(database: Path) -> None:
    journal = Journal(database)
    for number in range(12):
        journal.append(str(number).encode())
        journal.segments()
    assert _lines(journal.segments()) == [str(number).encode() for number in range(12)]


@pytest.mark.parametrize("torn", [b"x", b"x" * 65535, b"x" * 65536, b"x" * 200_000])
def test_a_torn_last_line_is_cut_off_and_nothing_else(database: Path, torn: bytes) -> None:
    Path(f"{database}.journal").write_bytes(b"one\ntwo\n" + torn)
    assert _lines(Journal(database).segments()) == [b"one", b"two"]


def test_nothing_but_a_torn_line_is_no_segment(database: Path) -> None:
    Path(f"{database}.journal").write_bytes(b"torn")
    assert Journal(database).segments() == []


def test_appending_while_a_thread_takes_segments_loses_and_tears_no_line(database: Path) -> None:
    journal, total, taken = Journal(database), 20_000, []
    appended = threading.Event()

    def take() -> None:
        while not appended.is_set():
            for segment in journal.segments():
                taken.append(segment.read_bytes())
                segment.unlink()

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        thread = threading.Thread(target=take)
        thread.start()
        for number in range(total):
            journal.append(b"%d " % number * 50)
        appended.set()
        thread.join()
    finally:
        sys.setswitchinterval(before)
    lines = b"".join(taken).split(b"\n")[:-1] + _lines(journal.segments())
    assert lines == [b"%d " % number * 50 for number in range(total)]
