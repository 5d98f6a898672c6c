"""Every command explains itself with an example, and the README names it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from support.command_line import PROJECT, Said, run_arena

from arena import cli as command_line
from arena.store import rows
from arena.terminal.commands import Commands
from training import cli as training_line

README = PROJECT / "README.md"


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command that does something, with the words that call it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = {
    (program, *path): command
    for program, group in (("arena", command_line.cli), ("train", training_line.cli))
    for path, command in commands(group)
}


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_a_command_has_help_with_an_example_of_itself(path: tuple[str, ...]) -> None:
    text = COMMANDS[path].help or ""
    first = text.split("\n", 1)[0]
    assert first.strip().endswith((".", "?")), "the first line is a sentence"
    _, _, examples = text.partition("Example")
    assert " ".join(path) in examples


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_option_of_a_command_is_explained(path: tuple[str, ...]) -> None:
    for option in COMMANDS[path].params:
        assert not isinstance(option, click.Option) or option.help, option.name


#: Commands without --json, by what they leave: a service that runs until it is stopped; installed software; a run folder,
#: whose metrics.jsonl has the results; a file that the user asked for.
NO_RESULT = {
    "service": {"arena serve", "arena dashboard"},
    "software": {"arena setup", "arena agents setup"},
    "run folder": {
        *("train base", "train dpo", "train llm-dpo", "train finetune", "train online", "train population"),
        "train curriculum run",
    },
    "file": {"train config", "train curriculum report", "arena completion"},
}


def test_every_command_that_prints_a_result_prints_it_as_json() -> None:
    without = {
        " ".join(path)
        for path, command in COMMANDS.items()
        if not any("--json" in option.opts for option in command.params)
    }
    assert without == set().union(*NO_RESULT.values())


@pytest.mark.parametrize("group", [command_line.cli, training_line.cli], ids=["arena", "train"])
def test_the_list_of_commands_is_read_without_importing_them(group: Commands) -> None:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None and not command.hidden
        assert group.summary_of(name, 45) == command.get_short_help_str(45)
    assert group.callback is not None
    code = (
        "import atexit, sys\n"
        "heavy = {'duckdb', 'pandas', 'poke_env', 'scipy', 'torch'}\n"
        "atexit.register(lambda: print('imported:', sorted(heavy & sys.modules.keys())))\n"
        "sys.argv = ['program', '--help']\n"
        f"from {group.callback.__module__} import main\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True)
    assert done.stdout.endswith("imported: []\n"), done


@pytest.mark.parametrize("words", sorted({path[:2] for path in COMMANDS}), ids=" ".join)
def test_the_readme_names_every_command(words: tuple[str, str]) -> None:
    if not README.exists():
        pytest.skip("there is no README")
    # What it sends the reader to for a subject (training, curricula, ablations) is a part of it.
    pages = [README, *sorted((PROJECT / "docs").glob("*.md"))]
    text = "\n".join(
        page.read_text("utf-8") for page in pages if page == README or f"docs/{page.name}" in README.read_text()
    )
    assert re.search(rf"\b{' '.join(words)}\b", text)


def test_the_readmes_ten_line_agent_plays(
    arena: Callable[..., Said], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not README.exists():
        pytest.skip("there is no README")
    (code,) = re.findall(r"```python\n# mybot.py\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(code.strip().split("\n")) <= 10
    (tmp_path / "mybot.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    said = arena(
        "evaluate", "mybot:Strongest", "random", "--battles", 2, "--format", "gen1randombattle", "--db", "a.duckdb"
    )
    assert (said.code, said.err) == (0, "")
    assert rows("SELECT count(*), count(fault) FROM battles", "a.duckdb") == [(2, 0)]


def test_the_version_and_the_help_are_said(arena: Callable[..., Said]) -> None:
    assert re.match(r"arena, version \d", arena("--version").out)
    assert "evaluate" in arena("-h").out


def test_doctor_finds_everything_here(arena: Callable[..., Said]) -> None:
    said = arena("doctor")
    assert (said.code, said.err) == (0, "")
    for name in ("python", "node", "pokemon-showdown", "poke-env", "duckdb", "simulator"):
        assert re.search(rf"^{name} +(?!NO)\S", said.out, re.MULTILINE), said.out


@pytest.mark.slow
def test_doctor_says_what_is_missing_and_fails(tmp_path: Path) -> None:
    said = run_arena("doctor", cwd=tmp_path, ARENA_NODE="/nonexistent")
    assert said.code == 1
    assert re.search(r"^node +NO: .*(/nonexistent|ARENA_NODE)", said.out, re.MULTILINE), said.out
    assert "evaluation cannot work until the lines marked NO are fixed" in said.out
    assert "Traceback" not in said.err
