"""Cells that are training runs."""

from __future__ import annotations

from dataclasses import replace

from agents.policy import checkpoint
from teamsets.formats import get_format
from training.experiments.ablation.cells import Kind, Planned, parameters
from training.experiments.ablation.config import Ablation, cell_settings, variants
from training.experiments.ablation.data import Portion, cut, validation_folder, whole
from training.offline.config import Config
from training.offline.schedule import total_steps
from training.runs.config_reader import BadConfig, validated


def _plan(ablation: Ablation, make: bool) -> list[Planned]:
    """Plan training runs. Equal data: subsample to the smallest dataset. Equal compute: process equally many decisions."""
    configs = {name: _checked(ablation, name, ablation.seeds[0]) for name in variants(ablation)}
    data = {name: _portions(ablation, config, make) for name, config in configs.items()}
    if "data" in ablation.equal:
        least = min(map(_decisions, data.values()))
        data = {
            name: {
                each: cut(ablation, each, portion, portion.decisions * least // _decisions(portions), make=make)
                for each, portion in portions.items()
            }
            for name, portions in data.items()
        }
    slots = get_format(ablation.evaluation.formats[0]).slots
    steps = {
        name: total_steps(config, sum(portion.trajectories for portion in data[name].values()))
        for name, config in configs.items()
    }
    limits = dict.fromkeys(configs, 0)
    batch = {name: _decisions_of_a_batch(config, data[name]) for name, config in configs.items()}
    if "compute" in ablation.equal:
        # Decisions instead of steps, because a batch of long battles has more decisions than one of short battles.
        least_processed = min(steps[name] * batch[name] for name in configs)
        steps = limits = {name: max(1, round(least_processed / batch[name])) for name in configs}
    return [
        Planned(
            name,
            {
                "parameters": parameters(replace(config.network.shape, slots=slots)),
                "decisions": _decisions(data[name]),
                "trajectories": sum(portion.trajectories for portion in data[name].values()),
                "processed": round(steps[name] * batch[name]),
                "steps": steps[name],
                "batch": config.data.batch_size,
            },
            ", ".join(f"{portion.decisions:,} of {each}" for each, portion in data[name].items()),
            all(portion.made is not None for portion in data[name].values()),
            {seed: _ready(ablation, name, seed, data[name], limits[name]) for seed in ablation.seeds},
        )
        for name, config in configs.items()
    ]


def _run(config: Config, which: str) -> str:
    """Train or resume, and return the checkpoint's spec. Imports torch here, because a plan and a report do not need it."""
    from accelerate.state import AcceleratorState

    from training.offline.trainer import train

    AcceleratorState._reset_state()  # else it keeps the precision of the previous cell
    finished = train(config)
    step = finished.step if finished.best is None or which == "last" else finished.best["step"]
    return f"policy:{finished.folder}@{step}"


def _checked(ablation: Ablation, variant: str, seed: int) -> Config:
    config = validated(Config, cell_settings(ablation, variant, seed), f"variant {variant}")
    measured = config.evaluation.every if config.evaluation.best_by == "rating" else config.data.validate_on
    if ablation.evaluation.checkpoint == "best" and not measured:
        raise BadConfig(
            f"variant {variant}: evaluation.checkpoint: there is no measurement that selects the best: set "
            "data.validate_on, or use last"
        )
    if config.network.start_from:
        checkpoint.find(config.network.start_from)
    return config


def _portions(ablation: Ablation, config: Config, make: bool) -> dict[str, Portion]:
    return {source.path: whole(ablation, source.path, make=make) for source in config.data.train}


def _decisions(portions: dict[str, Portion]) -> int:
    return sum(portion.decisions for portion in portions.values())


def _decisions_of_a_batch(config: Config, portions: dict[str, Portion]) -> float:
    """Return the mean number of decisions of a batch, by the mixture's weights over trajectories."""
    sources = config.data.train
    sizes = [source.weight * portions[source.path].mean_length(config.data.max_length) for source in sources]
    return config.data.batch_size * sum(sizes) / sum(source.weight for source in sources)


def _ready(ablation: Ablation, variant: str, seed: int, data: dict[str, Portion], steps: int) -> Config:
    """Return the cell's configuration with its datasets' folders and at most `steps` steps (0: as configured)."""
    settings = _checked(ablation, variant, seed).model_dump(mode="json")
    for source in settings["data"]["train"]:
        source["path"] = str(data[source["path"]].folder)
    settings["data"]["validate_on"] = [validation_folder(ablation, path) for path in settings["data"]["validate_on"]]
    settings["length"]["max_steps"] = steps or settings["length"]["max_steps"]
    return validated(Config, settings, f"variant {variant}")


TRAINING = Kind(_plan, _run)
