"""Metrics of a run: metrics.jsonl with a line per measurement, the same in wandb and TensorBoard, and a live line.

The id of the wandb run is stored in the run's folder, so that a resumed run continues the same curves.
"""

from __future__ import annotations

import importlib.util
import json
import netrc
import os
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import yaml
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn
from rich.table import Column

from arena.report.live import LINE_EVERY_SECONDS, format_seconds
from arena.terminal.console import Console
from teamsets.atomic import write_atomic
from teamsets.errors import MissingTool
from training.runs.common_settings import TrackingSettings as Settings
from training.runs.run_folder import json_lines

#: The folder of TensorBoard's event files in a run's folder.
TENSORBOARD = "tensorboard"
#: Seconds after which a run that cannot reach the wandb server continues offline.
_WANDB_TIMEOUT = 20.0
#: Minimum width of the terminal, in columns, for a progress bar.
_WIDE = 110


class Pace:
    """Training speed since the start, or since the last `restart` after other work (a checkpoint, evaluation battles)."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.restart()

    def restart(self) -> None:
        """Start counting again from now."""
        self._began, self._steps, self._decisions = self._clock(), 0, 0

    def stepped(self, decisions: int) -> None:
        """Count a finished step on so many decisions."""
        self._steps += 1
        self._decisions += decisions

    @property
    def decisions_per_s(self) -> float:
        return self._decisions / max(self._clock() - self._began, 1e-9)

    def seconds_for(self, steps: int) -> float | None:
        """Estimate the seconds that so many steps take; None before the first step."""
        return None if not self._steps else steps * (self._clock() - self._began) / self._steps


class Tracked(Protocol):
    """A configuration of a run: `Config`, or `OnlineConfig`."""

    @property
    def name(self) -> str: ...

    @property
    def tracking(self) -> Settings: ...

    def model_dump(self) -> dict[str, Any]: ...


class Tracking:
    """Logs metrics: `with Tracking(config, folder, step, total) as tracking: tracking.note(step, {...})`.

    step: the step that the run resumes from; metrics of later steps, which an interrupted process logged, are removed.
    """

    def __init__(self, config: Tracked, folder: Path, step: int, total: int, console: Console | None = None) -> None:
        self._config, self._folder, self._total = config, folder, total
        self._file = folder / "metrics.jsonl"
        _remove_after(self._file, step)
        self._console = console or Console(stderr=True)
        columns: list[ProgressColumn] = [TextColumn("{task.fields[words]}", table_column=Column(no_wrap=True))]
        if self._console.width >= _WIDE:
            columns.insert(0, BarColumn(bar_width=24))
        terminal = self._console.is_terminal
        self._progress = Progress(*columns, console=self._console, refresh_per_second=4, disable=not terminal)
        self._task = self._progress.add_task(config.name, total=total, completed=step, words="")
        self._next_line = 0.0
        self._step = step
        self._wandb: Any = None
        self._tensorboard: Any = None

    def __enter__(self) -> Tracking:
        if self._console.is_terminal:
            self._progress.start()
        self._wandb = _wandb_run(self._config, self._folder)
        self._tensorboard = _tensorboard_writer(self._config, self._folder, self._step)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._progress.stop()
        if self._tensorboard is not None:
            self._tensorboard.close()
        if self._wandb is not None:
            self._wandb.finish(exit_code=0 if kind is None else 1)

    def advance(self, step: int, means: dict[str, float], pace: Pace) -> None:
        """Show the progress of a training on data. means: since the last `note`."""
        remaining = format_seconds(pace.seconds_for(self._total - step))
        accuracy = f" · accuracy {100 * means['agreement']:.0f}%" if "agreement" in means else ""
        speed = f"{pace.decisions_per_s:,.0f} decisions/s"
        line = f"{step:,}/{self._total:,} · loss {means['loss']:.3f}{accuracy} · {speed} · {remaining} left"
        self.show(step, line)

    def show(self, step: int, line: str) -> None:
        """Show a line of the state after `step` steps: in place on a terminal, at intervals in a log."""
        self._progress.update(self._task, completed=step, words=line)
        now = time.monotonic()
        if not self._console.is_terminal and (now >= self._next_line or step == self._total):
            self._next_line = now + LINE_EVERY_SECONDS
            self.say(line)

    def doing(self, step: int, activity: str) -> None:
        """Show the current activity on the terminal's live line."""
        self._progress.update(self._task, completed=step, words=f"{step:,}/{self._total:,} · {activity} ...")

    def note(self, step: int, metrics: dict[str, float], summary: str = "") -> None:
        """Log metrics measured after `step` steps. summary: a line to print."""
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"step": step, **metrics}) + "\n")
        if self._wandb is not None:
            self._wandb.log(metrics, step=step)
        if self._tensorboard is not None:
            for name, value in metrics.items():
                self._tensorboard.add_scalar(name, value, step)
        if summary:
            self.say(f"{step:,}/{self._total:,} · {summary}")

    def say(self, line: str) -> None:
        """Print a line above the live line."""
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def _remove_after(file: Path, step: int) -> None:
    """Remove the lines of steps after `step`, which will be logged again, and a truncated last line."""
    if not file.exists():
        return
    kept = [line for line in json_lines(file, cut_off=True) if line["step"] <= step]
    write_atomic(file, "".join(json.dumps(line) + "\n" for line in kept))


