"""The tables that `arena evaluate` ends with, from the store."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.store import rows

#: (what, against what or where) -> (mean score, number of battles that have one)
Cells = dict[tuple[str, str], tuple[float, int]]


def print_results(console: Console, db: Path, run_id: str) -> None:
    """A cross table for each format, each agent by team set, and the faults of a run. Says so when there is nothing."""
    formats = rows(
        "SELECT DISTINCT format FROM results WHERE run_id = ? AND score IS NOT NULL ORDER BY 1", db, [run_id]
    )
    if not formats:
        console.print("No battle was finished.")
    for (format_id,) in formats:
        order = _ranking(db, run_id, format_id)
        _print_cross(console, format_id, order, _cells(db, run_id, format_id, "opponent"))
        by_team_set = _cells(db, run_id, format_id, "team_set")
        if len({team_set for _, team_set in by_team_set}) > 1:
            _print_team_sets(console, format_id, order, by_team_set)
    _print_faults(console, db, run_id)


def _ranking(db: Path, run_id: str, format_id: str) -> dict[str, tuple[float, int]]:
    """Each agent's mean score and number of battles, best first; equal ones by name, so that equal results print alike."""
    found = rows(
        "SELECT agent, avg(score), count(score) FROM results WHERE run_id = ? AND format = ? AND score IS NOT NULL "
        "GROUP BY agent ORDER BY 2 DESC, 1",
        db,
        [run_id, format_id],
    )
    return {agent: (mean, count) for agent, mean, count in found}


def _cells(db: Path, run_id: str, format_id: str, against: str) -> Cells:
    found = rows(
        f"SELECT agent, {against}, avg(score), count(score) FROM results "
        "WHERE run_id = ? AND format = ? AND score IS NOT NULL GROUP BY ALL",
        db,
        [run_id, format_id],
    )
    return {(agent, other): (mean, count) for agent, other, mean, count in found}


def _print_cross(console: Console, format_id: str, order: dict[str, tuple[float, int]], cells: Cells) -> None:
    """The cross table; where the terminal is too narrow for all opponents, in several parts one below the other."""
    opponents = list(enumerate(order, 1))
    room = console.width - max(map(len, order)) - 17 if console.is_terminal else 10_000
    size = max(3, room // 6)  # a column takes six characters at most: "100" and its frame
    counts = {count for _, count in cells.values()}
    each = f"{counts.pop()} battles in each cell" if len(counts) == 1 else ""
    for start in range(0, len(opponents), size):
        part = opponents[start : start + size]
        against = "" if len(part) == len(opponents) else f" (columns {part[0][0]} to {part[-1][0]})"
        title = f"{format_id}: win rate in % of the row against the column, {each or 'battles below'}{against}"
        table = Table(title=title, title_justify="left")
        table.add_column("", justify="right", no_wrap=True)
        table.add_column("agent", no_wrap=True)
        table.add_column("all", justify="right", no_wrap=True)
        for number, _ in part:
            table.add_column(str(number), justify="right", no_wrap=True)
        for number, (agent, (mean, count)) in enumerate(order.items(), 1):
            row = [_cell(cells.get((agent, opponent)), counted=not each) for _, opponent in part]
            table.add_row(str(number), Text(agent), _cell((mean, count), counted=not each), *row)
        print_whole(console, table)


def _cell(value: tuple[float, int] | None, *, counted: bool) -> Text:
    """A win rate; with its number of battles below where those differ from cell to cell."""
    if value is None:
        return Text("")
    rate = f"{100 * value[0]:.0f}"
    return Text.assemble(f"{rate}\n", (f"{value[1]}", "dim")) if counted else Text(rate)


def _print_team_sets(console: Console, format_id: str, order: dict[str, tuple[float, int]], cells: Cells) -> None:
    team_sets = sorted({team_set for _, team_set in cells})
    table = Table(title=f"{format_id}: win rate in % by team set, battles behind", title_justify="left")
    table.add_column("agent", no_wrap=True)
    for team_set in team_sets:
        table.add_column(Text(team_set), justify="right", no_wrap=True)
    for agent in order:
        known = [cells.get((agent, team_set)) for team_set in team_sets]
        row = [Text("–") if c is None else Text.assemble(f"{100 * c[0]:.0f} ", (f"/{c[1]}", "dim")) for c in known]
        table.add_row(Text(agent), *row)
    print_whole(console, table)


def _print_faults(console: Console, db: Path, run_id: str) -> None:
    found = rows(
        "SELECT agent, reason, count(*), any_value(detail) FROM faults WHERE run_id = ? GROUP BY ALL ORDER BY 3 DESC, 1, 2",
        db,
        [run_id],
    )
    if not found:
        console.print("Faults: none.")
        return
    title = "Faults (the agent lost these battles; turn-limit and aborted are nobody's loss)"
    table = Table(title=title, title_justify="left")
    for column in ("agent", "kind", "battles", "for example"):
        table.add_column(column, justify="right" if column == "battles" else "left", overflow="fold")
    for agent, reason, count, example in found:
        table.add_row(Text(agent), reason, str(count), Text((example or "")[:120]))
    print_whole(console, table)


def print_whole(console: Console, table: Table) -> None:
    """A file or pipe has no width: there a table gets what it needs, so that no column is lost."""
    if console.is_terminal:
        console.print(table)
        return
    wide = Console(file=console.file, width=10_000, no_color=True)
    needed = wide.measure(table).maximum
    Console(file=console.file, width=needed, no_color=True).print(table)
