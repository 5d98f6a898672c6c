"""Cells that are curricula: what comes out of the last stage is measured."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from agents.policy import checkpoint
from training.ablation.cells import Kind, Planned, parameters
from training.ablation.config import Ablation, cell_settings, variants
from training.config import BadConfig, Config, Source
from training.curriculum.book import Book
from training.curriculum.config import NEW, Curriculum, Stage, checked_curriculum, training_config
from training.curriculum.learn import stage_folder
from training.curriculum.loop import run_curriculum


def _plan(ablation: Ablation, make: bool) -> list[Planned]:
    """Curricula make their data themselves: it is as many battles as their stages play, and as many steps as they may take.

    So where compute is to be equal every stage must say how many steps it takes, and have nothing to try a second time.
    """
    plan = []
    for name in variants(ablation):
        cells = {seed: _checked(ablation, name, seed) for seed in ablation.seeds}
        one = cells[ablation.seeds[0]]
        runs = [_training(one, stage) for stage in one.stages]
        for stage, told in zip(one.stages, runs, strict=True):
            if "compute" in ablation.equal and (stage.retries or not told.length.max_steps):
                which = "retries: not empty" if stage.retries else "length.max_steps: 0"
                raise BadConfig(
                    f"equal: compute: variant {name}, stage {stage.name}: {which}, so the number of steps is not known in "
                    "advance: change it, or take compute out of `equal`"
                )
        sizes = {
            "parameters": parameters(runs[0].network.preset),
            "stages": len(runs),
            "battles": sum(stage.battles for stage in one.stages),
            "steps": sum(told.length.max_steps for told in runs),
            "batch": runs[0].data.batch_size,
        }
        data = ", ".join(f"{stage.battles:,} battles in {stage.name}" for stage in one.stages)
        plan.append(Planned(name, sizes, data, True, cells))
    return plan


def _run(curriculum: Curriculum, which: str) -> str:
    """Goes through the stages that are left. Raises BadConfig where one took other than the steps that were planned."""
    run_curriculum(curriculum, Console(stderr=True), "the same command")
    for number, stage in enumerate(curriculum.stages, 1):
        planned = _training(curriculum, stage).length.max_steps
        steps = max(checkpoint.steps_of(stage_folder(curriculum, number, stage.name) / "attempt-1"))
        if planned and steps < planned and not stage.retries:
            raise BadConfig(
                f"stage {stage.name}: took {steps:,} steps of {planned:,}, its data is too small for {stage.epochs:g} "
                "epochs of them: raise epochs"
            )
    return Book(curriculum.db, curriculum.name).lineage()[-1]


def _checked(ablation: Ablation, variant: str, seed: int) -> Curriculum:
    curriculum = checked_curriculum(cell_settings(ablation, variant, seed), f"variant {variant}")
    if curriculum.take != ablation.evaluation.checkpoint:
        raise BadConfig(
            f"variant {variant}: take: {curriculum.take}, and evaluation.checkpoint is {ablation.evaluation.checkpoint}: "
            "set both to the same value"
        )
    if curriculum.base != NEW:
        checkpoint.find(curriculum.base)
    return curriculum


def _training(curriculum: Curriculum, stage: Stage) -> Config:
    """A stage's training run as far as it is known before its battles."""
    data = [Source(path="?", weight=1)]
    return training_config(
        curriculum, stage, out=Path(curriculum.out), parent=curriculum.base_found, seed=0, sources=data, validate_on=[]
    )


CURRICULA = Kind(_plan, _run)
