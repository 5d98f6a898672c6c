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
    attempt_label,
    curricula,
    describe_gate,
    lineage,
    total,
)

_MARKS = {True: ("✓", "green"), False: ("✗", "red"), None: ("…", "yellow")}


def lineages(db: Path, name: str | None) -> list[Lineage]:
    """Return the lineage of a curriculum, or of all in the database (None). Raises BadInput if there is none."""
    if not db.exists():
        raise BadInput(f"database {db}: no such file; name a curriculum, or a database with --db FILE")
    names = curricula(db) if name is None else [name]
    if not names:
        raise BadInput(
            f"database {db}: contains no curriculum; start one with `train curriculum run CONFIG`, or name another with "
            "--db FILE"
        )
    return [lineage(db, each) for each in names]


def show_status(db: Path, name: str | None, console: Console) -> None:
    """Print the status of a curriculum, or of all in the database (None). Raises BadInput if there is none."""
    for known in lineages(db, name):
        state = "finished" if known["ended"] else "running or stopped"
        begun = datetime.fromisoformat(known["started"])
        console.print(f"[bold]{known['name']}[/] in {known['folder']}: started {begun:%d %b %Y, %H:%M}, {state}")
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
    for attempt in attempts:
        label = Text(attempt_label(attempt), "bold")
        label.append(f"  {attempt['status']}  ", {"kept": "green", "rejected": "red"}.get(attempt["status"], "yellow"))
        label.append(_checkpoint(attempt))
        assert attempt["parent"] is not None
        node = nodes[attempt["parent"]].add(label)
        for gate in attempt["gates"]:
            mark, style = _MARKS[gate["passed"]]
            node.add(Text(f"{mark} {describe_gate(gate)}", style))
        for line in _changes(attempt):
            node.add(line)
        if attempt["checkpoint"]:
            nodes[attempt["checkpoint"]] = node
    return tree


def _checkpoint(attempt: LineageAttempt) -> Text:
    text = Text(attempt["checkpoint"] or "not trained yet")
    if attempt["elo"] is not None and attempt["low"] is not None and attempt["high"] is not None:
        text.append(f"  {whole(attempt['elo'])} Elo [{whole(attempt['low'])}, {whole(attempt['high'])}]", "cyan")
    if attempt["spent"] is not None:
        text.append(f"  {_total(attempt['spent'])}", "dim")
    return text


def _total(spent: AttemptCosts) -> str:
    numbers = {"battle": spent["battles"], "decision": spent["decisions"], "step": spent["steps"]}
    return ", ".join(
        [format_seconds(spent["seconds"]), *(counted(number, noun) for noun, number in numbers.items() if number)]
    )


def _changes(attempt: LineageAttempt) -> list[Text]:
    """The average over all opponents for each team set, and every opponent against whom the change is clear."""
    evaluation, lines = attempt["details"], []
    if evaluation is None:
        return []
    for cell in evaluation["shares"]:
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
        for gap in evaluation["gaps"]
        if gap["opponent"] == ALL
    ]
