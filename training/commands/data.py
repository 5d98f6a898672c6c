"""`train data`: datasets from battles, and what is in them."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import click
from rich.progress import track

from arena.replays.reading import End, day
from arena.terminal.commands import db_option, json_option, print_json
from arena.terminal.console import Console
from training.commands.options import hold_out_option, selection_options, show_built, warn_of_biased_values
from training.data.build import build_once
from training.data.from_store import selected
from training.data.gates import Gates, left_out_suffix
from training.data.hold_out import By, uniform_hash
from training.data.metamon.export import export
from training.data.metamon.files import people_trajectories
from training.data.replay_import import Filters
from training.data.shards import BadData, opened
from training.data.split_writer import SplitWriter
from training.data.stats import count, show

RESULTS = {"won": 1.0, "tied": 0.5, "lost": 0.0}
ENDS: tuple[End, ...] = get_args(End)
POLICY_FROM = "leave --result out and set policy_from: won for this dataset under data.train"


@click.group()
def data() -> None:
    """Build and inspect datasets of battles and replays."""


@data.command()
@selection_options
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder of the dataset.")
@click.option("--replace", is_flag=True, help="Rebuild an existing dataset.")
@json_option
def build(
    db: Path,
    where: str,
    out: Path,
    hold_out: float,
    hold_out_by: By,
    by_expert: bool,
    workers: int | None,
    replace: bool,
    as_json: bool,
    **gates: Any,
) -> None:
    """Build a dataset from stored battles. A dataset that exists already, built with the same options, is left as it is.

    --where is an SQL condition on one side of a battle, with the columns: battle_id, run_id, format, team_set, pair, seat,
    agent, opponent, team_id, opponent_team_id, outcome, score, won, at_fault, reason, turns, started.

    \b
    Examples:
      train data build --where "format = 'gen1ou'" --out data/battles
      train data build --where "agent LIKE 'search:%'" --drop-faulty --out data/search --hold-out 0.02
    """
    warn_of_biased_values(gates["result"], POLICY_FROM)
    built = build_once(
        db, where, out, Gates(**gates), hold_out,
        hold_out_by=hold_out_by, by_expert=by_expert, workers=workers, replace=replace,
    )  # fmt: skip
    if as_json:
        print_json(asdict(built))
    else:
        show_built(built)
    if not built.new:
        print("the dataset exists already, built with the same options: --replace rebuilds it", file=sys.stderr)


@data.command("import")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder of the dataset.")
@click.option("--format", "format_id", help="Only this format.")
@click.option(
    "--min-rating",
    "--least-rating",
    "min_rating",
    type=int,
    help="Only battles in which both players have at least this rating. (--least-rating: former name)",
)
@click.option("--since", help="Only battles from this date on (2024-03-31).")
@click.option("--until", help="Only battles before this date.")
@click.option(
    "--result", type=click.Choice(list(RESULTS)), multiple=True, help="Only sides with this result. Can be repeated."
)
@click.option(
    "--ended", type=click.Choice(ENDS), multiple=True, help="Only battles that ended this way. Can be repeated."
)
@click.option(
    "--min-turns",
    "--least-turns",
    "min_turns",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Skip battles with fewer turns. (--least-turns: former name)",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Random seed for the sets that fill in unrevealed information.",
)
@hold_out_option
@click.option("--workers", type=click.IntRange(1), help="Processes that read metamon's files.  [default: one per core]")
@click.option("--replace", is_flag=True, help="Rebuild an existing dataset.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def import_(folder: Path, out: Path, since: str | None, until: str | None, hold_out: float, **options: Any) -> None:
    """Build a dataset from people's replays.

    It takes Showdown's replay JSON, raw logs, saved HTML pages, and metamon's parsed replays.

    Each player's point of view is reconstructed (docs/replays.md). Actions that a log does not reveal are masked in
    training. Unusable replays are counted by reason. Each of metamon's files (*.json.lz4) is one player's view and has only
    that player's rating.

    \b
    Examples:
      train data import replays --out data/people
      train data import replays --format gen1ou --min-rating 1500 --out data/good-people --hold-out 0.05
      train data import parsed-replays/gen1ou --out data/metamon
    """
    filters = Filters(
        format_id=options["format_id"],
        least_rating=options["min_rating"],
        since=None if since is None else day(since),
        until=None if until is None else day(until),
        ends=options["ended"] or ENDS,
        least_turns=options["min_turns"],
    )
    warn_of_biased_values(", ".join(options["result"]) or "any", POLICY_FROM)
    results = tuple(RESULTS[word] for word in options["result"]) or tuple(RESULTS.values())
    refused: Counter[str] = Counter()
    about: dict[str, Any] = {"source": "replays", "folder": str(folder), "filters": asdict(filters), "results": results}
    if hold_out:
        about["hold_out"] = hold_out
    try:
        with SplitWriter(out, about, hold_out, replace=options["replace"]) as writer:
            trajectories = people_trajectories(
                folder, filters, refused, results=results, seed=options["seed"], workers=options["workers"]
            )
            for trajectory in track(trajectories, "reading", console=Console(stderr=True), transient=True):
                # Both sides of a battle, and all of metamon's files of it, are in the same part.
                writer.add(trajectory, held_out=uniform_hash(str(trajectory.about["battle"])) < hold_out)
    except BadData as error:
        raise BadData(f"{error}{left_out_suffix(refused)}") from None
    counted, *held_out = [count(opened(folder)) for folder in writer.folders]
    if options["as_json"]:
        parts = {"held_out": held_out[0]} if held_out else {}
        print_json({**counted, **parts, "left_out": dict(refused.most_common())})
        return
    for part in (counted, *held_out):
        show(part)
    for reason, number in refused.most_common():
        print(f"left out: {number} {reason}")


@data.command("export")
@click.option("--metamon", is_flag=True, required=True, help="As metamon's parsed replays (*.json.lz4).")
@db_option
@click.option("--where", default="true", show_default=True, help="SQL condition on one side of a battle.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder of the files.")
@click.option("--workers", type=click.IntRange(1), help="Processes that read battles.  [default: one per core]")
@click.option("--replace", is_flag=True, help="Replace an existing folder.")
@json_option
def export_(metamon: bool, db: Path, where: str, out: Path, workers: int | None, replace: bool, as_json: bool) -> None:
    """Write stored battles in another program's format.

    --metamon: one file for each side, OUT/FORMAT/NAME.json.lz4, with metamon's state at every decision, as its own
    environment writes them; metamon.rl.train reads them as a custom replay folder, `train data import` reads them back.

    --where is an SQL condition as in `train data build`.

    \b
    Example:
      train data export --metamon --where "format = 'gen1ou' AND NOT at_fault" --out data/for-metamon
    """
    counted = export(db, selected(db, where), out, replace=replace, workers=workers)
    left_out = counted.pop("left out", 0)
    if as_json:
        print_json({"files": dict(counted), "left_out": left_out})
        return
    for format_id, number in counted.items():
        print(f"{out / format_id}: {number:,} files")
    if left_out:
        print(f"left out: {left_out:,} without a decision")


@data.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@json_option
def stats(folders: tuple[Path, ...], as_json: bool) -> None:
    """Count what datasets hold.

    They are counted by format, source, agent, result and length.

    \b
    Examples:
      train data stats data/battles
      train data stats data/battles data/humans --json
    """
    counted = [count(opened(folder)) for folder in folders]
    if as_json:
        print_json(counted)
        return
    for one in counted:
        show(one)
