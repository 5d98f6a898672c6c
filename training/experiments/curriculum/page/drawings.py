"""The pictures of a curriculum, with a column for each checkpoint: lineage by rating, and shares of the points by stage."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from arena.report.numbers import percent_of, whole
from arena.report.sections import Axis, Content, Html, el, join
from training.experiments.curriculum.lineage import ALL, Lineage, LineageAttempt, attempt_label, describe_gate

COLUMN = 8.5  # rem: a column is never narrower
TOP, TALL = 32, 250
HANG = 46  # how far below its parent a checkpoint without a rating is drawn
FAR = 400.0  # Elo: an interval that goes further beyond all ratings ends in an arrow
LONGEST = 17  # letters of a name below its column
#: How the team sets are drawn, in turn: no two of the first four by colour alone.
SERIES = 4


def tree(known: Lineage) -> Html:
    """Kept checkpoints are dots on the main line, rejected ones crosses on branches, the one in the making hollow."""
    attempts = known["attempts"]
    axis = _rating_axis(attempts)
    heights = _heights(attempts, axis)
    lows = [
        _height(axis, attempt["low"]) for attempt in attempts if axis and attempt["low"] is not None and _hangs(attempt)
    ]
    floor = max(TOP + TALL, *(height + 14 for height in heights.values()), *(low + 26 for low in lows))
    places = {attempt["checkpoint"]: number for number, attempt in enumerate(attempts) if attempt["checkpoint"]}
    stages = [attempt["stage"] for attempt in attempts]
    lines, dots = [], []
    for number, attempt in enumerate(attempts):
        if attempt["parent"] is not None:
            parent = places[attempt["parent"]]
            ends = {"x1": _column(parent, attempts), "x2": _column(number, attempts)}
            lines.append(el("line", cls=f"edge {attempt['status']}", **ends, y1=heights[parent], y2=heights[number]))
        dots.append(_node(attempt, axis, _column(number, attempts), heights[number]))
        dots.append(_name(attempt, _column(number, attempts), floor, tries=stages.count(attempt["stage"])))
    grid = [] if axis is None else [_tick(whole(tick), _height(axis, tick), tick == 1000) for tick in axis.ticks]
    summary = "; ".join(f"{attempt_label(attempt)}: {_rating(attempt)}, {attempt['status']}" for attempt in attempts)
    return _columns([grid, lines, dots], len(attempts), floor + 52, "lineage", f"Lineage by rating. {summary}")


def _rating_axis(attempts: Sequence[LineageAttempt]) -> Axis | None:
    """Over all ratings, their intervals as far as they are near, and the anchor's 1000; None before the first rating."""
    rated = [attempt["elo"] for attempt in attempts if attempt["elo"] is not None]
    if not rated:
        return None
    low, high = min(rated) - FAR, max(rated) + FAR
    ends = [
        min(high, max(low, end)) for attempt in attempts for end in (attempt["low"], attempt["high"]) if end is not None
    ]
    return Axis.over([1000.0, *rated, *ends])


def _height(axis: Axis, elo: float) -> float:
    return round(TOP + TALL * (1 - axis.place(elo) / 100), 1)


def _heights(attempts: Sequence[LineageAttempt], axis: Axis | None) -> dict[int, float]:
    """Number of an attempt -> where it lies: at its rating, else below its parent."""
    heights: dict[int, float] = {}
    places: dict[str, int] = {}
    for number, attempt in enumerate(attempts):
        if axis is not None and attempt["elo"] is not None:
            heights[number] = _height(axis, attempt["elo"])
        elif attempt["parent"] is not None:
            heights[number] = heights[places[attempt["parent"]]] + HANG
        else:
            heights[number] = TOP + TALL / 2
        if attempt["checkpoint"]:
            places[attempt["checkpoint"]] = number
    return heights


def _node(attempt: LineageAttempt, axis: Axis | None, x: str, y: float) -> Html:
    """The mark of an attempt with its interval and, for who points at it, all that is known."""
    drawn: list[Content] = [
        el("title", "\n".join([f"{attempt_label(attempt)}: {attempt['status']}, {_rating(attempt)}", *_gates(attempt)]))
    ]
    label = y
    if axis is not None and attempt["low"] is not None and attempt["high"] is not None:
        above, below = _height(axis, attempt["high"]), _height(axis, attempt["low"])
        drawn.append(el("line", cls="reach", x1=0, x2=0, y1=above, y2=below))
        drawn.append(_end("▴", above, -5, attempt["high"] > axis.high))
        drawn.append(_end("▾", below, 5, attempt["low"] < axis.low))
        label = (
            below + 15 + 8 * (attempt["low"] < axis.low)
            if _hangs(attempt)
            else above - 8 - 8 * (attempt["high"] > axis.high)
        )
    if attempt["status"] == "rejected":
        drawn += [el("line", cls="cross", x1=-6, x2=6, y1=y - 6 * way, y2=y + 6 * way) for way in (1, -1)]
    else:
        drawn.append(el("circle", cls="dot", cx=0, cy=y, r=5.5))
    if attempt["elo"] is not None:
        drawn.append(el("text", whole(attempt["elo"]), cls="strong halo", x=0, y=label, text_anchor="middle"))
    return el("svg", drawn, x=x, cls=f"node {attempt['status']}")


def _hangs(attempt: LineageAttempt) -> bool:
    """Whether it is on a branch, so that its number stands below it, out of the main line's way."""
    return attempt["status"] == "rejected"


