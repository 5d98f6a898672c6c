"""What a checkpoint is worth by the battles of a database: for its model card."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from agents import resolve
from agents.policy import checkpoint
from arena.report.summary import summarize
from arena.report.summary_types import PairingResult, RankingRow
from arena.store import rows
from teamsets.errors import BadInput

#: Specs that always mean the same checkpoint of a run.
_FIXED = re.compile(r"@\d+$|/checkpoints/step-\d+$")


@dataclass(frozen=True)
class StoredRating:
    """A row of a run's ranking. of: agents in it. anchor: whose rating is 1000. against: each opponent."""

    run: str
    format: str
    team_sets: list[str]
    row: RankingRow
    of: int
    anchor: str
    against: list[PairingResult]


def stored_ratings(db: Path, folder: Path) -> list[StoredRating]:
    """Return the ratings of a checkpoint under its specs, each by the run that gave it most battles in a format.

    A spec whose checkpoint may change (@last, @best) counts where its weights and its code are still those that played.
    Empty for a database that is not there.
    """
    if not db.exists():
        return []
    specs = _specs(db, checkpoint.identity(folder))
    counts = rows(
        "SELECT agent, format, for_run, count(*) FROM evidence_results WHERE list_contains(?, agent) AND score IS NOT NULL "
        "GROUP BY ALL ORDER BY count(*) DESC, for_run DESC",
        db,
        [specs],
    )
    largest: dict[tuple[str, str], str] = {}
    for agent, format_id, run_id, _ in counts:
        largest.setdefault((agent, format_id), run_id)
    summaries = {run_id: summarize(db, run_id) for run_id in dict.fromkeys(largest.values())}
    found = []
    for (agent, format_id), run_id in sorted(largest.items()):
        part = next(each for each in summaries[run_id]["formats"] if each["format"] == format_id)
        row = next(each for each in part["ranking"] if each["agent"] == agent)
        against = sorted((cell for cell in part["cross"] if cell["agent"] == agent), key=lambda cell: -cell["score"])
        found.append(
            StoredRating(run_id, format_id, part["team_sets"], row, len(part["ranking"]), part["anchor"], against)
        )
    return found


def _specs(db: Path, identity: str) -> list[str]:
    """The specs in a database that name the checkpoint."""
    stored: dict[str, set[str]] = {}
    for agent, fingerprint in rows("SELECT DISTINCT agent, fingerprint FROM agents WHERE agent LIKE 'policy:%'", db):
        stored.setdefault(agent, set()).add(fingerprint)
    found = []
    for agent, fingerprints in stored.items():
        path = agent.removeprefix("policy:").partition("?")[0]
        try:
            same = checkpoint.identity(checkpoint.find(path)) == identity
        except BadInput:  # of a run that is gone, or on a hub that cannot be reached
            continue
        if same and (_FIXED.search(path) or fingerprints == {resolve(agent).fingerprint}):
            found.append(agent)
    return found
