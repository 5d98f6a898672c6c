"""What an ablation is told: a base, the variants of it, the data, what must be equal, and where all are measured.

As with a training run's configuration every key is in the YAML file, and one that is missing or unknown is an error.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, StringConstraints, Tag

from training.config import BadConfig, Section, read_yaml, validated
from training.settings import Change, changed, named, put
from training.shipped import located

#: Names that become parts of folders' names and of agents' specs.
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")]
Quantity = Literal["parameters", "data", "compute"]
#: What an ablation sets in every cell itself.
_OWN = ("name", "out", "seed")


class Made(Section):
    """A dataset that is there. most_decisions: no more of it than that, whole pairs by the seed; 0 for all."""

    path: str
    most_decisions: Annotated[int, Field(ge=0)]


class Ordered(Section):
    """A dataset to be built from stored battles. where, hold_out: as for `train data build`."""

    database: str
    where: str
    hold_out: Annotated[float, Field(ge=0, le=0.9)]
    most_decisions: Annotated[int, Field(ge=0)]


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
    base: str | dict[str, Any]
    seeds: Annotated[list[int], Field(min_length=1)]
    data: dict[Name, Annotated[Annotated[Made, Tag("made")] | Annotated[Ordered, Tag("ordered")], Discriminator(_kind)]]
    sample_seed: int
    equal: list[Quantity]
    grid: Annotated[dict[str, Annotated[dict[Name, dict[str, Any]], Field(min_length=1)]], Field(min_length=1)]
    evaluation: HeldOut


def read_ablation(path: Path, changes: Sequence[Change] = ()) -> Ablation:
    """The ablation in a YAML file, with changes of `--set`. Raises BadConfig, and BadInput for a change of no key."""
    return checked_ablation(changed(read_yaml(path), changes, str(path)), named(str(path), changes))


def checked_ablation(told: Any, name: str) -> Ablation:
    """An ablation from what YAML held. Raises BadConfig that names every key in question."""
    if not isinstance(told, dict):
        raise BadConfig(f"{name}: holds no settings: `train config --ablation data` prints a whole file")
    ablation = validated(Ablation, told, name)
    if len(variants(ablation)) < 2:
        raise BadConfig(f"{name}: grid: one variant alone compares with nothing: add another")
    doubled = [seed for seed, times in Counter(ablation.seeds).items() if times > 1]
    if doubled:
        raise BadConfig(f"{name}: seeds: {doubled[0]} stands there more than once")
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
                    raise BadConfig(f"grid: {name}: {key} is the ablation's own to set: leave it out")
                if key in changes:
                    raise BadConfig(f"grid: {key} is changed by more than one axis: join them in one")
                changes[key] = value
        made["+".join(name for name, _ in chosen)] = changes
    return made


def base_of(ablation: Ablation) -> dict[str, Any]:
    """The settings that the variants change. Raises BadConfig."""
    if isinstance(ablation.base, dict):
        return ablation.base
    told = read_yaml(located(ablation.base, "preset" if ablation.kind == "train" else "curriculum"))
    if not isinstance(told, dict):
        raise BadConfig(f"base {ablation.base}: holds no settings: `train config` prints a whole file")
    return told


def cell_settings(ablation: Ablation, variant: str, seed: int) -> dict[str, Any]:
    """The whole settings of one cell, unchecked. Raises BadConfig for a key that the base does not have."""
    told = copy.deepcopy(base_of(ablation))
    for key, value in variants(ablation)[variant].items():
        try:
            put(told, key, value)
        except LookupError:
            raise BadConfig(f"grid: the base has no key {key}: see a variant's spelling") from None
    out = str(cell_folder(ablation, variant, seed))
    return {**told, "name": f"{ablation.name}-{variant}-{seed}", "out": out, "seed": seed}


def cell_folder(ablation: Ablation, variant: str, seed: int) -> Path:
    """Where a cell's run lies."""
    return Path(ablation.out) / "cells" / f"{variant}-{seed}"
