"""Options that several commands share."""

from __future__ import annotations

import math
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from arena.options import RESUMABLE, Declared, EvaluateOptions, declared, is_given
from arena.run.pool import load_defaults
from arena.terminal.commands import Integer64
from teamsets.errors import BadInput

#: Former names of options, which are still accepted -> their names.
FORMER_OPTIONS = {"--team-set": "--teams", "--address": "--host"}


class RenamedOptions(click.Command):
    """A command that accepts former names of its options, with a line that gives the present one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ends = args.index("--") if "--" in args else len(args)
        return super().parse_args(ctx, [*map(self._renamed, args[:ends]), *args[ends:]])

    def _renamed(self, word: str) -> str:
        name, equals, value = word.partition("=")
        present = FORMER_OPTIONS.get(name)
        if present is None or not any(present in param.opts for param in self.params):
            return word
        click.echo(f"{name}: the option is called {present} now", err=True)
        return present + equals + value


class RunOption(click.Option):
    """An option of a run as arena/options.py declares it. from_pool: its default is the pool file's; help shows it."""

    def __init__(self, *args: Any, default_text: str, from_pool: bool = False, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.default_text, self.from_pool = default_text, from_pool

    def get_help_extra(self, ctx: click.Context) -> Any:
        extra = super().get_help_extra(ctx)
        text = self.default_text
        if self.from_pool:
            try:
                text = _shown(load_defaults(ctx.params.get("pool")).options().get(str(self.name))) or text
            except BadInput:  # the run says what is wrong with the file; help is shown nevertheless
                text = "as the pool file has it"
        if text:
            extra["default"] = text
        return extra


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return ""
    return ", ".join(value) if isinstance(value, tuple) else f"{value:g}" if isinstance(value, float) else str(value)


def run_option(
    name: str,
    *,
    single: bool = False,
    filled: bool = False,
    from_pool: bool = False,
    help: str = "",
    default_text: str = "",
) -> Callable[..., Any]:
    """An option of a run for a command. single: one value of those that can be several.

    What is not given is None, False or (); filled: its default. help, default_text: what this command says instead.
    """
    option = declared(EvaluateOptions)[name]
    several = option.several and not single
    text = (help or option.help) + (" Can be repeated." if several else "")
    value = option.default[0] if option.several and single else option.default
    return click.option(
        "--" + name.replace("_", "-"),
        name,
        cls=RunOption,
        type=None if option.type is bool else _click_type(option),
        is_flag=option.type is bool,
        multiple=several,
        metavar=option.metavar,
        help=text,
        default=value if filled else None,
        default_text=default_text or option.default_text or _shown(option.default),
        from_pool=from_pool and bool(option.in_pool_file),
    )


def run_options(
    options: type,
    *,
    single: bool = False,
    from_pool: bool = False,
    texts: Mapping[str, Mapping[str, str]] | None = None,
) -> Callable[..., Any]:
    """All options of a class of arena/options.py for a command. texts: name -> what this command says instead."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for name in reversed(list(declared(options))):
            own = (texts or {}).get(name, {})
            command = run_option(
                name,
                single=single,
                from_pool=from_pool,
                help=own.get("help", ""),
                default_text=own.get("default_text", ""),
            )(command)
        return command

    return decorate


def _click_type(option: Declared) -> Any:
    if option.type is int:
        assert option.lowest is not None and option.highest is not None
        wide = option.highest >= 2**63 - 1
        return Integer64() if wide else click.IntRange(int(option.lowest), int(option.highest))
    if option.type is float:
        assert option.lowest is not None and option.highest is not None
        return Above(option.lowest, option.highest)
    if typing.get_origin(option.type) is typing.Literal:
        return click.Choice(typing.get_args(option.type))
    return click.Path(path_type=Path) if Path in typing.get_args(option.type) and not option.several else str


def refuse_on_resume(options: Mapping[str, Any]) -> None:
    """Raises BadInput if an option is given that a resumed run cannot change."""
    for name, value in options.items():
        if name not in RESUMABLE and is_given(value):
            raise BadInput(
                f"--resume --{name.replace('_', '-')}: a resumed run keeps its settings: give "
                f"{', '.join('--' + each for each in RESUMABLE)} and --db only"
            )


resume_option = click.option(
    "--resume",
    "resumed",
    is_flag=False,
    flag_value="",
    metavar="[RUN]",
    help="Resume a run; without RUN, the latest. --minutes gives it a new time limit.",
)


class Above(click.ParamType):
    """A number in (lowest, highest]. Rejects nan, which click's FloatRange accepts."""

    name = "number"

    def __init__(self, lowest: float, highest: float) -> None:
        self.lowest, self.highest = lowest, highest

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not self.lowest < number <= self.highest:
            self.fail(f"{value}: give a number greater than {self.lowest:g} and at most {self.highest:g}", param, ctx)
        return number


class FiniteRange(click.FloatRange):
    """A FloatRange that rejects nan, which click's accepts."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value}: give a finite number", param, ctx)
        return number
