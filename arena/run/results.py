"""What `arena.evaluate` and `arena.match` return: a run's results as pandas frames, numbers and a report."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, cast

import pandas

from arena.ratings.pentanomial import Lead, MatchSummary, match_summary, pair_counts
from arena.ratings.sprt import SprtSettings, decide, llr, report_lines
from arena.report import html as page
from arena.report import markdown
from arena.report.numbers import plural
from arena.report.page.battles import DEFAULT
from arena.report.summary import summarize
from arena.report.summary_types import ReportSummary
from arena.store import frame
from teamsets.atomic import write_atomic
from teamsets.errors import BadInput

_BATTLES = """
    SELECT battle_id, run_id, format, team_set, p1, p2,
        CASE winner WHEN 'p1' THEN p1 WHEN 'p2' THEN p2 END AS winner,
        reason, CASE fault WHEN 'p1' THEN p1 WHEN 'p2' THEN p2 ELSE fault END AS fault, detail, turns, seconds, started
    FROM battles
    WHERE run_id = ? OR battle_id IN (SELECT battle_id FROM evidence WHERE run_id = ?)
    ORDER BY battle_id
"""


@dataclass(frozen=True)
class RunResults:
    """A run in the database `db`. status: "finished", or "time limit" where that was reached first."""

    run_id: str
    db: Path
    status: str

    @cached_property
    def summary(self) -> ReportSummary:
        """The contents of the report; docs/report.md explains the keys."""
        return summarize(self.db, self.run_id)

    @cached_property
    def battles(self) -> pandas.DataFrame:
        """A row for each battle that counts, those of earlier runs included (their `run_id` is another).

        winner: the agent; none for a tie. fault: the agent that is charged with the loss, or "venue".
        """
        return frame(_BATTLES, self.db, [self.run_id, self.run_id])

    def report(self, path: str | Path) -> Path:
        """Writes the report: .html, .md or .json by the name's end. Returns the path. Raises BadInput for another end."""
        path = Path(path)
        made = {
            ".html": lambda: page.render(self.summary, self.db, battles=DEFAULT),
            ".md": lambda: markdown.render(self.summary),
            ".json": lambda: json.dumps(self.summary, ensure_ascii=False, indent=1) + "\n",
        }.get(path.suffix)
        if made is None:
            raise BadInput(f"{path}: unknown kind of report: use a name ending in .html, .md or .json")
        write_atomic(path, made())
        return path

    def _rows(self, part: str) -> pandas.DataFrame:
        """A part of each format's summary, the format first. What is a dict in itself is left to `summary`."""
        rows = [
            {"format": each["format"], **{key: value for key, value in row.items() if not isinstance(value, dict)}}
            for each in self.summary["formats"]
            for row in cast(dict[str, Any], each)[part]
        ]
        return pandas.DataFrame(rows)

    def _notes(self) -> str:
        return "".join(f"\nNote: {note}" for note in self.summary["notes"])


class Evaluation(RunResults):
    """What `arena.evaluate` found."""

    @cached_property
    def ranking(self) -> pandas.DataFrame:
        """A row for each agent in each format, the strongest first: `agent`, `elo`, `low`, `high` (95%), `games`, …"""
        return self._rows("ranking")

    @cached_property
    def cross(self) -> pandas.DataFrame:
        """A row for each agent and opponent in each format: their battles, wins, the share of points with its interval."""
        return self._rows("cross")

    @cached_property
    def faults(self) -> pandas.DataFrame:
        """A row for each agent and kind of failure: how many battles; an example of each is in `summary`."""
        return self._rows("faults")

    def __repr__(self) -> str:
        return f"Evaluation of run {self.run_id} in {self.db}, {self.status}\n{self.ranking}{self._notes()}"

    def _repr_html_(self) -> str:
        shown = self.ranking.to_html(index=False, float_format=lambda number: f"{number:.4g}", na_rep="")
        return f"<p>Run {self.run_id}, {self.status}</p>{shown}"


@dataclass(frozen=True, repr=False)
class MatchResult(RunResults):
    """What `arena.match` found. points: the first agent's points of each finished pair of battles, in order; where `unit` is
    "series", of each pair of series."""

    agent: str
    opponent: str
    points: tuple[float, ...]
    sprt: SprtSettings | None
    unit: str = "battle"

    @cached_property
    def numbers(self) -> MatchSummary:
        """The match in numbers: pentanomial counts, LOS, share of split pairs."""
        return match_summary(pair_counts(self.points))

    @property
    def score(self) -> float | None:
        """The agent's share of the points, 0 to 1; None without a finished pair."""
        return self.numbers.score

    @property
    def elo(self) -> Lead:
        """The agent's lead in Elo: `value`, and `low` and `high` of the 95% interval."""
        return self.numbers.elo

    @property
    def llr(self) -> float | None:
        """The test's log-likelihood ratio of H1 to H0; None for a match without a test."""
        return None if self.sprt is None else float(llr(pair_counts(self.points), self.sprt))

    @property
    def decision(self) -> Literal["H0", "H1"] | None:
        """The hypothesis that the test has accepted; None where it is not decided, and without a test."""
        return None if self.sprt is None or self.llr is None else decide(self.llr, self.sprt)

    def __repr__(self) -> str:
        return "\n".join(
            report_lines(self.agent, self.opponent, pair_counts(self.points), self.sprt, plural(self.unit))
        )

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"
