"""The command `arena`. Thin: every command parses, calls, prints; what goes wrong on purpose is one line."""

from __future__ import annotations

import importlib
import sys

import click

from teamsets.errors import ArenaError, BadInput, MissingTool

#: command -> its module in arena/commands. They are imported when they are called: pandas, scipy and poke-env take
#: longer to import than most commands take to answer.
COMMANDS = {
    "evaluate": "evaluate",
    "match": "match",
    "serve": "serve",
    "ladder": "ladder",
    "report": "report",
    "battle": "battle",
    "replay": "battle",
    "watch": "watch",
    "sql": "sql",
    "agents": "agents",
    "teams": "teams",
    "doctor": "doctor",
}


class Commands(click.Group):
    """The commands of COMMANDS, in its order."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command = getattr(importlib.import_module(f"arena.commands.{COMMANDS[name]}"), name)
        assert isinstance(command, click.Command)
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="battle-arena", prog_name="arena")
def cli() -> None:
    """A battle arena for Pokémon agents on the real Showdown simulator; every battle is kept in DuckDB."""


def main() -> None:
    """The console script. Exit codes: 0 done, 1 something failed, 2 the input cannot be used, 130 stopped by Ctrl-C."""
    try:
        cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (BadInput, MissingTool) as error:
        print(f"arena: {error}", file=sys.stderr)
        sys.exit(2)
    except ArenaError as error:
        print(f"arena: {error}", file=sys.stderr)
        sys.exit(1)
    except (click.Abort, KeyboardInterrupt):
        print("arena: stopped", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # `arena sql … | head`: the reader has seen enough
        sys.stderr.close()
        sys.exit(0)
    except click.exceptions.Exit as request:
        sys.exit(request.exit_code)
