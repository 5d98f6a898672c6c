"""The options of a run, each declared once: its type, the values that it accepts, its default, its help.

From here come the options of `arena evaluate`, `match` and `battle`, the keys of the pool file, the arguments of the
Python functions of these names (arena/run/api.py), the bounds of stored settings, and the command that repeats a run.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict, TypeVar

from pydantic import Field, create_model

from arena.validation import Settings

#: Where battles are played.
VenueName = Literal["simulator", "server", "engine"]
#: The format of all commands that are given none.
DEFAULT_FORMAT = "gen1ou"
Several = str | Sequence[str]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Option:
    """What an option accepts, besides its type. lowest, highest: of a number. above: `lowest` itself is refused.

    default: where neither the user nor the pool file gives a value. default_text: says it where `default` cannot. pool_key:
    its key in the pool file; None: the option's name; "": it is none, as of
    flags, which the command line could not take back. field: its field in a run's settings; None: its name.
    """

    help: str
    default: Any = None
    lowest: float | None = None
    highest: float | None = None
    above: bool = False
    metavar: str | None = None
    default_text: str = ""
    pool_key: str | None = None
    field: str | None = None

    def bounds(self) -> Any:
        """For a model's field; nan and inf are refused."""
        if self.lowest is None:
            return Field()
        if self.above:
            return Field(gt=self.lowest, le=self.highest, allow_inf_nan=False)
        return Field(ge=self.lowest, le=self.highest)


class TeamOptions(TypedDict, total=False):
    """What is played."""

    format: Annotated[
        Several, Option("A format, e.g. gen1ou.", (DEFAULT_FORMAT,), metavar="F", pool_key="formats", field="formats")
    ]
    teams: Annotated[
        Several, Option("A team set or a folder of teams.", ("competitive",), metavar="SET", field="team_sets")
    ]


class LengthOptions(TypedDict, total=False):
    """How long."""

    battles: Annotated[
        int | None,
        Option(
            "Battles of each pairing on each team set: 100 with two team sets are 200 battles for each pairing. Battles are "
            "played in pairs, so an odd number is rounded up.",
            2,
            lowest=1,
            highest=1_000_000,
        ),
    ]
    minutes: Annotated[
        float | None,
        Option("Time limit in minutes; battles in progress finish.", lowest=0, highest=1_000_000, above=True),
    ]
    best_of: Annotated[
        int | None,
        Option(
            "Play series of at most N battles (3, 5, 7 or 9) on the same teams, each until one side has won it. Numbers of "
            "battles are then numbers of series. Team sheets are open where the format has them.",
            1,
            lowest=1,
            highest=9,
            metavar="N",
        ),
    ]


class PairingOptions(TypedDict, total=False):
    """Who plays whom, where more than two play."""

    budget: Annotated[
        int | None,
        Option(
            "Total number of battles, on the most informative pairings (adaptive schedule). --minutes without --battles is "
            "adaptive, too.",
            lowest=2,
            highest=100_000_000,
        ),
    ]
    challenger: Annotated[
        Several,
        Option(
            "Play AGENT against all others, but not the others against each other; stored battles of the others are reused.",
            (),
            metavar="AGENT",
            pool_key="",
            field="challengers",
        ),
    ]
    anchor: Annotated[
        str | None,
        Option(
            "Agent whose rating is fixed; all others are relative to it.",
            metavar="AGENT",
            default_text="heuristic:max-damage if it plays",
        ),
    ]
    no_limit: Annotated[bool, Option("No time limit; overrides the pool file.", False, pool_key="")]
    pool: Annotated[
        str | Path | None,
        Option("The pool file.", metavar="FILE", default_text="./arena.toml, or the shipped one", pool_key=""),
    ]


class BattleOptions(TypedDict, total=False):
    """How each battle is played. Showdown ends a battle at turn 1000; seconds beyond a day are more than a timer takes."""

    seed: Annotated[
        int | None,
        Option(
            "Random seed. The same seed, agents and teams give the same battles.", 0, lowest=-(2**63), highest=2**63 - 1
        ),
    ]
    think_limit: Annotated[
        float | None, Option("Seconds for one decision.", 10.0, lowest=0, highest=86_400, above=True)
    ]
    max_turns: Annotated[
        int | None, Option("Turns after which a battle counts as a tie.", 1000, lowest=1, highest=1000)
    ]
    fresh: Annotated[bool, Option("Do not reuse battles of earlier runs.", False, pool_key="")]
    isolate: Annotated[
        bool,
        Option(
            "Run each agent in a process of its own, without access to the opponent's team, the seed and the simulator "
            "(slower, same battles).",
            False,
            pool_key="",
        ),
    ]


