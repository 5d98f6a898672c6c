"""Options that several commands share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import click

from arena.validation import LIMITS

team_set_option = click.option(
    "--teams",
    "--team-set",
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
