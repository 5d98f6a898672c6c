"""A local Showdown server: it answers, to this machine only, leaves the package alone, and is gone with its owner."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from arena.venues.server.local import LocalServer, ServerDied
from teamsets.errors import BadInput
from teamsets.showdown import package

OWNER = """
import asyncio
from arena.venues.server.local import LocalServer
async def own():
    server = await LocalServer.launch()
    print(server.pid, server.folder, flush=True)
    await asyncio.sleep(600)
asyncio.run(own())
"""


def tree() -> dict[str, tuple[int, int]]:
    """Every file and folder of the package -> its size and when it was last changed."""
    return {str(path): (path.lstat().st_size, path.lstat().st_mtime_ns) for path in package().rglob("*")}


def listening(port: int) -> set[str]:
    """The addresses, as the kernel writes them, at which this machine listens on a port."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            address, state = line.split()[1], line.split()[3]
            if state == "0A" and int(address.split(":")[1], 16) == port:
                found.add(address.split(":")[0])
    return found


def group_of(leader: int) -> list[int]:
    """The living processes of a process group."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == leader and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def gone(leader: int) -> bool:
    """Whether a process group has come to its end, given a minute at most."""
    for _ in range(600):
        if not group_of(leader):
            return True
        time.sleep(0.1)
    return False


@pytest.fixture
def untouched() -> Iterator[None]:
    before = tree()
    yield
    assert tree() == before


@pytest.mark.slow
def test_it_answers_on_loopback_only_and_leaves_nothing_but_its_log(tmp_path: Path, untouched: None) -> None:
    async def run() -> None:
        async with await LocalServer.launch(log_path=tmp_path / "log") as server:
            await server.check()
            async with connect(server.uri, proxy=None) as socket:
                assert "|updateuser|" in await socket.recv()
            assert listening(server.port) == {"0100007F"}
        assert gone(server.pid)
        assert not server.folder.exists()
        with pytest.raises(ServerDied):
            await server.check()
        assert "now listening on 127.0.0.1" in (tmp_path / "log").read_text()

    asyncio.run(run())


def test_two_at_once_and_one_that_is_killed(untouched: None) -> None:
    async def run() -> None:
        first, second = await asyncio.gather(LocalServer.launch(), LocalServer.launch())
        async with first, second:
            assert first.port != second.port
            assert first.log_path != second.log_path
            os.kill(first.pid, signal.SIGKILL)
            assert "status -9" in await asyncio.wait_for(first.dead, 120)
            assert gone(first.pid)
            await second.check()
            with pytest.raises(BadInput, match=rf"port {second.port}: cannot listen"):
                await LocalServer.launch(port=second.port)

    asyncio.run(run())


def test_it_is_gone_when_its_owner_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pid, folder = owner.stdout.readline().split()
        assert group_of(int(pid))
        owner.kill()
    assert gone(int(pid))
    assert not Path(folder).exists()


def test_a_server_that_cannot_start_says_why_and_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "start.mjs"
    script.write_text("throw new Error('broken on purpose')")
    monkeypatch.setattr("arena.venues.server.local._SCRIPT", script)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ServerDied, match=r"did not start: .*; its log is "):
        asyncio.run(LocalServer.launch())
    assert not list(tmp_path.glob("arena-server-*"))
