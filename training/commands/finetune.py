"""`train finetune`: trains a checkpoint further on stored battles."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import click
import yaml

from teamsets.errors import BadInput
from training.commands.configuring import set_option
from training.commands.options import selection_options, show_built, warn_of_biased_values
from training.commands.running import need_packages, run_training
from training.data.build import build_once
from training.data.gates import Gates
from training.data.hold_out import By
from training.data.shards import opened
from training.data.targets import PolicyFrom
from training.offline.config import Config
from training.offline.finetune import FineTuning, Objective
from training.runs.config_reader import load, validated
from training.runs.settings import Change, changed, named
from training.runs.shipped import resolve_path, text


@click.command()
@click.option(
    "--from",
    "start_from",
    required=True,
    metavar="PATH",
    help="The checkpoint to start from, e.g. RUN@best or policy:RUN@1000.",
)
@selection_options
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="RUN", help="Folder of the new run.")
@click.option(
    "--config",
    metavar="FILE",
    help="A complete configuration or a preset's name; the options below override it.  [default: the preset finetune]",
)
@set_option
@click.option("--epochs", type=float, help="Number of epochs over all datasets of the mixture.")
@click.option(
    "--mix", multiple=True, metavar="DIR=WEIGHT", help="Another dataset and its sampling weight. Can be repeated."
)
@click.option(
    "--own-weight", type=float, default=1.0, show_default=True, help="Sampling weight of the battles selected here."
)
@click.option(
    "--policy-from",
    type=click.Choice(get_args(PolicyFrom)),
    default="all",
    show_default=True,
    help="Sides of the selected battles that the policy loss uses; the value loss uses all.",
)
@click.option(
    "--freeze", multiple=True, metavar="PATTERN", help='Parameters to freeze, e.g. "token_layers.*". Can be repeated.'
)
@click.option("--objective", type=click.Choice(get_args(Objective)), help="Learning algorithm.")
@click.option(
    "--distil",
    is_flag=True,
    help="Cloning of the expert's target policies and values where stored (see --expert), otherwise of the actions played.",
)
@click.option(
    "--kl", type=float, metavar="C", help="Coefficient of the KL penalty towards the starting checkpoint; 0: off."
)
@click.option(
    "--kl-target", type=float, metavar="NATS", help="Target KL per decision; the coefficient is adapted to reach it."
)
def finetune(
    db: Path,
    where: str,
    hold_out: float,
    hold_out_by: By,
    by_expert: bool,
    workers: int | None,
    config: str | None,
    changes: tuple[Change, ...],
    mix: tuple[str, ...],
    **options: Any,
) -> None:
    """Train a checkpoint further on stored battles.

    The battles are written to the dataset RUN/data, the configuration to RUN/config.yaml. The same command resumes an
    interrupted run (also after SIGKILL). --where: see `train data build`.

    \b
    Examples:
      train finetune --from runs/tiny@best --where "agent LIKE 'policy:%'" --policy-from won --out runs/ft1
      train finetune --from runs/ft1@last --where "agent LIKE 'search:%'" --distil --mix runs/ft1/data=0.5 --out runs/ft2
    """
    need_packages()
    from training.offline.learner import check_freeze

    gates = Gates(**{name: options.pop(name) for name in Gates.__dataclass_fields__})
    warn_of_biased_values(gates.result, "use --policy-from won instead")
    run = FineTuning(mix=tuple(map(_parse_mix, mix)), holds_out=hold_out > 0, **options)
    if config is None:
        base = validated(
            Config, {**yaml.safe_load(text("finetune", "preset")), "name": run.out.name}, "preset finetune"
        )
    else:
        base = load(Config, resolve_path(config, "preset"))
    combined = run.config(base).model_dump(mode="json")
    settings = validated(Config, changed(combined, changes, "the configuration"), named("finetune", changes))
    check_freeze(settings.network)
    for path, _ in run.mix:
        opened(Path(path))
    show_built(
        build_once(db, where, run.data, gates, hold_out, hold_out_by=hold_out_by, by_expert=by_expert, workers=workers)
    )
    run_training(settings)


def _parse_mix(text: str) -> tuple[str, float]:
    """Parse DIR=WEIGHT. Raises BadInput."""
    match = re.fullmatch(r"(.+)=(\d+|\d*\.\d+)", text)
    if match is None or not float(match[2]):
        raise BadInput(f"--mix {text}: must be DIR=WEIGHT with a weight above 0, for example data/battles=0.5")
    return match[1], float(match[2])
