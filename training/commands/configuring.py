"""Arguments and options that several commands share: CONFIG, --set, and where a command computes."""

from __future__ import annotations

import shlex
from typing import Any

import click

from training.runs.settings import Change, flow, parsed


def _parsed(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> tuple[Change, ...]:
    return tuple(map(parsed, values))


#: Passed to the command as `changes`, a tuple of `Change`.
set_option = click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    callback=_parsed,
    help="Override a setting: dotted key, YAML value, e.g. optimizer.learning_rate=0.0005. Can be repeated.",
)

#: Passed to the command as `processes`.
processes_option = click.option(
    "--processes",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Train in N processes on this machine, one for each GPU.",
)

device_option = click.option(
    "--device", default="auto", show_default=True, help="Of the networks: auto, cpu, cuda, cuda:N."
)
threads_option = click.option(
    "--threads",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Threads of torch and of the engine on a CPU.  [default: one per core]",
)

#: Passed to the command as `on`.
cells_on_option = click.option(
    "--on",
    metavar="CLUSTER",
    help="Where runs are trained side by side, and battles played: ray, a Ray cluster of this machine, or ray://HOST:PORT.  "
    "[default: this machine]",
)


def config_argument(*, required: bool = True) -> Any:
    """CONFIG: a YAML file, or the name of a shipped configuration."""
    return click.argument("config", required=required)


def set_arguments(changes: tuple[Change, ...]) -> str:
    """Return the --set options for these changes, to append to a suggested command."""
    return "".join(f" --set {shlex.quote(f'{key}={flow(value)}')}" for key, value in changes)
