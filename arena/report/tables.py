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
    title = f"{format_id}: win rate in % of the row against the column, battles below"
    table = Table(title=title, title_justify="left")
    table.add_column("", justify="right")
    table.add_column("agent", no_wrap=True)
    table.add_column("all", justify="right")
    for number in range(1, len(order) + 1):
        table.add_column(str(number), justify="right", no_wrap=True)
    for number, (agent, (mean, count)) in enumerate(order.items(), 1):
        row = [_cell(cells, agent, opponent) for opponent in order]
        table.add_row(str(number), Text(agent), _two_lines(mean, count), *row)
    _print_wide(console, table)


def _cell(cells: Cells, agent: str, opponent: str) -> Text:
    if (agent, opponent) not in cells:
        return Text("–" if agent != opponent else "", style="dim")
    return _two_lines(*cells[agent, opponent])


def _two_lines(mean: float, count: int) -> Text:
    return Text.assemble(f"{100 * mean:.0f}\n", (f"{count}", "dim"))


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
    _print_wide(console, table)


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
    console.print(table)


def _print_wide(console: Console, table: Table) -> None:
    """A table must not lose columns for want of room: a narrow terminal wraps or scrolls, a file has all the room."""
    needed = console.measure(table, options=console.options.update(max_width=1000)).maximum
    console.print(table, width=max(needed, 1), soft_wrap=needed > console.width, crop=False, overflow="ignore")
