"""Builds a dataset from stored battles, atomically; an existing dataset that was built with the same options is reused."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.progress import track

from arena.terminal.console import Console
from teamsets.locking import file_lock
from training.data.from_store import selected, trajectories
from training.data.gates import Gates, left_out_suffix
from training.data.hold_out import By, parts
from training.data.rebuild_command import HELD_OUT, read_gates
from training.data.shards import BadData, Dataset, opened
from training.data.split_writer import SplitWriter
from training.data.targets import without_target
from training.data.trajectory import MISSING
from training.data.win_probabilities import refused_lines
from training.runs.settings import differences, other_settings


@dataclass(frozen=True)
class Built:
    """The result of `build_once`. datasets: the dataset and, if any, its held-out part. new: False if it existed already.

    left_out: reason -> number of sides that did not pass the gates. no_target: reason -> number of decisions without a
    policy target (training/data/targets.py). Both are empty if the dataset existed already.
    """

    datasets: tuple[Dataset, ...]
    new: bool
    left_out: Counter[str] = field(default_factory=Counter)
    no_target: Counter[str] = field(default_factory=Counter)


def build_once(
    db: Path,
    where: str,
    out: Path,
    gates: Gates,
    hold_out: float,
    *,
    hold_out_by: By = "pairs",
    by_expert: bool = False,
    workers: int | None = None,
    replace: bool = False,
) -> Built:
    """Build the dataset `out` from the stored sides that match `where` and pass the gates, unless it exists already.

    where: SQL condition over the columns `from_store.COLUMNS`. hold_out: fraction of the battles to hold out; they go to the
    dataset `out`-held-out (training/data/hold_out.py). by_expert: the sides are an expert's, so that the probabilities that
    a policy reported for its own decisions are targets too. workers: processes; None: one per core. replace: rebuild an
    existing dataset. Prints on stderr how many diagnostics were rejected as win probabilities. Raises BadData, also if
    `out` exists and was built with other options.
    """
    options: dict[str, Any] = {
        "source": "arena", "database": str(db), "where": where, "gates": asdict(gates), "hold_out": hold_out,
        "by_expert": by_expert,
    }  # fmt: skip
    if hold_out and hold_out_by != "pairs":  # datasets of earlier versions are by pairs, and do not have the key
        options["hold_out_by"] = hold_out_by
    held_out = out.with_name(out.name + HELD_OUT)
    folders = (out, held_out) if hold_out else (out,)
    with _locked(out):
        if out.exists() and not replace:
            _check_same_options(out, options)
            return Built(tuple(map(opened, folders)), new=False)
        left_out: Counter[str] = Counter()
        no_target: Counter[str] = Counter()
        refused: list[tuple[str, dict[str, int]]] = []
        chosen = gates.passed(db, selected(db, where), left_out)
        learned, measured = parts(chosen, hold_out, hold_out_by)
        unused = len(chosen) - len(learned) - len(measured)
        if unused:
            left_out["against a team that is held out"] += unused
            chosen = [side for side in chosen if (side.battle_id, side.seat) in learned | measured]
        try:
            with SplitWriter(out, options, hold_out, replace=replace) as writer:
                observed = trajectories(db, chosen, workers, by_expert=by_expert)
                for trajectory in track(
                    observed, "observing", total=len(chosen), console=Console(stderr=True), transient=True
                ):
                    if len(trajectory) < gates.min_decisions:
                        left_out[f"shorter than {gates.min_decisions} decisions"] += 1
                    else:
                        writer.add(
                            trajectory, held_out=(trajectory.about["battle"], trajectory.about["seat"]) in measured
                        )
                        no_target += without_target(trajectory.targets, trajectory.actions != MISSING)
                        refused.append((trajectory.about["agent"], trajectory.about.get("refused", {})))
        except BadData as error:
            raise BadData(f"{error}{left_out_suffix(left_out)}") from None
        for line in refused_lines(refused):
            print(line, file=sys.stderr)
        return Built(tuple(map(opened, folders)), new=True, left_out=left_out, no_target=no_target)


def _check_same_options(out: Path, options: dict[str, Any]) -> None:
    about = opened(out).about
    if "gates" in about:
        about = {**about, "gates": read_gates(about["gates"])}
    changed = differences({name: about.get(name) for name in options}, json.loads(json.dumps(options)))
    if changed:
        raise BadData(f"dataset {out}: {other_settings(changed, 'built')}: delete it, or name another folder")


@contextmanager
def _locked(out: Path) -> Iterator[None]:
    """Hold the dataset's lock: one process builds it, others wait and then reuse it."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with file_lock(out.with_name(f".{out.name}.lock")):
        yield
