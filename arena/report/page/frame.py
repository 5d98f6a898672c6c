"""The frame of the page: header, table of contents, settings of the run, and explanations."""

from __future__ import annotations

from collections.abc import Sequence

from arena.extensions import Section
from arena.markup import Content, Html, agent_name, box, el, fold, prose
from arena.ratings.evidence import BASE
from arena.report.numbers import counted, listed, moment
from arena.report.page.formats import parts
from arena.report.page.result import card_sentences, result_card
from arena.report.runs import describe_settings
from arena.report.summary_types import ReportSummary

_READING = {
    "Elo": "From one Bradley-Terry fit over all battles of a format, with a small prior that keeps perfect scores finite. "
    f"A lead of 400 means ten wins for each loss. The anchor is fixed at {BASE:g}: only differences between ratings are "
    "meaningful.",
    "95% interval": "From a bootstrap over pairs of battles (the same two teams, the sides exchanged), not over single "
    "battles. When two intervals overlap, look at P(better): it takes into account that both ratings depend on the same "
    "anchor.",
    "P(better)": "The share of bootstrap resamples in which one agent is rated above the other. It measures how certain "
    "the order is, not how large the difference is.",
    "Win rates": "A tie counts as half a win. Intervals are 95% Wilson intervals over single battles or series.",
    "GXE": "The expected win rate against an average player, from Glicko-1 ratings computed as on Showdown's ladder. The "
    "players here are the agents of this pool, so values are not comparable with those of the public ladder.",
    "Differences between team sets": "Elo on one set minus Elo on the other, relative to the mean of the agents on both: "
    "it compares an agent's difference with that of the other agents. Significant: the interval excludes zero, at a false "
    "discovery rate of 5%.",
    "Nash average": "Weights over the agents such that no agent beats the mixture in expectation. Unlike Elo, they do not "
    "change when copies of an agent or weak agents are added to the pool.",
    "Cycles": "a beats b, b beats c, c beats a: intransitive strength, which a single rating cannot represent. The "
    "confidence is the smaller of two numbers: the share of resamples in which all three hold, and one minus the "
    "probability that a pool without cycles would show one this strong.",
    "Faults": "An agent that runs out of time, makes no legal choice or raises an error loses that battle. Aborted "
    "battles are counted for neither agent.",
}


def title(summary: ReportSummary) -> str:
    """The page's title."""
    agents = len({row["agent"] for format_summary in summary["formats"] for row in format_summary["ranking"]})
    formats = listed([format_summary["format"] for format_summary in summary["formats"]])
    return f"{counted(agents, 'agent')} in {formats}" if formats else "No battles yet"


def head(summary: ReportSummary) -> Html:
    """Return the header: title, run, findings and notes."""
    run = summary["run"]
    results = sum(format_summary["battles"] for format_summary in summary["formats"])
    unit = summary["formats"][0].get("unit", "battle") if summary["formats"] else "battle"
    when = moment(run["ended"] or run["started"])
    state = {
        "finished": f"finished {when}",
        "running": f"in progress, started {when}",
        "time limit": f"time limit reached {when}",
    }.get(run["status"], f"{run['status']}, {'at' if run['ended'] else 'started'} {when}")
    facts = [f"run {run['id']}", counted(results, unit), state]
    notes, on_card = summary["notes"], card_sentences(summary)
    agents = {row["agent"] for format_summary in summary["formats"] for row in format_summary["ranking"]}
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
                [el("li", prose(each, agents)) for each in summary["findings"] if each not in on_card],
                cls="findings",
            ),
            id="findings",
        ),
        el(
            "aside",
            el("h2", "Caveats", cls="quiet-head"),
            el("ul", [el("li", prose(note, agents)) for note in notes]),
            cls="care",
        )
        if notes
        else None,
    )