def _end(arrow: str, y: float, way: int, beyond: bool) -> Html:
    if beyond:
        return el("text", arrow, cls="beyond", x=0, y=y + way + 4, text_anchor="middle")
    return el("line", cls="reach end", x1=-4, x2=4, y1=y, y2=y)


def _name(attempt: LineageAttempt, x: str, floor: float, *, tries: int) -> Html:
    """What stands below a column. tries: attempts at its stage."""
    status = "" if attempt["stage"] == 0 else attempt["status"]
    tried = f"attempt {attempt['attempt']} · {status}" if tries > 1 else status
    return join(
        _stage_name(attempt, x, floor + 20),
        el("text", tried or "starting point", x=x, y=floor + 36, text_anchor="middle"),
    )


def shares(measured: Sequence[LineageAttempt], team_sets: Sequence[str]) -> Html:
    """The average over all opponents for each checkpoint on each team set, with 95% intervals."""
    grid = [_tick(f"{share}%", _share_height(share / 100), share == 50) for share in (0, 25, 50, 75, 100)]
    series = []
    for place, team_set in enumerate(team_sets):
        points = []
        for number, attempt in enumerate(measured):
            cell = average(attempt, team_set)
            if cell is not None:
                points.append((_column(number, measured), cell, attempt_label(attempt)))
        shift = 14 * (place - (len(team_sets) - 1) / 2)
        drawn = [_point(x, cell, f"{name} on {team_set}", place) for x, cell, name in points]
        links = [
            el("line", cls="link", x1=x, x2=to, y1=_share_height(cell["score"]), y2=_share_height(then["score"]))
            for (x, cell, _), (to, then, _) in pairwise(points)
        ]
        series.append(el("svg", links, drawn, x=shift, width="100%", cls=f"series s{place % SERIES}"))
    floor = TOP + TALL
    names = [_stage_name(attempt, _column(number, measured), floor + 20) for number, attempt in enumerate(measured)]
    description = "Score by stage for each team set; the numbers are in the table below"
    return join(
        el("ul", [el("li", _key(place), name) for place, name in enumerate(team_sets)], cls="keys"),
        _columns([grid, series, names], len(measured), floor + 34, "shares", description),
    )


def average(attempt: LineageAttempt, team_set: str) -> dict[str, Any] | None:
    """What a checkpoint did on a team set against all opponents, each counted alike."""
    if attempt["details"] is None:
        return None
    cells = attempt["details"]["shares"]
    return next((each for each in cells if (each["opponent"], each["team_set"]) == (ALL, team_set)), None)


def _point(x: str, cell: dict[str, Any], name: str, place: int) -> Html:
    y, low, high = (_share_height(cell[key]) for key in ("score", "low", "high"))
    title = (
        f"{name}: {percent_of(cell['score'])}%, 95% interval {percent_of(cell['low'])} to {percent_of(cell['high'])}%"
    )
    ends = [el("line", cls="reach end", x1=-4, x2=4, y1=end, y2=end) for end in (low, high)]
    line = el("line", cls="reach", x1=0, x2=0, y1=low, y2=high)
    return el("svg", el("title", title), line, ends, _mark(place, y), x=x)


def _key(place: int) -> Html:
    mark = join(el("line", cls="link", x1=0, x2=26, y1=8, y2=8), el("svg", _mark(place, 8), x=13))
    return el("svg", mark, width=26, height=16, cls=f"series s{place % SERIES}", aria_hidden="true")


def _mark(place: int, y: float) -> Html:
    """A dot, or a square for every other team set."""
    if place % 2:
        return el("rect", cls="dot", x=-4.5, y=round(y - 4.5, 1), width=9, height=9)
    return el("circle", cls="dot", cx=0, cy=y, r=5)


def _share_height(share: float) -> float:
    return round(TOP + TALL * (1 - share), 1)


def _columns(drawn: Content, count: int, height: float, cls: str, description: str) -> Html:
    """A picture of so many columns that scrolls in a box of its own where the page is too narrow."""
    width = f"min-width: {COLUMN * count:g}rem"
    picture = el(
        "svg", drawn, cls=cls, width="100%", height=round(height), style=width, role="img", aria_label=description
    )
    return el("div", picture, cls="box columns", tabindex=0, role="region", aria_label="picture; scrolls sideways")


def _column(number: int, among: Sequence[LineageAttempt]) -> str:
    """The middle of a column, as a place in the picture."""
    return f"{100 * (number + 0.5) / len(among):.2f}%"


def _tick(label: str, y: float, marked: bool) -> Html:
    return join(
        el("line", cls="half" if marked else "tick", x1=0, x2="100%", y1=y, y2=y),
        el("text", label, x=-8, y=y + 4, text_anchor="end"),
    )


def _rating(attempt: LineageAttempt) -> str:
    if attempt["elo"] is None or attempt["low"] is None or attempt["high"] is None:
        return "not rated"
    return f"{whole(attempt['elo'])} Elo, 95% interval {whole(attempt['low'])} to {whole(attempt['high'])}"


def _gates(attempt: LineageAttempt) -> list[str]:
    marks = {True: "yes", False: "no", None: "…"}
    return [f"{describe_gate(gate)} – {marks[gate['passed']]}" for gate in attempt["gates"]]


def _stage_name(attempt: LineageAttempt, x: str, y: float) -> Html:
    name = attempt["name"] if len(attempt["name"]) <= LONGEST else f"{attempt['name'][: LONGEST - 1]}…"
    return el("text", el("title", attempt_label(attempt)), name, cls="strong", x=x, y=y, text_anchor="middle")
