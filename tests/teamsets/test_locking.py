"""Locks between processes: who waits, who is refused, and what is left of a lock."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from teamsets.locking import file_lock, holder

_HOLD = """
import pathlib, sys
from teamsets.locking import file_lock
with file_lock(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "a.lock"


def test_who_does_not_wait_is_refused_and_finds_the_holder(lock: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdin is not None and other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with file_lock(lock, wait=False) as held:
            assert not held
        assert holder(lock) == str(other.pid)
        other.send_signal(signal.SIGKILL)
        other.wait()
        with file_lock(lock, wait=False) as held:  # a dead process keeps nobody out
            assert held and holder(lock) == str(os.getpid())
    assert holder(lock) == "unknown"


@pytest.mark.parametrize("remove", [False, True])
def test_who_waits_gets_the_lock_when_it_is_released_also_when_its_file_was_deleted(lock: Path, remove: bool) -> None:
    order: list[str] = []

    def second() -> None:
        with file_lock(lock, remove=remove) as held:
            assert held
            order.append("second")

    with file_lock(lock, remove=remove):
        thread = threading.Thread(target=second)
        thread.start()
        with file_lock(lock, wait=False, remove=remove) as held:
            assert not held
        order.append("first")
    thread.join(120)
    assert order == ["first", "second"]
    assert lock.exists() == (not remove)


def test_an_error_releases_it(lock: Path) -> None:
    with pytest.raises(ValueError, match="an error of the block"), file_lock(lock, wait=False):
        raise ValueError("an error of the block")
    with file_lock(lock, wait=False) as held:
        assert held
