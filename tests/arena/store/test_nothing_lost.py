"""Whatever a database is called, wherever a run is stopped, whatever a line of the journal holds: no battle is lost."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner
from support.records import RUN, record
from support.tournaments import first_difference, table, tournament

from arena.cli import cli
from arena.record import BattleRecord
from arena.run.tournament import play, resume
from arena.store import BadDatabase, Store, connect, open_store, rows, writer, writer_lock
from arena.store import journal as journal_module
from arena.store.journal import Journal
from arena.store.recover import recover
from arena.testing import StandInVenue

ODD_NAMES = (
    "x[1].duckdb", "[!a].duckdb", "a*b.duckdb", "a?b.duckdb", "{a,b}.duckdb", "'\"; DROP TABLE battles; --", " ", "%41%00",
    "ü 😀 é.duckdb", "new\nline.duckdb", "-dash", "--db", "$HOME", "~", ".hidden", ":memory:", "sqlite:x.db", "http:x",
    "temp",     "battles.duckdb", "x.csv", "x.gz", "x.journal.2.x", "x" * 239, "é" * 119,
)  # fmt: skip


def _add(store: Store, *numbers: int) -> None:
    for number in numbers:
        store.add(record(number, decisions=[(0, 0, 1, ["x"], "x", 1.0, None)]).to_line(RUN))


def _seeds(db: Path) -> list[int]:
    """The numbers of the battles that are stored, each of which must have its one decision."""
    found = rows("SELECT seed, list(index) FROM battles LEFT JOIN decisions USING (battle_id) GROUP BY ALL", db)
    assert all(decisions == [0] for _, decisions in found)
    return sorted(int(seed.removeprefix("gen5,"), 16) for seed, _ in found)


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_database_of_any_name_keeps_every_battle_while_readers_are_in_the_way(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "in [a] * folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    db = Path(name)
    with open_store(db) as store:
        with connect(db, read_only=True):
            for number in range(3):
                _add(store, 2 * number, 2 * number + 1)
                assert store.try_ingest_journal() is False
        assert len(Journal(db).segments()) == 3
        assert store.try_ingest_journal() is True
        _add(store, 6)
    recover(db)
    assert _seeds(db) == list(range(7))
    assert not Journal(db).pending()
    assert sorted(os.listdir(folder)) == sorted([name, f"{name}.lock"])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("back\\slash", "not accept a backslash"),
        ("fold?er/arena.duckdb", "question mark in a folder"),
        ("x" * 240, "longer than 239 bytes"),
        ("é" * 120, "longer than 239 bytes"),
        ("\udcff", "not UTF-8"),
        ("arena.duckdb.journal.1", "beside a database"),
        ("arena.duckdb.lock", "beside a database"),
    ],
)
def test_a_name_that_cannot_be_kept_is_refused_before_the_first_battle(name: str, words: str, tmp_path: Path) -> None:
    for use in (lambda path: writer_lock(path).__enter__(), lambda path: connect(path, read_only=True)):
        with pytest.raises(BadDatabase, match=words):
            use(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_segment_is_never_renamed_over_another(tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    Path(f"{db}.journal.2").symlink_to("nowhere")
    Path(f"{db}.journal.1").write_bytes(b"one\n")
    journal = Journal(db)
    journal.append(b"two")
    assert journal.segments()[-1] == Path(f"{db}.journal.3")
    assert os.path.islink(f"{db}.journal.2")


def test_what_is_no_segment_is_left_alone(tmp_path: Path) -> None:
    db = tmp_path / "x[1].duckdb"
    others = ["x1.duckdb.journal.1", "x[1].duckdb.journal.old", "x[1].duckdb.journal.²", "x[1].duckdb.journal.1.bak"]
    for name in others:
        (tmp_path / name).write_text("not ours\n")
    assert Journal(db).segments() == []
    assert sorted(os.listdir(tmp_path)) == sorted(others)


def test_a_full_disk_leaves_no_half_of_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / "arena.duckdb")
    journal.append(b"one")
    write = os.write

    def full(handle: int, data: bytes) -> int:
        if len(data) < 5:
            raise OSError(28, "No space left on device")
        return write(handle, data[:3])

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            journal.append(b"x" * 10)
    journal.append(b"two")
    assert [path.read_bytes() for path in journal.segments()] == [b"one\ntwo\n"]


def test_a_flush_that_the_disk_refuses_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path) -> None:
        raise OSError(5, "Input/output error")

    db = tmp_path / "arena.duckdb"
    with open_store(db) as store:
        _add(store, 1)
        with monkeypatch.context() as patched:
            patched.setattr(journal_module, "sync", refused)
            assert not store.try_flush()
        _add(store, 2)
        assert store.try_flush()
        _add(store, 3)
        store.ingest_journal()
    assert _seeds(db) == [1, 2, 3]


def _good(number: int, **changes: Any) -> bytes:
    line = record(number, decisions=[(0, 0, 1, ["x"], "x", 1.0, None)]).to_line(RUN)
    for old, new in changes.items():
        assert f'"{old}":'.encode() in line
        line = line.replace(f'"{old}":'.encode(), new)
    return line


BAD_LINES = {
    "half a line": _good(90)[:-30],
    "two in one": _good(91) + _good(92),
    "its beginning is missing": _good(93)[20:],
    "zeros, as a power cut leaves them": b"\0" * 300,
    "no UTF-8": _good(94, key=b'"key":"\xff\xfe","x":'),
    "no key": _good(95, key=b'"lost":'),
    "words for a number": _good(96, turns=b'"turns":"many","x":'),
    "a number that is too large": _good(97, turns=b'"turns":99999999999999,"x":'),
    "no base64": _good(98, p1_log=b'"p1_log":"*","x":'),
    "an empty object": b"{}",
    "null": b"null",
    "a list": b"[1, 2]",
    "words": b"Killed",
    "a number": b"5",
}


@pytest.mark.parametrize("bad", BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_is_set_aside_and_all_others_are_kept(
    bad: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db = tmp_path / "arena.duckdb"
    lines = [_good(number) for number in range(7)]
    Path(f"{db}.journal").write_bytes(b"".join(line + b"\n" for line in [*lines[:3], bad, *lines[3:]]))
    for _ in range(2):  # it is said as long as the file is there
        recover(db)
        err = capsys.readouterr().err
        assert err.startswith(f"warning: {db}.journal.bad: 1 damaged line of the journal is not counted")
        assert err.count("\n") == 1
    assert _seeds(db) == list(range(7))
    assert Path(f"{db}.journal.bad").read_bytes() == bad + b"\n"
    assert not Journal(db).pending()


def test_battles_keep_their_order_around_bad_lines(tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    lines = [b"x%d" % number if number % 7 == 3 else _good(number) for number in range(50)]
    Path(f"{db}.journal").write_bytes(b"".join(line + b"\n" for line in lines))
    store = Store(db)
    kept = [number for number in range(50) if number % 7 != 3]
    assert [int(seed[5:], 16) for (seed,) in rows("SELECT seed FROM battles ORDER BY battle_id", db)] == kept
    assert store.bad_lines == 50 - len(kept)


def test_a_torn_last_line_is_no_reason_to_warn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db = tmp_path / "arena.duckdb"
    Path(f"{db}.journal").write_bytes(_good(1) + b"\n" + _good(2)[:-9])
    recover(db)
    assert capsys.readouterr().err == ""
    assert _seeds(db) == [1]
    assert not Path(f"{db}.journal.bad").exists()


def test_a_failure_that_is_no_lines_fault_keeps_the_journal_and_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    db = tmp_path / "arena.duckdb"
    Store(db)
    Path(f"{db}.journal").write_bytes(_good(1) + b"\n")

    def full(*_: object) -> None:
        raise duckdb.OutOfMemoryException("Out of Memory Error: the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(writer, "_move", full)
        recover(db)
    err = capsys.readouterr().err
    assert "the disk is full" in err and "are not included" in err and err.count("\n") == 1
    recover(db)
    assert _seeds(db) == [1]


def test_the_commands_warn_in_one_line(tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    Path(f"{db}.journal").write_bytes(_good(1) + b"\nbad\n")
    for words in (["sql", "SELECT count(*) AS n FROM battles", "--csv"], ["report"]):
        said = CliRunner().invoke(cli, [*words, "--db", str(db)])
        assert said.stderr.startswith("warning: ") and said.stderr.count("\n") == 1
        assert words[0] != "sql" or (said.exit_code, said.stdout) == (0, "n\n1\n")


#: The steps of moving a journal into the tables: (module or class, name).
STEPS: tuple[tuple[Any, str], ...] = (
    (Path, "rename"),
    (journal_module, "sync"),
    (writer, "connect"),
    (writer, "_move"),
    (Journal, "set_aside"),
    (writer, "sync"),
    (Path, "unlink"),
)


def _dying(step: Callable[..., Any], countdown: list[int]) -> Callable[..., Any]:
    """The step, before or after which the process is gone when the countdown is over."""

    def wrapped(*arguments: Any, **more: Any) -> Any:
        for end in (False, True):
            countdown[0] -= 1
            if countdown[0] < 0:
                os._exit(9)
            result = None if end else step(*arguments, **more)
            if not end:
                kept = result
        return kept

    return wrapped


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_process_that_dies_between_any_two_steps_loses_and_doubles_no_battle(tmp_path: Path) -> None:
    for moment in range(100):
        db = tmp_path / str(moment) / "arena.duckdb"
        db.parent.mkdir()
        Path(f"{db}.journal.1").write_bytes(_good(0) + b"\n" + _good(1) + b"\n")
        Path(f"{db}.journal.2").write_bytes(_good(1) + b"\nbad\n" + _good(2) + b"\n")
        Path(f"{db}.journal").write_bytes(_good(3) + b"\n")
        child = os.fork()
        if child == 0:
            countdown = [moment]
            for owner, name in STEPS:
                setattr(owner, name, _dying(getattr(owner, name), countdown))
            Store(db)
            os._exit(0)
        died = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        store = Store(db)
        assert _seeds(db) == [0, 1, 2, 3], moment
        assert store.journal.set_aside_lines() == [b"bad"], moment
        assert not store.journal.pending(), moment
        if died == 0:
            break
        assert died == 9
    assert moment > 20


def test_a_battle_whose_line_was_damaged_is_played_again_by_resume(tmp_path: Path) -> None:
    db, undisturbed = tmp_path / "arena.duckdb", tmp_path / "undisturbed.duckdb"
    sound = StandInVenue(lambda fixture: "p1")
    tournament(undisturbed, "random", "poke-env:RandomPlayer", battles=4, cluster=sound)
    lines: list[bytes] = []

    class SecondDamaged(BattleRecord):
        def to_line(self, run: str) -> bytes:
            lines.append(super().to_line(run))
            return lines[-1][: len(lines[-1]) // 2] if len(lines) == 2 else lines[-1]

    damaging = StandInVenue(lambda fixture: SecondDamaged(fixture, "p1", "win", turns=1))
    run_id = tournament(db, "random", "poke-env:RandomPlayer", battles=4, cluster=damaging)
    assert rows("SELECT status FROM runs", db) == [("stopped",)]
    assert (
        len(table(db)) == 3
        and (tmp_path / "arena.duckdb.journal.bad").read_bytes() == lines[1][: len(lines[1]) // 2] + b"\n"
    )
    with open_store(db) as store:
        asyncio.run(play(resume(store, run_id, None), store, cluster=sound))
    assert first_difference(db, undisturbed) == ""
    assert rows("SELECT status FROM runs", db) == [("finished",)]
