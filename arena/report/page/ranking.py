"""The ranking of a format: ratings with intervals, pairwise probabilities, cycles and the Nash average."""

from __future__ import annotations

from collections.abc import Mapping

from arena.markup import Content, Html, agent_name, box, el, head_cell, join, table
from arena.ratings.evidence import BASE
from arena.report.findings import chance_of_better
from arena.report.numbers import group_letter, interval, nash_percent, percent, percent_of, result_units, whole
from arena.report.page.drawings import Axis, axis_labels, bar, whisker
from arena.report.page.heat import heat_table
from arena.report.strengths import elo_range
from arena.report.summary_types import CycleSummary, RankedFormat, RankingRow


def ranking(format_summary: RankedFormat, links: Mapping[str, str]) -> Html:
    """The joint rating: a dot with its interval for each agent, and the numbers beside it. links: agent -> its page."""
    rows = format_summary["ranking"]
    units = result_units(format_summary)
    axis = Axis.over(elo_range(rows))
    beyond = any(row["games"] and row["elo"] < axis.low for row in rows)
    groups = sorted({row["group"] for row in rows})
    body: list[Html] = []
    for group in groups:
        members = [row for row in rows if row["group"] == group]
        if len(groups) > 1:
            words = "" if group == 0 else ": not connected by battles to the other groups, ratings on a separate scale"
            name = f"Group {group_letter(group)}{words}"
            body.append(el("tr", el("th", name, colspan=9, scope="rowgroup"), cls="group"))
        for place in range(len(members)):
            body.append(_ranked(format_summary, members[place : place + 2], axis, links))
    heads: list[Content] = [
        el("th", "#", scope="col", cls="number rank"),
        el("th", "agent", scope="col"),
        el("th", axis_labels(axis), scope="col", cls="picture", aria_label="rating and interval, as a picture"),
        el("th", "Elo", scope="col", cls="number"),
        el("th", "95% interval", scope="col", cls="number"),
        head_cell("P(better than next)", "The probability that this agent is better than the one in the next row"),
        head_cell("wins %", "Mean score in %; a tie counts as half a win"),
        head_cell(
            "GXE", "Expected win rate in % against an average player, from Glicko ratings, as on Showdown's ladder"
        ),
        head_cell(
            "Nash %",
            "Weight of the agent in the Nash average, the mixture that no agent beats in expectation (mean over resamples)",
        ),
        head_cell(units, f"{units[0].upper()}{units[1:]} that count"),
    ]
    return join(
        el(
            "p",
            f"Elo from one joint fit over all {units}; anchor {format_summary['anchor']} = {BASE:g}. Whiskers are 95% "
            "intervals; a hollow dot with a dashed whisker is a bound, not an estimate."
            + (" ◂: below the range of the axis; the number is its Elo." if beyond else ""),
            cls="note",
        ),
        el("table", el("thead", el("tr", heads)), el("tbody", body), cls="ranking"),
        _better(format_summary),
    )


def _ranked(format_summary: RankedFormat, pair: list[RankingRow], axis: Axis, links: Mapping[str, str]) -> Html:
    """The row of the first of `pair`; the second, if there is one, is the next in the ranking."""
    row = pair[0]
    chance = chance_of_better(format_summary, row["agent"], pair[1]["agent"]) if len(pair) > 1 else None
    fixed = row["agent"] == format_summary["anchor"]
    label = f"Elo {row['elo']:.0f}, 95% interval {row['low']:.0f} to {row['high']:.0f}"
    picture = whisker(axis, row["elo"], row["low"], row["high"], label=label, vague=bool(row["mark"]))
    mark = el("span", row["mark"], cls="mark") if row["mark"] else None
    return el(
        "tr",
        el("td", row["rank"], cls="number rank"),
        el("th", el("a", agent_name(row["agent"]), href=links[row["agent"]], title=row["about"]), mark, scope="row"),
        el("td", picture if row["games"] else None, cls="picture"),
        el("td", whole(row["elo"]), cls="number strong elo"),
        el("td", "anchor" if fixed else f"{whole(row['low'])} – {whole(row['high'])}", cls="number quiet reach"),
        _number("P(better than next)", "" if chance is None else percent(chance)),
        _number("wins %", percent_of(row["score"])),
        _number("GXE", "–" if row["gxe"] is None else f"{row['gxe']:.0f}"),
        _number("Nash %", nash_percent(row)),
        _number(result_units(format_summary), f"{row['games']:,}"),
    )


def _number(label: str, value: str) -> Html:
    """A cell with its own label, shown where the table is too narrow for column heads."""
    return el("td", value, cls="number", data_label=label if value else None)


