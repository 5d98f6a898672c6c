"""The report as Markdown, for a README, an issue or a log."""

from __future__ import annotations

import re
from collections.abc import Sequence

from arena.ratings.evidence import BASE
from arena.report.exploitability import BOUND, exploitability_table
from arena.report.findings import chance_of_better, match_facts
from arena.report.numbers import counted, duration, nash_percent, percent, plural, result_unit, result_units
from arena.report.series import series_table, series_title
from arena.report.summary_types import (
    BestResponseSummary,
    FormatSummary,
    MatchReport,
    ReportSummary,
    SweepSummary,
    WinRate,
)
from arena.report.sweeps import sweep_table
from arena.terminal.output import shown

#: What Markdown would take for markup: a bracket only as the beginning of a link.
_SPECIAL = re.compile(r"([\\`*_<|~]|\[(?=[^\]]*\]\())")


def render(summary: ReportSummary) -> str:
    """Format the report without its battles."""
    run = summary["run"]
    blocks = [
        f"# Battle arena: run {run['id']}",
        points(summary["findings"]),
        *match_blocks(summary["match"]),
        *(block for format_summary in summary["formats"] for block in _format(format_summary)),
        *_exploitability(summary["exploitability"]),
        "## Run details",
        f"```\n{run['command']}\n```",
        points(
            [
                f"{run['kind']}, {run['status']}; started {run['started']}, ended {run['ended'] or '–'}",
                f"commit {run['git'] or 'none'}",
                ", ".join(f"{name} {number}" for name, number in run["versions"].items()),
            ]
        ),
    ]
    if summary["notes"]:
        blocks += ["## Caveats", points(summary["notes"])]
    return shown("\n\n".join(blocks) + "\n")


def match_blocks(match: MatchReport | None) -> list[str]:
    """Format a match as a table; empty for other runs."""
    if match is None or not match["pairs"]:
        return []
    first, second = match["agents"]
    rows = match_facts(match)
    return [f"## {plain(first)} against {plain(second)}", markdown_table(["number", "value"], rows, numbers=set())]


def _format(format_summary: FormatSummary) -> list[str]:
    unit = result_unit(format_summary)
    blocks = [
        f"## {plain(format_summary['format'])}",
        f"{counted(format_summary['battles'], unit)} on {plain(', '.join(format_summary['team_sets']))}; Elo with 95% "
        f"intervals, anchor {plain(format_summary['anchor'])} = {BASE:g}.",
        _ranking(format_summary),
        *(block for sweep in format_summary["sweeps"] for block in _sweep(sweep)),
        *_series(format_summary),
        *_cross(format_summary),
    ]
    if len(format_summary["team_sets"]) > 1:
        blocks += [
            f"Win rate in % by team set ({plural(unit)}), and the largest Elo difference between team sets:",
            _team_sets(format_summary),
        ]
    if format_summary["cycles"]:
        rings = [
            f"{' beats '.join([*cycle['agents'], cycle['agents'][0]])} (confidence {percent(cycle['confidence'])})"
            for cycle in format_summary["cycles"]
        ]
        blocks += ["Strongest cycles:", points(rings)]
    if format_summary["faults"]:
        rows = [
            [
                f["agent"],
                f["kind"],
                f"{f['battles']:,}",
                f"battle {f['example']['battle_id']} {f['example']['detail'][:120]}",
            ]
            for f in format_summary["faults"]
        ]
        blocks += ["Faults:", markdown_table(["agent", "kind", "battles", "example"], rows, numbers={2})]
    length = format_summary["length"]
    blocks.append(
        f"Length in turns: median {length['median']}, quartiles {length['q25']} and {length['q75']}, "
        f"95th percentile {length['q95']}, maximum {length['longest']:,}."
    )
    if format_summary["think"]:
        rows = [
            [row["agent"], *(duration(row[key]) for key in ("median_ms", "p95_ms", "max_ms"))]
            for row in format_summary["think"]
        ]
        blocks += ["Think time:", markdown_table(["agent", "median", "p95", "max"], rows, numbers={1, 2, 3})]
    return blocks


def _exploitability(responses: Sequence[BestResponseSummary]) -> list[str]:
    if not responses:
        return []
    heads, rows = exploitability_table(responses)
    return ["## Exploitability", BOUND, markdown_table(heads, rows, numbers={2, 3, 4, 5})]


