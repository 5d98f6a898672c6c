"""`arena doctor`: checks whether evaluation works on this machine."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import click

from arena.battles.guard import StepGuard
from arena.fixture import Fixture, FixtureTeam, digest, showdown_seed
from arena.record import BattleRecord
from arena.store import connect
from arena.terminal.commands import json_option, print_json
from arena.venue import Rules
from arena.venues.simulator.host import Host
from arena.venues.simulator.simulator import Simulator
from arena.workers.local_pool import default_workers
from teamsets import showdown
from teamsets.errors import ArenaError


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check the installation. Exits with 1 if evaluation cannot work.

    \b
    Example:
      arena doctor
    """
    if as_json:
        results = list(outcomes(CHECKS))
        print_json([*map(CheckResult._asdict, results), {"name": "torch", "ok": True, "text": _torch()}])
        sys.exit(0 if all(each.ok for each in results) else 1)
    sys.exit(0 if report(CHECKS, _torch()) else 1)


class CheckResult(NamedTuple):
    """What a check has found. text: a line about it, or what is wrong."""

    name: str
    ok: bool
    text: str


def report(checks: Mapping[str, Callable[[], str]], torch: str) -> bool:
    """Print a line for each check and a conclusion, and return whether evaluation can work.

    checks: name -> returns a line, or raises what is wrong. torch: the line about training.
    """
    fine = True
    for each in outcomes(checks):
        print(f"{each.name:18} {each.text if each.ok else f'NO: {each.text}'}")
        fine = fine and each.ok
    print(f"{'torch':18} {torch}")
    print(
        "everything that evaluation needs is installed"
        if fine
        else "evaluation cannot work until the lines marked NO are fixed"
    )
    return fine


def outcomes(checks: Mapping[str, Callable[[], str]]) -> Iterator[CheckResult]:
    """Yield the result of every check, not only up to the first that fails."""
    for name, check in checks.items():
        try:
            yield CheckResult(name, True, check())
        except (ArenaError, OSError, subprocess.SubprocessError) as error:
            yield CheckResult(name, False, str(error))


def _node() -> str:
    return f"{showdown.node_version()} ({showdown.node()})"


def _database() -> str:
    with tempfile.TemporaryDirectory() as folder:
        connect(Path(folder) / "probe.duckdb", read_only=False).close()
    if not os.access(".", os.W_OK):
        raise ArenaError(f"the current folder {Path.cwd()} is not writable: use --db FILE")
    return f"{version('duckdb')}, a database can be written"


def _battle() -> str:
    record = asyncio.run(_one_battle())
    return f"played a battle of {record.turns} turns in {record.seconds:.2f} s"


async def _one_battle() -> BattleRecord:
    seeds = [showdown_seed("doctor", seat) for seat in (1, 2)]
    teams = (
        FixtureTeam(digest(seeds[0]), "drawn", seed=seeds[0]),
        FixtureTeam(digest(seeds[1]), "drawn", seed=seeds[1]),
    )
    fixture = Fixture("gen1randombattle", ("random", "random"), teams, showdown_seed("doctor"), "doctor", "drawn")
    async with await Host.launch() as host:
        return await Simulator(host, StepGuard(), Rules()).play(fixture, 1)


def _torch() -> str:
    """Whether training can run; torch is imported only if it is installed, because loading it is slow."""
    if importlib.util.find_spec("torch") is None:
        return "not installed (needed for training only; see docs/install.md)"
    import torch

    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return f"{torch.__version__}, {'GPU: ' + ', '.join(gpus) if gpus else 'no GPU'}"


#: What evaluation needs: name -> returns a line about it, or raises what is wrong.
CHECKS: Mapping[str, Callable[[], str]] = {
    "python": lambda: f"{platform.python_version()} ({sys.executable})",
    "node": _node,
    "pokemon-showdown": lambda: f"{showdown.version()} ({showdown.package()})",
    "poke-env": lambda: version("poke-env"),
    "duckdb": _database,
    "simulator": _battle,
    "cores": lambda: f"{default_workers()} of {os.cpu_count()} usable",
}
