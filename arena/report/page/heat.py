"""Tables whose cells are coloured by a share of 1: blue above a half, orange below, and the number in each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from arena.markup import Html, agent_name, box, el, panels
from arena.report.numbers import percent_of
from arena.report.summary_types import CrossTables, PairingOnTeamSet, PairingResult

#: (row, column) -> share of 1, what the cell says, what is known besides
Cells = Mapping[tuple[str, str], tuple[float, str, str]]


def heat_table(rows: Sequence[str], columns: Sequence[str], cells: Cells, *, caption: str, kind: str) -> Html:
    """Agents in rows and columns. kind: how the script describes a cell, "against" or "better"."""
    heads = [el("th", el("span", agent_name(name)), scope="col", title=name) for name in columns]
    body = []
    for number, row in enumerate(rows, 1):
        line = []
        for column in columns:
            known = cells.get((row, column))
            if known is None:
                line.append(el("td", "·", cls="none") if row != column else el("td", "", cls="self"))
                continue
            share, words, more = known
            line.append(el("td", words, cls=heat(share), title=more or None))
        body.append(el("tr", el("th", el("span", number, cls="place"), agent_name(row), scope="row", title=row), line))
    head = el("thead", el("tr", el("td"), heads))
    return box(el("table", el("caption", caption), head, el("tbody", body), cls="heat", data_kind=kind), caption)


def heat(share: float) -> str:
    """The class that colours a share of 1, in eleven steps."""
    return f"h{round(10 * share)}"


def cross_panels(format_summary: CrossTables) -> Html:
    """The cross table over all team sets, and one for each behind a choice that needs no script."""
    names = [row["agent"] for row in format_summary["ranking"] if row["games"]]
    parts: list[tuple[str, Sequence[PairingResult | PairingOnTeamSet]]] = [("all team sets", format_summary["cross"])]
    if len(format_summary["team_sets"]) > 1:
        for team_set in format_summary["team_sets"]:
            parts.append((team_set, [c for c in format_summary["cross_by_team_set"] if c["team_set"] == team_set]))
    if len(parts) == 1:
        return _cross(names, parts[0][1], f"{format_summary['format']}: win rate in %")
    drawn = [
        (name, _cross(names, cells, f"{format_summary['format']}, {name}: win rate in %")) for name, cells in parts
    ]
    return panels(f"{format_summary['format']}-panel", "team set", drawn)


def _cross(names: Sequence[str], found: Iterable[PairingResult | PairingOnTeamSet], caption: str) -> Html:
    cells = {(c["agent"], c["opponent"]): (c["score"], percent_of(c["score"]), counts(c)) for c in found}
    return heat_table(names, names, cells, caption=caption, kind="against")


def counts(cell: PairingResult | PairingOnTeamSet) -> str:
    """ "5 won, 3 lost of 8; 95% interval 31 to 86%"."""
    ties = f", {cell['ties']} tied" if cell["ties"] else ""
    reach = f"95% interval {100 * cell['low']:.0f} to {100 * cell['high']:.0f}%"
    return f"{cell['wins']} won, {cell['losses']} lost{ties} of {cell['battles']}; {reach}"
