"""Options that several commands share."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import click

from arena.run.pool import DEFAULT_FORMAT, load_defaults
from arena.validation import LIMITS
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


def format_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """--format, one format."""
    return click.option(
        "--format", "format_id", default=DEFAULT_FORMAT, show_default=True, metavar="F", help="The format."
    )(command)


team_set_option = click.option(
    "--teams",
    "team_set",
    default="competitive",
    show_default=True,
    metavar="SET",
    help="Team set or folder of teams for the AGENTs; each battle draws one.",
)

isolate_option = click.option(
    "--isolate",
    is_flag=True,
    help="Run each agent in a process of its own, without access to the opponent's team, the seed and the simulator "
    "(slower, same battles).",
)

on_option = click.option(
    "--on",
    metavar="CLUSTER",
    help="Where workers live: ray, a Ray cluster of this machine, or ray://HOST:PORT.  [default: processes here]",
)


def venue_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """--venue, and --verify-every of the engine."""
    venue = click.option(
        "--venue",
        type=click.Choice(["simulator", "server", "engine"]),
        metavar="VENUE",
        help="Where battles are played: simulator, in process; server, over websockets on a local Showdown server (slower, "
        "same battles); engine, in batches, where format and agents allow it (faster, same battles).  [default: simulator]",
    )
    verify = click.option(
        "--verify-every",
        type=VERIFY_EVERY,
        metavar="N",
        help="Replay one battle of the engine in N on Showdown, and stop at a difference; 0: none.  [default: 100]",
    )
    return venue(verify(command))


class FromPool(click.Option):
    """An option whose default is a key of the pool file; help shows its value."""

    def get_help_extra(self, ctx: click.Context) -> Any:
        extra = super().get_help_extra(ctx)
        key = {"formats": "formats", "team_sets": "teams"}.get(str(self.name), str(self.name))
        try:
            value = getattr(load_defaults(ctx.params.get("pool")), key)
        except BadInput:  # the run says what is wrong with the file; help is shown nevertheless
            value = "as the pool file has it"
        if value is not None:
            shown = (
                ", ".join(value) if isinstance(value, tuple) else f"{value:g}" if isinstance(value, float) else value
            )
            extra["default"] = str(shown)
        return extra


#: Like `click.option`, for options with a default in the pool file.
pool_option = functools.partial(click.option, cls=FromPool)


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


class Integer64(click.types.IntParamType):
    """An integer of 64 bits. Unlike an IntRange, it does not print the 19 digits of its ends in every help."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        number = int(super().convert(value, param, ctx))
        if not -(2**63) <= number < 2**63:
            self.fail(f"{value}: give an integer of at most 18 digits", param, ctx)
        return number


def _limited(key: str) -> click.IntRange:
    lowest, highest = LIMITS[key]
    return click.IntRange(int(lowest), int(highest))


#: The types of options that are keys of the pool file, too: the same limits.
BATTLES, BUDGET, MAX_TURNS, VERIFY_EVERY = map(_limited, ("battles", "budget", "max_turns", "verify_every"))
SEED = Integer64()
MINUTES, THINK_LIMIT = (Above(*LIMITS[key]) for key in ("minutes", "think_limit"))
WORKERS = click.IntRange(1, 1024)
