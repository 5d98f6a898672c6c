"""`train data`: datasets from battles, and what is in them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import click
from rich.console import Console
from rich.progress import track

from arena.commands.options import db_option
from arena.human.reading import End, day
from training.data.from_store import selected, trajectories
from training.data.replay_import import Filters, replay_trajectories
from training.data.shards import BadData, DatasetWriter, opened
from training.data.stats import count, show
from training.data.trajectory import Trajectory

HELD_OUT = "-held-out"
RESULTS = {"won": 1.0, "tied": 0.5, "lost": 0.0}
ENDS: tuple[End, ...] = get_args(End)


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


@data.command("import")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The dataset's folder.")
@click.option("--format", "format_id", help="Only this format.")
@click.option("--least-rating", type=int, help="Only battles in which both players are rated so high.")
@click.option("--since", help="Only battles from this day on (2024-03-31).")
@click.option("--until", help="Only battles before this day.")
@click.option(
    "--result", type=click.Choice(list(RESULTS)), multiple=True, help="Only sides with this result; repeatable."
)
@click.option("--ended", type=click.Choice(ENDS), multiple=True, help="Only battles that ended so; repeatable.")
@click.option("--least-turns", type=click.IntRange(1), default=1, show_default=True, help="Leave out shorter battles.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which sets stand for what was not shown.")
@click.option("--replace", is_flag=True, help="Make a dataset anew that is there already.")
@click.option("--json", "as_json", is_flag=True, help="The counts as JSON.")
def import_(folder: Path, out: Path, since: str | None, until: str | None, **said: Any) -> None:
    """Make a dataset from people's replays: Showdown's replay JSON, raw logs, saved HTML pages.

    Each player's point of view is reconstructed (docs/replays.md). Actions that a log does not tell are marked as missing
    and are not learned; replays that cannot be used are counted with their reasons.

    \b
    Examples:
      train data import replays --out data/people
      train data import replays --format gen1ou --least-rating 1500 --result won --out data/good-people
    """
    filters = Filters(
        format_id=said["format_id"],
        least_rating=said["least_rating"],
        since=None if since is None else day(since),
        until=None if until is None else day(until),
        ends=said["ended"] or ENDS,
        least_turns=said["least_turns"],
    )
    results = tuple(RESULTS[word] for word in said["result"]) or tuple(RESULTS.values())
    refused: Counter[str] = Counter()
    about = {"source": "replays", "folder": str(folder), "filters": asdict(filters), "results": results}
    try:
        with DatasetWriter(out, about, replace=said["replace"]) as writer:
            found = replay_trajectories(folder, filters, refused, results=results, seed=said["seed"])
            for one in track(found, "reading", console=Console(stderr=True), transient=True):
                writer.add(one)
    except BadData as error:
        why = ", ".join(f"{number} {reason}" for reason, number in refused.most_common(5))
        raise BadData(f"{error}{f' (left out: {why})' if why else ''}") from None
    counted = count(opened(out))
    if said["as_json"]:
        print(json.dumps({**counted, "left_out": dict(refused.most_common())}, indent=1))
        return
    show(counted)
    for reason, number in refused.most_common():
        print(f"left out: {number} {reason}")


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
