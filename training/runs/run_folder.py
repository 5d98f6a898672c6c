"""A training run's folder: configuration, metrics, checkpoints, and a lock that admits one process.

RUN/config.yaml           the configuration that it was started with
RUN/metrics.jsonl         all metrics, a line per measurement
RUN/curves.svg            the metrics as a plot
RUN/evaluations.jsonl     results of the checkpoints' evaluation battles
RUN/checkpoints/step-…/   the latest checkpoints, and the best
RUN/best.json             the step of the best checkpoint, and the metric that selected it
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from agents.policy import checkpoint
from teamsets.atomic import write_atomic
from teamsets.errors import BadInput, MissingTool
from teamsets.locking import file_lock
from teamsets.reading import is_no_file
from training.runs.common_settings import RunConfig
from training.runs.config_reader import BadConfig, Section, load
from training.runs.settings import differences, other_settings

EVALUATIONS = "evaluations.jsonl"
#: Settings that may change when a run is resumed: they do not change what is trained.
FREE = ("name", "out", "tracking", "compute.threads", "compute.collective_timeout", "evaluation.workers")


@contextmanager
def lock_folder(out: Path, message: str) -> Iterator[None]:
    """Create a folder if necessary and hold its lock. Raises BadConfig with `message` if another process holds it."""
    out.mkdir(parents=True, exist_ok=True)
    with file_lock(out / "lock", wait=False) as held:
        if not held:
            raise BadConfig(f"out {out}: {message}")
        yield


def keep_settings(file: Path, settings: Section, free: Sequence[str]) -> None:
    """Write the settings of an experiment of several runs into its folder. Raises BadConfig if it was started with others.

    free: settings that may have changed.
    """
    written = settings.model_dump(mode="json")
    if file.exists():
        changed = differences(load(type(settings), file).model_dump(mode="json"), written, free)
        if changed:
            raise BadConfig(
                f"out {file.parent}: {other_settings(changed)}: restore them, or name another folder; the old ones are in "
                f"{file}"
            )
    write_atomic(file, yaml.safe_dump(written, sort_keys=False))


def json_lines(file: Path, *, cut_off: bool = False) -> list[dict[str, Any]]:
    """Return the lines of metrics.jsonl or evaluations.jsonl; none if there is no such file. Each has a number as its step.

    cut_off: leave out a damaged last line: a process was killed while it wrote it. Raises BadConfig that names the first
    damaged line.
    """
    if problem := is_no_file(file):
        raise BadConfig(f"{file}: {problem}: delete it")
    if not file.exists():
        return []
    lines = []
    written = file.read_bytes().splitlines()
    for number, line in enumerate(written, 1):
        try:
            content = json.loads(line)
            if isinstance(content["step"], bool) or not math.isfinite(content["step"]):
                raise ValueError
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            if cut_off and number == len(written):
                break
            raise BadConfig(f"{file}: line {number} is damaged: delete that line") from None
        lines.append(content)
    return lines


class RunFolder:
    """The folder of the run that `config` describes, a configuration with a folder `out`.

    free: settings that may change when the run is resumed.
    """

    def __init__(self, config: RunConfig, free: Sequence[str] = FREE) -> None:
        self.path = Path(config.out)
        self.checkpoints = self.path / "checkpoints"
        self._config, self._free = config, free

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder's lock. Raises BadConfig if the folder is of a run with another configuration.

        A folder that was not there before is deleted again where the run is refused before it has written anything in it.
        """
        made = [each for each in (self.path, *self.path.parents) if not each.exists()]
        with lock_folder(self.path, "in use by another training process: wait, or name another folder"):
            try:
                self._keep_config()
                yield
            except (BadInput, MissingTool):
                if made:
                    self._take_back(made)
                raise

    def _take_back(self, made: Sequence[Path]) -> None:
        """Delete what `locked` has made: the folders, from the innermost out, where nothing else is in them."""
        if {each.name for each in self.path.iterdir()} <= {"config.yaml", "lock"}:
            for name in ("config.yaml", "lock"):
                (self.path / name).unlink(missing_ok=True)
            with suppress(OSError):  # another process has begun to use one of them
                for folder in made:
                    folder.rmdir()

    def _keep_config(self) -> None:
        file = self.path / "config.yaml"
        if not file.exists() or not self.steps():
            if self.steps():
                raise BadConfig(f"out {self.path}: contains checkpoints of an unknown run: name another folder")
            write_atomic(file, yaml.safe_dump(self._config.model_dump(mode="json"), sort_keys=False))
            return
        before = load(type(self._config), file)
        changed = differences(before.model_dump(mode="json"), self._config.model_dump(mode="json"), self._free)
        if changed:
            raise BadConfig(
                f"out {self.path}: {other_settings(changed)}: restore them, or name another folder; the old ones are in "
                f"{file}"
            )

    def step_folder(self, step: int) -> Path:
        return checkpoint.folder_of(self.path, step)

    def steps(self) -> list[int]:
        """Return the steps that have a checkpoint, in ascending order."""
        return sorted(checkpoint.steps_of(self.path))

    @property
    def best(self) -> dict[str, Any] | None:
        """The content of best.json: {"step": …, "by": metric, "value": …}; None before the first measurement.

        Raises BadInput if it is damaged.
        """
        return checkpoint.best_of(self.path)

    def update_best(self, step: int, by: str, value: float, *, lower: bool = False) -> None:
        """Record the checkpoint of `step` as the best if its value is above all earlier ones. lower: lower is better."""
        if not math.isfinite(value):
            return
        before = self.best
        if (
            before is not None
            and before["step"] != step
            and (before.get("value", value) <= value if lower else before.get("value", value) >= value)
        ):
            return
        checkpoint.set_best(self.path, step, by=by, value=value)

    def evaluated(self) -> set[int]:
        """Return the steps whose evaluation battles have been played."""
        file = self.path / EVALUATIONS
        return {line["step"] for line in json_lines(file)}

    def record_evaluation(self, step: int, details: dict[str, Any]) -> None:
        """Append a checkpoint's evaluation to evaluations.jsonl."""
        file = self.path / EVALUATIONS
        before = file.read_text() if file.exists() else ""
        write_atomic(file, before + json.dumps({"step": step, **details}) + "\n")

    def prune(self, keep: int) -> None:
        """Delete all checkpoints except the latest `keep` and the best."""
        best = (self.best or {"step": None})["step"]
        for step in self.steps()[:-keep]:
            if step != best:
                shutil.rmtree(self.step_folder(step))
