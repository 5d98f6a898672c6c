"""The first card of the page: the leader, P(best), and which ranks are not separated."""

from __future__ import annotations

from typing import Any

from arena.markup import Content, Html, agent_name, el, prose
from arena.report.findings import elo_words, equals, leader_words, match_facts, order
from arena.report.numbers import counted

#: More formats than these get their first line only.
_WHOLE = 3


def result_card(summary: dict[str, Any]) -> Html | None:
    """Return the card with the result of each format or of the match; None without a finished battle."""
    ranked = [said for said in summary["formats"] if len(said["ranking"]) > 1]
    parts = [_leader(said, alone=len(ranked) == 1, whole=len(ranked) <= _WHOLE) for said in ranked]
    match = summary["match"]
    if match is not None and match["pairs"]:
        parts = [_match(match)]
    if not parts:
        return None
    return el("section", el("h2", "Result", cls="quiet-head"), parts, id="result", cls="result")


def card_sentences(summary: dict[str, Any]) -> set[str]:
    """What the card says in the words of a finding, so that it need not be said twice."""
    ranked = [said for said in summary["formats"] if len(said["ranking"]) > 1]
    prefixes = {said["format"]: f"{said['format']}: " if len(ranked) > 1 else "" for said in ranked}
    return {prefixes[said["format"]] + sentence for said in ranked for sentence in order(said)}


def _leader(said: dict[str, Any], *, alone: bool, whole: bool) -> Html:
    first = said["ranking"][0]
    agents = {row["agent"] for row in said["ranking"]}
    where = "" if alone else f" in {said['format']}"
    facts = [
        f"P(best) {equals(first['best'])}",
        f"Elo {elo_words(first, said['anchor'])}" + (f" ({first['mark']}: a bound)" if first["mark"] else ""),
        f"{counted(said['battles'], 'battle')} between {counted(len(said['ranking']), 'agent')}",
    ]
    return el(
        "div",
        el("p", agent_name(first["agent"]), f" {leader_words(said)}{where}", cls="who"),
        el("p", " · ".join(facts), cls="how-sure"),
        el("ul", [el("li", prose(sentence, agents)) for sentence in order(said)]) if whole and order(said) else None,
    )


def _match(match: dict[str, Any]) -> Html:
    agents = set(match["agents"])
    if match["sprt"] is None:
        lines: list[Content] = [el("p", prose(f"{' against '.join(match['agents'])}", agents), cls="who")]
    else:
        words = {"H1": "H1 accepted", "H0": "H0 accepted", None: "Inconclusive"}[match["sprt"]["decision"]]
        lines = [el("p", words, cls="who"), el("p", prose(f"{match['sprt']['verdict']}.", agents))]
    facts = [fact for fact in match_facts(match) if fact[0] != "decision"]
    return el("div", lines, el("dl", [[el("dt", what), el("dd", value)] for what, value in facts], cls="facts-list"))
