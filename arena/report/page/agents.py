"""The section of an agent: opponents, teams, moves and leads, and results by turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from arena.markup import Content, Html, agent_name, box, el
from arena.report.numbers import counted, interval, percent_of, result_unit, result_units, whole
from arena.report.page.drawings import bar, turn_chart
from arena.report.summary_types import (
    AgentProfile,
    FormatSummary,
    LeadSummary,
    MoveShare,
    PairingResult,
    RankingRow,
    TeamRate,
    TurnRate,
    WinRate,
)

Rated = TypeVar("Rated", bound=WinRate)


def agent_ids(formats: list[FormatSummary]) -> dict[str, str]:
    """agent -> the id of its part, in the order in which the rankings name them."""
    names = dict.fromkeys(row["agent"] for format_summary in formats for row in format_summary["ranking"])
    return {agent: f"agent-{number}" for number, agent in enumerate(names, 1)}


def agent_section(agent: str, place: str, formats: list[FormatSummary]) -> Html:
    """Return the collapsible section of an agent."""
    about = next(
        (row["about"] for format_summary in formats for row in format_summary["ranking"] if row["agent"] == agent), None
    )
    parts, ranks = [], []
    for format_summary in formats:
        row = next((row for row in format_summary["ranking"] if row["agent"] == agent), None)
        more = next((each for each in format_summary["agents"] if each["agent"] == agent), None)
        if row is None or more is None:
            continue
        ranks.append(f"rank {row['rank']} in {format_summary['format']}")
        parts.append(_in_format(format_summary, row, more))
    summary = el(
        "summary",
        agent_name(agent),
        el("span", ", ".join(ranks), cls="quiet ranks"),
        el("span", about, cls="about") if about else None,
    )
    watch = el("p", el("a", "Battles of this agent", href=f"#agent={agent}", cls="needs-script"))
    return el("details", summary, parts, watch, id=place, cls="agent-part")


def _in_format(format_summary: FormatSummary, row: RankingRow, more: AgentProfile) -> Html:
    elo, low, high = whole(row["elo"]), whole(row["low"]), whole(row["high"])
    gxe = "" if row["gxe"] is None else f", GXE {row['gxe']:.0f}"
    line = (
        f"Rank {row['rank']} of {len(format_summary['ranking'])}, Elo {elo} ({low} to {high}){gxe}; wins "
        f"{percent_of(row['score'])}% of {counted(row['games'], result_unit(format_summary))}; median length "
        f"{more['median_turns']} turns."
    )
    opponents, teams, counted_units = more["opponents"], more["teams"], result_units(format_summary)
    not_clear = "" if teams["told_apart"] else " The differences between teams are not significant."
    return el(
        "section",
        el("h4", format_summary["format"]),
        el("p", line),
        el(
            "div",
            _card(
                "Opponents",
                _rates("best", opponents["best"], _opponent, _expected, counted_units),
                _rates("worst", opponents["worst"], _opponent, _expected, counted_units),
                note="Expected: win rate in % predicted by the ratings.",
            ),
            _card(
                "Teams played",
                _rates("best", teams["best"], _team, units=counted_units),
                _rates("worst", teams["worst"], _team, units=counted_units),
                note=f"Best and worst of {teams['of']} teams.{not_clear}",
            ),
            _card("Most used moves", _moves(more["moves"])) if more["moves"] else None,
            _leads(more["leads"]) if more["leads"] else None,
            cls="cards",
        ),
        _turns(more["by_turn"]) if more["by_turn"] else None,
        cls="in-format",
    )


def _turns(rates: list[TurnRate]) -> Content:
    return [
        el("h5", "Win rate over the battles that reached a given turn"),
        el("figure", turn_chart(rates, label=_describe_turns(rates))),
    ]


def _card(title: str, *content: Content, note: str | None = None) -> Html:
    return el("div", el("h5", title), content, el("p", note, cls="note") if note else None, cls="card")


def _opponent(entry: PairingResult) -> Html:
    return agent_name(entry["opponent"])


def _team(entry: TeamRate) -> Html:
    return el("span", entry["team"], title=", ".join(entry["species"]) or None)


def _expected(entry: PairingResult) -> float | None:
    return entry["expected"]


def _rates(
    title: str,
    entries: list[Rated],
    name: Callable[[Rated], Html],
    expected: Callable[[Rated], float | None] | None = None,
    units: str = "battles",
) -> Html | None:
    """Rates with their intervals and counts, a line each. expected: the score by the ratings, if it is shown; units: what
    is counted."""
    if not entries:
        return None
    body = [
        el(
            "tr",
            el("th", name(entry), scope="row"),
            el("td", percent_of(entry["score"]), cls="number strong"),
            el("td", interval(entry["low"], entry["high"]), cls="number quiet"),
            el("td", percent_of(expected(entry)), cls="number quiet") if expected else None,
            el("td", f"{entry['battles']:,}", cls="number quiet"),
        )
        for entry in entries
    ]
    names = ["wins %", "95%", *(["expected"] if expected else []), units]
    head = el("tr", el("th", title, scope="col"), [el("th", each, scope="col", cls="number") for each in names])
    return box(el("table", el("thead", head), el("tbody", body), cls="small"), title)


def _moves(moves: list[MoveShare]) -> Html:
    most = moves[0]["share"]
    body = [
        el(
            "tr",
            el("th", move["move"], scope="row"),
            el("td", bar(move["share"] / most), cls="bars"),
            el("td", f"{100 * move['share']:.0f}%", cls="number strong"),
            el("td", f"{move['times']:,}", cls="number quiet"),
        )
        for move in moves
    ]
    return el("table", el("tbody", body), cls="small")


def _leads(leads: LeadSummary) -> Html:
    body = [
        el(
            "tr",
            el("th", lead["lead"], scope="row"),
            el("td", f"{lead['battles']:,}", cls="number strong"),
            el("td", percent_of(lead["score"]), cls="number"),
            el("td", interval(lead["low"], lead["high"]), cls="number quiet"),
        )
        for lead in leads["leads"]
    ]
    names = ("battles", "wins %", "95%")
    head = el("tr", el("th", "lead", scope="col"), [el("th", each, scope="col", cls="number") for each in names])
    chosen = (
        "Chosen at team preview" if leads["chosen"] else "First Pokémon of each team (the format has no team preview)"
    )
    left_out = leads["of"] - len(leads["leads"])
    note = f"{chosen}.{f' {left_out} less frequent leads are not shown.' if left_out else ''}"
    return _card("Leads", el("table", el("thead", head), el("tbody", body), cls="small"), note=note)


def _describe_turns(entries: list[TurnRate]) -> str:
    return "; ".join(f"turn {e['turn']}: {percent_of(e['score'])}% of {e['battles']:,}" for e in entries)