def _sweep(sweep: SweepSummary) -> list[str]:
    heads, rows = sweep_table(sweep)
    title = f"Elo of {plain(sweep['base'])} by {plain(sweep['axis'])}, with 95% intervals:"
    return [title, markdown_table(heads, rows, numbers=set(range(len(heads))))]


def _series(format_summary: FormatSummary) -> list[str]:
    if not format_summary["series"]:
        return []
    heads, rows = series_table(format_summary)
    title = series_title(format_summary)
    return [f"{title[0].upper()}{title[1:]}:", markdown_table(heads, rows, numbers=set(range(2, len(heads))))]


def _ranking(format_summary: FormatSummary) -> str:
    rows = []
    for row, following in zip(format_summary["ranking"], [*format_summary["ranking"][1:], None], strict=True):
        chance = None if following is None else chance_of_better(format_summary, row["agent"], following["agent"])
        rows.append(
            [
                str(row["rank"]),
                row["agent"] + (f" ({row['mark']})" if row["mark"] else ""),
                f"{row['elo']:.0f}",
                f"{row['low']:.0f} – {row['high']:.0f}",
                "" if chance is None else percent(chance),
                "" if row["score"] is None else f"{100 * row['score']:.0f}",
                "" if row["gxe"] is None else f"{row['gxe']:.0f}",
                nash_percent(row),
                f"{row['games']:,}",
            ]
        )
    heads = ["#", "agent", "Elo", "95% interval", "P(better than next)", "wins %", "GXE", "Nash %"]
    heads.append(result_units(format_summary))
    return markdown_table(heads, rows, numbers={0, 2, 3, 4, 5, 6, 7, 8})


def _cross(format_summary: FormatSummary) -> list[str]:
    """The cross table, and before it what it is; the battles in each cell only where they differ."""
    cells = {(cell["agent"], cell["opponent"]): cell for cell in format_summary["cross"]}
    counts = {cell["battles"] for cell in format_summary["cross"]}
    unit = result_unit(format_summary)
    each = f"{counted(counts.pop(), unit)} in each cell" if len(counts) == 1 else ""
    rows = [
        [
            str(row["rank"]),
            row["agent"],
            *(
                _rate(cells.get((row["agent"], other["agent"])), counted=not each)
                for other in format_summary["ranking"]
            ),
        ]
        for row in format_summary["ranking"]
    ]
    heads = ["#", "agent", *(str(row["rank"]) for row in format_summary["ranking"])]
    table = markdown_table(heads, rows, numbers={0, *range(2, len(heads))})
    return [f"Win rate in % of the row against the column, {each or f'{plural(unit)} in brackets'}:", table]


def _team_sets(format_summary: FormatSummary) -> str:
    cells = {(cell["agent"], cell["team_set"]): cell for cell in format_summary["by_team_set"]}
    sentences = {each["agent"]: each for each in reversed(format_summary["set_differences"])}
    rows = []
    for row in format_summary["ranking"]:
        each = sentences.get(row["agent"])
        words = "–" if each is None else f"{each['sentence']}{'' if each['clear'] else ' (not significant)'}"
        rows.append([row["agent"], *(_rate(cells.get((row["agent"], s))) for s in format_summary["team_sets"]), words])
    return markdown_table(
        ["agent", *format_summary["team_sets"], "difference"],
        rows,
        numbers=set(range(1, len(format_summary["team_sets"]) + 1)),
    )


def _rate(cell: WinRate | None, *, counted: bool = True) -> str:
    if cell is None:
        return ""
    return f"{100 * cell['score']:.0f}" + (f" ({cell['battles']:,})" if counted else "")


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: set[int]) -> str:
    rule = ["---:" if place in numbers else "---" for place in range(len(heads))]
    lines = [[plain(head) for head in heads], rule, *([plain(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def points(sentences: Sequence[str]) -> str:
    """A list; what stands in backticks stays code."""
    return "\n".join(
        "- "
        + "".join(part if place % 2 else _escaped(part) for place, part in enumerate(re.split(r"(`[^`]+`)", sentence)))
        for sentence in sentences
    )


def plain(text: str) -> str:
    """Text that Markdown does not take for markup, on one line."""
    return _escaped(text.strip())


def _escaped(text: str) -> str:
    """The same, with the white space at its ends."""
    return _SPECIAL.sub(r"\\\1", re.sub(r"\s+", " ", text))
