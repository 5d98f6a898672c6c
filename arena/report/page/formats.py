"""The sections of one format: ranking, who beats whom, faults, how long battles and thoughts are."""

from __future__ import annotations

from typing import Any

from arena.report.findings import chance_of_better
from arena.report.numbers import duration, percent, percent_of, whole
from arena.report.page.drawings import Axis, axis_labels, histogram, time_line, whisker
from arena.report.page.heat import cross_panels, heat_table
from arena.report.page.markup import Content, Html, agent_name, box, el, join
from arena.report.page.team_sets import team_set_section

#: Anchor of a section's heading in a format, and how it is called.
PARTS = {
    "ranking": "Ranking",
    "against": "Who beats whom",
    "team-sets": "Team sets",
    "cycles": "Cycles",
    "faults": "Faults",
    "length": "Length of battles",
    "think": "Think time",
}


def parts(said: dict[str, Any]) -> dict[str, str]:
    """Those of PARTS that this format has something to say about."""
    return {key: title for key, title in PARTS.items() if key != "team-sets" or len(said["team_sets"]) > 1}


def format_section(said: dict[str, Any], ids: dict[str, str], watched: frozenset[int]) -> Html:
    """Everything on one format. ids: agent -> id of its part; watched: ids of the battles that the page holds."""
    make = {
        "ranking": lambda: ranking(said, ids),
        "against": lambda: against(said),
        "team-sets": lambda: team_set_section(said),
        "cycles": lambda: cycles(said),
        "faults": lambda: faults(said, watched),
        "length": lambda: length(said),
        "think": lambda: think(said),
    }
    format_id = said["format"]
    sets = ", ".join(said["team_sets"])
    return el(
        "section",
        el("h2", format_id),
        el("p", f"{said['battles']:,} battles between {len(said['ranking'])} agents; teams: {sets}.", cls="lead"),
        [
            el("section", el("h3", title), make[key](), id=f"{format_id}-{key}", cls="part")
            for key, title in parts(said).items()
        ],
        id=format_id,
        cls="format",
    )


def ranking(said: dict[str, Any], ids: dict[str, str]) -> Html:
    """The joint rating: a dot with its interval for each agent, and the numbers beside it."""
    rows = said["ranking"]
    # A bound may lie thousands of points away: the axis is for what is measured, and an arrow points beyond it.
    measured = [row for row in rows if row["games"] and not row["mark"]] or rows
    axis = Axis.over([row[key] for row in measured for key in ("low", "high")])
    groups = sorted({row["group"] for row in rows})
    body: list[Html] = []
    for group in groups:
        members = [row for row in rows if row["group"] == group]
        if len(groups) > 1:
            words = "" if group == 0 else ": not linked by battles to the others, on a scale of its own"
            name = f"Group {_letter(group)}{words}"
            body.append(el("tr", el("th", name, colspan=9, scope="rowgroup"), cls="group"))
        for place in range(len(members)):
            body.append(_ranked(said, members[place : place + 2], axis, ids))
    heads: list[Content] = [
        el("th", "#", scope="col", cls="number rank"),
        el("th", "agent", scope="col"),
        el("th", axis_labels(axis), scope="col", cls="picture", aria_label="rating and interval, as a picture"),
        el("th", "Elo", scope="col", cls="number"),
        el("th", "95% interval", scope="col", cls="number"),
        _head("better than next", "The probability that this agent is better than the one in the next row"),
        _head("wins %", "Mean score: wins, ties as halves, in % of all battles"),
        _head(
            "GXE", "Expected win rate in % against an average player, from Glicko ratings, as Showdown's ladder has it"
        ),
        _head("Nash %", "Share of the agent in the Nash average: the mixture of agents that none beats"),
        _head("battles", "Battles that count"),
    ]
    return join(
        el(
            "p",
            f"Elo from one joint fit over all battles; {said['anchor']} has 1000. The whiskers are 95% intervals; "
            "a hollow dot with a dashed whisker is a bound, not a measurement.",
            cls="note",
        ),
        el("table", el("thead", el("tr", heads)), el("tbody", body), cls="ranking"),
        _better(said),
    )


def _ranked(said: dict[str, Any], pair: list[dict[str, Any]], axis: Axis, ids: dict[str, str]) -> Html:
    """The row of the first of `pair`; the second, if there is one, is the next in the ranking."""
    row = pair[0]
    chance = chance_of_better(said, row["agent"], pair[1]["agent"]) if len(pair) > 1 else None
    fixed = row["agent"] == said["anchor"]
    words = f"Elo {row['elo']:.0f}, 95% interval {row['low']:.0f} to {row['high']:.0f}"
    picture = whisker(axis, row["elo"], row["low"], row["high"], words=words, vague=bool(row["mark"]))
    mark = el("span", row["mark"], cls="mark") if row["mark"] else None
    return el(
        "tr",
        el("td", row["rank"], cls="number rank"),
        el(
            "th", el("a", agent_name(row["agent"]), href=f"#{ids[row['agent']]}", title=row["about"]), mark, scope="row"
        ),
        el("td", picture if row["games"] else None, cls="picture"),
        el("td", whole(row["elo"]), cls="number strong elo"),
        el("td", "anchor" if fixed else f"{whole(row['low'])} – {whole(row['high'])}", cls="number quiet reach"),
        _number("better than next", "" if chance is None else percent(chance)),
        _number("wins %", percent_of(row["score"])),
        _number("GXE", "–" if row["gxe"] is None else f"{row['gxe']:.0f}"),
        _number("Nash %", "" if (row["nash"] or 0) < 0.005 else f"{100 * row['nash']:.0f}"),
        _number("battles", f"{row['games']:,}"),
    )


