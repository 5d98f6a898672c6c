"""The contents of a report (summary_types.py), the only input of the terminal, HTML, Markdown and JSON output.

VERSION is incremented when a key changes its meaning or is removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from arena.extensions import extensions
from arena.ratings.evidence import Evidence
from arena.report import lengths, profiles
from arena.report.counts import FaultCount, FormatCounts, ReportCounts
from arena.report.cross_tables import pairing_tables
from arena.report.evidence import load_evidence
from arena.report.exploitability import exploitability, exploitability_findings
from arena.report.findings import findings, match_findings
from arena.report.ladder import ladder_histories, ladder_sentence
from arena.report.match import match_of
from arena.report.runs import describe_run, notes
from arena.report.series import describe as describe_series
from arena.report.strengths import measure
from arena.report.summary_types import (
    AgentProfile,
    FaultSummary,
    FormatSummary,
    PairingResult,
    RankingRow,
    ReportSummary,
    Strengths,
)
from arena.report.sweeps import sweeps
from arena.store import kept_open
from teamsets.errors import BadInput

VERSION = 1
NOBODY = ("nobody", "venue")  # what the view `faults` says where no agent failed


def summarize(
    db: Path, run_id: str, *, anchor: str | None = None, seed: int = 0, only: str | None = None
) -> ReportSummary:
    """Summarizes a run over the battles that count for it; also a run in progress or one that was killed.

    anchor: agent whose rating is fixed at 1000; in formats without it, and by default, the run's anchor, or that of
    `fit_ratings`. seed: of the resamples. only: this format.
    Raises BadInput for an unknown run, and for an anchor or a format without battles.
    """
    with kept_open(db):
        counts = ReportCounts(db, run_id)
        run = describe_run(db, run_id, counts.sources())
        by_format = counts.of_formats()
        if only is not None and only not in by_format:
            known = ", ".join(by_format) or "none"
            raise BadInput(f"--format {only}: run {run_id} has no battle of it; there are: {known}")
        by_format = {name: each for name, each in by_format.items() if only in (None, name)}
        evidence = {format_id: load_evidence(db, run_id, format_id) for format_id in by_format}
        match = match_of(db, run_id)
        ladder = ladder_histories(db, run_id)
        responses = exploitability(db, run_id, by_format)
    _check_anchor(anchor, evidence)
    descriptions = {agent["agent"]: agent["about"] for agent in run["agents"]}
    formats = []
    for format_id, counted in by_format.items():
        chosen = next(
            (name for name in (anchor, run["config"].get("anchor")) if name in evidence[format_id].agents), None
        )
        strengths = measure(
            db, run_id, format_id, evidence[format_id], anchor=chosen, seed=seed, descriptions=descriptions
        )
        formats.append(_format(format_id, strengths, counted))
    summary: ReportSummary = {
        "version": VERSION,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "run": run,
        "findings": [
            *match_findings(match),
            *map(ladder_sentence, ladder),
            *findings(formats),
            *exploitability_findings(responses),
        ],
        "notes": notes(run, formats),
        "match": match,
        "ladder": ladder,
        "exploitability": responses,
        "formats": formats,
    }
    return _with_extensions(summary, db)


def extension_data(summary: ReportSummary, name: str) -> Any:
    """What the extension of that name has contributed; None if nothing."""
    contents: Mapping[str, Any] = summary
    return contents.get(name)


def _with_extensions(summary: ReportSummary, db: Path) -> ReportSummary:
    contents = cast(dict[str, Any], summary)
    for extension in extensions():
        if extension.name in contents:
            raise BadInput(
                f"extension '{extension.name}': the report has a part of that name already: it needs another one"
            )
        contents[extension.name] = extension.data(db, summary["run"]["id"])
    return summary


def _check_anchor(anchor: str | None, evidence: dict[str, Evidence]) -> None:
    known = sorted({agent for each in evidence.values() for agent in each.agents})
    if anchor is not None and anchor not in known:
        raise BadInput(
            f"anchor '{anchor}': has no battles in this run; choose one of {', '.join(known) or '(no agent has any)'}"
        )


def _format(format_id: str, strengths: Strengths, counted: FormatCounts) -> FormatSummary:
    """One format's part."""
    tables = pairing_tables(counted.meetings, strengths["ranking"])
    return {
        "format": format_id,
        "battles": sum(meeting.battles for meeting in counted.meetings) // 2,
        "unit": "series" if counted.series else "battle",
        **strengths,
        "series": describe_series(counted.series, strengths["ranking"]),
        "sweeps": sweeps(strengths["ranking"], strengths["better"]),
        **tables,
        "faults": _faults(counted.faults),
        "length": lengths.describe(counted.lengths),
        "think": [
            {
                "agent": row.agent,
                "decisions": row.decisions,
                "median_ms": row.median_ms,
                "p95_ms": row.p95_ms,
                "max_ms": row.max_ms,
            }
            for row in counted.think
        ],
        "agents": _agents(format_id, strengths["ranking"], tables["cross"], counted),
    }


def _faults(counts: list[FaultCount]) -> list[FaultSummary]:
    return [
        {
            "agent": fault.agent,
            "kind": fault.kind,
            "at_fault": fault.agent not in NOBODY,
            "battles": fault.battles,
            "example": {"battle_id": fault.example_id, "detail": fault.example_detail},
        }
        for fault in counts
    ]


def _agents(
    format_id: str, ranking: list[RankingRow], cross: list[PairingResult], counted: FormatCounts
) -> list[AgentProfile]:
    """Each agent on its own, in the order of the ranking; agents without a battle are left out."""
    opponents, teams = profiles.opponents(cross), profiles.teams(counted.teams)
    moves, leads = profiles.moves(format_id, counted.moves), profiles.leads(counted.leads)
    turns = profiles.by_turn(counted.lengths)
    return [
        {
            "agent": agent,
            "opponents": opponents[agent],
            "teams": teams[agent],
            "moves": moves.get(agent, []),
            "leads": leads.get(agent),
            "by_turn": turns[agent],
            "median_turns": lengths.median(
                (count.turns, count.battles) for count in counted.lengths if count.agent == agent
            ),
        }
        for agent in (row["agent"] for row in ranking)
        if agent in turns
    ]
