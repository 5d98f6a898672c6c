"""The command `arena`. Thin: every command parses, calls, prints; what goes wrong on purpose is one line."""

from __future__ import annotations

import sys

import click

from arena.commands.agents import agents
from arena.commands.battle import battle, replay
from arena.commands.doctor import doctor
from arena.commands.evaluate import evaluate
from arena.commands.sql import sql
from arena.commands.teams import teams
from arena.commands.watch import watch
from teamsets.errors import ArenaError, BadInput, MissingTool


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="battle-arena", prog_name="arena")
def cli() -> None:
    """A battle arena for Pokémon agents on the real Showdown simulator; every battle is kept in DuckDB."""


for command in (evaluate, battle, replay, watch, sql, agents, teams, doctor):
    cli.add_command(command)


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
