"""What a run reports: a line of JSON for each measurement in metrics.jsonl, the same in wandb, and a live line.

The wandb run's id is kept with the run, so that one that goes on after a kill continues the same curves.
"""

from __future__ import annotations

import json
import netrc
import os
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import wandb
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn
from rich.table import Column

from arena.report.live import LINE_EVERY_SECONDS, spoken
from training.config import Config

#: How long wandb may look for its server before the run goes on offline, in seconds.
_PATIENCE = 20.0
#: Columns of a terminal from which on there is room for a bar, too.
_WIDE = 110


class Pace:
    """How fast a run goes: since its start, or since what was no training (a checkpoint, battles) was left out."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.restart()

    def restart(self) -> None:
        """Counts anew from now."""
        self._began, self._steps, self._decisions = self._clock(), 0, 0

    def stepped(self, decisions: int) -> None:
        """A step on so many decisions is done."""
        self._steps += 1
        self._decisions += decisions

    @property
    def decisions_per_s(self) -> float:
        return self._decisions / max(self._clock() - self._began, 1e-9)

    def seconds_for(self, steps: int) -> float | None:
        """How long so many steps will take; None before the first."""
        return None if not self._steps else steps * (self._clock() - self._began) / self._steps


class Tracking:
    """`with Tracking(config, folder, step, total) as tracking: tracking.note(step, {...})`.

    step: where the run stands; measurements after it, of a process that was killed, are taken back.
    """

    def __init__(self, config: Config, folder: Path, step: int, total: int, console: Console | None = None) -> None:
        self._config, self._folder, self._total = config, folder, total
        self._file = folder / "metrics.jsonl"
        _forget_after(self._file, step)
        self._console = console or Console(stderr=True)
        columns: list[ProgressColumn] = [TextColumn("{task.fields[words]}", table_column=Column(no_wrap=True))]
        if self._console.width >= _WIDE:
            columns.insert(0, BarColumn(bar_width=24))
        terminal = self._console.is_terminal
        self._progress = Progress(*columns, console=self._console, refresh_per_second=4, disable=not terminal)
        self._task = self._progress.add_task(config.name, total=total, completed=step, words="")
        self._next_line = 0.0
        self._wandb: Any = None

    def __enter__(self) -> Tracking:
        if self._console.is_terminal:
            self._progress.start()
        self._wandb = _wandb_run(self._config, self._folder)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._progress.stop()
        if self._wandb is not None:
            self._wandb.finish(exit_code=0 if kind is None else 1)

    def advance(self, step: int, means: dict[str, float], pace: Pace) -> None:
        """The live line: refreshed in place on a terminal, a line now and then in a log. means: since the last metrics."""
        left = pace.seconds_for(self._total - step)
        accuracy = f" · accuracy {100 * means['agreement']:.0f}%" if "agreement" in means else ""
        speed = f"{pace.decisions_per_s:,.0f} decisions/s"
        words = f"{step:,}/{self._total:,} · loss {means['loss']:.3f}{accuracy} · {speed} · {spoken(left)} left"
        self._progress.update(self._task, completed=step, words=words)
        now = time.monotonic()
        if not self._console.is_terminal and (now >= self._next_line or step == self._total):
            self._next_line = now + LINE_EVERY_SECONDS
            self.say(words)

    def doing(self, step: int, words: str) -> None:
        """What is done now instead of learning, on the terminal's live line."""
        self._progress.update(self._task, completed=step, words=f"{step:,}/{self._total:,} · {words} ...")

    def note(self, step: int, metrics: dict[str, float], words: str = "") -> None:
        """Keeps what was measured after `step` steps. words: the same for people."""
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"step": step, **metrics}) + "\n")
        if self._wandb is not None:
            self._wandb.log(metrics, step=step)
        if words:
            self.say(f"{step:,}/{self._total:,} · {words}")

    def say(self, words: str) -> None:
        """A line for whoever looks on."""
        self._console.print(words, markup=False, highlight=False, soft_wrap=True)


def _forget_after(file: Path, step: int) -> None:
    """Takes back the lines of later steps than `step`, which will be measured again, and one that was cut off."""
    if not file.exists():
        return
    kept = []
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            known = json.loads(line)["step"] <= step
        except ValueError:  # the process was killed while it wrote this line, its last
            break
        if known:
            kept.append(line + "\n")
    partial = file.with_suffix(".partial")
    partial.write_text("".join(kept), encoding="utf-8")
    partial.replace(file)


def _wandb_run(config: Config, folder: Path) -> Any:
    """The run at wandb, new or continued; None where it is switched off."""
    mode = config.tracking.wandb
    if mode == "auto":
        mode = "online" if _has_key() else "offline"
    if mode == "disabled":
        return None
    os.environ.setdefault("WANDB_SILENT", "true")  # it takes our package `agents` for another and advertises
    id_file = folder / "wandb-id"
    if not id_file.exists():
        id_file.write_text(uuid.uuid4().hex[:8])

    def start(mode: Any) -> Any:
        return wandb.init(
            project=config.tracking.project,
            name=config.name,
            id=id_file.read_text(),
            resume="allow",
            dir=str(folder),
            config=config.model_dump(),
            mode=mode,
            settings=wandb.Settings(silent=True, console="off", init_timeout=_PATIENCE),
        )

    try:
        return start(mode)
    except wandb.Error as error:
        if mode == "offline":
            raise
        words = f"wandb could not be reached ({error}): continuing offline; `wandb sync` uploads it later"
        print(f"train: {words}", file=sys.stderr)
        return start("offline")


def _has_key() -> bool:
    """Whether wandb would find somebody to be: WANDB_API_KEY, or an entry in ~/.netrc."""
    if os.environ.get("WANDB_API_KEY"):
        return True
    try:
        return netrc.netrc().authenticators("api.wandb.ai") is not None
    except (FileNotFoundError, netrc.NetrcParseError):
        return False
