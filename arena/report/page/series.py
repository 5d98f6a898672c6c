"""The section of series: who won how many, by which numbers of battles."""

from __future__ import annotations

from arena.markup import Html, agent_name, el, join, table
from arena.report.series import series_table, series_title
from arena.report.summary_types import FormatSummary


def series_section(format_summary: FormatSummary) -> Html:
    """All series of a format as a table, a row for each pairing."""
    heads, rows = series_table(format_summary)
    body = [
        el(
            "tr",
            [
                el("th" if place < 2 else "td", _cell(cell, place), **_attributes(place))
                for place, cell in enumerate(row)
            ],
        )
        for row in rows
    ]
    title = series_title(format_summary)
    return join(
        el(
            "p",
            f"{title[0].upper()}{title[1:]}. Both agents keep their teams throughout a series. Ratings, win rates and their "
            "intervals count a series as one result.",
            cls="note",
        ),
        table(heads, body, "series", numbers=heads[2:]),
    )


def _cell(text: str, place: int) -> Html | str:
    return agent_name(text) if place < 2 else text


def _attributes(place: int) -> dict[str, str]:
    return {"scope": "row"} if place == 0 else {} if place == 1 else {"cls": "number"}
