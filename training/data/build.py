"""A dataset from stored battles: made once, whole or not at all, and left as it is when it is asked for again."""

from __future__ import annotations

import fcntl
import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from training.data.chances import refused_lines
from training.data.from_store import selected, trajectories
from training.data.gates import Gates, words
from training.data.hold_out import By, parts
from training.data.orders import HELD_OUT
from training.data.shards import BadData, Dataset, DatasetWriter, opened
from training.data.targets import without_target
from training.data.trajectory import MISSING


@dataclass(frozen=True)
class Built:
    """datasets: the one that was asked for, and the part held out if there is one. new: made just now.

    left_out: reason -> sides that did not pass the gates; no_target: reason -> decisions without a target for the policy
    (training/data/targets.py). Both are empty where nothing was made.
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
    """Makes the dataset `out` of the sides that `where` names and that pass the gates, unless it is there by this order.

    hold_out: the share of the battles that is not learned from: `out`-held-out has of them what is measured
    (training/data/hold_out.py). by_expert: the sides are an expert's: the probabilities that a policy has kept with its own
    decisions are targets, too. workers: processes, one a core where it is not told. replace: make anew what is there.
    Diagnostics that are not taken as a chance to win are counted on stderr. Raises BadData, also where a dataset of another
    order is there.
    """
    order: dict[str, Any] = {
        "source": "arena", "database": str(db), "where": where, "gates": asdict(gates), "hold_out": hold_out,
        "by_expert": by_expert,
    }  # fmt: skip
    if hold_out and hold_out_by != "pairs":  # older datasets, by pairs, say nothing of it
        order["hold_out_by"] = hold_out_by
    held_out = out.with_name(out.name + HELD_OUT)
    folders = (out, held_out) if hold_out else (out,)
    with _alone(out):
        if out.exists() and not replace:
            _same_order(out, order)
            return Built(tuple(map(opened, folders)), new=False)
        left_out: Counter[str] = Counter()
        no_target: Counter[str] = Counter()
        refused: list[tuple[str, dict[str, int]]] = []
        chosen = gates.passed(db, selected(db, where), left_out)
        learned, measured = parts(chosen, hold_out, hold_out_by)
        unused = len(chosen) - len(learned) - len(measured)
        if unused:
            left_out["against a team that is held out"] += unused
            chosen = [one for one in chosen if (one.battle_id, one.seat) in learned | measured]
        try:
            with ExitStack() as stack:
                # The dataset is renamed last: a part held out without one is what a killed process left.
                writers = [stack.enter_context(DatasetWriter(out, order, replace=replace))]
                if hold_out:
                    told = {**order, "held_out": True}
                    writers.append(stack.enter_context(DatasetWriter(held_out, told, replace=True)))
                given: Counter[bool] = Counter()
                found = trajectories(db, chosen, workers, by_expert=by_expert)
                for one in track(found, "observing", total=len(chosen), console=Console(stderr=True), transient=True):
                    if len(one) < gates.least_decisions:
                        left_out[f"shorter than {gates.least_decisions} decisions"] += 1
                    else:
                        aside = (one.about["battle"], one.about["seat"]) in measured
                        writers[aside].add(one)
                        given[aside] += 1
                        no_target += without_target(one.targets, one.actions != MISSING)
                        refused.append((one.about["agent"], one.about.get("refused", {})))
                if hold_out and given[False] and not given[True]:
                    raise BadData(
                        f"dataset {held_out}: a fraction of {hold_out:g} selects no side: hold out more, or 0"
                    )
        except BadData as error:
            raise BadData(f"{error}{words(left_out)}") from None
        for line in refused_lines(refused):
            print(line, file=sys.stderr)
        return Built(tuple(map(opened, folders)), new=True, left_out=left_out, no_target=no_target)


def _same_order(out: Path, order: dict[str, Any]) -> None:
    about = opened(out).about
    other = [name for name, value in json.loads(json.dumps(order)).items() if about.get(name) != value]
    if other:
        told = ", ".join(f"{name} {about.get(name)!r}" for name in other)
        raise BadData(f"dataset {out}: exists already, built with {told}: delete it, or name another folder")


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """One process at a time makes the dataset; the others wait, and find it."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.with_name(f".{out.name}.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
