"""`train finetune`: from a player and its battles to a better player."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import click
import yaml

from teamsets.errors import BadInput
from training.commands.configuring import set_option
from training.commands.options import say_what_the_value_misses, selection_options, show_built
from training.commands.running import need_packages, run_training
from training.config import PolicyFrom, checked, preset_text, read_config
from training.data.build import build_once
from training.data.gates import Gates
from training.data.shards import opened
from training.finetune import FineTuning, Objective
from training.settings import Change, changed, named
from training.shipped import located


@click.command()
@click.option("--from", "start_from", required=True, metavar="PATH", help="The checkpoint: RUN@best, policy:RUN@1000.")
@selection_options
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="RUN", help="The new run's folder.")
@click.option(
    "--config",
    metavar="FILE",
    help="A whole configuration or a preset's name; the options here override it.  [default: the preset finetune]",
)
@set_option
@click.option("--epochs", type=float, help="As many trajectories as all datasets of the mixture hold, so many times.")
@click.option("--mix", multiple=True, metavar="DIR=WEIGHT", help="An earlier dataset and its weight; repeatable.")
@click.option("--own-weight", type=float, default=1.0, show_default=True, help="Weight of the battles selected here.")
@click.option(
    "--policy-from",
    type=click.Choice(get_args(PolicyFrom)),
    default="all",
    show_default=True,
    help="Of which of the battles selected here the policy learns the decisions; the value learns from all.",
)
@click.option(
    "--freeze", multiple=True, metavar="PATTERN", help='Parameters that stay as they are: "token_layers.*"; repeatable.'
)
@click.option("--objective", type=click.Choice(get_args(Objective)), help="What is learned.")
@click.option(
    "--distil",
    is_flag=True,
    help="Cloning of an expert's target policies and values where it gave them (see --expert), else of what was played.",
)
@click.option(
    "--kl", type=float, metavar="C", help="Coefficient of the KL to the checkpoint that it starts from; 0: off."
)
@click.option(
    "--kl-target", type=float, metavar="NATS", help="KL a decision that the coefficient is moved to bring about."
)
def finetune(
    db: Path,
    where: str,
    hold_out: float,
    by_expert: bool,
    workers: int | None,
    config: str | None,
    changes: tuple[Change, ...],
    mix: tuple[str, ...],
    **said: Any,
) -> None:
    """Train a checkpoint further, on stored battles of your choice, and write another run.

    The battles become the dataset RUN/data; the options here and those of the configuration make RUN/config.yaml, and it is
    trained like any run. Whatever ended it, SIGKILL included, the same command goes on. --where: see `train data build`.

    \b
    Examples:
      train finetune --from runs/tiny@best --where "agent LIKE 'policy:%'" --policy-from won --out runs/ft1
      train finetune --from runs/ft1@last --where "agent LIKE 'search:%'" --distil --mix runs/ft1/data=0.5 --out runs/ft2
    """
    need_packages()
    from training.learner import can_be_frozen

    gates = Gates(**{name: said.pop(name) for name in Gates.__dataclass_fields__})
    say_what_the_value_misses(gates.result, "say --policy-from won instead")
    asked = FineTuning(mix=tuple(map(_weighed, mix)), holds_out=hold_out > 0, **said)
    if config is None:
        base = checked({**yaml.safe_load(preset_text("finetune")), "name": asked.out.name}, "preset finetune")
    else:
        base = read_config(located(config, "preset"))
    told = asked.config(base).model_dump(mode="json")
    settings = checked(changed(told, changes, "the configuration"), named("finetune", changes))
    can_be_frozen(settings.network)
    for path, _ in asked.mix:
        opened(Path(path))
    show_built(build_once(db, where, asked.data, gates, hold_out, by_expert=by_expert, workers=workers))
    run_training(settings)


def _weighed(words: str) -> tuple[str, float]:
    """DIR=WEIGHT."""
    found = re.fullmatch(r"(.+)=(\d+|\d*\.\d+)", words)
    if found is None or not float(found[2]):
        raise BadInput(f"--mix {words}: say DIR=WEIGHT, the weight a number above 0, for example data/battles=0.5")
    return found[1], float(found[2])