def contents(summary: ReportSummary, ids: dict[str, str], sections: Sequence[Section]) -> Html:
    """The table of contents."""
    entries: list[Content] = [_entry("findings", "Findings")]
    for format_summary in summary["formats"]:
        inner = [_entry(f"{format_summary['format']}-{key}", name) for key, name in parts(format_summary).items()]
        entries.append(_entry(format_summary["format"], format_summary["format"], el("ol", inner)))
    for section in sections:
        inner = [_entry(place, name) for place, name in section.parts.items()]
        entries.append(_entry(section.place, section.title, el("ol", inner) if inner else None))
    if ids:
        entries.append(_entry("agents", "Agents"))
        entries.append(_entry("battles", "Battles"))
    entries += [_entry("run", "Run details"), _entry("reading", "How to read this")]
    return el("nav", el("ol", entries), aria_label="Contents")


def _entry(place: str, name: str, *inner: Content) -> Html:
    return el("li", el("a", name, href=f"#{place}"), inner)


def section_head(name: str, eyebrow: str, facts: list[str], findings: list[Html]) -> Html:
    """The head of a section's own page."""
    return el(
        "header",
        el("p", eyebrow, cls="eyebrow"),
        el("h1", name),
        el("p", " · ".join(facts), cls="facts"),
        el("section", el("h2", "Findings", cls="quiet-head"), el("ul", findings, cls="findings"), id="findings")
        if findings
        else None,
    )


def section_contents(section: Section) -> Html:
    """The table of contents of a section's own page."""
    entries = [_entry(place, name) for place, name in section.parts.items()]
    return el("nav", el("ol", entries, _entry("reading", "How to read this")), aria_label="Contents")


def run_section(summary: ReportSummary) -> Html:
    """Return the settings for reproducing the run: versions, seeds, commands."""
    run = summary["run"]
    evidence = run["evidence"]
    earlier = [f"{source['battles']:,} of run {source['run']}" for source in evidence["earlier"]]
    facts = {
        "Run": f"{run['id']} ({run['kind']}), {run['status']}",
        "Started": moment(run["started"]),
        "Ended": moment(run["ended"]) if run["ended"] else "–",
        "Commit": run["git"] or "none (not a git checkout)",
        "Versions": ", ".join(f"{name} {number}" for name, number in run["versions"].items()),
        "Battles that count": f"{evidence['own']:,} of this run" + "".join(f", {text}" for text in earlier),
        "Teams": "; ".join(
            f"{pool['format']} {pool['team_set']}: {pool['teams'] or 'generated by Showdown'}" for pool in run["pools"]
        ),
        "Settings": describe_settings(run["config"]),
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
    heads = [el("th", name, scope="col") for name in ("agent", "description", "code fingerprint", "repeatable")]
    return el(
        "section",
        fold(
            el("h2", "Run details"),
            el(
                "p", "Command that repeats the run (add ", el("code", "--fresh"), " to repeat it in the same database):"
            ),
            el("pre", el("code", run["command"]), tabindex=0),
            el("dl", [[el("dt", name), el("dd", text)] for name, text in facts.items()], cls="facts-list"),
            box(el("table", el("thead", el("tr", heads)), el("tbody", agents), cls="plain"), "agents"),
        ),
        id="run",
    )


def reading_section(summary: ReportSummary, sections: Sequence[Section]) -> Html:
    """Return the explanations of terms and numbers."""
    terms = dict(_READING)
    for section in sections:
        terms |= section.reading
    return _reading(terms, f"Created {moment(summary['made'])} from {summary['run']['database']}.")


def section_reading(section: Section, made: str, source: str) -> Html:
    """Explanations of the terms and numbers of a section's own page. made: when, as ISO time."""
    return _reading({"Elo": _READING["Elo"]} | section.reading, f"Created {moment(made)} from {source}.")


def _reading(terms: dict[str, str], made: str) -> Html:
    return el(
        "section",
        fold(
            el("h2", "How to read this"),
            el("dl", [[el("dt", name), el("dd", meaning)] for name, meaning in terms.items()], cls="reading"),
        ),
        el("p", made, cls="note"),
        id="reading",
    )
