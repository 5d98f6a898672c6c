"""A wheel of the project, installed outside of any checkout, in an empty folder: everything that a user does first works.

The environment is fresh but for the dependencies, which are those of the environment that runs the tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.command_line import PROJECT, Said

from teamsets.installing import NOT_REACHED

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def ran(*words: object, cwd: Path, **environment: str) -> Said:
    """A program to its end, without what the tests' own surroundings would bring in."""
    foreign = {"PYTHONPATH", "ARENA_SHOWDOWN", "VIRTUAL_ENV"}
    kept = {name: value for name, value in os.environ.items() if name not in foreign}
    command = [str(word) for word in words]
    done = subprocess.run(command, cwd=cwd, env={**kept, **environment}, capture_output=True, text=True, timeout=600)
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of the files that git knows, so that nothing of an earlier build gets in."""
    listed = ran("git", "-C", PROJECT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=PROJECT)
    if listed.code != 0:
        pytest.skip("this is no checkout of git, so there is no list of the project's files")
    folder = tmp_path_factory.mktemp("wheel")
    for name in filter(None, listed.out.split("\0")):
        if (PROJECT / name).exists():  # a deleted file is listed until it is committed
            (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PROJECT / name, folder / "source" / name, follow_symlinks=False)
    if ran(sys.executable, "-m", "uv", "--version", cwd=folder).code != 0:
        pytest.skip("uv is not installed in this environment: `make setup` installs it")
    built = ran(sys.executable, "-m", "uv", "build", "--wheel", "--out-dir", folder, folder / "source", cwd=folder)
    assert built.code == 0, built.err
    (found,) = folder.glob("battle_arena-*.whl")
    return found


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with `arena` and `train` of an environment into which the wheel was installed."""
    environment = tmp_path_factory.mktemp("installed") / "venv"
    assert ran(sys.executable, "-m", "venv", "--without-pip", environment, cwd=environment.parent).code == 0
    python = environment / "bin" / "python"
    done = ran(sys.executable, "-m", "uv", "pip", "install", "--python", python, "--no-deps", wheel, cwd=wheel.parent)
    assert done.code == 0, done.err
    (site,) = environment.glob("lib/python*/site-packages")
    shared = [path for path in sys.path if path.endswith("site-packages")]
    (site / "dependencies.pth").write_text("\n".join(shared) + "\n")
    where = ran(python, "-P", "-c", "import arena; print(arena.__file__)", cwd=wheel.parent)
    assert where.out.startswith(str(site)), "the wheel's own package is what is imported"
    return python.parent


def test_it_holds_everything_that_is_read_at_run_time(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"arena/arena.toml", "teamsets/simulator/package.json", "teamsets/simulator/package-lock.json"} <= names
    folders = [PROJECT / room for room in ("teamsets", "agents", "arena", "training")]
    kinds = {".mjs", ".toml", ".yaml", ".json", ".jsonl", ".txt", ".css", ".js", ".html", ".safetensors", ".rs", ".sh"}
    wanted = {
        str(path.relative_to(PROJECT))
        for folder in folders
        for path in folder.rglob("*")
        if path.suffix in kinds and "node_modules" not in path.parts
    }
    assert not sorted(wanted - names)
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_a_user_sets_up_and_plays_in_an_empty_folder(programs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    arena, train = programs / "arena", programs / "train"

    before = ran(arena, "evaluate", "random", "heuristic:max-damage", cwd=folder, **cache)
    assert before.code == 2 and "run `arena setup`" in before.err and before.err.count("\n") == 1
    first = ran(arena, "setup", cwd=folder, **cache)
    if NOT_REACHED in first.err:
        pytest.skip(first.err.strip())
    assert (first.code, first.err) == (0, ""), first
    second = ran(arena, "setup", cwd=folder, **cache)
    assert second.code == 0 and "nothing to do" in second.out

    doctor = ran(arena, "doctor", cwd=folder, **cache)
    assert doctor.code == 0 and "everything that evaluation needs is installed" in doctor.out, doctor.out
    played = ran(arena, "evaluate", "random", "heuristic:max-damage", "--battles", 2, cwd=folder, **cache)
    assert (played.code, played.err) == (0, ""), played
    assert "heuristic:max-damage" in played.out
    count = ran(arena, "sql", "SELECT count(*), count(fault) FROM battles", "--csv", cwd=folder, **cache)
    assert count.out.splitlines()[1] == "4,0", "two battles on each of the two team sets of the shipped pool file"
    for preset in ("tiny", "finetune"):
        config = ran(train, "config", preset, cwd=folder, **cache)
        assert config.code == 0 and "out: runs/" in config.out, config.err
    status = ran(train, "curriculum", "status", "gen1ou-cpu", cwd=folder, **cache)
    assert status.code == 0 and "not started" in status.out, status.err


def test_a_wheel_says_nothing_about_a_repository_around_it(programs: Path, tmp_path: Path) -> None:
    """Its commit would be the user's, not ours."""
    git = ["git", "-C", programs.parent, "-c", "user.name=x", "-c", "user.email=x@example.org"]
    assert ran(*git, "init", "-q", cwd=tmp_path).code == 0
    assert ran(*git, "commit", "-q", "--allow-empty", "-m", "theirs", cwd=tmp_path).code == 0
    look = "from arena.provenance import git_state; print(git_state())"
    assert ran(programs / "python", "-P", "-c", look, cwd=tmp_path) == Said(0, "None\n", "")
