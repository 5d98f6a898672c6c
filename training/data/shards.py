"""Trajectories on disk: a dataset is a folder of shards, each of some thousands of decisions, and `dataset.json`.

A shard is a safetensors file compressed by zstd with a checksum, so that a damaged one is noticed. A dataset is written to a
folder beside its own and renamed when it is whole. It can be made again from its battles, and may be deleted.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from agents.policy import observation
from agents.policy.vocabulary import vocabulary
from teamsets.errors import BadInput
from teamsets.formats import get_format
from training.data.orders import how_to_rebuild
from training.data.targets import Target
from training.data.trajectory import BY_DECISION, Trajectory, concatenated

#: 3: values are chances to win that an agent declared as such; before they were whatever lay under "value", scores included.
#: 2: `targets` beside `shares`.
FORMAT = 3
#: A shard is full when it holds so many decisions: about 45 MB when it is read.
SHARD_DECISIONS = 20_000


class BadData(BadInput):
    """A dataset that is not there, not whole, of another observation, or of no use for what is asked."""


@dataclass(frozen=True)
class Dataset:
    """What `dataset.json` says. lengths: for each shard those of its trajectories; names: the shards' files; about: how it
    was made; observation: the version of its observations (agents/policy/observation.py)."""

    folder: Path
    lengths: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]
    about: dict[str, Any]
    observation: int = observation.VERSION

    @property
    def trajectories(self) -> int:
        return sum(map(len, self.lengths))

    @property
    def decisions(self) -> int:
        return sum(map(sum, self.lengths))

    def mean_length(self, longest: int) -> float:
        """Decisions that a trajectory brings to a batch on average: those beyond `longest` are cut off."""
        return float(np.minimum(np.concatenate(self.lengths), longest).mean())


@dataclass(frozen=True)
class Shard:
    """A shard in memory: trajectories by their place."""

    arrays: dict[str, NDArray[Any]]
    about: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.about)

    def __getitem__(self, place: int) -> Trajectory:
        start, end = self.arrays["starts"][place : place + 2]
        parts: dict[str, Any] = {name: self.arrays[name][start:end] for name in BY_DECISION}
        return Trajectory(**parts, result=float(self.arrays["results"][place]), about=self.about[place])


class DatasetWriter:
    """Writes a dataset: `with DatasetWriter(folder, about) as writer: writer.add(…)`. Nothing stays of a failure."""

    def __init__(self, folder: Path, about: dict[str, Any], *, replace: bool = False) -> None:
        if folder.exists() and not (replace and (folder / "dataset.json").is_file()):
            what = (
                "exists already: use --replace, or another --out"
                if not replace
                else "is not a dataset, so it is not replaced"
            )
            raise BadData(f"dataset {folder}: {what}")
        self._folder, self._about = folder, about
        self._partial = folder.with_name(f".{folder.name}.partial")
        self._waiting: list[Trajectory] = []
        self._shards: list[dict[str, Any]] = []

    def __enter__(self) -> DatasetWriter:
        shutil.rmtree(self._partial, ignore_errors=True)  # of one that was killed
        self._partial.mkdir(parents=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            shutil.rmtree(self._partial)
            return
        if self._waiting:
            self._write()
        if not self._shards:
            shutil.rmtree(self._partial)
            raise BadData(f"dataset {self._folder}: nothing to write: no battle matches")
        told = {**_made_here(), "about": self._about, "shards": self._shards}
        (self._partial / "dataset.json").write_text(json.dumps(told, indent=1) + "\n")
        if self._folder.exists():
            shutil.rmtree(self._folder)
        self._partial.rename(self._folder)

    def add(self, trajectory: Trajectory) -> None:
        self._waiting.append(trajectory)
        if sum(map(len, self._waiting)) >= SHARD_DECISIONS:
            self._write()

    def _write(self) -> None:
        name = f"shard-{len(self._shards):05}.safetensors.zst"
        arrays = concatenated(self._waiting)
        arrays["about"] = np.frombuffer(json.dumps([one.about for one in self._waiting]).encode(), dtype=np.uint8)
        packed = zstandard.ZstdCompressor(level=6, write_checksum=True).compress(save(arrays))
        (self._partial / name).write_bytes(packed)
        self._shards.append({"file": name, "lengths": [len(one) for one in self._waiting]})
        self._waiting = []


def _made_here() -> dict[str, Any]:
    """What a dataset must have been made with to be of use here."""
    return {"format": FORMAT, "observation": observation.VERSION, "vocabulary": vocabulary().version}


def opened(folder: Path) -> Dataset:
    """A dataset by its folder. Raises BadData when it cannot be used here."""
    try:
        told = json.loads((folder / "dataset.json").read_text())
    except (FileNotFoundError, NotADirectoryError):
        raise BadData(
            f"dataset {folder}: has no dataset.json: build it with `train data build` or `train data import`"
        ) from None
    except ValueError as error:
        raise BadData(f"dataset {folder}: dataset.json cannot be read ({error}): build it again") from None
    about = told.get("about") or {}
    for key, value in _made_here().items():
        if key == "format" and told.get(key) in (1, 2):
            # People leave no diagnostics: what was imported from their replays holds no value, and stays as good as it was.
            if about.get("source") != "replays":
                raise BadData(
                    f"dataset {folder}: built by a version that took a rule player's score for a win probability: "
                    f"{how_to_rebuild(folder, about)}"
                )
        elif observation.unlike(told.get(key)) if key == "observation" else told.get(key) != value:
            raise _other(folder, about, key, told.get(key), value)
    lengths = tuple(tuple(shard["lengths"]) for shard in told["shards"])
    files = tuple(shard["file"] for shard in told["shards"])
    return Dataset(folder, lengths, files, about, told["observation"])


def read_shard(dataset: Dataset, number: int) -> Shard:
    """A shard of a dataset. Raises BadData for one that is missing or damaged."""
    path = dataset.folder / dataset.names[number]
    try:
        arrays = load(zstandard.ZstdDecompressor().decompress(path.read_bytes(), max_output_size=1 << 31))
    except (OSError, zstandard.ZstdError, SafetensorError) as error:
        raise _unreadable(dataset, path, error) from None
    about = json.loads(arrays.pop("about").tobytes())
    # Of format 1 only people's decisions are read, whose target is their choice.
    arrays.setdefault("targets", np.full(len(arrays["actions"]), Target.CHOICE, np.int8))
    for format_id in {str(one["format"]) for one in about}:
        if observation.unlike(dataset.observation, get_format(format_id).gen):
            needed = f"{observation.VERSION} for {format_id}"
            raise _other(dataset.folder, dataset.about, "observation", dataset.observation, needed)
    return Shard(arrays, about)


def digest(dataset: Dataset) -> str:
    """A hash of what a dataset holds, whatever its folder is called. Raises BadData for a shard that is missing.

    It covers the lengths of the trajectories and the 4 bytes that end each shard: zstd's checksum of its contents. So
    nothing is decompressed, and a dataset that was made again of the same battles has the same digest.
    """
    found = hashlib.sha256(json.dumps([dataset.observation, dataset.lengths]).encode())
    for name in dataset.names:
        path = dataset.folder / name
        try:
            with path.open("rb") as file:
                file.seek(-4, os.SEEK_END)
                found.update(file.read())
        except OSError as error:
            raise _unreadable(dataset, path, error) from None
    return found.hexdigest()


def _unreadable(dataset: Dataset, shard: Path, error: Exception) -> BadData:
    mend = how_to_rebuild(dataset.folder, dataset.about)
    return BadData(f"dataset {dataset.folder}: {shard.name} cannot be read ({error}): {mend}")


def _other(folder: Path, about: dict[str, Any], key: str, has: Any, needed: Any) -> BadData:
    return BadData(
        f"dataset {folder}: built with {key} {has}, but this version has {needed}: {how_to_rebuild(folder, about)}"
    )


def all_trajectories(dataset: Dataset) -> Iterator[Trajectory]:
    """Every trajectory in the order of the disk, one shard in memory at a time."""
    for number in range(len(dataset.names)):
        shard = read_shard(dataset, number)
        yield from (shard[place] for place in range(len(shard)))
