"""What the project's command lines share: commands that are imported when they are called, and errors of one line."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click

from teamsets.errors import ArenaError, BadInput, MissingTool


class Commands(click.Group):
    """The commands of a table, in its order: command -> its module in `package`.

    They are imported when they are called: pandas, scipy, poke-env and torch take longer to import than most commands take
    to answer.
    """

    def __init__(self, *args: Any, package: str, table: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._package, self._table = package, table

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self._table)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self._table:
            return None
        command = getattr(importlib.import_module(f"{self._package}.{self._table[name]}"), name)
        assert isinstance(command, click.Command)
        return command


def run(group: click.Command, name: str) -> None:
    """Runs a console script. Exit codes: 0 done, 1 something failed, 2 the input cannot be used, 130 stopped by Ctrl-C."""
    try:
        group.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (BadInput, MissingTool) as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(2)
    except ArenaError as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(1)
    except (click.Abort, KeyboardInterrupt):
        print(f"{name}: stopped", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # `arena sql … | head`: the reader has seen enough
        sys.stderr.close()
        sys.exit(0)
    except click.exceptions.Exit as request:
        sys.exit(request.exit_code)
