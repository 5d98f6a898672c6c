"""Cells that are curricula; the checkpoint after the last stage is evaluated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agents.policy import checkpoint
from arena.terminal.console import Console
from teamsets.formats import get_format
from training.experiments.ablation.cells import Kind, Planned, parameters
from training.experiments.ablation.config import Ablation, cell_settings, variants
from training.experiments.curriculum.config import NEW, Curriculum, Stage, training_config
from training.experiments.curriculum.learn import stage_folder
from training.experiments.curriculum.loop import run_curriculum
from training.experiments.curriculum.store import CurriculumStore
from training.offline.config import Config, Source
from training.runs.config_reader import BadConfig, validated


def _plan(ablation: Ablation, make: bool) -> list[Planned]:
    """Plan curricula. Their data is the battles of their stages, their compute the stages' maximum numbers of steps.

    Therefore equal compute requires that all stages set length.max_steps and have no retries.
    """
    plan = []
    for name in variants(ablation):
        cells = {seed: _checked(ablation, name, seed) for seed in ablation.seeds}
        curriculum = cells[ablation.seeds[0]]
        stages = _stages(curriculum, name)
        runs = [_training(curriculum, stage) for stage in stages]
        for stage, run in zip(stages, runs, strict=True):
            if "compute" in ablation.equal and (stage.retries or not run.length.max_steps):
                which = "retries: not empty" if stage.retries else "length.max_steps: 0"
                raise BadConfig(
                    f"equal: compute: variant {name}, stage {stage.name}: {which}, so the number of steps is not known in "
                    "advance: change it, or take compute out of `equal`"
                )
        sizes = {
            "parameters": parameters(replace(runs[0].network.shape, slots=get_format(curriculum.format).slots)),
            "stages": len(runs),
            "battles": sum(stage.battles for stage in stages),
            "steps": sum(run.length.max_steps for run in runs),
            "batch": runs[0].data.batch_size,
        }
        data = ", ".join(f"{stage.battles:,} battles in {stage.name}" for stage in stages)
        plan.append(Planned(name, sizes, data, True, cells))
    return plan


def _run(curriculum: Curriculum, which: str) -> str:
    """Run the remaining stages, and return the final checkpoint's spec.

    Raises BadConfig if a stage took fewer steps than planned.
    """
    run_curriculum(curriculum, Console(stderr=True), "the same command")
    for number, stage in enumerate(_stages(curriculum, which), 1):
        planned = _training(curriculum, stage).length.max_steps
        steps = max(checkpoint.steps_of(stage_folder(curriculum, number, stage.name) / "attempt-1"))
        if planned and steps < planned and not stage.retries:
            raise BadConfig(
                f"stage {stage.name}: took {steps:,} steps of {planned:,}, its data is too small for {stage.epochs:g} "
                "epochs of them: raise epochs"
            )
    return CurriculumStore(curriculum.db, curriculum.name).lineage()[-1]


def _checked(ablation: Ablation, variant: str, seed: int) -> Curriculum:
    curriculum = validated(Curriculum, cell_settings(ablation, variant, seed), f"variant {variant}")
    if curriculum.take != ablation.evaluation.checkpoint:
        raise BadConfig(
            f"variant {variant}: take: {curriculum.take}, and evaluation.checkpoint is {ablation.evaluation.checkpoint}: "
            "set both to the same value"
        )
    if curriculum.base != NEW:
        checkpoint.find(curriculum.base)
    return curriculum


def _stages(curriculum: Curriculum, variant: str) -> list[Stage]:
    """Return the stages. Raises BadConfig for one of online training, whose battles and steps are not known beforehand."""
    stages = []
    for stage in curriculum.stages:
        if not isinstance(stage, Stage):
            raise BadConfig(
                f"variant {variant}: stage {stage.name}: kind: online: an ablation of curricula compares stages of battles; "
                "online runs are compared by an ablation of `kind: online`"
            )
        stages.append(stage)
    return stages


def _training(curriculum: Curriculum, stage: Stage) -> Config:
    """Return a stage's training configuration as far as it is known before its battles."""
    data = [Source(path="?", weight=1)]
    return training_config(
        curriculum, stage, out=Path(curriculum.out), parent=curriculum.base_found, seed=0, sources=data, validate_on=[]
    )


CURRICULA = Kind(_plan, _run)
