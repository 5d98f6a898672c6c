"""Files of a curriculum: report.html, and each checkpoint's evaluation against the pool.

The latter are evaluation.json and evaluation.md in the stage's folder. All are written atomically from the database.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from arena.report.numbers import clear, difference, interval, percent_of, whole
from teamsets.atomic import write_atomic
from teamsets.errors import BadInput
from training.experiments.curriculum.lineage import ALL, lineage
from training.experiments.curriculum.page import section
from training.experiments.curriculum.store import CurriculumStore

#: The report, in the curriculum's folder.
PAGE = "report.html"


def write_page(db: Path, name: str, path: Path) -> None:
    """Write the curriculum's report as one HTML file. Raises BadInput if the file cannot be written."""
    page = section.page(lineage(db, name))
    try:
        write_atomic(path, page)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; name a file in a writable folder") from None


def write_evaluation(store: CurriculumStore, checkpoint: str, folder: Path) -> None:
    """Write a checkpoint's evaluation.json and evaluation.md."""
    row = store.measured(checkpoint)
    assert row is not None and row["details"] is not None
    row = {**row, "details": json.loads(row["details"])}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("evaluation.json", json.dumps(row, indent=1)), ("evaluation.md", markdown(row))):
        write_atomic(folder / name, text + "\n")


def markdown(row: dict[str, Any]) -> str:
    """Format a checkpoint's evaluation as Markdown."""
    shares, team_sets = row["details"]["shares"], row["details"]["team_sets"]
    at = {(each["opponent"], each["team_set"]): each for each in shares}
    sets = [*team_sets, ALL] if len(team_sets) > 1 else team_sets
    opponents = [*sorted({opponent for opponent, _ in at} - {ALL}), ALL]
    changed = row["parent"] is not None
    lines = [
        f"# {row['checkpoint']}",
        "",
        f"{whole(row['elo'])} Elo [{whole(row['low'])}, {whole(row['high'])}] on the held-out teams"
        + (f"; its parent is {row['parent']}." if changed else "; the base checkpoint."),
        "",
        "Scores in %, with 95% intervals. `all` averages over opponents and team sets with equal weight.",
        "",
        *_table(
            ["opponent", *sets, *_gap_heads(row)],
            [
                [_name(opponent), *(_share(at.get((opponent, name))) for name in sets), *_gap_cells(row, opponent)]
                for opponent in opponents
            ],
        ),
    ]
    if changed:
        lines += [
            "",
            "## Change since the parent",
            "",
            *_table(
                ["opponent", *sets],
                [[_name(opponent), *(_change(at.get((opponent, name))) for name in sets)] for opponent in opponents],
            ),
            "",
            "In percentage points. **Bold**: the interval excludes 0 (not corrected: about 1 in 20 cells does so by "
            "chance).",
        ]
    return "\n".join(lines)


def _gap_heads(row: dict[str, Any]) -> list[str]:
    return [f"{row['details']['team_sets'][0]} − {name}" for name in row["details"]["team_sets"][1:]]


def _gap_cells(row: dict[str, Any], opponent: str) -> list[str]:
    gaps = {(gap["opponent"], gap["less_on"]): gap for gap in row["details"]["gaps"]}
    matching = [gaps.get((opponent, name)) for name in row["details"]["team_sets"][1:]]
    return [_points(gap and gap["gap"], gap and gap["low"], gap and gap["high"]) for gap in matching]


def _share(cell: dict[str, Any] | None) -> str:
    return "–" if cell is None else f"{percent_of(cell['score'])} {interval(cell['low'], cell['high'])}"


def _change(cell: dict[str, Any] | None) -> str:
    if cell is None or cell["change"] is None:
        return "–"
    return _points(cell["change"], cell["change_low"], cell["change_high"])


def _points(value: float | None, low: float | None, high: float | None) -> str:
    if value is None or low is None or high is None:
        return "–"
    text = difference(value, low, high)
    return f"**{text}**" if clear(low, high) else text


def _name(opponent: str) -> str:
    return opponent if opponent == ALL else f"`{opponent}`"


def _table(heads: list[str], body: list[list[str]]) -> list[str]:
    ruler = ["---", *["---:"] * (len(heads) - 1)]
    return ["| " + " | ".join(cells) + " |" for cells in [heads, ruler, *body]]
