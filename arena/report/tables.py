"""The report in the terminal, as `arena report` and the end of `arena evaluate` print it."""

from __future__ import annotations

from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.ratings.evidence import BASE
from arena.ratings.sprt import report_lines
from arena.report.counts import rate
from arena.report.exploitability import exploitability_table
from arena.report.findings import chance_of_better, match_findings
from arena.report.match import settings_of
from arena.report.numbers import (
    alpha_percent,
    counted,
    group_letter,
    nash_percent,
    percent,
    plural,
    result_unit,
    result_units,
)
from arena.report.printing import print_text, print_whole, prose
from arena.report.series import series_table, series_title
from arena.report.strengths import elo_range
from arena.report.summary import summarize
from arena.report.summary_types import (
    BestResponseSummary,
    FaultSummary,
    FormatSummary,
    MatchReport,
    RankedFormat,
    RankingRow,
    ReportSummary,
    SetDifferenceSummary,
    SweepSummary,
    WinRate,
)
from arena.report.sweeps import sweep_table

WHISKER = 24  # characters of the picture of an interval


def print_results(console: Console, db: Path, run_id: str) -> None:
    """Prints the report of a run."""
    print_summary(console, summarize(db, run_id))


def print_summary(console: Console, summary: ReportSummary) -> None:
    """Prints rankings, findings, cross tables, team sets, faults, then notes."""
    _print_match(console, summary["match"])
    for format_summary in summary["formats"]:
        print_ranking(console, format_summary)
    told = match_findings(summary["match"])
    for sentence in summary["findings"][len(told) :]:
        print_text(console, "• ", prose(sentence))
    console.print()
    for format_summary in summary["formats"]:
        for sweep in format_summary["sweeps"]:
            _print_sweep(console, format_summary["format"], sweep)
        _print_series(console, format_summary)
        _print_cross(console, format_summary)
        if len(format_summary["team_sets"]) > 1:
            _print_team_sets(console, format_summary)
    _print_exploitability(console, summary["exploitability"])
    _print_faults(
        console,
        [
            (format_summary["format"], fault)
            for format_summary in summary["formats"]
            for fault in format_summary["faults"]
        ],
    )
    for note in summary["notes"]:
        print_text(console, "Note: ", prose(note))


def _print_match(console: Console, match: MatchReport | None) -> None:
    """The lines with which `arena match` ended: pentanomial, Elo, LLR with its bounds, the decision."""
    if match is not None:
        first, second = match["agents"]
        for line in report_lines(
            first, second, match["pentanomial"], settings_of(match), plural(match.get("unit", "battle"))
        ):
            print_text(console, line)
        console.print()


def _print_titled(console: Console, title: str, table: Table) -> None:
    """Prints the title above the table, because rich would wrap it to a narrow table's width."""
    print_text(console, title)
    print_whole(console, table)
    console.print()


def print_ranking(console: Console, format_summary: RankedFormat) -> None:
    """The ranking; on a narrow terminal without alpha-rank, or without the picture, too.

    On narrower ones it is also without GXE and Nash, P(> next), battles. Ranks and numbers are never cut; where all this is
    not enough, agents' names are folded.
    """
    rows = format_summary["ranking"]
    low, high = elo_range(rows)
    groups = len({row["group"] for row in rows})
    unit = result_unit(format_summary)
    units = plural(unit)
    columns = {
        "": [_rank(row, groups) for row in rows],
        "agent": [row["agent"] for row in rows],
        "Elo": [f"{row['elo']:.0f}" for row in rows],
        "95% interval": [_interval(row, format_summary["anchor"]) for row in rows],
        "picture": [_whisker(row, low, high) if row["games"] else "" for row in rows],
        "P(> next)": [_above_next(format_summary, *pair) for pair in zip(rows, [*rows[1:], None], strict=True)],
        "GXE": ["" if row["gxe"] is None else f"{row['gxe']:.0f}" for row in rows],
        "Nash %": [nash_percent(row) for row in rows],
        "alpha-rank %": [alpha_percent(row) for row in rows],
        units: [f"{row['games']:,}" for row in rows],
    }
    if not any(columns["alpha-rank %"]):
        del columns["alpha-rank %"]
    for names in (("alpha-rank %",), ("picture",), ("GXE", "Nash %"), ("P(> next)",), (units,)):
        if console.is_terminal and _width(columns) > console.width:
            for name in names:
                columns.pop(name, None)
    name, anchor = format_summary["format"], format_summary["anchor"]
    title = f"{name}: {counted(format_summary['battles'], unit)}; Elo with 95% intervals, anchor {anchor} = {BASE:g}"
    table = Table()
    for name, cells in columns.items():
        table.add_column(
            "" if name == "picture" else name,
            justify="left" if name in ("agent", "picture") else "right",
            no_wrap=name != "agent",
            overflow="fold",
            min_width=None if name == "agent" else max(map(cell_len, cells)),
        )
    for row in zip(*columns.values(), strict=True):
        table.add_row(*map(Text, row))
    _print_titled(console, title, table)


