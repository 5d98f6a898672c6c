"""What the commands that make datasets from stored battles share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, get_args

import click

from arena.commands.options import db_option
from training.data.build import Built
from training.data.gates import Gates, Result
from training.data.orders import HELD_OUT
from training.data.stats import target_lines

_WHOLE = Gates()
_OPTIONS: tuple[Callable[..., Any], ...] = (
    db_option,
    click.option("--where", default="true", show_default=True, help="SQL: which sides of which battles."),
    click.option(
        "--least-decisions",
        type=click.IntRange(1),
        default=_WHOLE.least_decisions,
        show_default=True,
        help="Leave out shorter sides.",
    ),
    click.option(
        "--result",
        type=click.Choice(get_args(Result)),
        default=_WHOLE.result,
        show_default=True,
        help="Only sides that ended so.",
    ),
    click.option(
        "--least-rating",
        type=float,
        metavar="ELO",
        help="Only agents so strong by all battles of the format in the database; one that cannot be rated is left out.",
    ),
    click.option(
        "--drop-faulty", is_flag=True, help="Leave out battles that ended by a time-out, an illegal choice or an error."
    ),
    click.option(
        "--hold-out",
        type=click.FloatRange(0, 0.9),
        default=0.0,
        show_default=True,
        metavar="SHARE",
        help=f"Share of the pairs of battles that is never learned from; its folder is the dataset's with {HELD_OUT}.",
    ),
    click.option(
        "--expert",
        "by_expert",
        is_flag=True,
        help="The sides are an expert's: a policy's own probabilities are targets, as a search's visits always are.",
    ),
    click.option("--workers", type=click.IntRange(1), help="Processes that observe.  [default: one a core]"),
)


def selection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--db, --where, the gates, --hold-out and --workers."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def say_what_the_value_misses(result: str, instead: str) -> None:
    """Says on stderr what a filter by result does to the value. result: `any` for no filter. instead: what to do."""
    if result != "any":
        print(
            f"--result {result}: the value will see no other sides, so it learns who played and not how a battle stands; to "
            f"filter what the policy learns, {instead}",
            file=sys.stderr,
        )


def show_built(built: Built) -> None:
    """Prints what is in the datasets, what the gates left out, and which decisions have no target."""
    for dataset in built.datasets:
        print(f"{dataset.folder}: {dataset.trajectories:,} trajectories, {dataset.decisions:,} decisions")
    for reason, number in built.left_out.most_common():
        print(f"left out: {number:,} {reason}")
    for line in target_lines(built.no_target):
        print(line)
