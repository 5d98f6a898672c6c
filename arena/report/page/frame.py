"""What stands around the numbers: the head, the contents, what was run, and how to read it."""

from __future__ import annotations

from typing import Any

from arena.report.lineage import Lineage
from arena.report.numbers import counted, listed, moment
from arena.report.page import lineage
from arena.report.page.formats import parts
from arena.report.page.markup import Content, Html, agent_name, box, el, fold, prose
from arena.report.page.result import card_sentences, result_card
from arena.report.runs import settings_words

_READING = {
    "Elo": "From one Bradley-Terry fit over all battles of a format at once, with a small prior that keeps perfect scores "
    "finite. 400 points more mean ten wins for each loss. The scale hangs on the anchor, who has 1000: only differences "
    "mean something.",
    "95% interval": "By resampling pairs of battles (the same two teams, the sides exchanged), never single ones. When two "
    "intervals overlap, look at the probability of being better: it knows that both hang on the same anchor.",
    "Better than": "In how many of the resamples the one is rated above the other. It says how sure the order is, not how "
    "much better.",
    "Win rates": "Ties count as halves. Their intervals are Wilson's at 95%, with battles taken singly.",
    "GXE": "The expected win rate against an unknown player, from Glicko-1 ratings made as Showdown's ladder makes them. "
    "Here the ladder is this pool, so it does not compare with the ladder of the site.",
    "Differences between team sets": "Elo on one set less Elo on the other, against the mean of the agents on both: "
    "it says better than the others are. Clear: the interval leaves out zero, with false discoveries kept to 5%.",
    "Nash average": "Weights for the agents such that no agent beats the mixture; all others have none. Unlike Elo, it "
    "cannot be changed by copies of an agent or by weak agents in the pool.",
    "Cycles": "a beats b, b beats c, c beats a: strength that no rating on a line can show. The confidence is the smaller "
    "of two answers: how often all three hold in the resamples, and how seldom a pool without any would show one so sure.",
    "Failures": "An agent that runs out of time, makes no legal choice or raises an error loses that battle. Battles that "
    "the venue aborted count for nobody.",
}

_OF_CURRICULA = {
    "Kept, rejected": "A checkpoint that passes every gate of its stage is kept, and the next stage begins with it. After "
    "one that does not, the stage is tried otherwise, or the next one begins with the parent.",
    "Points by stage": "Every kept checkpoint plays every opponent of the pool on every team set; an average counts each "
    "alike, whatever was played. Intervals are of 95%, by resampling pairs of battles.",
    "Change since the parent": "The two have not played the same pairs of teams, so the interval holds the luck of both.",
}


def title(summary: dict[str, Any]) -> str:
    """What the page is called."""
    agents = len({row["agent"] for said in summary["formats"] for row in said["ranking"]})
    formats = listed([said["format"] for said in summary["formats"]])
    return f"{counted(agents, 'agent')} in {formats}" if formats else "No battles yet"


def head(summary: dict[str, Any]) -> Html:
    """Title, when and what, the findings, and what to be careful about."""
    run = summary["run"]
    battles = sum(said["battles"] for said in summary["formats"])
    when = moment(run["ended"] or run["started"])
    state = {
        "finished": f"finished {when}",
        "running": f"still going on, begun {when}",
        "time limit": f"time limit reached {when}",
    }.get(run["status"], f"{run['status']}, {'until' if run['ended'] else 'begun'} {when}")
    facts = [f"run {run['id']}", counted(battles, "battle"), state]
    notes, told = summary["notes"], card_sentences(summary)
    agents = {row["agent"] for said in summary["formats"] for row in said["ranking"]}
    return el(
        "header",
        el("p", "Battle arena", cls="eyebrow"),
        el("h1", title(summary)),
        el("p", " · ".join(facts), cls="facts"),
        result_card(summary),
        el(
            "section",
            el("h2", "Findings", cls="quiet-head"),
            el(
                "ul",
                [el("li", prose(each, agents)) for each in summary["findings"] if each not in told],
                cls="findings",
            ),
            id="findings",
        ),
        el(
            "aside",
            el("h2", "Read with care", cls="quiet-head"),
            el("ul", [el("li", prose(note, agents)) for note in notes]),
            cls="care",
        )
        if notes
        else None,
    )


