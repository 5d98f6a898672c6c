"""Runs an ablation: builds its datasets, trains its cells, and plays the evaluation battles.

OUT/ablation.yaml              the configuration that it was started with
OUT/data/NAME…                 built datasets, and subsamples of equal size
OUT/cells/VARIANT-SEED/        a run of `train base` or a curriculum
OUT/cells/VARIANT-SEED/held-out.json   the scores of its checkpoint
OUT/results.json, .csv, .md, .svg      the results

The same command resumes an interrupted ablation: all parts are written atomically, and existing ones are reused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from arena.ratings.evidence import Floats, Ints
from arena.run.entrants import check_available, resolve_each
from training.experiments.ablation.cells import Planned, check_equal
from training.experiments.ablation.config import Ablation, cell_folder
from training.experiments.ablation.curricula import CURRICULA
from training.experiments.ablation.held_out import BattleBlock, measured
from training.experiments.ablation.mixed_runs import MIXED
from training.experiments.ablation.online_runs import ONLINE
from training.experiments.ablation.training_runs import TRAINING
from training.runs.config_reader import BadConfig
from training.runs.run_folder import keep_settings, lock_folder

KINDS = {"train": TRAINING, "curriculum": CURRICULA, "online": ONLINE, "mixed": MIXED}
#: Settings that may change after the start: seeds can be added, and the evaluation can be changed.
_FREE = ("name", "out", "seeds", "evaluation")


@dataclass(frozen=True)
class Measured:
    """The evaluation results. players: variant -> a checkpoint per seed. scores [V, S, P], blocks [P]: see `findings`.

    opponents, team_sets: of each block. left_out: number of pairs left out because a checkpoint's battle was aborted.
    """

    plan: list[Planned]
    players: dict[str, list[str]]
    scores: Floats
    blocks: Ints
    opponents: list[str]
    team_sets: list[str]
    left_out: int


def planned(ablation: Ablation, *, make: bool) -> list[Planned]:
    """Return the variants with their sizes, and check those that must be equal. make: build datasets; else estimate.

    Raises BadInput.
    """
    check_available(resolve_each(tuple(ablation.evaluation.opponents)), tuple(ablation.evaluation.formats))
    plan = KINDS[ablation.kind].plan(ablation, make)
    check_equal(ablation, plan)
    return plan


@contextmanager
def held(ablation: Ablation) -> Iterator[None]:
    """Hold the lock of the ablation's folder. Raises BadConfig if the folder is of another ablation."""
    folder = Path(ablation.out)
    with lock_folder(folder, "in use by another process: wait, or name another folder"):
        keep_settings(folder / "ablation.yaml", ablation, _FREE)
        yield


def run_cells(ablation: Ablation, plan: Sequence[Planned], say: Callable[[str], None]) -> Measured:
    """Train and evaluate all remaining cells, one seed of all variants after the other. say: called with progress lines."""
    run = KINDS[ablation.kind].run
    players: dict[str, list[str]] = {variant.variant: [] for variant in plan}
    blocks: dict[str, list[list[BattleBlock]]] = {variant.variant: [] for variant in plan}
    for number, seed in enumerate(ablation.seeds):
        for place, variant in enumerate(plan):
            say(
                f"cell {number * len(plan) + place + 1} of {len(plan) * len(ablation.seeds)}: {variant.variant}, seed {seed}"
            )
            players[variant.variant].append(run(variant.cells[seed], ablation.evaluation.checkpoint))
    for variant in plan:
        for seed, player in zip(ablation.seeds, players[variant.variant], strict=True):
            say(f"held-out battles: {variant.variant}, seed {seed} ({player})")
            kept = cell_folder(ablation, variant.variant, seed) / "held-out.json"
            blocks[variant.variant].append(measured(ablation.evaluation, player, kept))
    return _together(list(plan), players, [blocks[variant.variant] for variant in plan])


def _together(
    plan: list[Planned], players: dict[str, list[str]], blocks_by_variant: list[list[list[BattleBlock]]]
) -> Measured:
    """Combine the blocks of each variant and seed, which are all in the same order."""
    shape = blocks_by_variant[0][0]
    scores = np.array(
        [
            [[np.nan if s is None else s for block in cell for s in block.scores] for cell in seeds]
            for seeds in blocks_by_variant
        ]
    )
    blocks = np.repeat(np.arange(len(shape)), [len(block.scores) for block in shape])
    whole = ~np.isnan(scores).any(axis=(0, 1))
    if len(np.unique(blocks[whole])) < len(shape):
        raise BadConfig("evaluation: no pair of battles was finished against some opponent; `arena sql` shows why")
    opponents = [block.opponent for block in shape]
    team_sets = [f"{block.format} {block.team_set}" for block in shape]
    return Measured(plan, players, scores[:, :, whole], blocks[whole], opponents, team_sets, int((~whole).sum()))