def _tensorboard_writer(config: Tracked, folder: Path, step: int) -> Any:
    """Return a writer of event files; None if they are not wanted. Raises MissingTool without the package.

    step: that the run resumes from. TensorBoard leaves out what an interrupted process wrote of later steps.
    """
    if not config.tracking.tensorboard:
        return None
    if importlib.util.find_spec("tensorboard") is None:
        raise MissingTool(
            "tracking.tensorboard: tensorboard is not installed: pip install 'battle-arena[tensorboard]' (in a clone: "
            ".venv/bin/uv pip install -c constraints.txt -e '.[tensorboard]'), or set tracking.tensorboard to false"
        )
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(str(folder / TENSORBOARD), purge_step=step + 1 if step else None)
    if not step:
        writer.add_text("config", f"```\n{yaml.safe_dump(config.model_dump(), sort_keys=False)}```", 0)
    return writer


def _wandb_run(config: Tracked, folder: Path) -> Any:
    """Start or resume the wandb run; None if it is disabled. Raises MissingTool if it is not, and wandb is not installed."""
    mode = config.tracking.wandb
    if mode == "auto":
        mode = "online" if _has_key() else "offline"
    if mode == "disabled":
        return None
    if importlib.util.find_spec("wandb") is None:
        raise MissingTool(
            "tracking.wandb: wandb is not installed: `make training` installs it; or set tracking.wandb to disabled"
        )
    import wandb

    os.environ.setdefault("WANDB_SILENT", "true")  # wandb mistakes our package `agents` for another and prints a hint
    id_file = folder / "wandb-id"
    if not id_file.exists():
        write_atomic(id_file, uuid.uuid4().hex[:8])

    def start(mode: Any) -> Any:
        return wandb.init(
            project=config.tracking.project,
            name=config.name,
            id=id_file.read_text(),
            resume="allow",
            dir=str(folder),
            config=config.model_dump(),
            mode=mode,
            settings=wandb.Settings(silent=True, console="off", init_timeout=_WANDB_TIMEOUT),
        )

    try:
        return start(mode)
    except wandb.Error as error:
        if mode == "offline":
            raise
        message = f"wandb could not be reached ({error}): continuing offline; `wandb sync` uploads it later"
        print(f"train: {message}", file=sys.stderr)
        return start("offline")


def _has_key() -> bool:
    """Return whether wandb has an API key: WANDB_API_KEY, or an entry in ~/.netrc."""
    if os.environ.get("WANDB_API_KEY"):
        return True
    try:
        return netrc.netrc().authenticators("api.wandb.ai") is not None
    except (FileNotFoundError, netrc.NetrcParseError):
        return False