def _better(format_summary: RankedFormat) -> Html:
    """Return the table of P(better) for all pairs of agents."""
    names, matrix = format_summary["better"]["agents"], format_summary["better"]["matrix"]
    cells = {
        (names[i], names[j]): (value, percent(value).replace("%", "").replace(" ", ""), "")
        for i, row in enumerate(matrix)
        for j, value in enumerate(row)
        if i != j and value is not None
    }
    return el(
        "details",
        el("summary", "P(better) for every pair of agents"),
        heat_table(names, names, cells, caption="P(row is better than column) in %", kind="better"),
    )


def cycles(format_summary: RankedFormat) -> Html:
    """Return the cycles, and the Nash average."""
    support = [
        (row, nash) for row in format_summary["ranking"] if (nash := row["nash"]) is not None and nash["mean"] >= 0.005
    ]
    mixture = [
        el(
            "tr",
            el("th", agent_name(row["agent"]), scope="row"),
            el("td", bar(nash["mean"]), cls="bars"),
            el("td", nash_percent(row), cls="number strong"),
            el("td", interval(nash["low"], nash["high"]), cls="number quiet"),
        )
        for row, nash in sorted(support, key=lambda pair: -pair[1]["mean"])
    ]
    entries = [el("li", _cycle(cycle)) for cycle in format_summary["cycles"]]
    heads = [el("th", name, scope="col", cls="number") for name in ("weight %", "95%")]
    head = el("tr", el("th", "agent", scope="col"), el("th", "", cls="bars"), heads)
    return join(
        el(
            "p",
            "The strongest intransitive cycles. Those below 95% confidence are not significant: with many agents, some "
            "cycle "
            "always occurs by chance.",
            cls="note",
        )
        if entries
        else el("p", "No intransitive cycles (a beats b, b beats c, c beats a)."),
        el("ol", entries, cls="cycles") if entries else None,
        el("h4", "Nash average") if mixture else None,
        el(
            "p",
            "The mixture that no agent beats in expectation. Weights are means over bootstrap resamples: with few battles "
            "they "
            "spread over more agents.",
            cls="note",
        )
        if mixture
        else None,
        box(el("table", el("thead", head), el("tbody", mixture), cls="small mixture"), "Nash average")
        if mixture
        else None,
        _views(format_summary),
    )


def _views(ranked: RankedFormat) -> Html | None:
    """Three views of strength beside each other: Elo, the equilibrium rating, alpha-rank."""
    rows = [row for row in ranked["ranking"] if row["games"] and row["nash"] is not None]
    if len(rows) < 3:
        return None
    with_alpha = any(row["alpha_rank"] is not None for row in rows)
    body = [
        el(
            "tr",
            el("td", row["rank"], cls="number"),
            el("th", agent_name(row["agent"]), scope="row"),
            el("td", whole(row["elo"]), cls="number"),
            el("td", percent_of(nash["rating"]), cls="number strong"),
            el("td", interval(nash["rating_low"], nash["rating_high"]), cls="number quiet"),
            el("td", "–" if row["alpha_rank"] is None else f"{100 * row['alpha_rank']:.1f}", cls="number")
            if with_alpha
            else None,
            el("td", interval(row["alpha_rank_low"], row["alpha_rank_high"]), cls="number quiet")
            if with_alpha
            else None,
        )
        for row in rows
        if (nash := row["nash"]) is not None
    ]
    heads = ["#", "agent", "Elo", "equilibrium %", "95%", *(["alpha-rank %", "95%"] if with_alpha else [])]
    explanation = (
        "Equilibrium rating: win rate in % against the Nash average, at most 50 (mean over resamples). Unlike Elo it does "
        "not change when an agent is copied, and it differs where an agent lives on weak opponents."
    )
    if with_alpha:
        explanation += (
            " Alpha-rank: the share of time that a population which copies what wins spends with an agent. It differs from "
            "both where somebody beats everyone narrowly, and in cycles, whose members share it."
        )
    numbers = [head for head in heads if head != "agent"]
    return join(
        el("h4", "Elo, equilibrium rating" + (", alpha-rank" if with_alpha else "")),
        el("p", explanation, cls="note"),
        table(heads, body, "three views of strength", numbers=numbers, cls="small views"),
    )


def _cycle(cycle: CycleSummary) -> list[Content]:
    """ "a beats b (62% of 8), who beats c (75% of 8), who beats a (62% of 8)"."""
    agents, beaten = cycle["agents"], [*cycle["agents"][1:], cycle["agents"][0]]
    parts: list[Content] = [agent_name(agents[0])]
    for place, (other, share, games) in enumerate(zip(beaten, cycle["win_rates"], cycle["games"], strict=True)):
        parts += [", which beats " if place else " beats ", agent_name(other)]
        parts.append(el("span", f" ({percent_of(share)}% of {games:,})", cls="quiet"))
    return [parts, el("span", f"confidence {percent(cycle['confidence'])}", cls="tag")]
