"""Files and folders that are complete or not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from teamsets.atomic import atomic_folder, check_writable, write_atomic


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("flush", [False, True])
def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path, flush: bool) -> None:
    path = tmp_path / "a.txt"
    write_atomic(path, "before\n", flush=flush)
    write_atomic(path, "after: é\r\n", flush=flush)
    assert path.read_bytes() == "after: é\r\n".encode()
    assert names(tmp_path) == ["a.txt"]
    plain = tmp_path / "plain"
    plain.touch()
    assert path.stat().st_mode == plain.stat().st_mode  # who may read any new file may read this one


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    write_atomic(path, b"before")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space left"):
        write_atomic(path, b"after")
    assert path.read_bytes() == b"before" and names(tmp_path) == ["a.txt"]


def test_whether_a_file_can_be_written_is_known_before_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("as it was")
    check_writable(tmp_path / "a.txt")
    assert names(tmp_path) == ["a.txt"] and (tmp_path / "a.txt").read_text() == "as it was"
    with pytest.raises(FileNotFoundError):
        check_writable(tmp_path / "no folder" / "a.txt")


@pytest.mark.parametrize("flush", [False, True])
def test_a_folder_has_its_name_only_when_it_is_complete(tmp_path: Path, flush: bool) -> None:
    folder = tmp_path / "sub" / "a[1]"
    with atomic_folder(folder, flush=flush) as inside:
        (inside / "x").write_text("1")
        assert not folder.exists()
    assert names(folder) == ["x"] and names(folder.parent) == ["a[1]"]
    with pytest.raises(ValueError, match="stopped"), atomic_folder(folder, replace=True) as inside:
        (inside / "x").write_text("2")
        raise ValueError("stopped")
    assert (folder / "x").read_text() == "1" and names(folder.parent) == ["a[1]"]


def test_a_folder_is_replaced_only_where_that_was_asked_for(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    for content in ("1", "2"):
        with atomic_folder(folder, replace=True) as inside:
            (inside / content).touch()
    assert names(folder) == ["2"]
    with pytest.raises(OSError), atomic_folder(folder):
        pass
    assert names(folder) == ["2"] and names(tmp_path) == ["a"]


def test_what_a_killed_process_has_left_of_a_folder_is_deleted_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / ".a.1a2b3c4d.partial").mkdir()
    (tmp_path / ".ab.1a2b3c4d.partial").mkdir()
    (tmp_path / ".a.lock").touch()
    with atomic_folder(tmp_path / "a"):
        pass
    assert names(tmp_path) == [".a.lock", ".ab.1a2b3c4d.partial", "a"]
