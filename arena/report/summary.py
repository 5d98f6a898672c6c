"""The contents of a report as one JSON-able dict, the only input of the terminal, HTML, Markdown and JSON output.

docs/report.md explains the keys. VERSION is incremented when a key changes its meaning or is removed.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from arena.extensions import extensions
from arena.ratings.evidence import Evidence
from arena.ratings.pentanomial import elo_score
from arena.report import lengths, profiles
from arena.report.counts import Counts, Meeting, rate
from arena.report.evidence import load_evidence
from arena.report.findings import findings, match_findings
from arena.report.match import match_of
from arena.report.runs import describe_run, notes
from arena.report.strengths import measure
from arena.store import kept_open
from teamsets.errors import BadInput

VERSION = 1
NOBODY = ("nobody", "venue")  # what the view `faults` says where no agent failed


def summarize(db: Path, run_id: str, *, anchor: str | None = None, seed: int = 0) -> dict[str, Any]:
    """Summarizes a run over the battles that count for it; also a run in progress or one that was killed.

    anchor: agent whose rating is fixed at 1000; in formats without it, and by default, the run's anchor, or that of
    `fit_ratings`. seed: of the resamples.
    Raises BadInput for an unknown run, and for an anchor without battles.
    """
    with kept_open(db):
        counts = Counts(db, run_id)
        run = describe_run(db, run_id, counts.sources())
        parts = {
            name: getattr(counts, name)()
            for name in ("meetings", "lengths", "teams", "moves", "leads", "think", "faults")
        }
        formats = sorted(parts["meetings"])
        evidence = {format_id: load_evidence(db, run_id, format_id) for format_id in formats}
        match = match_of(db, run_id)
    _check_anchor(anchor, evidence)
    abouts = {agent["agent"]: agent["about"] for agent in run["agents"]}
    told = []
    for format_id in formats:
        mine = {name: part.get(format_id, []) for name, part in parts.items()}
        chosen = next(
            (name for name in (anchor, run["config"].get("anchor")) if name in evidence[format_id].agents), None
        )
        strengths = measure(db, run_id, format_id, evidence[format_id], anchor=chosen, seed=seed)
        for row in strengths["ranking"]:
            row["about"] = abouts.get(row["agent"])
        told.append(_format(format_id, strengths, mine))
    summary = {
        "version": VERSION,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "run": run,
        "findings": [*match_findings(match), *findings(told)],
        "notes": notes(run, told),
        "match": match,
        "formats": told,
    }
    for extension in extensions():
        if extension.name in summary:
            raise BadInput(
                f"extension '{extension.name}': the report has a part of that name already: it needs another one"
            )
        summary[extension.name] = extension.data(db, run_id)
    return summary


def _check_anchor(anchor: str | None, evidence: dict[str, Evidence]) -> None:
    known = sorted({agent for each in evidence.values() for agent in each.agents})
    if anchor is not None and anchor not in known:
        raise BadInput(
            f"anchor '{anchor}': has no battles in this run; choose one of {', '.join(known) or '(no agent has any)'}"
        )


def _format(format_id: str, strengths: dict[str, Any], counted: dict[str, list[Any]]) -> dict[str, Any]:
    """One format's part. counted: the rows of `Counts` for it, by the method's name."""
    meetings: list[Meeting] = counted["meetings"]
    elo = {row["agent"]: (row["elo"], row["group"]) for row in strengths["ranking"]}
    cross = _summed(meetings, ("agent", "opponent"))
    for cell in cross:
        (one, group), (other, other_group) = elo[cell["agent"]], elo[cell["opponent"]]
        cell["expected"] = elo_score(one - other) if group == other_group else None
    return {
        "format": format_id,
        "battles": sum(meeting.battles for meeting in meetings) // 2,
        **strengths,
        "cross": cross,
        "team_sets": sorted({meeting.team_set for meeting in meetings}),
        "by_team_set": _summed(meetings, ("agent", "team_set")),
        "cross_by_team_set": _summed(meetings, ("agent", "opponent", "team_set")),
        "faults": _faults(counted["faults"]),
        "length": lengths.describe(counted["lengths"]),
        "think": [
            dict(zip(("agent", "decisions", "median_ms", "p95_ms", "max_ms"), row, strict=True))
            for row in counted["think"]
        ],
        "agents": _agents(format_id, strengths["ranking"], cross, counted),
    }


def _summed(meetings: list[Meeting], keys: tuple[str, ...]) -> list[dict[str, Any]]:
    """Rates, wins and losses for each combination of the keys, in their order."""
    sums: dict[tuple[str, ...], list[float]] = {}
    for meeting in meetings:
        total = sums.setdefault(tuple(getattr(meeting, key) for key in keys), [0, 0, 0, 0])
        for place, number in enumerate((meeting.points, meeting.battles, meeting.wins, meeting.losses)):
            total[place] += number
    return [
        {
            **dict(zip(keys, names, strict=True)),
            **rate(points, int(battles)),
            "wins": int(wins),
            "losses": int(losses),
            "ties": int(battles - wins - losses),
        }
        for names, (points, battles, wins, losses) in sorted(sums.items())
    ]


def _faults(found: list[tuple[str, str, int, int, str]]) -> list[dict[str, Any]]:
    return [
        {
            "agent": agent,
            "kind": kind,
            "at_fault": agent not in NOBODY,
            "battles": battles,
            "example": {"battle_id": battle_id, "detail": detail},
        }
        for agent, kind, battles, battle_id, detail in found
    ]


def _agents(
    format_id: str, ranking: list[dict[str, Any]], cross: list[dict[str, Any]], counted: dict[str, list[Any]]
) -> list[dict[str, Any]]:
    """What is said of each agent on its own, in the order of the ranking; agents without a battle are left out."""
    opponents, teams = profiles.opponents(cross), profiles.teams(counted["teams"])
    moves, leads = profiles.moves(format_id, counted["moves"]), profiles.leads(counted["leads"])
    turns = profiles.by_turn(counted["lengths"])
    return [
        {
            "agent": agent,
            "opponents": opponents[agent],
            "teams": teams[agent],
            "moves": moves.get(agent, []),
            "leads": leads.get(agent),
            "by_turn": turns[agent],
            "median_turns": lengths.median((t, n) for name, t, n, _ in counted["lengths"] if name == agent),
        }
        for agent in (row["agent"] for row in ranking)
        if agent in turns
    ]