def _width(columns: dict[str, list[str]]) -> int:
    """The characters that a table of these columns takes."""
    heads = {name: "" if name == "picture" else name for name in columns}
    return 1 + sum(3 + max(map(cell_len, [heads[name], *cells])) for name, cells in columns.items())


def _rank(row: RankingRow, groups: int) -> str:
    """A rank, with the letter of its group where no battles connect all agents."""
    return f"{group_letter(row['group'])} {row['rank']}" if groups > 1 else str(row["rank"])


def _interval(row: RankingRow, anchor: str) -> str:
    """An interval as text, marked with * if it is only a bound."""
    words = "anchor" if row["agent"] == anchor else f"{row['low']:.0f} – {row['high']:.0f}"
    return f"{words} *" if row["mark"] else words


def _above_next(format_summary: RankedFormat, row: RankingRow, following: RankingRow | None) -> str:
    chance = None if following is None else chance_of_better(format_summary, row["agent"], following["agent"])
    return "" if chance is None else percent(chance)


def _whisker(row: RankingRow, low: float, high: float) -> str:
    """An interval in characters: "   ├──●──┤   "; "◂──┤" for an agent below the range that is shown."""

    def place(value: float) -> int:
        share = (value - low) / ((high - low) or 1)
        return round(min(1.0, max(0.0, share)) * (WHISKER - 1))

    first, dot, last = (place(row[key]) for key in ("low", "elo", "high"))
    letters = [" "] * WHISKER
    letters[first : last + 1] = "─" * (last - first + 1)
    letters[first], letters[last], letters[dot] = "├", "┤", "○" if row["mark"] else "●"
    if row["elo"] < low:
        letters[0] = "◂"
    return "".join(letters)


def _print_sweep(console: Console, format_id: str, sweep: SweepSummary) -> None:
    heads, rows = sweep_table(sweep)
    table = Table()
    for head in heads:
        table.add_column(Text(head), justify="right")
    for row in rows:
        table.add_row(*row)
    _print_titled(console, f"{format_id}: Elo of {sweep['base']} by {sweep['axis']}, with 95% intervals", table)


def _print_series(console: Console, format_summary: FormatSummary) -> None:
    if not format_summary["series"]:
        return
    heads, rows = series_table(format_summary)
    table = Table()
    for place, head in enumerate(heads):
        table.add_column(head, justify="left" if place < 2 else "right", overflow="fold", no_wrap=place >= 2)
    for row in rows:
        table.add_row(*map(Text, row))
    _print_titled(console, f"{format_summary['format']}: {series_title(format_summary)}", table)


