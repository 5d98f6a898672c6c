"""`train plan`: whether a training fits into memory, before it starts."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import yaml
from rich.table import Table

from arena.terminal.commands import json_option, print_json, say
from arena.terminal.console import Console
from teamsets.atomic import write_atomic
from teamsets.errors import BadInput
from training.commands.configuring import config_argument, set_option
from training.commands.running import need_packages
from training.offline.config import Config
from training.runs.config_reader import load
from training.runs.settings import Change
from training.runs.shipped import resolve_path

if TYPE_CHECKING:
    from training.machines.memory.fitting import Variant

_UNITS = {"GB": 1e9, "GiB": 2.0**30, "MB": 1e6, "MiB": 2.0**20}


@click.command()
@config_argument()
@set_option
@click.option(
    "--gpus",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="GPUs of the run; 0: one process on the CPU.",
)
@click.option(
    "--memory", required=True, metavar="SIZE", help="Memory of each GPU, or of the machine: 40GB, 24GiB, 800MB."
)
@click.option(
    "--write",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write CONFIG with the recommended settings to FILE.",
)
@json_option
def plan(config: str, changes: tuple[Change, ...], gpus: int, memory: str, write: Path | None, as_json: bool) -> None:
    """Compute the memory that a training run needs.

    The settings that fit are printed, too.

    Every trajectory is assumed to have data.max_length decisions, so a real run needs less. Exits with 1 if nothing fits.

    \b
    Examples:
      train plan large --gpus 8 --memory 40GB
      train plan my.yaml --gpus 8 --memory 40GB --write fits.yaml
      train plan tiny --gpus 0 --memory 2GB
    """
    size = _parse_size(memory)
    settings = load(Config, resolve_path(config, "preset"), changes)
    need_packages()
    console = Console(stderr=as_json)
    options, best = _show_cpu(console, settings, size) if gpus == 0 else _show_gpus(console, settings, gpus, size)
    if as_json:
        print_json(_described(options, best, size))
    if best is None:
        raise click.exceptions.Exit(1)
    if write is not None:
        write_atomic(write, yaml.safe_dump(_with(settings, best).model_dump(mode="json"), sort_keys=False))
        say(console, f"written: {write}")


def _described(options: list[Variant], best: Variant | None, size: float) -> dict[str, Any]:
    """The variants in bytes, and the settings of the recommended one."""
    variants = [
        {
            "name": variant.name,
            **asdict(variant.estimate),
            "peak": variant.estimate.peak,
            "fits": variant.fits(size),
            "batch": variant.most * variant.setup.processes * variant.setup.accumulation,
        }
        for variant in options
    ]
    recommended = None if best is None else {"name": best.name, "settings": _recommended_settings(best)}
    return {"memory": size, "variants": variants, "recommended": recommended}


def _show_gpus(console: Console, settings: Config, gpus: int, size: float) -> tuple[list[Variant], Variant | None]:
    from training.machines.memory.estimate import counts, estimate
    from training.machines.memory.fitting import recommended, setup_of, variants

    setup = setup_of(settings, gpus, "cuda")
    now, options = estimate(setup), variants(setup, size)
    say(
        console,
        f"{settings.network.shape.name}: {counts(setup.shape).total:,} parameters; a batch of {settings.data.batch_size} "
        f"trajectories of {settings.data.max_length} decisions on {gpus} GPU{'s' * (gpus > 1)} of {_gb(size)}",
    )
    fits = "fits" if now.peak <= size else "does NOT fit"
    say(console, f"as configured, each GPU needs {_gb(now.peak)}: {fits}")
    console.print(_table(options, size))
    best = recommended(options, size)
    if best is None:
        say(
            console,
            f"nothing fits: the least is {_gb(min(variant.estimate.peak for variant in options))}: use a smaller network",
        )
        return options, None
    say(console, f"recommended: {best.name}, {_gb(best.estimate.peak)} of {_gb(size)} on each GPU:")
    say(console, "  " + " ".join(f"--set {key}={value}" for key, value in _recommended_settings(best).items()))
    return options, best


def _table(options: list[Variant], size: float) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in ("GB per GPU", "weights", "grads", "adam", "buffers", "activ.", "peak", "fits", "batch"):
        table.add_column(column, justify="left" if column == "GB per GPU" else "right", no_wrap=True)
    for variant in options:
        parts = variant.estimate
        shown = (parts.parameters, parts.gradients, parts.optimizer, parts.buffers, parts.activations, parts.peak)
        batch = variant.most * variant.setup.processes * variant.setup.accumulation
        name = variant.name + (f" {variant.setup.accumulation}" if variant.setup.accumulation > 1 else "")
        table.add_row(
            name,
            *(f"{part / 1e9:.1f}" for part in shown),
            "yes" if variant.fits(size) else "NO",
            f"{batch:,}" if batch else "none",
        )
    return table


def _show_cpu(console: Console, settings: Config, size: float) -> tuple[list[Variant], Variant | None]:
    """Show one process on the CPU, whose baseline is that of this process with the same packages."""
    from training.machines.memory.estimate import estimate
    from training.machines.memory.fitting import Variant, largest_batch, setup_of
    from training.machines.memory.process import data_bytes, trained_once

    base, data = trained_once(), data_bytes(settings)
    setup = setup_of(settings, 1, "cpu", base + data)
    estimated = estimate(setup)
    most = largest_batch(setup, size) * setup.accumulation
    say(
        console,
        f"{settings.network.shape.name} on the CPU: {_gb(estimated.peak)}: packages {_gb(base)} (of this process), data "
        f"{_gb(data)}, weights {_gb(estimated.parameters)}, optimizer {_gb(estimated.optimizer)}, "
        f"activations {_gb(estimated.activations)}",
    )
    fits = estimated.peak <= size
    say(console, f"{'fits' if fits else 'does NOT fit'} in {_gb(size)}; the largest batch is {most} trajectories")
    variant = Variant("CPU", setup, estimated, most)
    return [variant], variant if fits else None


def _recommended_settings(best: Variant) -> dict[str, str]:
    setup = best.setup
    return {
        "compute.precision": setup.precision,
        "compute.gradient_accumulation_steps": str(setup.accumulation),
        "compute.activation_checkpointing": str(setup.checkpointing).lower(),
        "compute.sharding": setup.sharding,
    }


def _with(settings: Config, best: Variant) -> Config:
    setup = best.setup
    compute = settings.compute.model_copy(
        update={
            "precision": setup.precision,
            "gradient_accumulation_steps": setup.accumulation,
            "activation_checkpointing": setup.checkpointing,
            "sharding": setup.sharding,
        }
    )
    return settings.model_copy(update={"compute": compute})


def _parse_size(text: str) -> float:
    """Parse a size. Raises BadInput."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(GB|GiB|MB|MiB)", text)
    if match is None or not float(match[1]):
        raise BadInput(f"--memory {text}: must be a number above 0 and a unit of {', '.join(_UNITS)}, for example 40GB")
    return float(match[1]) * _UNITS[match[2]]


def _gb(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e10 else f"{size / 1e9:.2f} GB"