def contents(summary: dict[str, Any], ids: dict[str, str]) -> Html:
    """The table of contents."""
    entries: list[Content] = [_entry("findings", "Findings")]
    for said in summary["formats"]:
        inner = [_entry(f"{said['format']}-{key}", name) for key, name in parts(said).items()]
        entries.append(_entry(said["format"], said["format"], el("ol", inner)))
    if summary["curriculum"]:
        inner = [_entry(place, name) for place, name in lineage.PARTS.items()]
        entries.append(_entry("curriculum", "Curriculum", el("ol", inner)))
    if ids:
        entries.append(_entry("agents", "Agents"))
        entries.append(_entry("battles", "Battles"))
    entries += [_entry("run", "What was run"), _entry("reading", "How to read this")]
    return el("nav", el("ol", entries), aria_label="Contents")


def _entry(place: str, name: str, *inner: Content) -> Html:
    return el("li", el("a", name, href=f"#{place}"), inner)


def curriculum_head(known: Lineage) -> Html:
    """The head of a curriculum's own page."""
    found = lineage.findings(known)
    return el(
        "header",
        el("p", "Curriculum", cls="eyebrow"),
        el("h1", known["name"]),
        el("p", " · ".join(lineage.facts(known)), cls="facts"),
        el("section", el("h2", "Findings", cls="quiet-head"), el("ul", found, cls="findings"), id="findings")
        if found
        else None,
    )


def curriculum_contents() -> Html:
    """The table of contents of a curriculum's own page."""
    entries = [_entry(place, name) for place, name in lineage.PARTS.items()]
    return el("nav", el("ol", entries, _entry("reading", "How to read this")), aria_label="Contents")


def run_section(summary: dict[str, Any]) -> Html:
    """Versions, seeds, commands: what a reader needs to do it again."""
    run = summary["run"]
    evidence = run["evidence"]
    earlier = [f"{source['battles']:,} of run {source['run']}" for source in evidence["earlier"]]
    facts = {
        "Run": f"{run['id']} ({run['kind']}), {run['status']}",
        "Began": moment(run["started"]),
        "Ended": moment(run["ended"]) if run["ended"] else "–",
        "Commit": run["git"] or "outside a checkout",
        "Versions": ", ".join(f"{name} {number}" for name, number in run["versions"].items()),
        "Battles that count": f"{evidence['own']:,} of this run" + "".join(f", {words}" for words in earlier),
        "Teams": "; ".join(
            f"{pool['format']} {pool['team_set']}: {pool['teams'] or 'drawn by Showdown'}" for pool in run["pools"]
        ),
        "Settings": settings_words(run["config"]),
    }
    agents = [
        el(
            "tr",
            el("th", agent_name(agent["agent"]), scope="row"),
            el("td", agent["about"], cls="words"),
            el("td", el("code", agent["fingerprint"])),
            el("td", "yes" if agent["repeatable"] else "no"),
        )
        for agent in run["agents"]
    ]
    heads = [el("th", name, scope="col") for name in ("agent", "about", "fingerprint of its code", "repeatable")]
    return el(
        "section",
        fold(
            el("h2", "What was run"),
            el("p", "To play it again, in the same versions (in the same database with ", el("code", "--fresh"), "):"),
            el("pre", el("code", run["command"]), tabindex=0),
            el("dl", [[el("dt", name), el("dd", words)] for name, words in facts.items()], cls="facts-list"),
            box(el("table", el("thead", el("tr", heads)), el("tbody", agents), cls="plain"), "agents"),
        ),
        id="run",
    )


def reading_section(summary: dict[str, Any]) -> Html:
    """What the words and numbers mean."""
    told = _READING | (_OF_CURRICULA if summary["curriculum"] else {})
    return _reading(told, f"Made {moment(summary['made'])} from {summary['run']['database']}.")


def curriculum_reading(known: Lineage, made: str) -> Html:
    """What the words and numbers of a curriculum mean. made: when, as ISO time."""
    return _reading({"Elo": _READING["Elo"]} | _OF_CURRICULA, f"Made {moment(made)} from {known['folder']}.")


def _reading(told: dict[str, str], made: str) -> Html:
    return el(
        "section",
        fold(
            el("h2", "How to read this"),
            el("dl", [[el("dt", name), el("dd", words)] for name, words in told.items()], cls="reading"),
        ),
        el("p", made, cls="note"),
        id="reading",
    )
