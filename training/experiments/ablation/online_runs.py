"""Cells that are runs of online training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agents.policy import checkpoint
from teamsets.formats import get_format
from training.experiments.ablation.cells import Kind, Planned, parameters
from training.experiments.ablation.config import Ablation, cell_settings, variants
from training.machines.cluster.scheduling import is_home
from training.online.config import OnlineConfig
from training.runs.config_reader import BadConfig, validated
from training.runs.process import train_in_process


def _plan(ablation: Ablation, make: bool) -> list[Planned]:
    """Plan the runs. Equal data: the same `max_decisions` of the learner; they generate their own."""
    plan = []
    for name in variants(ablation):
        cells = {seed: _checked(ablation, name, seed) for seed in ablation.seeds}
        config = cells[ablation.seeds[0]]
        if "compute" in ablation.equal:
            raise BadConfig("equal: compute: learning rules differ in what a decision costs: take it out of `equal`")
        if "data" in ablation.equal and not config.max_decisions:
            raise BadConfig(f"equal: data: variant {name}: max_decisions: 0: set the same number in all variants")
        network, slots = config.learner.network, get_format(config.format).slots
        count = parameters(replace(network.shape, slots=slots, policies=network.policies))
        sizes = {"parameters": count, "decisions": config.max_decisions}
        about = f"{config.algorithm.name}, {config.rollout.battles} battles an iteration"
        plan.append(Planned(name, {size: number for size, number in sizes.items() if number}, about, True, cells))
    return plan


def _run(config: OnlineConfig, which: str) -> str:
    """Train or resume, and return the checkpoint's spec. Raises ArenaError."""
    folder = Path(config.out) if is_home(config) else train_in_process(config)
    steps = sorted(checkpoint.steps_of(folder))
    best = None if which == "last" else checkpoint.best_of(folder)
    step = steps[-1] if best is None else best["step"]
    return f"policy:{folder}@{step}"


def _checked(ablation: Ablation, variant: str, seed: int) -> OnlineConfig:
    return validated(OnlineConfig, cell_settings(ablation, variant, seed), f"variant {variant}")


ONLINE = Kind(_plan, _run)
