"""The series of a run: who won how many, by which numbers of battles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from arena.report.counts import SeriesCount
from arena.report.numbers import percent_of
from arena.report.summary_types import FormatSummary, RankingRow, SeriesSummary


def describe(counts: Iterable[SeriesCount], ranking: Sequence[RankingRow]) -> list[SeriesSummary]:
    """Each pairing once, its higher-ranked agent first. counts: of one format, from both sides."""
    rank = {row["agent"]: row["rank"] for row in ranking}
    by_pairing: dict[tuple[str, str], list[SeriesCount]] = defaultdict(list)
    for count in counts:
        if rank[count.agent] < rank[count.opponent]:
            by_pairing[count.agent, count.opponent].append(count)
    ordered = sorted(by_pairing, key=lambda pairing: (rank[pairing[0]], rank[pairing[1]]))
    return [_described(*pairing, by_pairing[pairing]) for pairing in ordered]


def _described(agent: str, opponent: str, counts: Sequence[SeriesCount]) -> SeriesSummary:
    numbers = {outcome: _total(counts, outcome) for outcome in ("win", "loss", "tie", "unfinished")}
    decided = numbers["win"] + numbers["loss"] + numbers["tie"]
    battles = sum(count.series * (count.wins + count.losses + count.ties) for count in counts)
    points = sum(count.series * (count.wins + count.ties / 2) for count in counts)
    scores: dict[tuple[int, int], int] = defaultdict(int)
    for count in counts:
        if count.outcome != "unfinished":
            scores[count.wins, count.losses] += count.series
    return {
        "agent": agent,
        "opponent": opponent,
        "best_of": max(count.best_of for count in counts),
        "series": decided,
        "won": numbers["win"],
        "lost": numbers["loss"],
        "tied": numbers["tie"],
        "unfinished": numbers["unfinished"],
        "score": (numbers["win"] + numbers["tie"] / 2) / decided if decided else None,
        "scores": [
            {"won": won, "lost": lost, "series": number}
            for (won, lost), number in sorted(scores.items(), key=lambda each: (each[0][1] - each[0][0], -each[0][0]))
        ],
        "battles": battles,
        "battle_score": points / battles if battles else None,
    }


def _total(counts: Iterable[SeriesCount], outcome: str) -> int:
    return sum(count.series for count in counts if count.outcome == outcome)


def battles_by_agent(format_summary: FormatSummary) -> dict[str, int]:
    """How many battles each agent has played: of a series all that it took."""
    if format_summary.get("unit", "battle") == "battle":
        return {row["agent"]: row["games"] for row in format_summary["ranking"]}
    played: dict[str, int] = defaultdict(int)
    for row in format_summary["series"]:
        played[row["agent"]] += row["battles"]
        played[row["opponent"]] += row["battles"]
    return played


def series_title(format_summary: FormatSummary) -> str:
    """What the table of a format's series shows."""
    best_of = max(row["best_of"] for row in format_summary["series"])
    battles = sum(row["battles"] for row in format_summary["series"])
    return f"series, best of {best_of} battles; {battles:,} battles were played"


def series_table(format_summary: FormatSummary) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of the table of a format's series: the first two columns are names, the others numbers."""
    shown = sorted(
        {(each["won"], each["lost"]) for row in format_summary["series"] for each in row["scores"]},
        key=lambda score: (score[1] - score[0], -score[0]),
    )
    unfinished = any(row["unfinished"] for row in format_summary["series"])
    heads = ["agent", "opponent", "series", "won", "lost", "tied", *(f"{won}–{lost}" for won, lost in shown)]
    heads += [*(["unfinished"] if unfinished else []), "series won %", "battles won %"]
    rows = []
    for row in format_summary["series"]:
        counts = {(each["won"], each["lost"]): each["series"] for each in row["scores"]}
        rows.append(
            [
                row["agent"],
                row["opponent"],
                *(f"{row[key]:,}" for key in ("series", "won", "lost", "tied")),
                *(f"{counts.get(score, 0):,}" for score in shown),
                *([f"{row['unfinished']:,}"] if unfinished else []),
                percent_of(row["score"]),
                percent_of(row["battle_score"]),
            ]
        )
    return heads, rows
