"""Shared by the commands of `arena` and `train`: lazily imported commands, one-line errors, Ctrl-C, the --db option."""

from __future__ import annotations

import ast
import csv
import difflib
import errno
import importlib
import json
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from arena.processes.supervisor import end_children_at_exit
from arena.terminal.output import plain_output, shown_in_json
from teamsets.errors import ArenaError, BadInput, MissingTool

if TYPE_CHECKING:  # `arena --help` prints without it
    from rich.console import Console

STOPPED_CODE = 130  # the exit code after Ctrl-C
BAD_INPUT_CODE = 2
#: What may be wrong with a path that a user has named, wherever it is noticed.
_OF_A_PATH = {
    errno.ENAMETOOLONG, errno.EACCES, errno.EPERM, errno.EROFS, errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.ENOSPC,
    errno.EDQUOT, errno.ENXIO,
}  # fmt: skip
_DEFAULT_DB = Path("arena.duckdb")

db_option = click.option(
    "--db",
    type=click.Path(path_type=Path, dir_okay=False),
    default=_DEFAULT_DB,
    show_default=True,
    help="The battle database.",
)


#: Of every command that prints a result (tests/test_commands_documented.py): that alone on stdout, as one JSON document.
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def shape_options(json_help: str = "Print JSON.") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds --csv, --json and --table to a command whose result is a table; `shape` is csv, json or table."""
    options = (
        click.option("--csv", "shape", flag_value="csv", help="Print CSV with a header."),
        click.option("--json", "shape", flag_value="json", help=json_help),
        click.option("--table", "shape", flag_value="table", default="table", help="Print a table (the default)."),
    )

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def print_csv(columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Prints rows as CSV with a header."""
    writer = csv.DictWriter(sys.stdout, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def json_text(value: Any) -> str:
    """A result as JSON; paths and times as text, control characters as escapes."""
    return shown_in_json(json.dumps(value, ensure_ascii=False, indent=1, default=str)) + "\n"


def print_json(value: Any) -> None:
    """Prints a result as `json_text`."""
    click.echo(json_text(value), nl=False)


def db_argument(db: Path) -> str:
    """The --db option to append to a suggested command; empty for the default database."""
    return "" if db == _DEFAULT_DB else f" --db {db}"


def say(console: Console, line: str) -> None:
    """Prints a line without markup, colours or wrapping."""
    console.print(line, soft_wrap=True, markup=False, highlight=False)


def ignore_interrupts() -> None:
    """Ignores further Ctrl-C while the closing lines are printed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def is_interrupt(error: BaseException) -> bool:
    """Whether Ctrl-C raised it. DuckDB, interrupted in a query, raises a RuntimeError in its place."""
    return isinstance(error, KeyboardInterrupt | click.Abort) or str(error) == "Query interrupted"


class Suggesting(click.Group):
    """A group that answers a mistyped command with those that look like it."""

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word, known = args[0], self.list_commands(context)
        if word not in known and not word.startswith("-"):
            close = difflib.get_close_matches(word, known, n=2)
            fix = f"did you mean {' or '.join(close)}?" if close else f"the commands are {', '.join(known)}"
            raise click.UsageError(f"no command '{word}': {fix}", context)
        return super().resolve_command(context, args)


class Commands(Suggesting):
    """The commands of a table, in its order: command -> its module in `package`.

    They are imported when they are called: pandas, scipy, poke-env and torch take longer to import than most commands take
    to answer.
    """

    def __init__(self, *args: Any, package: str, table: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._package, self._table = package, table

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command; what it prints passes `plain_output`."""
        with plain_output():
            return super().main(*args, **kwargs)

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self._table)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self._table:
            return None
        command = getattr(importlib.import_module(f"{self._package}.{self._table[name]}"), _function(name))
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list of commands from their docstrings, which are read without importing the commands."""
        limit = formatter.width - 6 - max(map(len, self._table))
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.summary_of(name, limit)) for name in self._table])

    def summary_of(self, name: str, limit: int) -> str:
        """The first sentence of a command's docstring, from its module's source; cut to `limit` characters."""
        folder = Path(str(importlib.import_module(self._package).__file__)).parent
        source = (folder / f"{self._table[name]}.py").read_text(encoding="utf-8")
        function = next(
            n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef) and n.name == _function(name)
        )
        return click.Command(name, help=ast.get_docstring(function)).get_short_help_str(limit)


def _function(name: str) -> str:
    """Return the name of a command's function in its module."""
    return name.replace("-", "_")


@contextmanager
def _one_interrupt() -> Iterator[None]:
    """The first Ctrl-C raises KeyboardInterrupt. Later ones are ignored, because they would interrupt the shutdown.

    A program that was started with SIGINT ignored (in the background of a script) keeps ignoring it.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN or threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is interrupt:
            signal.signal(signal.SIGINT, before)


def _has_foreign_code() -> bool:
    """Whether a module of the user's own was imported by its name."""
    importing = sys.modules.get("agents.importing")
    return importing is not None and bool(importing.foreign)


def run(group: click.Command, name: str) -> None:
    """Runs a console script. Exit codes: 0 success, 1 failure, 2 invalid input, 130 stopped by Ctrl-C.

    What the code of a user's agent has started when it was imported ends with it.
    """
    end_children_at_exit(_has_foreign_code)
    with plain_output():
        _run(group, name)


def _short(path: str) -> str:
    """Return a path as a message shows it."""
    return path if len(path) <= 120 else f"{path[:60]}…{path[-60:]}"


def _run(group: click.Command, name: str) -> None:
    try:
        with _one_interrupt():
            group.main(prog_name=name, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (BadInput, MissingTool) as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(BAD_INPUT_CODE)
    except ArenaError as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:  # `arena sql … | head`: the reader has seen enough
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        if error.errno not in _OF_A_PATH or error.filename is None:
            raise
        print(f"{name}: {_short(str(error.filename))}: {error.strerror}: name another path", file=sys.stderr)
        sys.exit(BAD_INPUT_CODE)
    except click.exceptions.Exit as request:
        sys.exit(request.exit_code)
    except (click.Abort, KeyboardInterrupt, RuntimeError) as error:
        if not is_interrupt(error):
            raise
        print(f"{name}: stopped", file=sys.stderr)
        sys.exit(STOPPED_CODE)


class Integer64(click.types.IntParamType):
    """An integer of 64 bits. Unlike an IntRange, it does not print the 19 digits of its ends in every help."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        number = int(super().convert(value, param, ctx))
        if not -(2**63) <= number < 2**63:
            self.fail(f"{value}: give an integer of at most 18 digits", param, ctx)
        return number
