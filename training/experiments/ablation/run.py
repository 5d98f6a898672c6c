"""Runs an ablation: builds its datasets, trains its cells, and plays the evaluation battles.

OUT/ablation.yaml              the configuration that it was started with
OUT/data/NAME…                 built datasets, and subsamples of equal size
OUT/cells/VARIANT-SEED/        a run of `train base` or a curriculum
OUT/cells/VARIANT-SEED/held-out.json   the scores of its checkpoint
OUT/results.json, .csv, .md, .svg      the results

The same command resumes an interrupted ablation: all parts are written atomically, and existing ones are reused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agents.policy import checkpoint
from arena.ratings.evidence import Floats, Ints
from teamsets.atomic import write_atomic
from training.experiments.ablation.cells import Kind, Planned, check_equal
from training.experiments.ablation.config import Ablation, HeldOutEvaluation, cell_folder, variants
from training.experiments.ablation.curricula import CURRICULA
from training.experiments.ablation.online_runs import ONLINE
from training.experiments.ablation.training_runs import TRAINING
from training.online.config import OnlineConfig
from training.runs.config_reader import BadConfig
from training.runs.evaluation import BattleBlock, check_evaluation, paired_blocks
from training.runs.run_folder import keep_settings, lock_folder

_KINDS = {"train": TRAINING, "online": ONLINE}


def _plan(ablation: Ablation, make: bool) -> list[Planned]:
    """Plan each kind's variants. Equal parameters only: cells of different kinds have no other size in common."""
    for quantity in ablation.equal:
        if quantity != "parameters":
            raise BadConfig(
                f"equal: {quantity}: is not the same thing in cells of different kinds: take it out of `equal`, and set the "
                "variants' lengths"
            )
    plan = {one.variant: one for part in _parts(ablation) for one in _KINDS[part.kind].plan(part, make)}
    return [plan[name] for name in variants(ablation)]


def _parts(ablation: Ablation) -> list[Ablation]:
    """The ablation as one of each kind, with the same folder, seeds and data. Raises BadConfig."""
    bases = ablation.base if isinstance(ablation.base, dict) else {}
    if not bases or not set(bases) <= set(_KINDS):
        raise BadConfig(f"base: `kind: mixed` takes a configuration or the name of one for each of {', '.join(_KINDS)}")
    grids: dict[str, dict[str, dict[str, Any]]] = {}
    for name, changes in variants(ablation).items():
        kind = changes.get("kind")
        if kind not in bases:
            raise BadConfig(f"variant {name}: kind {kind!r}: must be one of those in `base`: {', '.join(bases)}")
        grids.setdefault(kind, {})[name] = {key: value for key, value in changes.items() if key != "kind"}
    return [
        ablation.model_copy(update={"kind": kind, "base": bases[kind], "grid": {"variant": grid}})
        for kind, grid in grids.items()
    ]


def _run(settings: Any, which: str) -> str:
    """Train or resume, and return the checkpoint's spec."""
    kind = ONLINE if isinstance(settings, OnlineConfig) else TRAINING
    return kind.run(settings, which)


MIXED = Kind(_plan, _run)


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
    check_evaluation(ablation.evaluation)
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


def measured(evaluation: HeldOutEvaluation, spec: str, kept: Path) -> list[BattleBlock]:
    """Play the remaining evaluation battles of a checkpoint. kept: file that caches their scores.

    Raises BadInput, and BattlesStopped.
    """
    key: dict[str, Any] = {
        "player": checkpoint.identity(checkpoint.find(spec.partition(":")[2])),
        "asked": evaluation.model_dump(mode="json", exclude={"workers"}),
    }
    if evaluation.venue == "showdown":  # files of earlier versions do not name it
        del key["asked"]["venue"]
    cached = json.loads(kept.read_text()) if kept.exists() else {}
    if cached.get("what") != key:
        cached = {"what": key, "blocks": [asdict(block) for block in paired_blocks(evaluation, spec)]}
        write_atomic(kept, json.dumps(cached, indent=1) + "\n")
    return [BattleBlock(**block) for block in cached["blocks"]]


def _together(
    plan: list[Planned], players: dict[str, list[str]], blocks_by_variant: list[list[list[BattleBlock]]]
) -> Measured:
    """Combine the blocks of each variant and seed, which are all in the same order."""
    shape = blocks_by_variant[0][0]
    opponents = [block.opponent for block in shape]
    team_sets = [f"{block.format} {block.team_set}" for block in shape]
    scores, blocks, left_out = pair_scores(blocks_by_variant)
    return Measured(plan, players, scores, blocks, opponents, team_sets, left_out)


def pair_scores(blocks_by_variant: list[list[list[BattleBlock]]]) -> tuple[Floats, Ints, int]:
    """Return the scores [V, S, P] and blocks [P] for `findings`, and how many pairs were left out: a battle was aborted.

    blocks_by_variant: of each variant and seed, all in the same order. Raises BadConfig if a block has no pair.
    """
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
    return scores[:, :, whole], blocks[whole], int((~whole).sum())
