"""The README to the letter: each of its commands in order, in a fresh copy of the project, by a fresh account, made small.

Nothing is installed beforehand, and torch is not needed. The transcript lies in the test's folder. The commands of the pages
that the README links to are run by tests/test_docs_commands.py.
"""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from support.command_line import PROJECT
from support.page_commands import ONE_WORKER, Rule, Shell, blocks, fresh_environment, small

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

RULES = [
    Rule(r"^make test$", 'make test ARGS="tests/test_import_direction.py"', "the other tests: they are running now"),
    Rule(r"--battles \d+", "--battles 2", "battles"),
    Rule(r"^(arena match .*)", r"\1 --battles 4", "battles of a match until it is decided"),
    ONE_WORKER,
]


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A terminal in a fresh copy of what git knows of, with a pool that plays for seconds."""
    folder = tmp_path_factory.mktemp("readme")
    clone = folder / "clone"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=PROJECT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (PROJECT / name).is_file():  # and has not just been deleted
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, clone / name, follow_symlinks=False)
    pool = clone / "arena.toml"
    pool.write_text(re.sub(r"(?m)^minutes = \d+", "minutes = 0.1", pool.read_text("utf-8")), "utf-8")
    (folder / "home").mkdir()
    return Shell(clone, fresh_environment(folder / "home"), folder / "transcript.txt")


def test_every_command_of_the_readme_works_in_order(shell: Shell) -> None:
    steps = blocks(PROJECT / "README.md")
    assert sum(len(block.commands) for block in steps) >= 8
    for block in steps:
        block.save(shell.folder)
        for command in block.commands:
            shell.run(small(command, RULES))
    shell.run("! .venv/bin/python -c 'import torch' 2>/dev/null")  # all of it went without
    assert (shell.folder / "report.html").exists()
    assert "Traceback" not in shell.log.read_text("utf-8")
