"""The README to the letter: each of its commands in order, in a fresh copy of the project, by a fresh account, made small.

Nothing is installed beforehand; torch comes with the README's own step. The transcript lies in the test's folder.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.command_line import PROJECT
from support.made_logs import four_shown
from support.page_commands import (
    ONE_WORKER,
    TRAINING_RULES,
    Block,
    Rule,
    Shell,
    blocks,
    free_port,
    fresh_environment,
    small,
)

from teamsets import cache

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3000)]

PORT = free_port()
RULES = [
    Rule(r"^make test$", 'make test ARGS="tests/test_import_direction.py"', "the other tests: they are running now"),
    Rule(r"--battles \d+", "--battles 2", "battles"),
    Rule(r"--minutes \d+", "--minutes 0.1", "time"),
    Rule(r"^arena evaluate --resume$", "arena evaluate --resume --minutes 0.1", "time"),
    Rule(r"^(arena match .*)", r"\1 --battles 4", "battles of a match until it is decided"),
    Rule(r"^(scripts/evaluate_against_all.sh \S+)$", r"\1 --minutes 0.1", "time"),
    Rule(r"^arena dashboard", "arena dashboard --port 0", "the usual port, which may be taken"),
    Rule(r"^arena serve", f"arena serve --port {PORT}", "the usual port, which may be taken"),
    Rule(r"localhost:8000", f"localhost:{PORT}", "the same"),
    *TRAINING_RULES,
    ONE_WORKER,
]


def small_curriculum(told: dict[str, Any]) -> dict[str, Any]:
    """The same stages, with a handful of battles and steps each."""
    told["pool"] |= {"agents": ["heuristic:max-damage", "poke-env:SimpleHeuristicsPlayer"], "battles": 2}
    told["workers"] = 1
    told["evaluate_on"], told["hold_out"] = ["variety:10"], 0.0  # of so few pairs none might be held out
    told["training"]["length"]["max_steps"] = 3
    told["training"]["data"] |= {"batch_size": 4, "max_length": 24}
    told["training"]["compute"]["threads"] = 1
    told["final_test"]["battles"] = 2
    for stage in told["stages"]:
        stage["battles"] = 12
        stage["teams"] = [{"set": "variety:10", "weight": 1, "growth": 2}]
        # Every stage is kept at its first attempt: of so few battles most gates would reject, and each would be tried twice.
        parent = stage["gate"]["parent"] | {"require": "nothing", "battles": 2}
        stage["gate"], stage["retries"] = {"parent": parent, "pool": {"by": "nothing", "tolerance": 0}}, []
        if stage["learner"]["expert"].startswith("search:"):
            stage["learner"] = stage["learner"] | {"expert": "search:mcts?iterations=40&samples=2"}
    return told


def small_ablation(told: dict[str, Any]) -> dict[str, Any]:
    """The same variants, with one seed, and few battles and steps."""
    told["seeds"] = [1]
    told["evaluation"] |= {
        "battles": 4,
        "workers": 1,
        "opponents": ["heuristic:max-damage", "poke-env:SimpleHeuristicsPlayer"],
    }
    if told["kind"] == "online":
        told["base"] |= {"max_decisions": 600}
        told["base"]["rollout"] |= {"battles": 8, "teams": [{"set": "variety:10", "weight": 1.0}]}
        for rule in told["grid"]["rule"].values():
            rule["algorithm"] |= {"learning_starts": 100, "updates": 1} if rule["algorithm"]["name"] == "ddqn" else {}
    elif told["kind"] == "mixed":
        told["base"]["train"]["length"]["max_steps"] = 2
        told["base"]["online"] |= {"max_decisions": 600}
    elif told["kind"] == "train":
        told["base"]["length"]["max_steps"] = 2
        told["base"]["data"] |= {"batch_size": 2, "max_length": 24, "validate_on": []}
        told["base"]["compute"]["threads"] = 1
        for order in told["data"].values():
            order |= {"max_decisions": 0, "hold_out": 0.0}
        told["equal"] = [
            each for each in told["equal"] if each != "data"
        ]  # so few battles cannot be cut to the same size
    else:
        told["base"]["workers"] = 1
        told["grid"]["rounds"]["three-rounds"]["stages"].pop()  # two show the same
        told["base"]["training"]["data"] |= {"batch_size": 4, "max_length": 24}
        told["base"]["training"]["compute"]["threads"] = 1
        told["base"]["training"]["length"]["max_steps"] = 2
        for variant in told["grid"]["rounds"].values():
            rounds = len(variant["stages"])
            for stage in variant["stages"]:
                stage |= {"battles": 36 // rounds, "overrides": {"length.max_steps": 6 // rounds}}
                stage["teams"] = [{"set": "variety:10", "weight": 1, "growth": 1}]
    return told


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A terminal in a fresh copy of what git knows of, with small shipped settings, teams of one's own, and replays."""
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
    make_small(clone)
    (folder / "home" / ".cache" / "battle-arena").mkdir(parents=True)
    take_compiled(clone, folder / "home" / ".cache" / "battle-arena" / "engine")
    environment = fresh_environment(folder / "home")
    if (
        PROJECT / ".cache" / "poke-engine" / "gen1" / ".ready"
    ).is_file():  # a build of some minutes, by the same script
        environment["ARENA_POKE_ENGINE"] = str(PROJECT / ".cache" / "poke-engine")
    made = Shell(clone, environment, folder / "transcript.txt")
    yield made
    made.stop_servers()