def _head(name: str, title: str) -> Html:
    return el("th", el("abbr", name, title=title), scope="col", cls="number")


def _number(label: str, value: str) -> Html:
    """A cell that names itself where the table has no room for heads."""
    return el("td", value, cls="number", data_label=label if value else None)


def _letter(group: int) -> str:
    return chr(ord("A") + group) if group < 26 else str(group + 1)


def _better(said: dict[str, Any]) -> Html:
    """The probability that one is better than the other, for every two."""
    names, matrix = said["better"]["agents"], said["better"]["matrix"]
    cells = {
        (names[i], names[j]): (value, percent(value).replace("%", "").replace(" ", ""), "")
        for i, row in enumerate(matrix)
        for j, value in enumerate(row)
        if i != j and value is not None
    }
    return el(
        "details",
        el("summary", "How sure is each place? The probability that one is better than the other, for every two"),
        heat_table(
            names, names, cells, caption="Probability in % that the row is better than the column", kind="better"
        ),
    )


def against(said: dict[str, Any]) -> Html:
    """The cross table, over all team sets and for each."""
    return join(
        el(
            "p",
            "Win rate in % of the row against the column, ties as halves. Blue: the row wins, orange: it loses. "
            "Counts and intervals show when a cell is pointed at, or reached with the arrow keys.",
            cls="note",
        ),
        cross_panels(said),
    )


def cycles(said: dict[str, Any]) -> Html:
    """Who beats whom in a ring, and the mixture that nobody beats."""
    support = sorted((row for row in said["ranking"] if (row["nash"] or 0) >= 0.005), key=lambda row: -row["nash"])
    mixture: list[Content] = []
    for row in support:
        mixture += [", " if mixture else "", agent_name(row["agent"]), f" {100 * row['nash']:.0f}%"]
    found = [
        el(
            "li",
            [[agent_name(agent), el("span", " beats ", cls="quiet")] for agent in cycle["agents"]],
            agent_name(cycle["agents"][0]),
            el("span", f" confidence {percent(cycle['confidence'])}", cls="tag"),
        )
        for cycle in said["cycles"]
    ]
    none = el("p", "No three agents beat each other in a ring.")
    return join(
        el("p", "The Nash average, the mixture of agents that no agent beats: ", mixture, ".") if mixture else None,
        el("p", "The strongest cycles, and how sure each is:", cls="note") if found else none,
        el("ol", found, cls="cycles") if found else None,
    )


def faults(said: dict[str, Any], watched: frozenset[int]) -> Html:
    """What went wrong, by agent and kind, with an example."""
    if not said["faults"]:
        return el("p", "None: every battle was played to its end by the rules.")
    games = {row["agent"]: row["games"] for row in said["ranking"]}
    body = []
    for fault in said["faults"]:
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
    heads += [_head("%", "Of the agent's battles"), el("th", "for example", scope="col")]
    return join(
        el(
            "p",
            "An agent that runs out of time, makes no legal choice or fails loses the battle. "
            "The turn limit (a draw) and aborted battles (not counted) are nobody's fault.",
            cls="note",
        ),
        box(el("table", el("thead", el("tr", heads)), el("tbody", body), cls="plain"), "faults"),
    )


def length(said: dict[str, Any]) -> Html:
    """How many turns battles take."""
    told = said["length"]
    words = (
        f"Half of the battles take {told['q25']} to {told['q75']} turns (median {told['median']}); 5% are over by turn "
        f"{told['q05']}, 5% go beyond turn {told['q95']}. The shortest took {told['shortest']}, the longest "
        f"{told['longest']:,}."
    )
    marks = {"median": told["median"], "95%": told["q95"]}
    return join(
        el("p", words), el("figure", histogram(told["bins"], words=f"Battles by their turns. {words}", marks=marks))
    )


def think(said: dict[str, Any]) -> Html:
    """How long each agent thinks about a choice."""
    if not said["think"]:
        return el("p", "No choice was kept.")
    axis = Axis.powers([row[key] for row in said["think"] for key in ("median_ms", "max_ms")])
    body = []
    for row in said["think"]:
        times = [duration(row[key]) for key in ("median_ms", "p95_ms", "max_ms")]
        words = f"median {times[0]}, 95% below {times[1]}, longest {times[2]}"
        body.append(
            el(
                "tr",
                el("th", agent_name(row["agent"]), scope="row"),
                el("td", time_line(axis, row["median_ms"], row["p95_ms"], row["max_ms"], words=words), cls="picture"),
                [el("td", time, cls="number") for time in times],
                el("td", f"{row['decisions']:,}", cls="number quiet"),
            )
        )
    picture = el("th", axis_labels(axis, duration), scope="col", cls="picture", aria_label="think time, as a picture")
    heads = [el("th", name, scope="col", cls="number") for name in ("median", "95% below", "longest", "choices")]
    return join(
        el(
            "p",
            "Time for one choice. Dot: median; line: to the 95th percentile; thin line: to the longest.",
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
