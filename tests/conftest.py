"""Shared by all tests: surroundings of their own, the command line in this process, and a played database."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# Each of several test processes has a core to itself. torch and Numba read these once, at their import, here and in every
# process that a test starts. Without the second, Numba's first call sets torch's number of threads to all cores, and they
# spend most of their time waiting for one another.
if "PYTEST_XDIST_WORKER" in os.environ:
    for variable in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(variable, "1")

import pytest
from support.command_line import PLAYERS, Said, one_worker
from support.snapshots import OPTION, Compare, Snapshots
from support.tournaments import tournament

from arena import cli
from teamsets import cache as user_cache
from teamsets.locking import file_lock


@functools.cache
def _asks_for_torch(module: Path) -> bool:
    """Whether a test module is skipped as a whole without what `make training` installs."""
    return bool(
        re.search(r'^(torch = )?pytest\.importorskip\("(torch|numba|trl)"\)', module.read_text("utf-8"), re.MULTILINE)
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    """Marks tests of modules that need torch or Numba, for `make test-training`. Other tests are marked by hand."""
    if _asks_for_torch(item.path):
        item.add_marker(pytest.mark.torch)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the files that may take longest first, by the limits that their tests ask for: none is left for the end alone."""
    longest: dict[Path, float] = {}
    for item in items:
        asked = item.get_closest_marker("timeout")
        longest[item.path] = max(longest.get(item.path, 0.0), float(asked.args[0]) if asked else 0.0)
    items.sort(key=lambda item: -longest[item.path])


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips a test that is marked `torch` where torch is not installed."""
    if item.get_closest_marker("torch") and find_spec("torch") is None:
        pytest.skip("torch is not installed: `make training` installs it")


@pytest.fixture(autouse=True, scope="session")
def _surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of the suite's own, and the tests' agents within reach of every process that is started."""
    with pytest.MonkeyPatch.context() as patch:
        cache = _shared(tmp_path_factory) / "cache"
        cache.mkdir(exist_ok=True)
        _share_compiled_engine(cache / "battle-arena")
        patch.setenv("XDG_CACHE_HOME", str(cache))
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(PLAYERS), os.environ.get("PYTHONPATH")])))
        patch.syspath_prepend(str(PLAYERS))
        yield


def _share_compiled_engine(folder: Path) -> None:
    """Lets the suite's cache have the compiled engines of the user's, named by their content: it takes a minute."""
    folder.mkdir(exist_ok=True)
    for name in ("engine", "engine-gen9"):
        compiled = user_cache.folder() / name
        compiled.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):  # another test process was first
            (folder / name).symlink_to(compiled)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, action="store_true", help="keep what is printed now in tests/snapshots")


@pytest.fixture
def same(request: pytest.FixtureRequest) -> Compare:
    """Compares terminal output with a file: `same("ranking", text)`; see support/snapshots.py."""
    return Snapshots(update=bool(request.config.getoption(OPTION))).same


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Runs a console script in this process: `in_process("arena", arena.cli.main, "sql", "SELECT 1", cwd=folder)`."""

    def run(program: str, main: Callable[[], None], *words: Any, cwd: Path | None = None) -> Said:
        monkeypatch.setattr(sys, "argv", [program, *one_worker(words)])
        monkeypatch.setenv("COLUMNS", "200")
        capsys.readouterr()
        code = 0
        try:
            with contextlib.chdir(cwd or Path.cwd()):
                main()
        except SystemExit as exit:
            code = exit.code if isinstance(exit.code, int) else 0 if exit.code is None else 1
        out, err = capsys.readouterr()
        return Said(code, out, err)

    return run


@pytest.fixture
def arena(in_process: Callable[..., Said]) -> Callable[..., Said]:
    """Runs the command line in this process: `arena("sql", "SELECT 1", "--db", path)`."""
    return functools.partial(in_process, "arena", cli.main)


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small database of really played battles, not to be changed: poke-env's players, a faulty agent, four formats.

    One of the test processes plays it for all. Each has a copy: DuckDB's lock would let one of them wait for another.
    """
    shared = _shared(tmp_path_factory) / "played.duckdb"
    with file_lock(shared.with_suffix(".lock")):
        if not shared.exists():
            playing = shared.with_name("playing.duckdb")
            _play(playing)
            playing.rename(shared)
    return Path(shutil.copy(shared, tmp_path_factory.mktemp("played") / "arena.duckdb"))


def _shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all test processes of this run have in common."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def _play(db: Path) -> None:
    agents = ("random", "poke-env:RandomPlayer", "poke-env:MaxBasePowerPlayer", "poke-env:SimpleHeuristicsPlayer")
    tournament(db, *agents, formats=("gen1ou", "gen9ou"), battles=2, think_limit=60.0)
    tournament(db, "random", "bad_agents:Raises", formats=("gen1randombattle",), battles=2, think_limit=60.0)
    drawn = ("gen1randombattle", "gen9randombattle")
    tournament(db, "random", "poke-env:RandomPlayer", formats=drawn, max_turns=15, think_limit=60.0)
