"""The status of a curriculum in the terminal: the lineage as a tree with ratings, gates and costs."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from arena.report.live import format_seconds
from arena.report.numbers import clear, counted, difference, whole
from teamsets.errors import BadInput
from training.experiments.curriculum.lineage import (
    ALL,
    AttemptCosts,
    Lineage,
    LineageAttempt,
    called,
    curricula,
    lineage,
    total,
    words_of,
)

_MARKS = {True: ("✓", "green"), False: ("✗", "red"), None: ("…", "yellow")}


def show_status(db: Path, name: str | None, console: Console) -> None:
    """Print the status of a curriculum, or of all in the database (None). Raises BadInput if there is none."""
    if not db.exists():
        raise BadInput(f"database {db}: no such file; name a curriculum, or a database with --db FILE")
    names = curricula(db) if name is None else [name]
    if not names:
        raise BadInput(
            f"database {db}: contains no curriculum; start one with `train curriculum run CONFIG`, or name another with "
            "--db FILE"
        )
    for each in names:
        known = lineage(db, each)
        state = "finished" if known["ended"] else "running or stopped"
        begun = datetime.fromisoformat(known["started"])
        console.print(f"[bold]{each}[/] in {known['folder']}: started {begun:%d %b %Y, %H:%M}, {state}")
        console.print(lineage_tree(known))
        console.print(_total(total(known["attempts"])))


def not_started(db: Path, name: str) -> bool:
    """Return whether the curriculum, or the database, does not exist yet."""
    return not db.exists() or name not in curricula(db)


def lineage_tree(known: Lineage) -> Tree:
    """Return the lineage as a tree with the base as its root."""
    base, *attempts = known["attempts"]
    tree = Tree(_checkpoint(base))
    nodes = {known["base"]: tree}
    for one in attempts:
        label = Text(called(one), "bold")
        label.append(f"  {one['status']}  ", {"kept": "green", "rejected": "red"}.get(one["status"], "yellow"))
        label.append(_checkpoint(one))
        assert one["parent"] is not None
        node = nodes[one["parent"]].add(label)
        for gate in one["gates"]:
            mark, style = _MARKS[gate["passed"]]
            node.add(Text(f"{mark} {words_of(gate)}", style))
        for line in _changes(one):
            node.add(line)
        if one["checkpoint"]:
            nodes[one["checkpoint"]] = node
    return tree


def _checkpoint(one: LineageAttempt) -> Text:
    text = Text(one["checkpoint"] or "not trained yet")
    if one["elo"] is not None and one["low"] is not None and one["high"] is not None:
        text.append(f"  {whole(one['elo'])} Elo [{whole(one['low'])}, {whole(one['high'])}]", "cyan")
    if one["spent"] is not None:
        text.append(f"  {_total(one['spent'])}", "dim")
    return text


def _total(spent: AttemptCosts) -> str:
    numbers = {"battle": spent["battles"], "decision": spent["decisions"], "step": spent["steps"]}
    return ", ".join(
        [format_seconds(spent["seconds"]), *(counted(number, noun) for noun, number in numbers.items() if number)]
    )


def _changes(one: LineageAttempt) -> list[Text]:
    """The average over all opponents for each team set, and every opponent against whom the change is clear."""
    told, lines = one["told"], []
    if told is None:
        return []
    for cell in told["shares"]:
        average = cell["opponent"] == ALL
        if cell["change"] is None or not (average or clear(cell["change_low"], cell["change_high"])):
            continue
        against = "the pool" if average else cell["opponent"]
        on = "all team sets" if cell["team_set"] == ALL else cell["team_set"]
        if average or cell["team_set"] == ALL:
            change = difference(cell["change"], cell["change_low"], cell["change_high"])
            lines.append(Text(f"against {against} on {on}: {100 * cell['score']:.0f}%, {change} percentage points"))
    return lines + [
        Text(
            f"{gap['more_on']} − {gap['less_on']}: {difference(gap['gap'], gap['low'], gap['high'])} percentage points",
            "dim",
        )
        for gap in told["gaps"]
        if gap["opponent"] == ALL
    ]
