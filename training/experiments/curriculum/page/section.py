"""A curriculum: its lineage as a picture, ratings and shares of the points by stage, gates and costs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from arena.report.live import format_seconds
from arena.report.numbers import counted, moment, whole
from arena.report.sections import Html, Section, agent_name, bar, el, join, prose, render_section, table
from training.experiments.curriculum.lineage import (
    FINAL_TEST,
    AttemptCosts,
    Lineage,
    LineageAttempt,
    LineageGate,
    attempt_label,
    describe_gate,
    total,
)
from training.experiments.curriculum.page.drawings import tree
from training.experiments.curriculum.page.scores import opponents_part, points_part

#: Anchor of a part's heading, and how it is called.
_PARTS = {
    "curriculum-lineage": "Lineage",
    "curriculum-shares": "Score by stage",
    "curriculum-opponents": "Opponents by stage",
    "curriculum-costs": "Costs",
}
_READING = {
    "Kept, rejected": "A checkpoint that passes every gate of its stage is kept, and the next stage starts from it. "
    "Otherwise the stage is repeated with other settings, or the next stage starts from the parent.",
    "Score by stage": "Every kept checkpoint plays every opponent of the pool on every team set; averages give each "
    "opponent and team set the same weight. 95% intervals are from a bootstrap over pairs of battles.",
    "Change since the parent": "Checkpoint and parent have not played the same pairs of teams, so the interval includes "
    "the sampling error of both.",
}
_MARKS = {True: "✓", False: "✗", None: "…"}


def section(known: Lineage) -> Section:
    """The section in the report of a run that was played for the curriculum."""
    results = findings(known)
    opening = join(
        el("h2", f"Curriculum {known['name']}"),
        el("p", "This run belongs to this curriculum: ", " · ".join(facts(known)), cls="lead"),
        el("ul", results, cls="sentences") if results else None,
    )
    return with_parts("Curriculum", opening, known)


def page(known: Lineage) -> str:
    """A page of its own, as HTML."""
    return render_section(
        with_parts(known["name"], el("h2", "Stages"), known),
        eyebrow="Curriculum",
        facts=facts(known),
        findings=findings(known),
        source=known["folder"],
    )


def with_parts(title: str, opening: Html, known: Lineage) -> Section:
    """A section of all parts. opening: its heading, and what is said before the first part."""
    make: dict[str, Callable[[Lineage], Html]] = dict(
        zip(_PARTS, (_lineage, points_part, opponents_part, _costs), strict=True)
    )
    parts = [el("section", el("h3", name), make[place](known), id=place, cls="part") for place, name in _PARTS.items()]
    return Section(
        place="curriculum",
        title=title,
        body=el("section", opening, parts, id="curriculum"),
        parts=_PARTS,
        reading=_READING,
        style=(Path(__file__).parent / "lineage.css").read_text(encoding="utf-8"),
    )


def facts(known: Lineage) -> list[str]:
    """When, how far, how long; a few words each."""
    begun = known["attempts"][1:]
    through = len({one["stage"] for one in begun if one["status"] == "kept"})
    state = f"finished {moment(known['ended'])}" if known["ended"] else "running or stopped"
    return [
        f"started {moment(known['started'])}",
        state,
        f"kept {through} of {counted(known['stages'], 'stage')}",
        counted(len(begun), "attempt"),
        format_seconds(total(known["attempts"])["seconds"]),
    ]


def findings(known: Lineage) -> list[Html]:
    """The results as list entries: ratings of the first and the last checkpoint that was kept, and the final tests."""
    agents = [attempt["checkpoint"] for attempt in known["attempts"] if attempt["checkpoint"]]
    sentences = []
    rated = [attempt for attempt in known["attempts"] if attempt["status"] == "kept" and attempt["elo"] is not None]
    if len(rated) > 1:
        first, last = rated[0], rated[-1]
        sentences.append(
            f"From {_elo(first)} to {_elo(last)} after {counted(len(rated) - 1, 'kept stage')}: {last['checkpoint']}."
        )
    final_tests = [
        gate for attempt in known["attempts"] for gate in attempt["gates"] if gate["gate"].startswith(FINAL_TEST)
    ]
    sentences += [f"F{describe_gate(gate)[1:]}." for gate in final_tests]
    return [el("li", prose(sentence, agents)) for sentence in sentences]


def _elo(attempt: LineageAttempt) -> str:
    return f"{whole(attempt['elo'] or 0)} Elo [{_reach(attempt)}]"


def _reach(attempt: LineageAttempt) -> str:
    return (
        ""
        if attempt["low"] is None or attempt["high"] is None
        else f"{whole(attempt['low'])}, {whole(attempt['high'])}"
    )


def _lineage(known: Lineage) -> Html:
    heads = ["stage", "checkpoint", "Elo", "95%", "status", "gates"]
    body = [
        el(
            "tr",
            el("th", attempt_label(attempt), scope="row", cls="stage"),
            el("td", agent_name(attempt["checkpoint"]) if attempt["checkpoint"] else "not trained yet"),
            el("td", "–" if attempt["elo"] is None else whole(attempt["elo"]), cls="number strong"),
            el("td", _reach(attempt), cls="number quiet"),
            el("td", "base" if attempt["stage"] == 0 else attempt["status"], cls=f"became {attempt['status']}"),
            el("td", el("ul", [_gate(gate) for gate in attempt["gates"]], cls="gates") if attempt["gates"] else None),
        )
        for attempt in known["attempts"]
    ]
    return join(
        el(
            "p",
            "Elo on the held-out teams, from battles against the same pool; ",
            agent_name(known["anchor"]),
            " = 1000 (dashed line). Whiskers are 95% intervals. Dot: kept; cross: rejected; ring: in training. "
            "Checkpoints without a rating are drawn below their parent.",
            cls="note",
        ),
        tree(known),
        table(heads, body, "lineage", numbers=("Elo", "95%")),
    )


def _gate(gate: LineageGate) -> Html:
    outcome = {True: "yes", False: "no", None: "undecided"}[gate["passed"]]
    return el("li", el("span", _MARKS[gate["passed"]], title=outcome, aria_label=outcome), f" {describe_gate(gate)}")


def _costs(known: Lineage) -> Html:
    everything = total(known["attempts"])
    longest = (
        max([attempt["spent"]["seconds"] for attempt in known["attempts"] if attempt["spent"]], default=0.0) or 1.0
    )
    heads = ["stage", "", "time", "battles", "decisions", "steps"]
    body = [
        el(
            "tr",
            el("th", attempt_label(attempt), scope="row", cls="stage"),
            el("td", bar(attempt["spent"]["seconds"] / longest), cls="bars"),
            _numbers(attempt["spent"]),
        )
        for attempt in known["attempts"]
        if attempt["spent"]
    ]
    body.append(el("tr", el("th", "total", scope="row"), el("td"), _numbers(everything), cls="total"))
    return join(
        el("p", "Wall time; battles and decisions of self-play, gates and evaluation; training steps.", cls="note"),
        table(heads, body, "costs by stage", numbers=heads[2:], cls="plain costs"),
    )  # fmt: skip


def _numbers(spent: AttemptCosts) -> list[Html]:
    numbers = (spent["battles"], spent["decisions"], spent["steps"])
    texts = [format_seconds(spent["seconds"]), *(f"{number:,}" if number else "–" for number in numbers)]
    return [el("td", text, cls="number") for text in texts]
