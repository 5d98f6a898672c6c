"""The configuration of an ablation: a base, a grid of variants, datasets, what must be equal, and the evaluation.

As in a training run's configuration, every key is in the YAML file, and a missing or unknown one is an error.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, StringConstraints, Tag

from training.data.hold_out import By
from training.experiments.curriculum.config import Curriculum
from training.offline.config import BadConfig, Config, Section, settings_in, validated
from training.online.config import OnlineConfig
from training.renamed import Holds
from training.runs.settings import Change, named, put
from training.runs.shipped import Kind, located

#: Names that are used in folder names and agent specs.
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")]
Quantity = Literal["parameters", "data", "compute"]
#: Kind of cells -> the model of their settings, and the kind of shipped file that `base` may name.
_BASES: dict[str, tuple[type[Section], Kind]] = {
    "train": (Config, "preset"),
    "curriculum": (Curriculum, "curriculum"),
    "online": (OnlineConfig, "online"),
}
#: Keys that the ablation sets in each cell.
_OWN = ("name", "out", "seed")


class _Dataset(Section):
    """A dataset. max_decisions: use at most so many decisions, in whole pairs of battles; 0: all."""

    former_keys: ClassVar = {"most_decisions": "max_decisions"}
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


class HeldOut(Section):
    """The evaluation battles. checkpoint: of each run. battles: per opponent, format and team set.

    seed: of the battles; every checkpoint plays the same teams with the same simulator seeds.
    """

    checkpoint: Literal["last", "best"]
    opponents: Annotated[list[str], Field(min_length=1)]
    formats: Annotated[list[str], Field(min_length=1)]
    teams: Annotated[list[str], Field(min_length=1)]
    battles: Annotated[int, Field(ge=4)]
    seed: int
    workers: Annotated[int, Field(ge=1)]
    database: str


#: A variant's changes: dotted key of the base -> value.
_Changes = Annotated[dict[str, Any], Holds(lambda: (Config, Curriculum), dotted=True)]


def _kind(told: Any) -> str:
    return "made" if "path" in (told if isinstance(told, dict) else vars(told)) else "ordered"


class Ablation(Section):
    """An ablation. out: its folder. kind: of its cells, and of the configuration `base` (a file, or settings).

    With the kind `mixed`, `base` has a file or settings for each of `train` and `online`, and each variant says its `kind`.
    sample_seed: for subsampling datasets. equal: quantities that must be equal in all variants. grid: axis -> variant ->
    dotted key of the base -> value; the cells are the product of all axes.
    """

    name: Name
    out: str
    kind: Literal["train", "curriculum", "online", "mixed"]
    base: Annotated[str | dict[str, Any], Holds(lambda: (Config, Curriculum))]
    seeds: Annotated[list[int], Field(min_length=1)]
    data: dict[Name, Annotated[Annotated[Made, Tag("made")] | Annotated[Ordered, Tag("ordered")], Discriminator(_kind)]]
    sample_seed: int
    equal: list[Quantity]
    grid: Annotated[dict[str, Annotated[dict[Name, _Changes], Field(min_length=1)]], Field(min_length=1)]
    evaluation: HeldOut


def read_ablation(path: Path, changes: Sequence[Change] = ()) -> Ablation:
    """Read the ablation in a YAML file, with changes of `--set`. Raises BadConfig, and BadInput for an unknown key."""
    return checked_ablation(settings_in(Ablation, path, changes), named(str(path), changes))


def checked_ablation(settings: Any, name: str) -> Ablation:
    """Validate parsed YAML as an ablation. Raises BadConfig that names every invalid key."""
    if not isinstance(settings, dict):
        raise BadConfig(f"{name}: contains no settings; `train config --ablation data` prints a complete file")
    ablation = validated(Ablation, settings, name)
    if len(variants(ablation)) < 2:
        raise BadConfig(f"{name}: grid: has one variant only; add another to compare with")
    repeated = [seed for seed, times in Counter(ablation.seeds).items() if times > 1]
    if repeated:
        raise BadConfig(f"{name}: seeds: {repeated[0]} is listed more than once")
    return ablation


def variants(ablation: Ablation) -> dict[str, dict[str, Any]]:
    """Return name -> changes (dotted key -> value) of each cell: one variant of each axis, names joined by `+`.

    Raises BadConfig if two axes change the same key, or a variant changes a key that the ablation sets itself.
    """
    found: dict[str, dict[str, Any]] = {}
    for chosen in product(*(axis.items() for axis in ablation.grid.values())):
        changes: dict[str, Any] = {}
        for name, one in chosen:
            for key, value in one.items():
                if key in _OWN:
                    raise BadConfig(f"grid: {name}: {key} is set by the ablation itself: leave it out")
                if key in changes:
                    raise BadConfig(f"grid: {key} is changed by more than one axis: join them in one")
                changes[key] = value
        found["+".join(name for name, _ in chosen)] = changes
    return found


def base_of(ablation: Ablation) -> dict[str, Any]:
    """Return the base settings, which the variants change. Raises BadConfig."""
    if isinstance(ablation.base, dict):
        return ablation.base
    model, kind = _BASES[ablation.kind]
    settings = settings_in(model, located(ablation.base, kind))
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
