"""Lines that arrive in pieces, replies that do not fit into a pipe at once, and a reader that is gone."""

from __future__ import annotations

import asyncio
import subprocess

import pytest

from arena.venues.simulator import host as host_module
from arena.venues.simulator.host import Host
from teamsets.errors import ArenaError
from teamsets.showdown import node, package


@pytest.mark.parametrize("name", ["é" * 100_000, "x" + "é" * 100_000, "€" * 70_000])
def test_a_long_line_comes_through_whole_and_so_does_its_reply(name: str) -> None:
    """Signs of several bytes lie across the borders of what is read and written at once."""

    async def ask() -> None:
        async with await Host.launch() as host:
            answers = [host.ask({"op": "team", "format": f"{number}{name}", "seed": "1,2,3,4"}) for number in range(3)]
            said = await asyncio.gather(*answers, return_exceptions=True)
        for number, error in enumerate(said):
            assert isinstance(error, ArenaError)
            assert str(error) == f"format '{number}{name}' is not known to the simulator"

    asyncio.run(ask())


@pytest.mark.parametrize("written", [b"", b'{"op":"version","id":1}\n' * 10], ids=["its input", "its output"])
def test_a_host_ends_in_silence_when_whoever_drives_it_is_gone(written: bytes) -> None:
    command = [node(), str(host_module._SCRIPT), str(package())]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as host:
        assert host.stdin is not None and host.stdout is not None and host.stderr is not None
        host.stdout.close()
        host.stdin.write(written)
        host.stdin.flush()
        if not written:
            host.stdin.close()
        assert host.wait(timeout=60) == 0
        assert host.stderr.read() == b""
