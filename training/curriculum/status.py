"""How a curriculum stands: the lineage as a tree with ratings, gates and costs, for the terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from arena.report.live import spoken
from arena.report.numbers import counted, whole
from arena.store import rows
from teamsets.errors import BadInput
from training.curriculum.compare import ALL
from training.curriculum.report import clear

_MARKS = {True: ("✓", "green"), False: ("✗", "red"), None: ("…", "yellow")}


def show_status(db: Path, name: str | None, console: Console) -> None:
    """The curriculum of a name, or all of the database. Raises BadInput where there is none."""
    found = rows("SELECT curriculum, folder, base, started, ended FROM curricula ORDER BY started", db)
    chosen = [row for row in found if name in (None, row[0])]
    if not chosen:
        known = ", ".join(row[0] for row in found) or "none"
        raise BadInput(f"database {db}: holds no curriculum{f' {name}' if name else ''}: known are {known}")
    for curriculum, folder, base, started, ended in chosen:
        state = "finished" if ended else "under way, or stopped"
        console.print(f"[bold]{curriculum}[/] in {folder}: begun {started:%d %b %Y, %H:%M}, {state}")
        console.print(lineage_tree(db, curriculum, base))
        console.print(_total(costs(db, curriculum)))


def lineage_tree(db: Path, name: str, base: str) -> Tree:
    """The base, and under each checkpoint what was made from it."""
    known = {
        row[0]: row
        for row in rows(
            "SELECT checkpoint, kept, elo, low, high, told FROM checkpoints WHERE curriculum = ?", db, [name]
        )
    }
    spent = costs(db, name)
    tree = Tree(_checkpoint(base, known.get(base), spent.get((0, 0))))
    nodes = {base: tree}
    gates = rows("SELECT stage, attempt, gate, passed, words FROM gates WHERE curriculum = ? ORDER BY ALL", db, [name])
    for stage, attempt, called, status, parent, checkpoint in rows(
        "SELECT stage, attempt, name, status, parent, checkpoint FROM stages WHERE curriculum = ? ORDER BY 1, 2",
        db,
        [name],
    ):
        label = Text(f"{stage} {called}" + (f", attempt {attempt}" if attempt > 1 else ""), "bold")
        label.append(f"  {status}  ", {"kept": "green", "rejected": "red"}.get(status, "yellow"))
        label.append(_checkpoint(checkpoint or "no checkpoint yet", known.get(checkpoint), spent.get((stage, attempt))))
        node = nodes[parent].add(label)
        for _, _, gate, passed, words in (row for row in gates if row[:2] == (stage, attempt)):
            mark, style = _MARKS[passed]
            node.add(Text(f"{mark} {gate}: {words or 'being played'}", style))
        for line in _changes(known.get(checkpoint)):
            node.add(line)
        if checkpoint:
            nodes[checkpoint] = node
    return tree


def costs(db: Path, name: str) -> dict[tuple[int, int], dict[str, float]]:
    """(stage, attempt) -> seconds, battles, decisions and steps over all its phases and sessions."""
    found = rows(
        "SELECT stage, attempt, sum(seconds), sum(battles), sum(decisions), sum(steps) FROM ("
        "SELECT stage, attempt, phase, sum(seconds) AS seconds, max(battles) AS battles, max(decisions) AS decisions, "
        "max(steps) AS steps FROM costs WHERE curriculum = ? GROUP BY ALL) GROUP BY ALL",
        db,
        [name],
    )
    keys = ("seconds", "battles", "decisions", "steps")
    return {row[:2]: {key: float(value) for key, value in zip(keys, row[2:], strict=True)} for row in found}


def _checkpoint(spec: str, row: Any, spent: dict[str, float] | None) -> Text:
    text = Text(spec)
    if row is not None and row[2] is not None:
        text.append(f"  {whole(row[2])} Elo [{whole(row[3])}, {whole(row[4])}]", "cyan")
    if spent is not None:
        text.append(f"  {_total({(0, 0): spent})}", "dim")
    return text


def _total(spent: dict[tuple[int, int], dict[str, float]]) -> str:
    sums = {key: sum(each[key] for each in spent.values()) for key in ("seconds", "battles", "decisions", "steps")}
    parts = [counted(int(sums[key]), key[:-1]) for key in ("battles", "decisions", "steps") if sums[key]]
    return ", ".join([spoken(sums["seconds"]), *parts])


def _changes(row: Any) -> list[Text]:
    """The average over all opponents for each team set, and every opponent against whom the change is clear."""
    if row is None or row[5] is None:
        return []
    told, lines = json.loads(row[5]), []
    for cell in told["shares"]:
        average = cell["opponent"] == ALL
        if cell["change"] is None or not (average or clear(cell["change_low"], cell["change_high"])):
            continue
        ends = f"[{whole(100 * cell['change_low'])}, {whole(100 * cell['change_high'])}]"
        against = "the pool" if average else cell["opponent"]
        on = "all team sets" if cell["team_set"] == ALL else cell["team_set"]
        if average or cell["team_set"] == ALL:
            words = f"against {against} on {on}: {100 * cell['score']:.0f}%, "
            lines.append(Text(f"{words}{whole(100 * cell['change'], signed=True)} points {ends}"))
    return lines + [
        Text(f"{gap['more_on']} − {gap['less_on']}: {whole(100 * gap['gap'], signed=True)} points "
             f"[{whole(100 * gap['low'])}, {whole(100 * gap['high'])}]", "dim")
        for gap in told["gaps"] if gap["opponent"] == ALL
    ]  # fmt: skip
