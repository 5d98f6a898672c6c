"""The section of an agent: opponents, teams, moves and leads, and results by turn."""

from __future__ import annotations

from typing import Any

from arena.markup import Content, Html, agent_name, box, el
from arena.report.numbers import counted, interval, percent_of, whole
from arena.report.page.drawings import bar, turn_chart


def agent_ids(formats: list[dict[str, Any]]) -> dict[str, str]:
    """agent -> the id of its part, in the order in which the rankings name them."""
    names = dict.fromkeys(row["agent"] for said in formats for row in said["ranking"])
    return {agent: f"agent-{number}" for number, agent in enumerate(names, 1)}


def agent_section(agent: str, place: str, formats: list[dict[str, Any]]) -> Html:
    """Return the collapsible section of an agent."""
    about = next((row["about"] for said in formats for row in said["ranking"] if row["agent"] == agent), None)
    parts, ranks = [], []
    for said in formats:
        row = next((row for row in said["ranking"] if row["agent"] == agent), None)
        more = next((each for each in said["agents"] if each["agent"] == agent), None)
        if row is None or more is None:
            continue
        ranks.append(f"rank {row['rank']} in {said['format']}")
        parts.append(_in_format(said, row, more))
    summary = el(
        "summary",
        agent_name(agent),
        el("span", ", ".join(ranks), cls="quiet ranks"),
        el("span", about, cls="about") if about else None,
    )
    watch = el("p", el("a", "Battles of this agent", href=f"#agent={agent}", cls="needs-script"))
    return el("details", summary, parts, watch, id=place, cls="agent-part")


def _in_format(said: dict[str, Any], row: dict[str, Any], more: dict[str, Any]) -> Html:
    elo, low, high = (whole(row[key]) for key in ("elo", "low", "high"))
    gxe = "" if row["gxe"] is None else f", GXE {row['gxe']:.0f}"
    line = (
        f"Rank {row['rank']} of {len(said['ranking'])}, Elo {elo} ({low} to {high}){gxe}; wins {percent_of(row['score'])}% "
        f"of {counted(row['games'], 'battle')}; median length {more['median_turns']} turns."
    )
    opponents, teams = more["opponents"], more["teams"]
    told = "" if teams["told_apart"] else " The differences between teams are not significant."
    return el(
        "section",
        el("h4", said["format"]),
        el("p", line),
        el(
            "div",
            _card(
                "Opponents",
                _rates("best", opponents["best"], _opponent, expected=True),
                _rates("worst", opponents["worst"], _opponent, expected=True),
                note="Expected: win rate in % predicted by the ratings.",
            ),
            _card(
                "Teams played",
                _rates("best", teams["best"], _team),
                _rates("worst", teams["worst"], _team),
                note=f"Best and worst of {teams['of']} teams.{told}",
            ),
            _card("Most used moves", _moves(more["moves"])) if more["moves"] else None,
            _leads(more["leads"]) if more["leads"] else None,
            cls="cards",
        ),
        el("h5", "Win rate over the battles that reached a given turn"),
        el("figure", turn_chart(more["by_turn"], words=_turn_words(more["by_turn"]))),
        cls="in-format",
    )


def _card(title: str, *content: Content, note: str | None = None) -> Html:
    return el("div", el("h5", title), content, el("p", note, cls="note") if note else None, cls="card")


def _opponent(entry: dict[str, Any]) -> Html:
    return agent_name(entry["opponent"])


def _team(entry: dict[str, Any]) -> Html:
    return el("span", entry["team"], title=", ".join(entry["species"]) or None)


def _rates(title: str, entries: list[dict[str, Any]], name: Any, *, expected: bool = False) -> Html | None:
    """Rates with their intervals and counts, a line each."""
    if not entries:
        return None
    body = [
        el(
            "tr",
            el("th", name(entry), scope="row"),
            el("td", percent_of(entry["score"]), cls="number strong"),
            el("td", interval(entry["low"], entry["high"]), cls="number quiet"),
            el("td", percent_of(entry["expected"]), cls="number quiet") if expected else None,
            el("td", f"{entry['battles']:,}", cls="number quiet"),
        )
        for entry in entries
    ]
    names = ["wins %", "95%", *(["expected"] if expected else []), "battles"]
    head = el("tr", el("th", title, scope="col"), [el("th", each, scope="col", cls="number") for each in names])
    return box(el("table", el("thead", head), el("tbody", body), cls="small"), title)


def _moves(moves: list[dict[str, Any]]) -> Html:
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


def _leads(said: dict[str, Any]) -> Html:
    body = [
        el(
            "tr",
            el("th", lead["lead"], scope="row"),
            el("td", f"{lead['battles']:,}", cls="number strong"),
            el("td", percent_of(lead["score"]), cls="number"),
            el("td", interval(lead["low"], lead["high"]), cls="number quiet"),
        )
        for lead in said["leads"]
    ]
    names = ("battles", "wins %", "95%")
    head = el("tr", el("th", "lead", scope="col"), [el("th", each, scope="col", cls="number") for each in names])
    chosen = (
        "Chosen at team preview" if said["chosen"] else "First Pokémon of each team (the format has no team preview)"
    )
    left_out = said["of"] - len(said["leads"])
    note = f"{chosen}.{f' {left_out} less frequent leads are not shown.' if left_out else ''}"
    return _card("Leads", el("table", el("thead", head), el("tbody", body), cls="small"), note=note)


def _turn_words(entries: list[dict[str, Any]]) -> str:
    return "; ".join(f"turn {e['turn']}: {percent_of(e['score'])}% of {e['battles']:,}" for e in entries)
