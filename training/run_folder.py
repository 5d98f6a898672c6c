"""A training run's folder: its configuration, its checkpoints, which of them is the best, and that one process has it.

RUN/config.yaml           what it was begun with
RUN/metrics.jsonl         every measurement
RUN/curves.svg            the same as a picture
RUN/evaluations.jsonl     what the battles of its checkpoints said
RUN/checkpoints/step-…/   the last ones, and the best
RUN/best.json             which that is, and by what
"""

from __future__ import annotations

import fcntl
import json
import math
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from agents.policy import checkpoint
from training.config import BadConfig, Config, checked, read_yaml
from training.files import write_whole

EVALUATIONS = "evaluations.jsonl"


@contextmanager
def alone(out: Path, otherwise: str) -> Iterator[None]:
    """Makes or takes up a folder, for this process alone. Raises BadConfig that says `otherwise` while another has it."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / "lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadConfig(f"out {out}: {otherwise}") from None
        yield


class RunFolder:
    """The folder of the run that `config` describes."""

    def __init__(self, config: Config) -> None:
        self.path = Path(config.out)
        self.checkpoints = self.path / "checkpoints"
        self._config = config

    @contextmanager
    def held(self) -> Iterator[None]:
        """Makes or takes up the folder, for this process alone. Raises BadConfig for one of another configuration."""
        with alone(self.path, "in use by another training process: wait, or name another folder"):
            self._keep_config()
            yield

    def _keep_config(self) -> None:
        file = self.path / "config.yaml"
        if not file.exists() or not self.steps():
            if self.steps():
                raise BadConfig(f"out {self.path}: contains checkpoints of an unknown run: name another folder")
            write_whole(file, yaml.safe_dump(self._config.model_dump(mode="json"), sort_keys=False))
            return
        before = checked(read_yaml(file), str(file))
        changed = sorted(_changed(before.model_dump(), self._config.model_dump()))
        if changed:
            raise BadConfig(
                f"out {self.path}: was started with other settings ({', '.join(changed)}): restore them, or name another "
                f"folder; the old ones are in {file}"
            )

    def step_folder(self, step: int) -> Path:
        return checkpoint.folder_of(self.path, step)

    def steps(self) -> list[int]:
        """The steps of which there is a checkpoint, the earliest first."""
        return sorted(checkpoint.steps_of(self.path))

    @property
    def best(self) -> dict[str, Any] | None:
        """{"step": …, "by": …, "value": …}; None before anything was measured."""
        file = self.path / "best.json"
        return json.loads(file.read_text()) if file.exists() else None

    def judge(self, step: int, by: str, value: float, *, lower: bool = False) -> None:
        """Notes the checkpoint of `step` as the best if its value is above all before. lower: below them, for a loss."""
        if not math.isfinite(value):
            return
        before = self.best
        if (
            before is not None
            and before["step"] != step
            and (before["value"] <= value if lower else before["value"] >= value)
        ):
            return
        checkpoint.set_best(self.path, step, by=by, value=value)

    def evaluated(self) -> set[int]:
        """The steps whose battles have been played."""
        file = self.path / EVALUATIONS
        return {json.loads(line)["step"] for line in file.read_text().splitlines()} if file.exists() else set()

    def note_evaluation(self, step: int, told: dict[str, Any]) -> None:
        """Keeps what the battles of a checkpoint said."""
        file = self.path / EVALUATIONS
        before = file.read_text() if file.exists() else ""
        write_whole(file, before + json.dumps({"step": step, **told}) + "\n")

    def prune(self, keep: int) -> None:
        """Removes all checkpoints but the last `keep` and the best."""
        best = (self.best or {"step": None})["step"]
        for step in self.steps()[:-keep]:
            if step != best:
                shutil.rmtree(self.step_folder(step))


def _changed(before: Any, now: Any, key: str = "") -> Iterator[str]:
    """The keys in which two configurations differ. What only says how it is looked at may be changed at any time."""
    if isinstance(before, dict) and isinstance(now, dict) and before.keys() == now.keys():
        for name in before:
            yield from _changed(before[name], now[name], f"{key}.{name}" if key else name)
    elif (
        before != now
        and key.split(".")[0] not in ("name", "out", "tracking")
        and key not in ("compute.threads", "evaluation.workers")
    ):
        yield key