def _print_cross(console: Console, format_summary: FormatSummary) -> None:
    """The cross table; where the terminal is too narrow for all opponents, in several parts one below the other."""
    rows = [row for row in format_summary["ranking"] if row["games"]]
    cells = {(cell["agent"], cell["opponent"]): cell for cell in format_summary["cross"]}
    room = console.width - max((len(row["agent"]) for row in rows), default=0) - 32 if console.is_terminal else 10_000
    size = max(3, room // 6)  # a column takes six characters at most: "100" and its frame
    counts = {cell["battles"] for cell in format_summary["cross"]}
    unit = result_unit(format_summary)
    each = f"{counted(counts.pop(), unit)} in each cell" if len(counts) == 1 else ""
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        against = "" if len(part) == len(rows) else f" (columns {part[0]['rank']} to {part[-1]['rank']})"
        counts_shown = each or f"{plural(unit)} below"
        title = f"{format_summary['format']}: win rate in % of row against column, {counts_shown}{against}"
        table = Table()
        table.add_column("", justify="right", no_wrap=True)
        table.add_column("agent", no_wrap=True)
        table.add_column("all", justify="right", no_wrap=True)
        table.add_column("95% interval", justify="right", no_wrap=True)
        for opponent in part:
            table.add_column(str(opponent["rank"]), justify="right", no_wrap=True)
        for row in rows:
            mine = [_cell(cells.get((row["agent"], opponent["agent"])), counted=not each) for opponent in part]
            overall = rate((row["score"] or 0.0) * row["games"], row["games"])
            cell = _cell(overall, counted=not each)
            table.add_row(str(row["rank"]), Text(row["agent"]), cell, Text(_reach(overall)), *mine)
        _print_titled(console, title, table)


def _cell(result: WinRate | None, *, counted: bool) -> Text:
    """A win rate, with the number of battles below it if that differs between cells."""
    if result is None:
        return Text("")
    score = f"{100 * result['score']:.0f}"
    return Text.assemble(f"{score}\n", (f"{result['battles']}", "dim")) if counted else Text(score)


def _reach(value: WinRate) -> str:
    """The 95% Wilson interval of a win rate, in %."""
    return f"{100 * value['low']:.0f} – {100 * value['high']:.0f}"


def _print_team_sets(console: Console, format_summary: FormatSummary) -> None:
    cells = {(cell["agent"], cell["team_set"]): cell for cell in format_summary["by_team_set"]}
    differences = {each["agent"]: each for each in reversed(format_summary["set_differences"])}
    longest = max(len(row["agent"]) for row in format_summary["ranking"])
    with_intervals = not console.is_terminal or console.width >= longest + 20 * len(format_summary["team_sets"]) + 54
    intervals = ", with 95% intervals" if with_intervals else ""
    units = result_units(format_summary)
    title = f"{format_summary['format']}: win rate in % by team set{intervals} (/{units})"
    table = Table()
    table.add_column("agent", no_wrap=True)
    for team_set in format_summary["team_sets"]:
        table.add_column(Text(team_set), justify="right", no_wrap=True)
    table.add_column("largest Elo difference")
    for row in format_summary["ranking"]:
        known = [cells.get((row["agent"], team_set)) for team_set in format_summary["team_sets"]]
        rates = [
            Text("–")
            if c is None
            else Text.assemble(
                f"{100 * c['score']:.0f} ", (f"[{_reach(c)}] " * with_intervals + f"/{c['battles']}", "dim")
            )
            for c in known
        ]
        table.add_row(Text(row["agent"]), *rates, _difference(differences.get(row["agent"])))
    _print_titled(console, title, table)


def _difference(each: SetDifferenceSummary | None) -> Text:
    if each is None:
        return Text("–")
    words = f"{each['elo']:.0f} [{each['low']:.0f}, {each['high']:.0f}] better on {each['better_on']}"
    return Text(words) if each["clear"] else Text(f"{words}: not significant", "dim")


def _print_exploitability(console: Console, responses: list[BestResponseSummary]) -> None:
    if not responses:
        return
    heads, rows = exploitability_table(responses)
    table = Table()
    for head in heads:
        table.add_column(head, justify="right" if head in ("decisions", "battles") else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    _print_titled(console, "Exploitability: scores of best responses, lower bounds of what can be found", table)


def _print_faults(console: Console, faults: list[tuple[str, FaultSummary]]) -> None:
    if not faults:
        print_text(console, "Faults: none.")
        return
    title = "Faults (the agent lost these battles; turn-limit counts as a tie, aborted battles are not counted)"
    table = Table()
    for column in ("format", "agent", "kind", "battles", "example"):
        table.add_column(column, justify="right" if column == "battles" else "left", overflow="fold")
    for format_id, fault in faults:
        example = fault["example"]
        words = f"battle {example['battle_id']}" + (f": {example['detail'][:120]}" if example["detail"] else "")
        table.add_row(format_id, Text(fault["agent"]), fault["kind"], f"{fault['battles']:,}", Text(words))
    _print_titled(console, title, table)
