"""`train data`: datasets from battles, and what is in them."""

from __future__ import annotations

import hashlib
import json
from contextlib import ExitStack
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track

from arena.commands.options import db_option
from training.data.from_store import selected, trajectories
from training.data.shards import DatasetWriter, opened
from training.data.stats import count, show
from training.data.trajectory import Trajectory

HELD_OUT = "-held-out"


@click.group()
def data() -> None:
    """Datasets for training: made from stored battles or people's replays, looked at."""


@data.command()
@db_option
@click.option("--where", default="true", show_default=True, help="SQL: which sides of which battles.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The dataset's folder.")
@click.option(
    "--hold-out",
    type=click.FloatRange(0, 0.9),
    default=0.0,
    show_default=True,
    metavar="SHARE",
    help=f"Share of the pairs of battles that goes into OUT{HELD_OUT} instead.",
)
@click.option("--workers", type=click.IntRange(1), help="Processes.  [default: one a core]")
@click.option("--replace", is_flag=True, help="Make a dataset anew that is there already.")
def build(db: Path, where: str, out: Path, hold_out: float, workers: int | None, replace: bool) -> None:
    """Make a dataset from stored battles.

    --where is a condition of SQL on one side of a battle: battle_id, run_id, format, team_set, pair, seat, agent, opponent,
    team_id, opponent_team_id, outcome, score, won, at_fault, reason, turns, started.

    \b
    Examples:
      train data build --out data/battles
      train data build --where "agent LIKE 'search:%' AND won" --out data/won --hold-out 0.02
    """
    chosen = selected(db, where)
    about = {"source": "arena", "database": str(db), "where": where, "hold_out": hold_out}
    with ExitStack() as stack:
        writer = stack.enter_context(DatasetWriter(out, about, replace=replace))
        held = None
        if hold_out:
            told = {**about, "held_out": True}
            held = stack.enter_context(DatasetWriter(out.with_name(out.name + HELD_OUT), told, replace=replace))
        found = trajectories(db, chosen, workers)
        for one in track(found, "observing", total=len(chosen), console=Console(stderr=True), transient=True):
            (held if held is not None and is_held_out(one, hold_out) else writer).add(one)
    for folder in (out, *([out.with_name(out.name + HELD_OUT)] if hold_out else [])):
        dataset = opened(folder)
        print(f"{folder}: {dataset.trajectories:,} trajectories, {dataset.decisions:,} decisions")


def is_held_out(one: Trajectory, share: float) -> bool:
    """By its pair of battles, so that both sides and both seatings lie on one side; the same for every dataset."""
    digest = hashlib.sha256(str(one.about.get("pair", one.about.get("battle"))).encode()).digest()
    return int.from_bytes(digest[:4], "little") / 2**32 < share


@data.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def stats(folders: tuple[Path, ...], as_json: bool) -> None:
    """Count what datasets hold: by format, source, agent, result and length.

    \b
    Examples:
      train data stats data/battles
      train data stats data/battles data/humans --json
    """
    counted = [count(opened(folder)) for folder in folders]
    if as_json:
        print(json.dumps(counted, indent=1))
        return
    for one in counted:
        show(one)
