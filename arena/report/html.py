"""The report as one self-contained HTML file; only the battle viewer, filters and tooltips need its script."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from string import Template
from typing import Any

from arena.extensions import Section, extensions
from arena.markup import Html, el, join
from arena.report.page.agents import agent_ids, agent_section
from arena.report.page.battle_list import battles_section
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
from arena.report.summary_types import FormatSummary, ReportSummary

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
    return _page(title(summary), contents(summary, ids, sections), head(summary), body, data, style)


def _sections(summary: ReportSummary) -> list[Section]:
    """Those of the extensions that have something to say about the run."""
    return [
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
    return _page(
        section.title,
        section_contents(section),
        section_head(section.title, eyebrow, facts, findings),
        join(section.body, section_reading(section, made, source)),
        {"battles": [], "chunks": []},
        section.style,
    )


def _page(name: str, nav: Html, header: Html, body: Html, data: EmbeddedBattles, style: str) -> str:
    """style: CSS after the report's own."""
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
