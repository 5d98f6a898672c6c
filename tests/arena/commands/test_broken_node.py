"""A `node` that does not work: one line that says so and what to do, from every command that starts it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.command_line import PROJECT, Said

from arena.venues.simulator.host import Host, HostDied
from teamsets import showdown
from teamsets.errors import ArenaError
from teamsets.validator import TeamValidator

Arena = Callable[..., Said]
TWO = ("random", "poke-env:RandomPlayer")
TEAMS = PROJECT / "teamsets" / "competitive" / "gen1ou"
#: What the program does -> what is said of it.
PROGRAMS = {
    "fails": ("exit 1", "printed no version"),
    "writes rubbish": ("echo $RANDOM rubbish", "printed no version"),
    "is old": ("echo v12.22.9", "v12.22.9 is too old"),
}
COMMANDS = {
    "evaluate": ("evaluate", *TWO, "--format", "gen1ou", "--battles", 2),
    "match": ("match", *TWO, "--format", "gen1randombattle", "--battles", 2),
    "battle": ("battle", *TWO),
    "serve": ("serve", "--agents", "random", "--format", "gen1randombattle", "--battles", 1),
    "teams validate": ("teams", "validate", TEAMS, "--format", "gen1ou"),
}


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Path]]:
    """Makes a shell script the node of this process, and of an empty cache of verdicts."""

    def make(script: str) -> Path:
        path = tmp_path / "node"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv("ARENA_NODE", str(path))
        _forget()
        return path

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    yield make
    _forget()


def _forget() -> None:
    showdown.node.cache_clear()
    showdown.node_version.cache_clear()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_command_says_in_one_line_what_is_wrong(
    arena: Arena, node: Callable[[str], Path], program: str, command: str
) -> None:
    script, words = PROGRAMS[program]
    node(script)
    said = arena(*COMMANDS[command])
    assert said.code == 2, said
    assert said.err.startswith("arena: node: ") and said.err.count("\n") == 1, said.err
    assert words in said.err and "install Node.js 20 or newer, or set ARENA_NODE" in said.err


@pytest.mark.parametrize("program", PROGRAMS)
def test_doctor_marks_it(arena: Arena, node: Callable[[str], Path], program: str) -> None:
    script, words = PROGRAMS[program]
    node(script)
    said = arena("doctor")
    assert (said.code, said.err) == (1, "")
    (line,) = [line for line in said.out.splitlines() if line.startswith("node ")]
    assert "NO: " in line and words in line


RUBBISH = '[ "$1" = --version ] && echo v22.0.0 || { read line; echo rubbish; read line; }'


def test_a_program_that_passes_for_node_and_answers_rubbish_is_named_by_the_validator(
    node: Callable[[str], Path],
) -> None:
    node(RUBBISH)
    with TeamValidator() as validator, pytest.raises(ArenaError, match=r"answered 'rubbish': check `node --version`"):
        validator.validate("gen1ou", "Tauros||||bodyslam|||||||")


def test_a_program_that_passes_for_node_and_answers_rubbish_is_named_by_the_host(node: Callable[[str], Path]) -> None:
    node(RUBBISH)

    async def ask() -> None:
        async with await Host.launch() as host:
            await host.ask({"op": "nothing"})

    with pytest.raises(HostDied, match=r"answered 'rubbish': check `node --version`"):
        asyncio.run(ask())
