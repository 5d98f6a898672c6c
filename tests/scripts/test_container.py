"""The Dockerfile: linted, what it copies, and its steps as a script in a folder that holds what an image would.

Not covered: the base image, the step `system` (packages of the distribution), and what is downloaded; set-up on stand-ins
is in tests/scripts/test_setup.py.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from support.command_line import PROJECT

from arena.provenance import git_state

LINES = (PROJECT / "Dockerfile").read_text("utf-8").replace("\\\n", " ").splitlines()
STEPS = ("system", "packages", "project", "check")


def instructions(name: str) -> list[str]:
    """What the instructions of this name say, in order."""
    return [line.split(maxsplit=1)[1] for line in LINES if line.split(maxsplit=1)[:1] == [name]]


def copies(line: str) -> list[tuple[str, str]]:
    """(source, folder or name in the image) of what a line copies."""
    words = line.split()[1:] if line.startswith("COPY ") else []
    return [(source, words[-1]) for source in words[:-1]]


def ignored(path: str) -> bool:
    """Whether .dockerignore leaves a file or folder out of what is sent to the engine. The last matching line decides."""
    out = False
    for line in (PROJECT / ".dockerignore").read_text("utf-8").splitlines():
        pattern = line.removeprefix("!")
        parts = [path, *(str(one) for one in Path(path).parents)]
        if pattern and not line.startswith("#") and any(matches(part, pattern) for part in parts):
            out = not line.startswith("!")
    return out


def matches(path: str, pattern: str) -> bool:
    if pattern.startswith("**/"):
        return fnmatch.fnmatch(Path(path).name, pattern.removeprefix("**/"))
    return fnmatch.fnmatch(path, pattern)


def test_hadolint_has_no_objection() -> None:
    linter = shutil.which("hadolint", path=sysconfig.get_path("scripts"))
    if linter is None:
        pytest.skip("hadolint is not installed: `make setup-dev` installs it")
    done = subprocess.run([linter, "--no-color", PROJECT / "Dockerfile"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_every_step_is_one_of_the_script_and_all_are_taken_in_order() -> None:
    run = " && ".join(instructions("RUN")).split(" && ")
    found = [re.fullmatch(r"sh (?:/opt/battle-arena/)?scripts/container/steps\.sh (\w+)", line) for line in run]
    assert [one and one[1] for one in found] == list(STEPS)
    done = subprocess.run(
        ["sh", PROJECT / "scripts/container/steps.sh", "all"], capture_output=True, text=True
    )  # fmt: skip
    assert done.returncode == 2 and "'all' is no step: system, packages, project or check" in done.stderr


def test_it_copies_what_is_there_and_only_that_is_sent() -> None:
    for source, _ in [one for line in LINES for one in copies(line)]:
        assert (PROJECT / source).exists() and not ignored(source), source
    for other in (
        ".git",
        ".venv",
        "node_modules",
        "runs",
        "data",
        "arena.duckdb",
        "tests",
        "docs",
        ".env",
        "arena/.env",
    ):
        assert ignored(other), other
    assert ignored("arena/__pycache__") and not ignored("arena/cli.py")


def test_it_ends_as_a_user_without_rights_and_holds_no_secret() -> None:
    assert instructions("USER") == ["1000"]
    assert [line.partition("=")[0] for line in instructions("ARG")] == ["BASE", "TORCH_INDEX", "COMMIT"]
    assert not re.search(r"KEY|TOKEN|SECRET|PASSWORD", "\n".join(LINES))


def test_an_image_knows_its_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")  # it has no git
    monkeypatch.setenv("ARENA_COMMIT", "")
    assert git_state() is None
    monkeypatch.setenv("ARENA_COMMIT", "abc+")
    assert git_state() == "abc+"


def copy(source: str, place: Path) -> None:
    """As COPY does, without what .dockerignore leaves out."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if (PROJECT / source).is_file():
        shutil.copy(PROJECT / source, place)
        return

    def left_out(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if ignored(str((Path(folder) / name).relative_to(PROJECT)))]

    shutil.copytree(PROJECT / source, place, ignore=left_out)


def an_environment(root: Path) -> None:
    """A .venv that has what is installed here but our own code, and an npm: nothing is fetched again.

    Links and no .pth file: the environment here has one of its own, with which the code of the clone would be found.
    """
    uv = shutil.which("uv", path=sysconfig.get_path("scripts"))
    if uv is None:
        pytest.skip("uv is not in this environment: `make setup-dev` installs it")
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, root / ".venv"], check=True)
    (root / ".venv/bin/uv").symlink_to(uv)
    (site,) = (root / ".venv/lib").glob("python*/site-packages")
    for one in Path(sysconfig.get_path("purelib")).iterdir():
        if "battle_arena" not in one.name and one.suffix != ".pth" and not (site / one.name).exists():
            (site / one.name).symlink_to(one)
    (root / "bin").mkdir()
    (root / "bin/npm").write_text(f"#!/bin/sh\nln -s {PROJECT}/node_modules node_modules\n")
    (root / "bin/npm").chmod(0o755)


@pytest.mark.slow
@pytest.mark.torch
def test_the_dockerfile_makes_an_environment_that_plays_and_trains(played: Path, tmp_path: Path) -> None:
    """Its COPY and RUN lines in their order, then what the container's entry point does, in a folder of its own."""
    from training.data.from_store import selected, trajectories
    from training.data.shards import DatasetWriter

    root, work = tmp_path / "opt", tmp_path / "work"
    root.mkdir()
    work.mkdir()
    an_environment(root)
    left = ("PYTHONPATH", "TORCH_INDEX")
    environment = {name: value for name, value in os.environ.items() if name not in left} | {
        "PATH": f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}", "PYTHON": sys.executable, "KEEP_CACHES": "1"
    }  # fmt: skip

    def ran(*words: object, cwd: Path = work) -> str:
        done = subprocess.run(
            [str(word) for word in words], cwd=cwd, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    said = {}
    for line in LINES:
        for source, target in copies(line):
            place = root / target.removeprefix("/opt/battle-arena/")
            copy(source, place / Path(source).name if target.endswith("/") else place)
        for step in re.findall(r"steps\.sh (\w+)", line) if line.startswith("RUN ") else ():
            if step != "system":
                said[step] = ran("sh", "scripts/container/steps.sh", step, cwd=root)
    assert "setup: ready" in said["packages"]
    assert "everything that evaluation needs is installed" in said["check"]

    bin_ = root / ".venv/bin"
    where = ran(bin_ / "python", "-c", "import training; print(training.__file__)")
    assert where == f"{root}/training/__init__.py\n", "the code of the image, not of the clone"
    with DatasetWriter(work / "data/battles", {"where": "test"}) as writer:
        for one in trajectories(played, selected(played, "format = 'gen1ou'")[:2], processes=1):
            writer.add(one)
    settings = {
        "out": "runs/toy", "network.preset": "micro", "length.max_steps": 1, "tracking.wandb": "disabled",
        "data.train": "[{path: data/battles, weight: 1.0, policy_from: all, value_from: all}]", "data.validate_on": "[]",
    }  # fmt: skip
    ran(bin_ / "train", "base", "tiny", *(word for name in settings for word in ("--set", f"{name}={settings[name]}")))
    assert (work / "runs/toy/checkpoints").is_dir()
