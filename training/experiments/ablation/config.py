"""The configuration of an ablation: a base, a grid of variants, datasets, what must be equal, and the evaluation.

As in a training run's configuration, every key is in the YAML file, and a missing or unknown one is an error.
"""

from __future__ import annotations

import copy
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, StringConstraints, Tag

from training.data.hold_out import By
from training.runs.common_settings import EvaluationBattles
from training.runs.config_reader import BadConfig, Section, read_settings
from training.runs.settings import put
from training.runs.shipped import Kind, resolve_path

#: Names that are used in folder names and agent specs.
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")]
Quantity = Literal["parameters", "data", "compute"]
#: Kind of cells -> the kind of shipped file that `base` may name.
_BASES: dict[str, Kind] = {"train": "preset", "curriculum": "curriculum", "online": "online"}
#: Keys that the ablation sets in each cell.
_OWN = ("name", "out", "seed")


class _Dataset(Section):
    """A dataset. max_decisions: use at most so many decisions, in whole pairs of battles; 0: all."""

    max_decisions: Annotated[int, Field(ge=0)]


class Made(_Dataset):
    """An existing dataset."""

    path: str


class Ordered(_Dataset):
    """A dataset to be built from stored battles. where, hold_out, hold_out_by: as for `train data build`."""

    database: str
    where: str
    hold_out: Annotated[float, Field(ge=0, le=0.9)]
    hold_out_by: By = "pairs"  # files of earlier versions do not have it


class HeldOutEvaluation(EvaluationBattles):
    """The evaluation battles. checkpoint: of each run.

    seed: of the battles; every checkpoint plays the same teams with the same simulator seeds.
    """

    checkpoint: Literal["last", "best"]
    opponents: Annotated[list[str], Field(min_length=1)]
    formats: Annotated[list[str], Field(min_length=1)]
    teams: Annotated[list[str], Field(min_length=1)]
    battles: Annotated[int, Field(ge=4)]


def _kind(settings: Any) -> str:
    return "made" if "path" in (settings if isinstance(settings, dict) else vars(settings)) else "ordered"


class Ablation(Section):
    """An ablation. out: its folder. kind: of its cells, and of the configuration `base` (a file, or settings).

    With the kind `mixed`, `base` has a file or settings for each of `train` and `online`, and each variant says its `kind`.
    sample_seed: for subsampling datasets. equal: quantities that must be equal in all variants. grid: axis -> variant ->
    dotted key of the base -> value; the cells are the product of all axes.
    """

    name: Name
    out: str
    kind: Literal["train", "curriculum", "online", "mixed"]
    base: str | dict[str, Any]
    seeds: Annotated[list[int], Field(min_length=1)]
    data: dict[Name, Annotated[Annotated[Made, Tag("made")] | Annotated[Ordered, Tag("ordered")], Discriminator(_kind)]]
    sample_seed: int
    equal: list[Quantity]
    grid: Annotated[dict[str, Annotated[dict[Name, dict[str, Any]], Field(min_length=1)]], Field(min_length=1)]
    evaluation: HeldOutEvaluation

    printed_by: ClassVar[str] = "train config --ablation data"

    def check(self) -> None:
        if len(variants(self)) < 2:
            raise BadConfig("grid: has one variant only; add another to compare with")
        repeated = [seed for seed, times in Counter(self.seeds).items() if times > 1]
        if repeated:
            raise BadConfig(f"seeds: {repeated[0]} is listed more than once")


def variants(ablation: Ablation) -> dict[str, dict[str, Any]]:
    """Return name -> changes (dotted key -> value) of each cell: one variant of each axis, names joined by `+`.

    Raises BadConfig if two axes change the same key, or a variant changes a key that the ablation sets itself.
    """
    changes_by_name: dict[str, dict[str, Any]] = {}
    for chosen in product(*(axis.items() for axis in ablation.grid.values())):
        changes: dict[str, Any] = {}
        for name, variant in chosen:
            for key, value in variant.items():
                if key in _OWN:
                    raise BadConfig(f"grid: {name}: {key} is set by the ablation itself: leave it out")
                if key in changes:
                    raise BadConfig(f"grid: {key} is changed by more than one axis: join them in one")
                changes[key] = value
        changes_by_name["+".join(name for name, _ in chosen)] = changes
    return changes_by_name


def base_of(ablation: Ablation) -> dict[str, Any]:
    """Return the base settings, which the variants change. Raises BadConfig."""
    if isinstance(ablation.base, dict):
        return ablation.base
    settings = read_settings(resolve_path(ablation.base, _BASES[ablation.kind]))
    if not isinstance(settings, dict):
        raise BadConfig(f"base {ablation.base}: contains no settings; `train config` prints a complete file")
    return settings


def cell_settings(ablation: Ablation, variant: str, seed: int) -> dict[str, Any]:
    """Return the settings of a cell, not validated. Raises BadConfig for a key that the base does not have."""
    settings = copy.deepcopy(base_of(ablation))
    for key, value in variants(ablation)[variant].items():
        try:
            put(settings, key, value)
        except LookupError:
            raise BadConfig(f"grid: the base has no key {key}: check its spelling") from None
    out = str(cell_folder(ablation, variant, seed))
    return {**settings, "name": f"{ablation.name}-{variant}-{seed}", "out": out, "seed": seed}


def cell_folder(ablation: Ablation, variant: str, seed: int) -> Path:
    """Return the folder of a cell's run."""
    return Path(ablation.out) / "cells" / f"{variant}-{seed}"
