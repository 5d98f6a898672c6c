"""Who lost battles of a run by its own failure, in a line each: such a result is none of strength."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from arena.report.counts import FaultCount, ReportCounts
from arena.report.numbers import counted
from arena.report.summary import NOBODY

#: Characters of a failure's detail that are shown.
_SHOWN = 160


def own_failures(db: Path, run_id: str) -> list[str]:
    """Returns a line for each agent that lost battles by its own failure, with an example of the most frequent one.

    The run is a match: both agents play in all battles that count.
    """
    counts = ReportCounts(db, run_id)
    by_agent: dict[str, list[FaultCount]] = defaultdict(list)
    for faults in counts.faults().values():
        for fault in faults:
            if fault.agent not in NOBODY:
                by_agent[fault.agent].append(fault)
    if not by_agent:
        return []
    battles = sum(source.battles - source.aborted for source in counts.sources())
    return [_line(agent, by_agent[agent], battles) for agent in sorted(by_agent)]


def _line(agent: str, faults: list[FaultCount], battles: int) -> str:
    lost, most = sum(fault.battles for fault in faults), max(faults, key=lambda fault: fault.battles)
    why = most.kind + (f": {most.example_detail[:_SHOWN]}" if most.example_detail else "")
    return f"{agent} lost {lost:,} of {counted(battles, 'battle')} by a failure of its own: {why}"
