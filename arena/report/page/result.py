"""The first card of the page: the leader, P(best), and which ranks are not separated."""

from __future__ import annotations

from arena.markup import Content, Html, agent_name, el, prose
from arena.report.findings import describe_elo, equals, leader_phrase, match_facts, order
from arena.report.numbers import counted, result_unit
from arena.report.summary_types import FormatSummary, MatchReport, ReportSummary

#: More formats than these get their first line only.
_WHOLE = 3


def result_card(summary: ReportSummary) -> Html | None:
    """Return the card with the result of each format or of the match; None without a finished battle."""
    ranked = [format_summary for format_summary in summary["formats"] if len(format_summary["ranking"]) > 1]
    parts = [
        _leader(format_summary, only_format=len(ranked) == 1, whole=len(ranked) <= _WHOLE) for format_summary in ranked
    ]
    match = summary["match"]
    if match is not None and match["pairs"]:
        parts = [_match(match)]
    if not parts:
        return None
    return el("section", el("h2", "Result", cls="quiet-head"), parts, id="result", cls="result")


def card_sentences(summary: ReportSummary) -> set[str]:
    """What the card says in the words of a finding, so that it need not be said twice."""
    ranked = [format_summary for format_summary in summary["formats"] if len(format_summary["ranking"]) > 1]
    prefixes = {
        format_summary["format"]: f"{format_summary['format']}: " if len(ranked) > 1 else ""
        for format_summary in ranked
    }
    return {
        prefixes[format_summary["format"]] + sentence for format_summary in ranked for sentence in order(format_summary)
    }


def _leader(format_summary: FormatSummary, *, only_format: bool, whole: bool) -> Html:
    first = format_summary["ranking"][0]
    agents = {row["agent"] for row in format_summary["ranking"]}
    where = "" if only_format else f" in {format_summary['format']}"
    facts = [
        f"P(best) {equals(first['best'])}",
        f"Elo {describe_elo(first, format_summary['anchor'])}"
        + (f" ({first['mark']}: a bound)" if first["mark"] else ""),
        f"{counted(format_summary['battles'], result_unit(format_summary))} between "
        f"{counted(len(format_summary['ranking']), 'agent')}",
    ]
    return el(
        "div",
        el("p", agent_name(first["agent"]), f" {leader_phrase(format_summary)}{where}", cls="who"),
        el("p", " · ".join(facts), cls="how-sure"),
        el("ul", [el("li", prose(sentence, agents)) for sentence in order(format_summary)])
        if whole and order(format_summary)
        else None,
    )


def _match(match: MatchReport) -> Html:
    agents = set(match["agents"])
    if match["sprt"] is None:
        lines: list[Content] = [el("p", prose(f"{' against '.join(match['agents'])}", agents), cls="who")]
    else:
        words = {"H1": "H1 accepted", "H0": "H0 accepted", None: "Inconclusive"}[match["sprt"]["decision"]]
        lines = [el("p", words, cls="who"), el("p", prose(f"{match['sprt']['verdict']}.", agents))]
    facts = [fact for fact in match_facts(match) if fact[0] != "decision"]
    return el("div", lines, el("dl", [[el("dt", what), el("dd", value)] for what, value in facts], cls="facts-list"))
