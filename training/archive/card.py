"""The model card of an archive: what the network is, what it was made from, what it is worth, how to play it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from agents.policy import checkpoint
from arena.report.markdown import markdown_table
from arena.report.numbers import interval, percent_of
from teamsets.errors import BadInput
from training.archive.contents import ArchivedRun
from training.archive.ratings import StoredRating
from training.runs.run_folder import EVALUATIONS


def model_card(
    run: ArchivedRun,
    about: dict[str, Any],
    license_name: str,
    *,
    has_text: bool,
    play: str = "",
    ratings: Sequence[StoredRating] = (),
) -> str:
    """The card as Markdown. about: of `contents.about`. license_name: "" if none was chosen. has_text: as a file LICENSE.

    play: the commands that play it; "": those of an archive. ratings: of the database.
    """
    config = run.config
    parts = [
        f"# {about['name']}",
        f"A network for Pokémon battles, trained by battle-arena with `{_algorithm(config)}`: step {about['step']:,}.",
        "## Play it",
        play
        or f"    train unarchive {about['name']}.tar.zst\n"
        f"    arena evaluate policy:{about['name']} heuristic:max-damage --format {_format(config)} --battles 40",
        "## What it is worth",
        *_ratings(ratings),
        _worth(run),
        "## What it was made from",
        _table("data", "SHA-256", about["data"]) if about["data"] else "Its configuration names no data.",
        _lineage(about["lineage"]),
        "## Licence",
        f"{license_name}{' (the file `LICENSE`)' if has_text else ''}." if license_name else _NO_LICENSE,
        "## Network and environment",
        _table("network", "value", about["shape"]),
        _table("environment", "version", about["environment"]),
        "## Configuration",
        "```yaml\n" + yaml.safe_dump(config, sort_keys=False).rstrip() + "\n```",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


_NO_LICENSE = "None was chosen. Choose one with `train archive --license` before you publish this."


def _algorithm(config: dict[str, Any]) -> str:
    return str(config.get("algorithm", {}).get("name", "an unknown algorithm"))


def _format(config: dict[str, Any]) -> str:
    formats = config.get("evaluation", {}).get("formats") or ["gen1ou"]
    return str(config.get("format") or formats[0])


def _table(head: str, value: str, cells: Mapping[str, Any]) -> str:
    return markdown_table([head, value], [[name, str(cell)] for name, cell in cells.items()], numbers=set())


def _ratings(ratings: Sequence[StoredRating]) -> list[str]:
    """A table of ratings, and one of opponents for each."""
    if not ratings:
        return []
    table = [
        [
            each.row["agent"],
            each.format,
            ", ".join(each.team_sets),
            f"{each.row['elo']:.0f} [{each.row['low']:.0f}, {each.row['high']:.0f}]",
            f"{each.row['rank']} of {each.of}",
            each.anchor,
            f"{each.row['games']:,}",
        ]
        for each in ratings
    ]
    heads = ["agent", "format", "teams", "Elo, 95%", "rank", "anchor = 1000", "battles"]
    blocks = [
        "Ratings by one joint fit over the stored battles of a run; the opponents are below, and a rating means nothing "
        "without them. If such battles selected the checkpoint, its figures are too high.",
        markdown_table(heads, table, numbers={6}),
    ]
    for each in ratings:
        rows = [
            [
                cell["opponent"],
                f"{percent_of(cell['score'])} {interval(cell['low'], cell['high'])}",
                f"{cell['battles']:,}",
            ]
            for cell in each.against
        ]
        blocks.append(f"`{each.row['agent']}` in {each.format}, run {each.run}:")
        blocks.append(markdown_table(["opponent", "win rate in %, 95%", "battles"], rows, numbers={2}))
    return blocks


def _worth(run: ArchivedRun) -> str:
    rows = []
    try:
        for evaluation in run.evaluations:
            for format_id, rated in evaluation["formats"].items():
                for opponent, cell in rated["against"].items():
                    score = f"{100 * cell['score']:.1f} [{100 * cell['low']:.1f}, {100 * cell['high']:.1f}]"
                    rows.append([opponent, format_id, score, str(cell["battles"])])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise BadInput(
            f"{run.folder / EVALUATIONS}: damaged: a line of step {checkpoint.read(run.checkpoint).step} is no evaluation: "
            "delete that line"
        ) from None
    if not rows:
        return "It was not evaluated in battles while it was trained."
    return (
        "Battles of this checkpoint that were played while it was trained, in % with 95% intervals. If they also selected "
        "the checkpoint, the figures are too high: measure on other seeds.\n\n"
        + markdown_table(["opponent", "format", "score (%)", "battles"], rows, numbers={3})
    )


def _lineage(lineage: list[Any]) -> str:
    if not lineage:
        return "It began with random weights."
    steps = "\n".join(f"- {one['checkpoint']}, step {one['step']}: {one['identity']}" for one in lineage)
    return f"Checkpoints that it began from, the first one first (hash of shape and weights):\n\n{steps}"
