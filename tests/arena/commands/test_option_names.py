"""One name and one default for what is the same in several commands; defaults of the pool file in `--help`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import pytest
from support.command_line import Said

from arena.cli import cli
from arena.options import DEFAULT_FORMAT


def options() -> dict[str, list[click.Option]]:
    """The options of every command of `arena`."""
    context = click.Context(cli)
    found: dict[str, list[click.Option]] = {}
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        found[name] = [param for param in command.params if isinstance(param, click.Option)]
    return found


def test_an_address_and_a_team_set_have_one_name() -> None:
    names = {name for command in options().values() for option in command for name in option.opts}
    assert {"--host", "--teams"} <= names
    assert not {"--address", "--team-set"} & names


def test_the_default_format_is_the_same_everywhere(arena: Callable[..., Said]) -> None:
    for name, command in options().items():
        for option in command:
            if option.opts[0] == "--format" and isinstance(option.default, str):
                assert option.default == DEFAULT_FORMAT, name
    for name in ("evaluate", "match", "battle", "serve", "ladder"):
        assert f"[default: {DEFAULT_FORMAT}]" in " ".join(arena(name, "--help").out.split()), name


def test_former_names_are_accepted_with_a_line(arena: Callable[..., Said]) -> None:
    for words in (("--address", "nowhere", "--team-set", "x"), ("--address=nowhere", "--team-set=x")):
        said = arena("serve", "random", *words)
        assert said.code == 2
        assert said.err.splitlines() == [
            "--address: the option is called --host now",
            "--team-set: the option is called --teams now",
            "arena: --host nowhere: not an IP address: use e.g. 127.0.0.1",
        ]
    assert "no such option" in arena("evaluate", "random", "--team-set", "x").err.lower()


def test_help_shows_the_defaults_of_the_pool_file(
    arena: Callable[..., Said], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shipped = " ".join(arena("evaluate", "--help").out.split())
    assert "Seconds for one decision. [default: 10]" in shipped
    (tmp_path / "arena.toml").write_text(
        '[evaluate]\nagents = ["random"]\nbattles = 14\nteams = ["competitive", "mine"]\n'
        'formats = ["gen4ou"]\nminutes = 2.5\n'
    )
    own = " ".join(arena("evaluate", "--help").out.split())
    for shown in ("[default: 14", "[default: competitive, mine]", "[default: gen4ou]", "[default: 2.5]"):
        assert shown in own
    (tmp_path / "arena.toml").write_text("[evaluate")
    assert "[default: as the pool file has it" in " ".join(arena("evaluate", "--help").out.split())


def test_an_agents_options_are_shown_as_the_spec_gives_them(arena: Callable[..., Said]) -> None:
    assert "options     risk=0.3 (default 0.5)" in arena("agents", "show", "heuristic:max-damage?risk=0.3").out
    assert "options     risk=0.5\n" in arena("agents", "show", "heuristic:max-damage").out
