"""The sections of one format: ranking, cross table, faults, battle lengths and think times."""

from __future__ import annotations

from arena.markup import Html, agent_name, box, el, fold, head_cell, join
from arena.report.numbers import counted, duration, result_unit
from arena.report.page.drawings import Axis, axis_labels, histogram, time_line
from arena.report.page.heat import cross_panels
from arena.report.page.ranking import cycles, ranking
from arena.report.page.series import series_section
from arena.report.page.sweeps import sweep_section
from arena.report.page.team_sets import team_set_section
from arena.report.series import battles_by_agent
from arena.report.summary_types import FormatSummary

#: Anchor of a section's heading in a format, and how it is called.
PARTS = {
    "ranking": "Ranking",
    "sweeps": "Sweeps",
    "series": "Series",
    "against": "Cross table",
    "team-sets": "Team sets",
    "cycles": "Cycles and Nash average",
    "faults": "Faults",
    "length": "Battle length",
    "think": "Think time",
}


#: Those that are collapsed at first: details beyond the ranking.
FOLDED = frozenset({"team-sets", "cycles", "length", "think"})


def parts(format_summary: FormatSummary) -> dict[str, str]:
    """Those of PARTS that this format has something to say about."""
    empty = {
        "sweeps": not format_summary["sweeps"],
        "series": not format_summary["series"],
        "team-sets": len(format_summary["team_sets"]) < 2,
        "cycles": len(format_summary["ranking"]) < 3,
    }
    return {key: title for key, title in PARTS.items() if not empty.get(key)}


def format_section(format_summary: FormatSummary, ids: dict[str, str], watched: frozenset[int]) -> Html:
    """Return the section of a format. ids: agent -> id of its part; watched: ids of the battles in the page."""
    make = {
        "ranking": lambda: ranking(format_summary, {agent: f"#{place}" for agent, place in ids.items()}),
        "sweeps": lambda: sweep_section(format_summary),
        "series": lambda: series_section(format_summary),
        "against": lambda: against(format_summary),
        "team-sets": lambda: team_set_section(format_summary),
        "cycles": lambda: cycles(format_summary),
        "faults": lambda: faults(format_summary, watched),
        "length": lambda: length(format_summary),
        "think": lambda: think(format_summary),
    }
    format_id = format_summary["format"]
    sets = ", ".join(format_summary["team_sets"])
    return el(
        "section",
        el("h2", format_id),
        el(
            "p",
            f"{counted(format_summary['battles'], result_unit(format_summary))} between "
            f"{len(format_summary['ranking'])} agents; teams: {sets}.",
            cls="lead",
        ),
        [
            el("section", _part(key, title, make[key]()), id=f"{format_id}-{key}", cls="part")
            for key, title in parts(format_summary).items()
        ],
        id=format_id,
        cls="format",
    )


def _part(key: str, title: str, content: Html) -> Html:
    head = el("h3", title)
    return fold(head, content) if key in FOLDED else join(head, content)


def against(format_summary: FormatSummary) -> Html:
    """The cross table, over all team sets and for each."""
    return join(
        el(
            "p",
            "Win rate in % of the row against the column; a tie counts as half a win. Blue: above 50%, orange: below. "
            "Hover over a cell, or move to it with the arrow keys, for counts and the interval.",
            cls="note",
        ),
        cross_panels(format_summary),
    )


def faults(format_summary: FormatSummary, watched: frozenset[int]) -> Html:
    """What went wrong, by agent and kind, with an example."""
    if not format_summary["faults"]:
        return el("p", "None: every battle ended with a win or a tie.")
    games = battles_by_agent(format_summary)
    body = []
    for fault in format_summary["faults"]:
        battle_id = fault["example"]["battle_id"]
        name = f"battle {battle_id}"
        link = el("a", name, href=f"#battle-{battle_id}") if battle_id in watched else name
        detail = fault["example"]["detail"]
        share = f"{100 * fault['battles'] / games[fault['agent']]:.1f}" if fault["at_fault"] else ""
        body.append(
            el(
                "tr",
                el("th", agent_name(fault["agent"]) if fault["at_fault"] else fault["agent"], scope="row"),
                el("td", fault["kind"]),
                el("td", f"{fault['battles']:,}", cls="number"),
                el("td", share, cls="number"),
                el("td", link, ": " if detail else None, detail[:300] or None, cls="words"),
            )
        )
    heads = [
        el("th", "agent", scope="col"),
        el("th", "kind", scope="col"),
        el("th", "battles", scope="col", cls="number"),
    ]
    heads += [head_cell("%", "Of the agent's battles"), el("th", "example", scope="col")]
    return join(
        el(
            "p",
            "An agent that runs out of time, makes no legal choice or raises an error loses the battle. "
            "Battles at the turn limit count as ties; aborted battles are not counted.",
            cls="note",
        ),
        box(el("table", el("thead", el("tr", heads)), el("tbody", body), cls="plain"), "faults"),
    )


def length(format_summary: FormatSummary) -> Html:
    """How many turns battles take."""
    lengths = format_summary["length"]
    description = (
        f"Median {lengths['median']} turns, quartiles {lengths['q25']} and {lengths['q75']}; "
        f"5th percentile {lengths['q05']}, 95th percentile {lengths['q95']}; "
        f"minimum {lengths['shortest']}, maximum {lengths['longest']:,}."
    )
    marks = {"median": lengths["median"], "95%": lengths["q95"]}
    return join(
        el("p", description),
        el("figure", histogram(lengths["bins"], label=f"Histogram of battle lengths. {description}", marks=marks)),
    )


def think(format_summary: FormatSummary) -> Html:
    """How long each agent thinks about a choice."""
    if not format_summary["think"]:
        return el("p", "No decisions are stored.")
    axis = Axis.powers([row[key] for row in format_summary["think"] for key in ("median_ms", "max_ms")])
    body = []
    for row in format_summary["think"]:
        times = [duration(row[key]) for key in ("median_ms", "p95_ms", "max_ms")]
        description = f"median {times[0]}, 95th percentile {times[1]}, maximum {times[2]}"
        body.append(
            el(
                "tr",
                el("th", agent_name(row["agent"]), scope="row"),
                el(
                    "td",
                    time_line(axis, row["median_ms"], row["p95_ms"], row["max_ms"], label=description),
                    cls="picture",
                ),
                [el("td", time, cls="number") for time in times],
                el("td", f"{row['decisions']:,}", cls="number quiet"),
            )
        )
    picture = el("th", axis_labels(axis, duration), scope="col", cls="picture", aria_label="think time, as a picture")
    heads = [el("th", name, scope="col", cls="number") for name in ("median", "p95", "max", "decisions")]
    return join(
        el(
            "p",
            "Time per decision. Dot: median; line: up to the 95th percentile; thin line: up to the maximum.",
            cls="note",
        ),
        box(
            el(
                "table",
                el("thead", el("tr", el("th", "agent", scope="col"), picture, heads)),
                el("tbody", body),
                cls="plain pictured",
            ),
            "think time",
        ),
    )
