"""Every command of README and docs is one that exists, with options that it has; and how pages are read is checked, too."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
import pytest
from support.command_line import PROJECT
from support.page_commands import Block, blocks

from arena import cli as command_line
from training import cli as training_line

GROUPS = {"arena": command_line.cli, "train": training_line.cli}
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md")), PROJECT / "CONTRIBUTING.md"]
#: What a page writes for a word of the reader's own.
_PLACEHOLDERS = {"…": "1", "...": "1", "ID": "1", "N": "1"}


def commands() -> list[tuple[str, str]]:
    """(page, command) of all pages."""
    return [(page.name, line) for page in PAGES if page.exists() for block in blocks(page) for line in block.commands]


def problem(command: str) -> str:
    """What the command line of `arena` or `train` would refuse in a command, without running it; or nothing."""
    command = command.replace("\\\n", " ")  # a line that goes on; shlex would make a word of its end
    words = shlex.split(command.split("|")[0].split(" > ")[0].split(" && ")[0], comments=True)
    while words and "=" in words[0] and not words[0].startswith("-"):
        words.pop(0)
    words = [_PLACEHOLDERS.get(word, word) for word in words if word != "&"]
    group: click.Command = GROUPS[words.pop(0)]
    context = click.Context(group, **group.context_settings)  # click keeps the help option that a command has first
    while isinstance(group, click.Group):
        if not words or words[0].startswith("-"):
            return ""
        name = words.pop(0)
        found = group.get_command(context, name)
        if found is None:
            return f"no command '{name}'"
        group = found
    try:
        group.make_context(group.name or "", words, parent=context)
    except click.exceptions.Exit:
        return ""
    except click.UsageError as error:
        missing_file = isinstance(error, click.BadParameter) and "does not exist" in error.message
        return "" if missing_file else error.format_message()
    return ""


@pytest.mark.parametrize(
    ("page", "command"),
    [(page, line) for page, line in commands() if line.split()[0] in GROUPS],
    ids=lambda value: value[:60],
)
def test_a_documented_command_exists_with_its_options(page: str, command: str) -> None:
    assert problem(command) == "", page


@pytest.mark.parametrize(
    ("page", "script"),
    [(page, line.split()[0]) for page, line in commands() if line.startswith("scripts/")],
    ids=lambda value: value[:60],
)
def test_a_documented_script_exists(page: str, script: str) -> None:
    assert (PROJECT / script).exists(), page


@pytest.mark.parametrize(
    "wrong", ["arena evalute --all", "arena evaluate --al", "train base", "arena report --htlm x", "train data biuld"]
)
def test_the_check_sees_a_wrong_command(wrong: str) -> None:
    assert problem(wrong)


def test_a_page_is_read_block_by_block(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        '# One\n\n    arena evaluate --all   # a remark\n    arena sql "SELECT 1\n    FROM x"\n\ntext\n\n'
        "## Two\n```python\n# mine.py\nx = 1\n```\n    output of something\n    make test && \\\n      make lint\n"
        "Save this as `teams/one.txt`:\n\n```text\nTauros\n```\nThis is `other.txt`.\n```text\nno file\n```\n"
    )
    assert blocks(page) == [
        Block("page.md", "One", "commands", ("arena evaluate --all   # a remark", 'arena sql "SELECT 1', 'FROM x"')),
        Block("page.md", "Two", "python", ("# mine.py", "x = 1")),
        Block("page.md", "Two", "commands", ("output of something", "make test && \\", "  make lint")),
        Block("page.md", "Two", "text", ("Tauros",), "Save this as `teams/one.txt`:"),
        Block("page.md", "Two", "text", ("no file",), "This is `other.txt`."),
    ]
    assert [block.file for block in blocks(page)] == ["", "mine.py", "", "teams/one.txt", ""]
    blocks(page)[3].save(tmp_path)
    assert (tmp_path / "teams/one.txt").read_text() == "Tauros\n"
    assert [block.commands for block in blocks(page)] == [
        ["arena evaluate --all", 'arena sql "SELECT 1\nFROM x"'],
        [],
        ["make test && \\\n  make lint"],
        [],
        [],
    ]
