"""What an ablation is told: a base, the variants of it, the data, what must be equal, and where all are measured.

As with a training run's configuration every key is in the YAML file, and one that is missing or unknown is an error.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, StringConstraints, Tag

from training.config import BadConfig, Config, Section, settings_in, validated
from training.curriculum.config import Curriculum
from training.data.hold_out import By
from training.renamed import Holds
from training.settings import Change, named, put
from training.shipped import located

#: Names that become parts of folders' names and of agents' specs.
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")]
Quantity = Literal["parameters", "data", "compute"]
#: What an ablation sets in every cell itself.
_OWN = ("name", "out", "seed")


class _Dataset(Section):
    """max_decisions: no more of a dataset than that, whole pairs by the seed; 0 for all."""

    former_keys: ClassVar = {"most_decisions": "max_decisions"}
    max_decisions: Annotated[int, Field(ge=0)]


class Made(_Dataset):
    """A dataset that is there."""

    path: str


class Ordered(_Dataset):
    """A dataset to be built from stored battles. where, hold_out, hold_out_by: as for `train data build`."""

    database: str
    where: str
    hold_out: Annotated[float, Field(ge=0, le=0.9)]
    hold_out_by: By = "pairs"  # files of before do not say it


class HeldOut(Section):
    """The battles that measure. checkpoint: of each run. battles: for each opponent, format and team set.

    seed: of the battles; every checkpoint meets the same teams with the same luck.
    """

    checkpoint: Literal["last", "best"]
    opponents: Annotated[list[str], Field(min_length=1)]
    formats: Annotated[list[str], Field(min_length=1)]
    teams: Annotated[list[str], Field(min_length=1)]
    battles: Annotated[int, Field(ge=4)]
    seed: int
    workers: Annotated[int, Field(ge=1)]
    database: str


#: Of a variant: dotted key of the base -> value.
_Changes = Annotated[dict[str, Any], Holds(lambda: (Config, Curriculum), dotted=True)]


def _kind(told: Any) -> str:
    return "made" if "path" in (told if isinstance(told, dict) else vars(told)) else "ordered"


class Ablation(Section):
    """A whole ablation. out: its folder. kind: what a cell is, and so what `base` (a file, or the settings) is.

    sample_seed: which battles stay where a dataset is cut. equal: what must be the same in all variants. grid: axis ->
    variant -> key of the base (with dots) -> value; every variant of every axis is crossed with all others.
    """

    name: Name
    out: str
    kind: Literal["train", "curriculum"]
    base: Annotated[str | dict[str, Any], Holds(lambda: (Config, Curriculum))]
    seeds: Annotated[list[int], Field(min_length=1)]
    data: dict[Name, Annotated[Annotated[Made, Tag("made")] | Annotated[Ordered, Tag("ordered")], Discriminator(_kind)]]
    sample_seed: int
    equal: list[Quantity]
    grid: Annotated[dict[str, Annotated[dict[Name, _Changes], Field(min_length=1)]], Field(min_length=1)]
    evaluation: HeldOut


def read_ablation(path: Path, changes: Sequence[Change] = ()) -> Ablation:
    """The ablation in a YAML file, with changes of `--set`. Raises BadConfig, and BadInput for a change of no key."""
    return checked_ablation(settings_in(Ablation, path, changes), named(str(path), changes))


def checked_ablation(told: Any, name: str) -> Ablation:
    """An ablation from what YAML held. Raises BadConfig that names every key in question."""
    if not isinstance(told, dict):
        raise BadConfig(f"{name}: contains no settings; `train config --ablation data` prints a complete file")
    ablation = validated(Ablation, told, name)
    if len(variants(ablation)) < 2:
        raise BadConfig(f"{name}: grid: has one variant only; add another to compare with")
    doubled = [seed for seed, times in Counter(ablation.seeds).items() if times > 1]
    if doubled:
        raise BadConfig(f"{name}: seeds: {doubled[0]} is listed more than once")
    return ablation


def variants(ablation: Ablation) -> dict[str, dict[str, Any]]:
    """Name -> changes (key with dots -> value) of every variant: one of each axis, their names joined by `+`.

    Raises BadConfig where two axes change the same key, or a variant what the ablation sets itself.
    """
    made: dict[str, dict[str, Any]] = {}
    for chosen in product(*(axis.items() for axis in ablation.grid.values())):
        changes: dict[str, Any] = {}
        for name, one in chosen:
            for key, value in one.items():
                if key in _OWN:
                    raise BadConfig(f"grid: {name}: {key} is set by the ablation itself: leave it out")
                if key in changes:
                    raise BadConfig(f"grid: {key} is changed by more than one axis: join them in one")
                changes[key] = value
        made["+".join(name for name, _ in chosen)] = changes
    return made


def base_of(ablation: Ablation) -> dict[str, Any]:
    """The settings that the variants change. Raises BadConfig."""
    if isinstance(ablation.base, dict):
        return ablation.base
    of_a_run = ablation.kind == "train"
    told = settings_in(
        Config if of_a_run else Curriculum, located(ablation.base, "preset" if of_a_run else "curriculum")
    )
    if not isinstance(told, dict):
        raise BadConfig(f"base {ablation.base}: contains no settings; `train config` prints a complete file")
    return told


def cell_settings(ablation: Ablation, variant: str, seed: int) -> dict[str, Any]:
    """The whole settings of one cell, unchecked. Raises BadConfig for a key that the base does not have."""
    told = copy.deepcopy(base_of(ablation))
    for key, value in variants(ablation)[variant].items():
        try:
            put(told, key, value)
        except LookupError:
            raise BadConfig(f"grid: the base has no key {key}: check its spelling") from None
    out = str(cell_folder(ablation, variant, seed))
    return {**told, "name": f"{ablation.name}-{variant}-{seed}", "out": out, "seed": seed}


def cell_folder(ablation: Ablation, variant: str, seed: int) -> Path:
    """Where a cell's run lies."""
    return Path(ablation.out) / "cells" / f"{variant}-{seed}"
