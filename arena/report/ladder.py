"""Ratings that other people's servers gave an agent: for the report and the dashboard."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from pathlib import Path

from arena.extensions import Section
from arena.markup import Html, agent_name, el, join, table
from arena.report.numbers import counted, whole
from arena.report.page.line_chart import line_chart
from arena.report.summary_types import LadderHistory, LadderPoint, SweepSeries
from arena.store import rows

#: Ticks on the axis of battles.
_MOST_TICKS = 8
#: Points of a chart: of more, every second, third, … is drawn.
_MOST_POINTS = 150
#: Rows of the table below it, the latest ones.
_MOST_ROWS = 20
_QUERY = """
    SELECT l.server, b.format, CASE WHEN b.p2 LIKE 'user:%' THEN b.p1 ELSE b.p2 END AS agent, l.battle_id, b.run_id,
        b.started, l.elo_before, l.elo_after, l.gxe, l.glicko, l.deviation
    FROM ladder_ratings l JOIN battles b USING (battle_id) ORDER BY l.battle_id
"""


def ladder_histories(db: Path, run_id: str | None = None) -> list[LadderHistory]:
    """The ratings of each agent on each server and format, by all runs of the database.

    run_id: only those in which this run has a rated battle.
    """
    found: dict[tuple[str, str, str], list[LadderPoint]] = {}
    for server, format_id, agent, battle_id, run, started, before, after, gxe, glicko, deviation in rows(_QUERY, db):
        point: LadderPoint = {
            "battle_id": battle_id,
            "run": run,
            "started": started.astimezone(UTC).isoformat(timespec="seconds"),
            "elo_before": before,
            "elo_after": after,
            "gxe": gxe,
            "glicko": glicko,
            "deviation": deviation,
        }
        found.setdefault((agent, server, format_id), []).append(point)
    return [
        {"agent": agent, "server": server, "format": format_id, "ratings": ratings}
        for (agent, server, format_id), ratings in sorted(found.items())
        if run_id is None or any(point["run"] == run_id for point in ratings)
    ]


def ladder_sentence(history: LadderHistory) -> str:
    """ "Ladder of HOST, gen9ou: heuristic:expert has Elo 1066 after 20 rated battles (from 1000); GXE 55.2 …"."""
    first, last = history["ratings"][0], history["ratings"][-1]
    more = "" if last["gxe"] is None else f", GXE {last['gxe']:g}"
    if glicko := _glicko(last):
        more += f", Glicko-1 {glicko}"
    return (
        f"Ladder of {history['server']}, {history['format']}: {history['agent']} has Elo {last['elo_after']} after "
        f"{counted(len(history['ratings']), 'rated battle')} (from {first['elo_before']}){more}."
    )


def ladder_section(histories: Sequence[LadderHistory]) -> Section:
    """A chart and a table of each history."""
    body = el(
        "section",
        el("h2", "Ladder"),
        el("p", "Elo that the server gave after each rated battle, over all runs of the database.", cls="note"),
        [_history(history) for history in histories],
        id="ladder",
    )
    reading = {
        "Ladder ratings": "The server's own: Elo as it announced it after each rated battle; GXE and Glicko-1 where the "
        "user's page has them. They compare with other players of that server, not with the ratings of this report."
    }
    return Section("ladder", "Ladder", body, reading=reading)


def _glicko(point: LadderPoint) -> str:
    return "" if point["glicko"] is None else f"{point['glicko']:.0f} ± {point['deviation'] or 0:.0f}"


def _history(history: LadderHistory) -> Html:
    ratings = history["ratings"]
    every = -(-len(ratings) // _MOST_POINTS)
    drawn = [(0, ratings[0]["elo_before"]), *((n, point["elo_after"]) for n, point in enumerate(ratings, 1))]
    drawn = [place for place in drawn if place[0] % every == 0 or place is drawn[-1]]
    line: SweepSeries = {
        "label": "",
        "points": [
            {
                "x": n,
                "agent": f"after {counted(n, 'battle')}",
                "rank": 0,
                "elo": elo,
                "low": elo,
                "high": elo,
                "mark": "",
            }
            for n, elo in drawn
        ],
    }
    step = max(1, -(-len(ratings) // _MOST_TICKS))
    ticks = [(float(n), f"{n:,}") for n in range(0, len(ratings) + 1, step)]
    name = f"Elo of {history['agent']} on {history['server']}, {history['format']}"
    latest = [
        el(
            "tr",
            el("td", f"{point['battle_id']}", cls="number"),
            el("td", point["started"].replace("T", " ").removesuffix("+00:00"), cls="quiet"),
            el("td", f"{point['elo_after']}", cls="number strong"),
            el("td", whole(point["elo_after"] - point["elo_before"], signed=True), cls="number"),
            el("td", "–" if point["gxe"] is None else f"{point['gxe']:g}", cls="number"),
            el("td", _glicko(point) or "–", cls="number"),
        )
        for point in reversed(ratings[-_MOST_ROWS:])
    ]
    heads = ["battle", "started (UTC)", "Elo", "change", "GXE", "Glicko-1"]
    return join(
        el("h3", agent_name(history["agent"]), f" in {history['format']} on {history['server']}"),
        el("p", ladder_sentence(history)),
        el("figure", line_chart([line], label=name, axis_name="rated battles", ticks=ticks), cls="sweep"),
        el(
            "details",
            el("summary", f"The last {len(latest)} of {counted(len(ratings), 'rated battle')}"),
            table(heads, latest, name, numbers=("battle", "Elo", "change", "GXE", "Glicko-1")),
        ),
    )


def live_ladder(db: Path) -> Section | None:
    """The section of the dashboard; None for a database without rated battles."""
    histories = ladder_histories(db)
    return ladder_section(histories) if histories else None
