"""The pages of a leaderboard, made of the report's parts: an overview, a page for each format, and one for each agent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from arena.leaderboard.merging import MergedBattles
from arena.leaderboard.standings import Standings
from arena.markup import Content, Html, agent_name, el, join, panels, table
from arena.ratings.evidence import BASE
from arena.report.findings import standings as sentences
from arena.report.html import page_of
from arena.report.numbers import counted, interval, moment, percent_of, whole
from arena.report.page.drawings import bar
from arena.report.page.heat import cross_panels
from arena.report.page.line_chart import COLOURS, legend, line_chart
from arena.report.page.ranking import cycles, ranking
from arena.report.summary_types import CountedWinRate, RankingRow, SweepSeries

_FIRST = 10  # agents of a format on the overview
_MOST_TICKS = 5
_STYLE = """
.opponents { max-width: 46rem; }
main > section > h3 { margin-top: 1.8rem; }
#content .plain { min-width: 0; }
"""


def agent_files(formats: Sequence[Standings]) -> dict[str, str]:
    """Agent -> the path of its page, relative to the site."""
    files: dict[str, str] = {}
    for agent in sorted({row["agent"] for each in formats for row in each["ranking"]}):
        name = re.sub(r"[^A-Za-z0-9.]+", "-", agent).strip("-.").lower() or "agent"
        path = f"agents/{name}.html"
        number = 2
        while path in files.values():
            path, number = f"agents/{name}-{number}.html", number + 1
        files[agent] = path
    return files


def site(merged: MergedBattles, formats: Sequence[Standings], made: str) -> dict[str, str]:
    """All pages: path -> text. made: when, as ISO time."""
    files = agent_files(formats)
    pages = {"index.html": _overview(merged, formats, files, made)}
    for each in formats:
        pages[f"{each['format']}.html"] = _format_page(merged, each, formats, files, made)
    for agent, path in files.items():
        pages[path] = _agent_page(agent, merged, formats, files, made)
    return pages


def _overview(merged: MergedBattles, formats: Sequence[Standings], files: Mapping[str, str], made: str) -> str:
    parts = []
    for each in formats:
        rows = [
            el(
                "tr",
                el("td", row["rank"], cls="number"),
                el("th", el("a", agent_name(row["agent"]), href=files[row["agent"]]), scope="row"),
                el("td", whole(row["elo"]), cls="number strong"),
                el("td", _reach(row, each["anchor"]), cls="number quiet"),
                el("td", f"{row['games']:,}", cls="number"),
            )
            for row in each["ranking"][:_FIRST]
        ]
        heads = ["#", "agent", "Elo", "95% interval", "battles"]
        more = f"All {len(each['ranking'])} agents, team sets, head-to-head, history"
        parts.append(
            el(
                "section",
                el("h2", el("a", each["format"], href=f"{each['format']}.html")),
                el("p", _size(each), cls="lead"),
                table(heads, rows, each["format"], numbers=("#", "Elo", "95% interval", "battles"), cls="plain"),
                el("p", el("a", more, href=f"{each['format']}.html")),
                id=each["format"],
            )
        )
    agents = {row["agent"] for each in formats for row in each["ranking"]}
    facts = [counted(len(merged.battles), "battle"), counted(len(agents), "agent"), counted(len(formats), "format")]
    return _page("Leaderboard", facts, join(parts), formats, made, notes=_notes(merged))


def _format_page(
    merged: MergedBattles, each: Standings, formats: Sequence[Standings], files: Mapping[str, str], made: str
) -> str:
    rankings = [("all team sets", ranking(each, files))]
    rankings += [(name, ranking(part, files)) for name, part in each["by_team_set_ranking"].items()]
    first = [row["agent"] for row in each["ranking"]][:COLOURS]
    lines: list[SweepSeries] = [
        {"label": agent, "points": each["history"][agent]} for agent in first if agent in each["history"]
    ]
    parts = {
        "ranking": ("Ranking", panels("team-set", "team set", rankings) if len(rankings) > 1 else rankings[0][1]),
        "against": ("Head to head", cross_panels(each)),
        "history": ("History", _history_chart(each, lines, f"Elo of the first agents of {each['format']} over time")),
        "cycles": ("Cycles and Nash average", cycles(each)),
    }
    body = [el("section", el("h2", name), part, id=place) for place, (name, part) in parts.items()]
    found = el("ul", [el("li", sentence) for sentence in sentences(each)], cls="findings")
    few = merged.few.get(each["format"])
    note = f"Left out, with too few battles: {', '.join(few)}." if few else None
    entries = {f"#{place}": name for place, (name, _) in parts.items()}
    facts = [_size(each)]
    return _page(each["format"], facts, join(found, body), formats, made, notes=[note] if note else [], parts=entries)


def _agent_page(
    agent: str, merged: MergedBattles, formats: Sequence[Standings], files: Mapping[str, str], made: str
) -> str:
    parts, facts = [], []
    for each in formats:
        row = next((row for row in each["ranking"] if row["agent"] == agent), None)
        if row is None:
            continue
        facts.append(f"rank {row['rank']} of {len(each['ranking'])} in {each['format']}")
        gxe = "" if row["gxe"] is None else f", GXE {row['gxe']:.0f}"
        line = (
            f"Elo {whole(row['elo'])} ({_reach(row, each['anchor'])}){gxe}; wins {percent_of(row['score'])}% of "
            f"{counted(row['games'], 'battle')}. The anchor is {each['anchor']} = {BASE:g}."
        )
        lines: list[SweepSeries] = [{"label": "", "points": each["history"].get(agent, [])}]
        sets = [cell for cell in each["by_team_set"] if cell["agent"] == agent]
        parts.append(
            el(
                "section",
                el("h2", el("a", each["format"], href=f"../{each['format']}.html")),
                el("p", line),
                el("h3", "Against each opponent"),
                _opponents(agent, each, files),
                [el("h3", "By team set"), _rates([(cell["team_set"], cell, None) for cell in sets], "team set")]
                if len(sets) > 1
                else None,
                [el("h3", "History"), _history_chart(each, lines, f"Elo of {agent} over time")]
                if len(lines[0]["points"]) > 1
                else None,
                id=each["format"],
            )
        )
    about = merged.descriptions.get(agent)
    lead = el("p", about, cls="lead") if about else None
    return _page(agent, facts, join(lead, parts), formats, made, root="../")


def _opponents(agent: str, each: Standings, files: Mapping[str, str]) -> Html:
    ranks = {row["agent"]: row["rank"] for row in each["ranking"]}
    cells = sorted((cell for cell in each["cross"] if cell["agent"] == agent), key=lambda cell: ranks[cell["opponent"]])
    rows: list[tuple[Content, CountedWinRate, float | None]] = [
        (el("a", agent_name(cell["opponent"]), href=f"../{files[cell['opponent']]}"), cell, cell["expected"])
        for cell in cells
    ]
    return _rates(rows, "opponent")


def _rates(rows: Sequence[tuple[Content, CountedWinRate, float | None]], head: str) -> Html:
    """A table of win rates. rows: (name, rate, the rate by the ratings)."""
    with_expected = any(expected is not None for _, _, expected in rows)
    body = [
        el(
            "tr",
            el("th", name, scope="row"),
            el("td", bar(cell["score"]), cls="bars"),
            el("td", percent_of(cell["score"]), cls="number strong"),
            el("td", interval(cell["low"], cell["high"]), cls="number quiet"),
            el("td", "–" if expected is None else percent_of(expected), cls="number quiet") if with_expected else None,
            el("td", f"{cell['wins']} / {cell['losses']} / {cell['ties']}", cls="number quiet"),
        )
        for name, cell, expected in rows
    ]
    heads = [head, "", "wins %", "95%", *(["expected"] if with_expected else []), "won / lost / tied"]
    return table(heads, body, head, numbers=heads[2:], cls="small opponents")


def _history_chart(each: Standings, lines: Sequence[SweepSeries], label: str) -> Html:
    """Ratings from all battles up to the ends of runs."""
    if len(each["moments"]) < 2 or not any(len(line["points"]) > 1 for line in lines):
        return el("p", "There is one run only: no history yet.", cls="note")
    times = [datetime.fromisoformat(text) for text in each["moments"]]
    one_day = times[0].date() == times[-1].date()
    every = -(-len(times) // _MOST_TICKS)
    ticks = [
        (float(number), f"{time:%H:%M}" if one_day else f"{time.day} {time:%b}")
        for number, time in enumerate(times)
        if number % every == 0
    ]
    axis = f"{times[0].day} {times[0]:%b %Y}" if one_day else "ends of runs"
    return join(
        el("p", "Ratings from all battles up to the end of a run, at equal distances, with 95% intervals.", cls="note"),
        legend(lines),
        el("figure", line_chart(lines, label=label, axis_name=axis, ticks=ticks), cls="sweep"),
    )


def _size(each: Standings) -> str:
    sets = ", ".join(each["team_sets"])
    return f"{counted(each['battles'], 'battle')} between {len(each['ranking'])} agents; teams: {sets}."


def _reach(row: RankingRow, anchor: str) -> str:
    return "anchor" if row["agent"] == anchor else f"{whole(row['low'])} – {whole(row['high'])}"


def _notes(merged: MergedBattles) -> list[str]:
    notes = [f"From {', '.join(merged.databases)}."]
    if merged.outdated:
        notes.append(f"{counted(merged.outdated, 'battle')} of former versions of agents are not counted.")
    if merged.doubled:
        notes.append(f"{counted(merged.doubled, 'battle')} are in several databases or runs, and are counted once.")
    return notes


def _page(
    name: str,
    facts: Sequence[str],
    body: Html,
    formats: Sequence[Standings],
    made: str,
    *,
    notes: Sequence[str] = (),
    parts: Mapping[str, str] | None = None,
    root: str = "",
) -> str:
    entries: list[Html] = [_entry(f"{root}index.html", "Leaderboard")]
    for each in formats:
        inner = [_entry(place, title) for place, title in (parts or {}).items()] if each["format"] == name else []
        entries.append(_entry(f"{root}{each['format']}.html", each["format"], el("ol", inner) if inner else None))
    head = el("header", el("p", "Battle arena", cls="eyebrow"), el("h1", name), el("p", " · ".join(facts), cls="facts"))
    foot = el("p", " ".join([*notes, f"Made {moment(made)}."]), cls="note")
    nav = el("nav", el("ol", entries), aria_label="Contents")
    return page_of(name, nav, head, join(body, foot), style=_STYLE)


def _entry(place: str, name: str, *inner: Content) -> Html:
    return el("li", el("a", name, href=place), inner)