def take_compiled(clone: Path, engine: Path) -> None:
    """Gives an account the compiled engine of this checkout: to compile it takes minutes.

    Numba names a folder by the path of its sources, which are those of the copy here.
    """
    compiled = cache.folder() / "engine"
    made = {
        path: numba_name(PROJECT / path) for path in ("agents/engine", "agents/search/exact", "arena/venues/engine")
    }
    for path, name in made.items():
        for found in compiled.rglob(name):
            shutil.copytree(found, engine / found.parent.relative_to(compiled) / numba_name(clone / path))


def numba_name(sources: Path) -> str:
    return f"{sources.name}_{hashlib.sha1(str(sources).encode()).hexdigest()}"


def make_small(clone: Path) -> None:
    """The shipped settings of the copy with little to play and to learn; teams and replays such as a reader would bring."""
    pool = clone / "arena.toml"
    pool.write_text(re.sub(r"(?m)^minutes = \d+", "minutes = 0.1", pool.read_text("utf-8")), "utf-8")
    for kind, made_small in (("curricula", small_curriculum), ("ablations", small_ablation)):
        paths = [path for path in clone.glob(f"training/**/{kind}/*.yaml") if path.stem != "qabra"]
        assert paths, kind
        for path in paths:
            told = made_small(yaml.safe_load(path.read_text("utf-8")))
            path.write_text(yaml.safe_dump(told, sort_keys=False), "utf-8")
    (clone / "my-teams").mkdir()
    for path in sorted((clone / "teamsets" / "competitive" / "gen9ou").glob("*.txt"))[:4]:
        (clone / "my-teams" / path.name).write_bytes(path.read_bytes())
    (clone / "replays").mkdir()
    for number in range(4):
        (clone / "replays" / f"gen1ou-{number}.log").write_text(four_shown(), "utf-8")


def run(block: Block, shell: Shell) -> None:
    """A code block as its reader would run it: Python is saved to the file that it names, commands are typed."""
    block.save(shell.folder)
    for command in block.commands:
        if command.startswith("arena serve"):
            shell.serve(small(command, RULES), ready="listens at")
        elif command.startswith("arena dashboard"):
            shell.serve(small(command, RULES), ready="Ctrl-C ends it")
        else:
            shell.run(small(command, RULES))


def test_every_command_of_the_readme_works_in_order(shell: Shell) -> None:
    steps = blocks(PROJECT / "README.md")
    assert sum(len(block.commands) for block in steps) > 35
    training = next(number for number, block in enumerate(steps) if "make training" in block.commands)
    heading = ""
    for number, block in enumerate(steps):
        if block.heading != heading:
            shell.stop_servers()  # its Ctrl-C: a server holds the database while it runs
            heading = block.heading
        if number == training:
            shell.run("! .venv/bin/python -c 'import torch' 2>/dev/null")  # everything so far went without it
        run(block, shell)
    shell.stop_servers()
    assert "Traceback" not in shell.log.read_text("utf-8")
