"""Shares of the points in a curriculum: by stage and team set, against each opponent, and what changed since the parent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.report.numbers import clear, difference, interval, percent_of
from arena.report.sections import Content, Html, agent_name, box, el, heat, join, panels, table
from training.experiments.curriculum.lineage import ALL, Lineage, LineageAttempt, attempt_label
from training.experiments.curriculum.page.drawings import average, shares

_NOTHING_YET = "No checkpoint has been evaluated yet."


def points_part(known: Lineage) -> Html:
    measured, team_sets = _measured(known)
    if not measured:
        return el("p", _NOTHING_YET)
    others = team_sets[1:]
    named = [*team_sets, *([ALL] if others else [])]
    heads = ["stage", *(_on(name) for name in named), *(f"{team_sets[0]} − {other}" for other in others)]
    body = []
    for attempt in measured:
        cells = [_share(average(attempt, name)) for name in named]
        gaps = [_difference(_gap(attempt, ALL, other), "gap", "low", "high") for other in others]
        body.append(el("tr", el("th", attempt_label(attempt), scope="row", cls="stage"), cells, gaps))
    return join(
        el(
            "p",
            "Score in % against the pool, averaged over opponents with equal weight, with 95% intervals. The last columns "
            "are the differences between team sets in percentage points."
            if others
            else "Score in % against the pool, averaged over opponents with equal weight, with 95% intervals.",
            cls="note",
        ),
        shares(measured, team_sets),
        table(heads, body, "score by stage", numbers=heads[1:]),
    )


def opponents_part(known: Lineage) -> Html:
    """A table for each team set, and one for each gap between two."""
    measured, team_sets = _measured(known)
    if not measured:
        return el("p", _NOTHING_YET)
    named = [ALL, *team_sets] if len(team_sets) > 1 else team_sets
    parts = [(_on(name), _on_set(measured, name)) for name in named]
    parts += [(f"{team_sets[0]} − {other}", _apart(measured, other)) for other in team_sets[1:]]
    return join(
        el(
            "p",
            "Score in %, its 95% interval, and the change since the checkpoint's parent in percentage points. Bold: the "
            "interval of the change excludes 0 (not corrected for multiple comparisons: 1 in 20 does so by chance).",
            cls="note",
        ),
        panels("curriculum-panel", "team set", parts),
    )


def _on_set(measured: Sequence[LineageAttempt], team_set: str) -> Html:
    body = []
    for opponent in _met(measured):
        line: list[Content] = []
        for attempt in measured:
            assert attempt["details"] is not None
            matching = [
                cell
                for cell in attempt["details"]["shares"]
                if (cell["opponent"], cell["team_set"]) == (opponent, team_set)
            ]
            line += _cells(matching[0] if matching else None, attempt)
        body.append(el("tr", _opponent(opponent), line))
    over = [
        el("th", attempt_label(attempt), scope="colgroup", colspan=2 if attempt["parent"] is None else 3, cls="over")
        for attempt in measured
    ]
    each = [
        el("th", name, scope="col", cls="number")
        for attempt in measured
        for name in ("score %", "95%", *(["since parent"] if attempt["parent"] is not None else []))
    ]
    head = el("thead", el("tr", el("td"), over), el("tr", el("th", "opponent", scope="col"), each))
    return box(el("table", head, el("tbody", body), cls="plain sets"), f"score by opponent and stage, {_on(team_set)}")


def _cells(cell: dict[str, Any] | None, attempt: LineageAttempt) -> list[Html]:
    if cell is None:
        return [el("td", "·", cls="none", colspan=2 if attempt["parent"] is None else 3)]
    shown = [
        el(
            "td",
            percent_of(cell["score"]),
            cls=f"number strong {heat(cell['score'])}",
            title=f"{cell['battles']} battles",
        ),
        el("td", interval(cell["low"], cell["high"]), cls="number quiet"),
    ]
    return shown + ([] if attempt["parent"] is None else [_difference(cell, "change", "change_low", "change_high")])


def _apart(measured: Sequence[LineageAttempt], other: str) -> Html:
    body = [
        el(
            "tr",
            _opponent(name),
            [_difference(_gap(attempt, name, other), "gap", "low", "high") for attempt in measured],
        )
        for name in _met(measured)
    ]
    heads = ["opponent", *(attempt_label(attempt) for attempt in measured)]
    return table(heads, body, "gap between team sets by opponent and stage", numbers=heads[1:])


def _measured(known: Lineage) -> tuple[list[LineageAttempt], list[str]]:
    """The checkpoints that were evaluated, and the team sets on which any was, in their order."""
    measured = [attempt for attempt in known["attempts"] if attempt["details"] is not None]
    return measured, list(
        dict.fromkeys(name for attempt in measured if attempt["details"] for name in attempt["details"]["team_sets"])
    )


def _met(measured: Sequence[LineageAttempt]) -> list[str]:
    names = {
        cell["opponent"] for attempt in measured if attempt["details"] for cell in attempt["details"]["shares"]
    } - {ALL}
    return [*sorted(names), ALL]


def _gap(attempt: LineageAttempt, opponent: str, other: str) -> dict[str, Any] | None:
    gaps = attempt["details"]["gaps"] if attempt["details"] else []
    return next((each for each in gaps if (each["opponent"], each["less_on"]) == (opponent, other)), None)


def _share(cell: dict[str, Any] | None) -> Html:
    if cell is None:
        return el("td", "·", cls="number quiet")
    content = (el("span", percent_of(cell["score"]), cls="strong"), " ", interval(cell["low"], cell["high"]))
    return el("td", content, cls="number")


def _difference(cell: dict[str, Any] | None, value: str, low: str, high: str) -> Html:
    """A cell of the keys' numbers, bold where the interval leaves out 0."""
    if cell is None or cell[value] is None:
        return el("td", "·", cls="number quiet")
    sure = clear(cell[low], cell[high])
    return el("td", difference(cell[value], cell[low], cell[high]), cls="number strong" if sure else "number quiet")


def _opponent(name: str) -> Html:
    return el("th", "all opponents" if name == ALL else agent_name(name), scope="row")


def _on(team_set: str) -> str:
    return "all team sets" if team_set == ALL else team_set
