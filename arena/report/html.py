"""The report as one self-contained HTML file; only the battle viewer, filters and tooltips need its script."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from string import Template
from typing import Any

from arena.report.lineage import Lineage
from arena.report.page.agents import agent_ids, agent_section
from arena.report.page.battle_list import battles_section
from arena.report.page.battles import choose_battles, embed
from arena.report.page.formats import format_section
from arena.report.page.frame import (
    contents,
    curriculum_contents,
    curriculum_head,
    curriculum_reading,
    head,
    reading_section,
    run_section,
    title,
)
from arena.report.page.lineage import lineage_section
from arena.report.page.markup import Html, el, join

_ASSETS = Path(__file__).parent / "assets"


def render(summary: dict[str, Any], db: Path, *, battles: int | None) -> str:
    """The page. battles: at most so many to watch in it; None: all. Raises BadInput when the store cannot be asked."""
    run_id = summary["run"]["id"]
    data = embed(db, choose_battles(db, run_id, battles))
    formats = summary["formats"]
    ids = agent_ids(formats)
    watched = frozenset(row[0] for row in data["battles"])
    failed = sum(row[6] not in ("win", "tie") for row in data["battles"])
    evidence = summary["run"]["evidence"]
    in_all = evidence["own"] + sum(source["battles"] for source in evidence["earlier"])
    body = join(
        [format_section(said, ids, watched) for said in formats],
        lineage_section(summary["curriculum"], alone=False) if summary["curriculum"] else None,
        _agents(ids, formats),
        battles_section(summary["run"], len(watched), in_all, failed) if in_all else None,
        run_section(summary),
        reading_section(summary),
    )
    return _page(title(summary), contents(summary, ids), head(summary), body, data)


def render_curriculum(known: Lineage) -> str:
    """A page of one curriculum, in the same style; it holds no battles to watch."""
    made = datetime.now(UTC).isoformat(timespec="seconds")
    body = join(lineage_section(known, alone=True), curriculum_reading(known, made))
    return _page(known["name"], curriculum_contents(), curriculum_head(known), body, {"battles": [], "chunks": []})


def _page(name: str, nav: Html, header: Html, body: Html, data: dict[str, Any]) -> str:
    """data: as `embed` makes it."""
    return Template(_asset("report.html")).substitute(
        title=join(f"{name} – battle arena"),
        style=_asset("report.css") + _asset("viewer.css"),
        contents=nav,
        head=header,
        body=body,
        battles=script_json(data["battles"]),
        chunks=script_json(data["chunks"]),
        script=_asset("viewer.js") + _asset("report.js"),
    )


def script_json(value: Any) -> str:
    """JSON that may stand in a script element: nothing in it can end the element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _agents(ids: dict[str, str], formats: list[dict[str, Any]]) -> Html | None:
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
