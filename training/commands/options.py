"""Options and output shared by the commands that build datasets from stored battles."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, get_args

import click

from arena.terminal.commands import db_option
from training.data.build import Built
from training.data.gates import Gates, Result
from training.data.hold_out import By
from training.data.rebuild_command import HELD_OUT
from training.data.shards import Dataset
from training.data.stats import target_lines

_WHOLE = Gates()
hold_out_option = click.option(
    "--hold-out",
    type=click.FloatRange(0, 0.9),
    default=0.0,
    show_default=True,
    metavar="SHARE",
    help=f"Fraction of the battles to hold out; written to the dataset's folder name with {HELD_OUT} appended.",
)
_OPTIONS: tuple[Callable[..., Any], ...] = (
    db_option,
    click.option("--where", default="true", show_default=True, help="SQL condition that selects sides of battles."),
    click.option(
        "--min-decisions",
        "--least-decisions",
        "min_decisions",
        type=click.IntRange(1),
        default=_WHOLE.min_decisions,
        show_default=True,
        help="Skip sides with fewer decisions. (--least-decisions: former name)",
    ),
    click.option(
        "--result",
        type=click.Choice(get_args(Result)),
        default=_WHOLE.result,
        show_default=True,
        help="Only sides with this result.",
    ),
    click.option(
        "--min-rating",
        "--least-rating",
        "min_rating",
        type=float,
        metavar="ELO",
        help="Only agents with at least this rating over all battles of the format in the database; agents that cannot be "
        "rated are skipped. (--least-rating: former name)",
    ),
    click.option(
        "--drop-faulty", is_flag=True, help="Skip battles that ended by a timeout, an illegal choice or an error."
    ),
    hold_out_option,
    click.option(
        "--hold-out-by",
        type=click.Choice(get_args(By)),
        default="pairs",
        show_default=True,
        help="Hold out pairs of battles, or teams with all their battles.",
    ),
    click.option(
        "--expert",
        "by_expert",
        is_flag=True,
        help="The selected sides are an expert's: a policy's probabilities become targets (a search's visit shares always "
        "do).",
    ),
    click.option(
        "--workers", type=click.IntRange(1), help="Processes that build observations.  [default: one per core]"
    ),
)


def selection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --db, --where, the filters, the hold-out options and --workers."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def warn_of_biased_values(result: str, instead: str) -> None:
    """Warns on stderr how a filter by result biases the value. result: `any` for no filter. instead: the alternative."""
    if result != "any":
        print(
            f"--result {result}: the value is trained on these sides only, so its estimates are biased; to filter only "
            f"what the policy learns, {instead}",
            file=sys.stderr,
        )


def _formats(dataset: Dataset) -> str:
    by_format = ", ".join(f"{name} {number:,}" for name, number in dataset.formats.items())
    return f" ({by_format})" if by_format else ""


def show_built(built: Built) -> None:
    """Prints the size of the datasets, what the filters left out, and which decisions have no target."""
    for dataset in built.datasets:
        print(
            f"{dataset.folder}: {dataset.trajectories:,} trajectories{_formats(dataset)}, {dataset.decisions:,} decisions"
        )
    if len(built.datasets[0].formats) > 1:
        first = next(iter(built.datasets[0].formats))
        print(f"several formats in one dataset: --where \"format = '{first}'\" selects one", file=sys.stderr)
    for reason, number in built.left_out.most_common():
        print(f"left out: {number:,} {reason}")
    for line in target_lines(built.no_target):
        print(line)
