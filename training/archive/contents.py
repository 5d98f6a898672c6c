"""What an archive of a run holds, and what is noted about it: data, lineage, environment, checksums."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from agents.llm.models import is_model
from agents.paths import resolve_path
from agents.policy import checkpoint
from arena.provenance import git_state, versions
from teamsets.errors import BadInput
from teamsets.loading import load_set
from training.data.shards import BadData, digest, opened
from training.runs.config_reader import is_of_language_model, read_yaml
from training.runs.run_folder import EVALUATIONS, json_lines

#: Version of the layout.
FORMAT = 1
MANIFEST, CARD, LICENSE, BEST = "archive.json", "README.md", "LICENSE", "best.json"
#: Files of a run beside its checkpoints, if they are there.
_OF_RUN = ("config.yaml", "metrics.jsonl", "curves.svg", EVALUATIONS)
#: What training needs and what decides its numbers.
_PACKAGES = ("torch", "accelerate", "numba", "numpy", "safetensors", "wandb")


@dataclass(frozen=True)
class ArchivedRun:
    """A run's folder and the checkpoint of it that is archived."""

    folder: Path
    checkpoint: Path

    @property
    def config(self) -> dict[str, Any]:
        """The run's settings. Raises BadInput if the file is damaged."""
        file = self.folder / "config.yaml"
        settings = read_yaml(file)
        parts = (
            [settings, *(settings.get(name, {}) for name in ("data", "rollout", "evaluation"))]
            if isinstance(settings, dict)
            else []
        )
        if not parts or not all(isinstance(part, dict) for part in parts):
            raise BadInput(f"{file}: damaged: has no settings of a run: restore it")
        return settings

    @property
    def files(self) -> dict[str, Path]:
        """Name in the archive -> file."""
        included = {name: self.folder / name for name in _OF_RUN}
        place = self.checkpoint.relative_to(self.folder)
        included |= {f"{place}/{name}": self.checkpoint / name for name in (checkpoint.WEIGHTS, checkpoint.ABOUT)}
        return {name: file for name, file in included.items() if file.is_file()}

    @property
    def evaluations(self) -> list[dict[str, Any]]:
        """The evaluation battles of the archived checkpoint."""
        step = checkpoint.read(self.checkpoint).step
        return [line for line in json_lines(self.folder / EVALUATIONS) if line["step"] == step]


def names_of(place: str) -> set[str]:
    """The names that files of an archive can have. place: of the checkpoint, as `checkpoints/step-000000100`."""
    return {CARD, LICENSE, BEST, *_OF_RUN, f"{place}/{checkpoint.WEIGHTS}", f"{place}/{checkpoint.ABOUT}"}


def run_of(spec: str) -> ArchivedRun:
    """The run and checkpoint of `RUN[@last|@best|@STEP]`. Raises BadInput."""
    _refuse_language_model(spec)
    folder = checkpoint.find(spec).resolve()
    run = folder.parent.parent
    if folder.parent.name != "checkpoints" or not (run / "config.yaml").is_file():
        raise BadInput(f"'{spec}': {folder} is not in the folder of a run, which has config.yaml: give RUN or RUN@STEP")
    checkpoint.read(folder)
    return ArchivedRun(run, folder)


def _refuse_language_model(spec: str) -> None:
    """Refuse a run, a configuration or a model of `train llm-dpo`: an adapter is nothing without its base model."""
    place = resolve_path(re.sub(r"@(last|best|\d+)$", "", spec))
    file = place if place.is_file() else place / "config.yaml"
    is_run = file.suffix in (".yaml", ".yml") and file.is_file() and is_of_language_model(read_yaml(file))
    if is_run or is_model(place):
        raise BadInput(
            f"'{spec}': {place} is of a language model (`train llm-dpo`): accepted are runs of networks (policy:RUN); "
            "give a language model away as its folder, RUN/model, an adapter with its base model"
        )


def about(run: ArchivedRun) -> dict[str, Any]:
    """What archive.json says of a run, without its checksums."""
    model = checkpoint.read(run.checkpoint)
    return {
        "format": FORMAT,
        "name": run.config.get("name", run.folder.name),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "checkpoint": str(run.checkpoint.relative_to(run.folder)),
        "identity": checkpoint.identity(run.checkpoint),
        "step": model.step,
        "shape": model.shape,
        "lineage": model.lineage,
        "data": _data(run.config),
        "environment": {"commit": git_state(), **versions(), **_packages()},
    }


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _packages() -> dict[str, str]:
    installed = {}
    for name in _PACKAGES:
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            installed[name] = "not installed"
    return installed


def _data(config: dict[str, Any]) -> dict[str, str]:
    """Dataset or team set -> a hash of its content, or why there is none."""
    hashes = {}
    for source in config.get("data", {}).get("train", []):
        try:
            hashes[source["path"]] = digest(opened(Path(source["path"])))
        except BadData as error:
            hashes[source["path"]] = f"not hashed: {error}"
    for teams in config.get("rollout", {}).get("teams", []):
        try:
            packed = sorted(team.packed for team in load_set(teams["set"], config["format"]).teams)
            hashes[teams["set"]] = sha256("\n".join(packed).encode())
        except BadInput as error:
            hashes[teams["set"]] = f"not hashed: {error}"
    return hashes
