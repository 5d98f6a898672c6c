"""Results by team set: win rates of each agent, and differences with their intervals."""

from __future__ import annotations

from itertools import combinations

from arena.markup import Html, agent_name, box, el, join, prose
from arena.report.numbers import interval, percent_of, result_units, whole
from arena.report.page.drawings import Axis, axis_labels, whisker
from arena.report.page.heat import heat
from arena.report.summary_types import FormatSummary, SetDifferenceSummary


def team_set_section(format_summary: FormatSummary) -> Html:
    """Win rates by team set, and for every two sets how much better each agent is on one of them."""
    return join(
        _differences(format_summary),
        el("h4", "Win rate by team set"),
        _rates(format_summary),
    )


def _rates(format_summary: FormatSummary) -> Html:
    known = {(cell["agent"], cell["team_set"]): cell for cell in format_summary["by_team_set"]}
    body = []
    for row in format_summary["ranking"]:
        cells = []
        for team_set in format_summary["team_sets"]:
            cell = known.get((row["agent"], team_set))
            if cell is None:
                cells.append(el("td", "·", cls="none", colspan=3))
                continue
            cells += [
                el("td", percent_of(cell["score"]), cls=f"number strong {heat(cell['score'])}"),
                el("td", interval(cell["low"], cell["high"]), cls="number quiet"),
                el("td", f"{cell['battles']:,}", cls="number quiet last"),
            ]
        body.append(el("tr", el("th", agent_name(row["agent"]), scope="row"), cells))
    units = result_units(format_summary)
    sets = [el("th", name, scope="colgroup", colspan=3, cls="over") for name in format_summary["team_sets"]]
    each = [
        el("th", name, scope="col", cls=f"number{' last' * (name == units)}")
        for _ in format_summary["team_sets"]
        for name in ("wins %", "95%", units)
    ]
    head = el("thead", el("tr", el("td"), sets), el("tr", el("th", "agent", scope="col"), each))
    return box(el("table", head, el("tbody", body), cls="plain sets"), "win rate by team set")


def _differences(format_summary: FormatSummary) -> Html:
    found = format_summary["set_differences"]
    clear = [each["sentence"] for each in found if each["clear"]]
    agents = {row["agent"] for row in format_summary["ranking"]}
    summary = (
        el("ul", [el("li", prose(f"{sentence}.", agents)) for sentence in clear], cls="sentences")
        if clear
        else el("p", "No agent is significantly better on one team set than on another.")
    )
    tables = [_pair(format_summary, *pair) for pair in combinations(format_summary["team_sets"], 2)]
    return join(summary, tables)


def _pair(format_summary: FormatSummary, first_set: str, second_set: str) -> Html | None:
    """The differences between two sets on one axis: left of zero better on the first, right on the second."""
    differences = [
        each
        for each in format_summary["set_differences"]
        if {each["better_on"], each["worse_on"]} == {first_set, second_set}
    ]
    if not differences:
        return None
    signed = {each["agent"]: _signed(each, first_set) for each in differences}
    measured = [signed[each["agent"]] for each in differences if not each["bound"]] or list(signed.values())
    reach = max(abs(end) for _, low, high in measured for end in (low, high))
    axis = Axis.over([-reach, reach])
    clear = {each["agent"]: each["clear"] for each in differences}
    body = []
    for agent, (elo, low, high) in sorted(signed.items(), key=lambda item: -item[1][0]):
        side = second_set if elo > 0 else first_set
        label = f"{abs(elo):.0f} Elo better on {side}, 95% interval {low:.0f} to {high:.0f}"
        picture = whisker(axis, elo, low, high, label=label, zero=True, vague=not clear[agent])
        body.append(
            el(
                "tr",
                el("th", agent_name(agent), scope="row"),
                el("td", picture, cls="picture"),
                el("td", whole(elo, signed=True), cls="number strong" if clear[agent] else "number"),
                el("td", f"{whole(low, signed=True)} to {whole(high, signed=True)}", cls="number quiet"),
                el(
                    "td",
                    f"better on {side}" if clear[agent] else "not significant",
                    cls="" if clear[agent] else "quiet",
                ),
            )
        )
    picture = el(
        "th",
        el("span", el("span", f"← better on {first_set}"), el("span", f"better on {second_set} →"), cls="sides"),
        axis_labels(axis, lambda tick: whole(tick, signed=True)),
        scope="col",
        cls="picture",
    )
    heads = [
        el("th", "agent", scope="col"),
        picture,
        el("th", "Elo", scope="col", cls="number"),
        el("th", "95% interval", scope="col", cls="number"),
        el("th", "", scope="col"),
    ]
    return join(
        el("h4", f"{second_set} versus {first_set}"),
        el(
            "p",
            "Hollow dot: not significant. Significance is corrected for multiple comparisons: at a false discovery rate "
            "of 5%, about one in twenty significant differences is a false positive.",
            cls="note",
        ),
        box(
            el("table", el("thead", el("tr", heads)), el("tbody", body), cls="plain pictured"),
            f"difference between {first_set} and {second_set}",
        ),
    )


def _signed(each: SetDifferenceSummary, first_set: str) -> tuple[float, float, float]:
    """(difference, low, high), negative where the agent is better on `left`."""
    if each["better_on"] == first_set:
        return -each["elo"], -each["high"], -each["low"]
    return each["elo"], each["low"], each["high"]
