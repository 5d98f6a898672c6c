"""The report as one self-contained HTML file; only the battle viewer, filters and tooltips need its script."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from string import Template
from typing import Any

from arena.extensions import Section, extensions
from arena.markup import Content, Html, box, el, join
from arena.report.exploitability import exploitability_section
from arena.report.ladder import ladder_section
from arena.report.page.agents import agent_ids, agent_section
from arena.report.page.battles import EmbeddedBattles, choose_battles, embed
from arena.report.page.formats import format_section
from arena.report.page.frame import (
    contents,
    head,
    reading_section,
    run_section,
    section_contents,
    section_head,
    section_reading,
    title,
)
from arena.report.summary import extension_data
from arena.report.summary_types import FormatSummary, ReportSummary, RunSummary

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


_ASSETS = Path(__file__).parent / "assets"


def render(summary: ReportSummary, db: Path, *, battles: int | None) -> str:
    """The page. battles: at most so many to watch in it; None: all. Raises BadInput when the store cannot be read."""
    run_id = summary["run"]["id"]
    data = embed(db, choose_battles(db, run_id, battles))
    formats = summary["formats"]
    ids = agent_ids(formats)
    watched = frozenset(row[0] for row in data["battles"])
    failed = sum(row[6] not in ("win", "tie") for row in data["battles"])
    evidence = summary["run"]["evidence"]
    in_all = evidence["own"] + sum(source["battles"] for source in evidence["earlier"])
    sections = _sections(summary)
    body = join(
        [format_section(format_summary, ids, watched) for format_summary in formats],
        [section.body for section in sections],
        _agents(ids, formats),
        battles_section(summary["run"], len(watched), in_all, failed) if in_all else None,
        run_section(summary),
        reading_section(summary, sections),
    )
    style = "".join(section.style for section in sections)
    return page_of(title(summary), contents(summary, ids, sections), head(summary), body, data, style)


def _sections(summary: ReportSummary) -> list[Section]:
    """The ladder's, that of best responses, and those of the extensions that have something to say about the run."""
    own = [ladder_section(summary["ladder"])] if summary["ladder"] else []
    own += [exploitability_section(summary["exploitability"])] if summary["exploitability"] else []
    return own + [
        extension.section(extension_data(summary, extension.name))
        for extension in extensions()
        if extension.section is not None and extension_data(summary, extension.name) is not None
    ]


def render_section(section: Section, *, eyebrow: str, facts: list[str], findings: list[Html], source: str) -> str:
    """A page of one section, in the same style; it holds no battles to watch.

    eyebrow: the small line above the title. facts: when, how far, how long. findings: entries of a list. source: whose data
    it shows, for the line at its end.
    """
    made = datetime.now(UTC).isoformat(timespec="seconds")
    return page_of(
        section.title,
        section_contents(section),
        section_head(section.title, eyebrow, facts, findings),
        join(section.body, section_reading(section, made, source)),
        style=section.style,
    )


def page_of(
    name: str, nav: Html, header: Html, body: Html, data: EmbeddedBattles | None = None, style: str = ""
) -> str:
    """A whole page in the report's style. nav: its table of contents. style: CSS after the report's own."""
    data = data or {"battles": [], "chunks": []}
    return Template(_asset("report.html")).substitute(
        title=join(f"{name} – battle arena"),
        style=_asset("report.css") + _asset("viewer.css") + style,
        contents=nav,
        head=header,
        body=body,
        battles=script_json(data["battles"]),
        chunks=script_json(data["chunks"]),
        script=_asset("theme.js") + _asset("viewer.js") + _asset("report.js"),
    )


def script_json(value: Any) -> str:
    """JSON that may stand in a script element: nothing in it can end the element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _agents(ids: dict[str, str], formats: list[FormatSummary]) -> Html | None:
    if not ids:
        return None
    return el(
        "section",
        el("h2", "Agents"),
        el("p", el("button", "Open all", type="button", id="open-all"), cls="needs-script"),
        [agent_section(agent, place, formats) for agent, place in ids.items()],
        id="agents",
    )


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")
