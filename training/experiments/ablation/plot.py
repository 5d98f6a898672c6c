"""The plot of an ablation as an SVG file: scores and differences with their intervals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from arena.report.sections import ROW, Axis, Html, axis_labels, document, el, whisker

_WIDTH, _NAMES, _MARGIN = 860, 300, 40  # in pixels: total width, column of names, right margin
_STYLE = """
svg { font: 13px system-ui, sans-serif; overflow: visible; }
.back { fill: #ffffff; }
text { fill: #1d2329; } text.head { font-weight: 600; }
svg.axis text { font-size: 11px; fill: #66707a; text-anchor: middle; }
.tick { stroke: #e6e9ec; } .zero { stroke: #66707a; }
.reach { stroke: #1f6feb; stroke-width: 2; } .dot { fill: #1f6feb; }
.vague .reach { stroke-dasharray: 3 3; } .vague .end { stroke-dasharray: none; }
.vague .dot { fill: #ffffff; stroke: #1f6feb; stroke-width: 2; }
"""


def picture(results: dict[str, Any]) -> str:
    """Draw the scores, in total and per opponent, and the differences; those that are not significant are hollow."""
    parts: list[Html] = []
    place = 10
    groups = {"all opponents": [(row["variant"], row) for row in results["variants"]]}
    for name in results["opponents"] if len(results["opponents"]) > 1 else []:
        groups[f"against {name}"] = [(row["variant"], row["against"][name]) for row in results["variants"]]
    every = [row[key] for rows in groups.values() for _, row in rows for key in ("low", "high")]
    scores = Axis.over([100 * value for value in every])
    for head, rows in groups.items():
        place = _group(parts, place, f"score in %, {head}", scores, _scores(scores, rows))
    reach = [100 * difference[key] for difference in results["differences"] for key in ("low", "high")]
    gaps = Axis.over([0.0, *reach])
    place = _group(
        parts,
        place,
        "differences in percentage points; hollow: not significant",
        gaps,
        _gaps(gaps, results["differences"]),
    )
    return document(_STYLE, parts, width=_WIDTH, height=place, label=" ".join(results["sentences"]))


def _scores(axis: Axis, rows: list[tuple[str, dict[str, float]]]) -> Iterator[tuple[str, Html]]:
    for name, score in rows:
        value, low, high = (100 * score[key] for key in ("score", "low", "high"))
        yield name, whisker(axis, value, low, high, label=f"{name}: {value:.1f} [{low:.1f}, {high:.1f}]")


def _gaps(axis: Axis, differences: list[dict[str, Any]]) -> Iterator[tuple[str, Html]]:
    for difference in differences:
        name = f"{difference['better']} minus {difference['worse']}"
        value, low, high = (100 * difference[key] for key in ("points", "low", "high"))
        text = f"{name}: {value:.1f} [{low:.1f}, {high:.1f}]"
        yield name, whisker(axis, value, low, high, label=text, vague=not difference["clear"], zero=True)


def _group(parts: list[Html], place: int, head: str, axis: Axis, rows: Iterator[tuple[str, Html]]) -> int:
    """Append a heading, its axis and its rows below the y coordinate `place`. Returns the y coordinate below them."""
    parts.append(el("text", head, cls="head", x=10, y=place + 14))
    parts.append(_at(place + 18, 16, axis_labels(axis)))
    place += 36
    for name, drawn in rows:
        parts.append(el("text", name, x=24, y=place + ROW // 2 + 4))
        parts.append(_at(place, ROW, drawn))
        place += ROW
    return place + 14


def _at(y: int, height: int, drawn: Html) -> Html:
    return el("svg", drawn, x=_NAMES, y=y, width=_WIDTH - _NAMES - _MARGIN, height=height)
