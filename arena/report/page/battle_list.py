"""The section with the battle list and the viewer, both rendered by the page's script."""

from __future__ import annotations

from arena.markup import Content, Html, box, el
from arena.report.summary_types import RunSummary

_FIELDS = {
    "agent": "Agent",
    "opponent": "Opponent",
    "format": "Format",
    "teams": "Team set",
    "outcome": "Outcome",
    "fault": "Failure",
}


def battles_section(run: RunSummary, inside: int, in_all: int, failed: int) -> Html:
    """Filters, list, viewer. inside: how many battles the page holds; failed: those of them in which something failed."""
    target = "" if run["database"] == "arena.duckdb" else f" --db {run['database']}"
    if inside == in_all:
        contents: Content = f"This page contains all {in_all:,} battles."
    else:
        which = f"{failed:,} with a failure, and a sample over all pairings" if failed else "a sample over all pairings"
        contents = [
            f"This page contains {inside:,} of {in_all:,} battles: {which}. To watch any other one: ",
            el("code", f"arena watch ID{target}"),
            "; to include all of them in the page: ",
            el("code", f"arena report {run['id']} --html FILE --battles all{target}"),
            ".",
        ]
    fields = [
        el("label", title, el("select", el("option", "any", value=""), name=name, id=f"by-{name}"))
        for name, title in _FIELDS.items()
    ]
    search = el("label", "Search", el("input", type="search", name="words", id="by-words", placeholder="17, expert …"))
    heads = ["battle", "p1", "p2", "result", "turns", "format", "teams"]
    head = el(
        "tr", [el("th", each, scope="col", cls="number" if each in ("battle", "turns") else None) for each in heads]
    )
    table = el("table", el("thead", head), el("tbody", id="battle-rows"), cls="plain battle-list")
    return el(
        "section",
        el("h2", "Battles"),
        el("p", contents),
        el("p", "Watching battles requires JavaScript.", cls="note no-script"),
        el(
            "div",
            el("form", search, fields, el("button", "Reset", type="reset"), id="battle-filters", role="search"),
            el("p", "", id="battle-count", cls="note", role="status"),
            box(table, "battles"),
            el("button", "Show more", id="more-battles", type="button", hidden=True),
            el("section", id="viewer", hidden=True, tabindex=-1, aria_label="battle viewer"),
            cls="needs-script",
        ),
        id="battles",
    )