class VenueOptions(TypedDict, total=False):
    """Where battles are played."""

    workers: Annotated[
        int | None, Option("Worker processes.", lowest=1, highest=1024, default_text="one per core", pool_key="")
    ]
    on: Annotated[
        str | None,
        Option(
            "Where workers live: ray, a Ray cluster of this machine, or ray://HOST:PORT.",
            metavar="CLUSTER",
            default_text="processes here",
            pool_key="",
        ),
    ]
    skip_invalid: Annotated[bool, Option("Skip teams that the validator rejects, and count them.", False, pool_key="")]
    stock_simulator: Annotated[
        bool, Option("Use unmodified Showdown code (slower, same battles).", False, pool_key="", field="stock")
    ]
    venue: Annotated[
        VenueName | None,
        Option(
            "Where battles are played: simulator, in process; server, over websockets on a local Showdown server (slower, "
            "same battles); engine, in batches, where format and agents allow it (faster, same battles).",
            "simulator",
            metavar="VENUE",
        ),
    ]
    verify_every: Annotated[
        int | None,
        Option(
            "Replay one battle of the engine in N on Showdown, and stop at a difference; 0: none.",
            100,
            lowest=0,
            highest=1_000_000,
            metavar="N",
        ),
    ]


class OneBattleOptions(TeamOptions, BattleOptions, total=False):
    """Of `arena battle`."""


class MatchOptions(TeamOptions, LengthOptions, BattleOptions, VenueOptions, total=False):
    """Of `arena match`."""


class EvaluateOptions(TeamOptions, LengthOptions, PairingOptions, BattleOptions, VenueOptions, total=False):
    """Of `arena evaluate`: all that there are."""


#: Options that a resumed run accepts; it keeps the others.
RESUMABLE = ("minutes", "workers", "on")


@dataclass(frozen=True)
class Declared(Option):
    """An option with its name and its type (without None)."""

    name: str = ""
    type: Any = str

    @property
    def several(self) -> bool:
        """Whether it takes one text or a list of them."""
        return self.type is Several

    @property
    def in_settings(self) -> str:
        """Its field in a run's settings."""
        return self.field or self.name

    @property
    def in_pool_file(self) -> str:
        """Its key in the pool file; empty if it is none."""
        return self.name if self.pool_key is None else self.pool_key


@functools.cache
def declared(options: type) -> Mapping[str, Declared]:
    """The options of one of the classes above, in their order."""
    table = {}
    for name, hint in typing.get_type_hints(options, include_extras=True).items():
        accepted, option = typing.get_args(hint)
        if accepted is not Several and type(None) in typing.get_args(accepted):
            accepted = typing.Union[tuple(kind for kind in typing.get_args(accepted) if kind is not type(None))]  # noqa: UP007
        values = {each.name: getattr(option, each.name) for each in fields(option)}
        table[name] = Declared(**values, name=name, type=accepted)
    return table


def limited(name: str) -> Any:
    """The bounds of an option, for a field of a model."""
    return declared(EvaluateOptions)[name].bounds()


def default(name: str) -> Any:
    """The value of an option that nobody gives."""
    return declared(EvaluateOptions)[name].default


def model_field(option: Declared) -> Any:
    """An option as a field for pydantic's `create_model`: None where it is not given."""
    if option.several:
        return Annotated[tuple[str, ...] | None, Field(strict=False, min_length=1)], None
    return Annotated[option.type | None, option.bounds()], None


@functools.cache
def _model(options: type) -> type[Settings]:
    table = {option.name: model_field(option) for option in declared(options).values()}
    return create_model(options.__name__, __base__=Settings, **table)


def is_given(value: Any) -> bool:
    """Whether an option's value says something: not None, False or an empty tuple."""
    return value is not None and value is not False and value != ()


def checked(options: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options that were given: those that are neither None nor False nor empty. Those of several are tuples.

    options: one of the classes above. Raises BadInput that names the option, its value and what is accepted.
    """
    table, given = declared(options), {}
    for name, value in values.items():
        if name in table and table[name].several and isinstance(value, Iterable) and not isinstance(value, bytes):
            value = (value,) if isinstance(value, str) else tuple(value)
        if is_given(value) and value != "":
            given[name] = value
    model = _model(options)(**given)
    return {name: getattr(model, name) for name in given}


def shows_options(options: type, defaults: Mapping[str, Any]) -> Callable[[F], F]:
    """Makes a function that takes the options as `**options` show them in its signature, one by one.

    defaults: of options for which this function has others.
    """

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        shown = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        for each in declared(options).values():
            value = defaults.get(each.name, each.default)
            accepted = each.type if value is not None else each.type | None
            shown.append(
                inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=value, annotation=accepted)
            )
        function.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
        return function

    return decorate


def pool_keys() -> dict[str, str]:
    """Returns the keys of the pool file that are options of a run, with the names of those."""
    return {each.in_pool_file: each.name for each in declared(EvaluateOptions).values() if each.in_pool_file}
