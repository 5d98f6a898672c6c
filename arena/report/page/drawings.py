"""Small SVG charts that need no script. Positions are in percent of the width, so they fit a phone and paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arena.markup import Html, el, join
from arena.report.numbers import counted, whole
from arena.report.summary_types import LengthBin, TurnRate

ROW = 26  # height of a picture in a table's row, in pixels
MOST_LABELS = 4  # on an axis: a column of pictures may be 9rem wide
_STEPS = (1, 2, 2.5, 5)


@dataclass(frozen=True)
class Axis:
    """A straight axis from `low` to `high` with its ticks; log: in powers of ten."""

    low: float
    high: float
    ticks: tuple[float, ...]
    log: bool = False

    @classmethod
    def over(cls, values: Sequence[float], *, ticks: int = 5) -> Axis:
        """From a little below the smallest value to a little above the greatest, with about so many round ticks."""
        low, high = min(values), max(values)
        span = (high - low) or 1.0
        low, high = low - 0.04 * span, high + 0.04 * span
        step = nice_step((high - low) / ticks)
        first = math.ceil(low / step)
        return cls(low, high, tuple(i * step for i in range(first, math.floor(high / step) + 1)))

    @classmethod
    def powers(cls, values: Sequence[float]) -> Axis:
        """From the power of ten below the smallest value to that above the greatest."""
        low = math.floor(math.log10(max(min(values), 1e-3)))
        high = max(math.ceil(math.log10(max(*values, 1e-3))), low + 1)
        return cls(10.0**low, 10.0**high, tuple(10.0**power for power in range(low, high + 1)), log=True)

    def place(self, value: float) -> float:
        """Return the position of a value, in percent of the width."""
        if self.log:
            share = math.log10(max(value, self.low) / self.low) / math.log10(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return round(100 * min(1.0, max(0.0, share)), 2)


def nice_step(step: float) -> float:
    """The round number (1, 2, 2.5 or 5 times a power of ten) that is not below `step`."""
    power = 10.0 ** math.floor(math.log10(step))
    return next((power * nice for nice in _STEPS if power * nice >= step), 10 * power)


def axis_labels(axis: Axis, format_tick: Callable[[float], str] = whole) -> Html:
    """The numbers of an axis, for the head of a column of pictures: of many ticks only every second, third, … is named."""
    every = math.ceil(len(axis.ticks) / MOST_LABELS)
    named = [tick for number, tick in enumerate(axis.ticks) if number % every == 0]
    labels = [el("text", format_tick(tick), x=_at(axis, tick), y=12, text_anchor="middle") for tick in named]
    return el("svg", labels, cls="axis", width="100%", height=16, aria_hidden="true")


def whisker(
    axis: Axis, value: float, low: float, high: float, *, label: str, vague: bool = False, zero: bool = False
) -> Html:
    """A dot with its interval; a value below the axis is written at its end.

    vague: hollow and dashed, for a value that is only a bound. zero: a line at zero.
    """
    ticks = [el("line", cls="tick", x1=_at(axis, t), x2=_at(axis, t), y1=0, y2="100%") for t in axis.ticks]
    middle = ROW / 2
    return el(
        "svg",
        ticks,
        el("line", cls="zero", x1=_at(axis, 0), x2=_at(axis, 0), y1=0, y2="100%") if zero else None,
        el("line", cls="reach", x1=_at(axis, low), x2=_at(axis, high), y1=middle, y2=middle),
        [_end(axis, bound) for bound in (low, high)],
        el("circle", cls="dot", cx=_at(axis, value), cy=middle, r=4.5) if axis.low <= value <= axis.high else None,
        el("title", label) if not axis.low <= value <= axis.high else None,
        el("text", whole(value), cls="beyond halo", x=8, y=middle + 4) if value < axis.low else None,
        cls="whisker vague" if vague else "whisker",
        width="100%",
        height=ROW,
        role="img",
        aria_label=label,
    )


def _end(axis: Axis, bound: float) -> Html:
    """The end of a whisker; an arrow head where it lies beyond the axis."""
    if bound < axis.low:
        return el("text", "◂", cls="beyond", x=0, y=ROW / 2 + 4, text_anchor="middle")
    if bound > axis.high:
        return el("text", "▸", cls="beyond", x="100%", y=ROW / 2 + 4, text_anchor="middle")
    return el("line", cls="reach end", x1=_at(axis, bound), x2=_at(axis, bound), y1=ROW / 2 - 4, y2=ROW / 2 + 4)


def time_line(axis: Axis, median: float, p95: float, longest: float, *, label: str) -> Html:
    """A dot at the median, a line to the 95th percentile, a thin one to the longest."""
    ticks = [el("line", cls="tick", x1=_at(axis, t), x2=_at(axis, t), y1=0, y2="100%") for t in axis.ticks]
    middle = ROW / 2
    return el(
        "svg",
        ticks,
        el("line", cls="thin", x1=_at(axis, p95), x2=_at(axis, longest), y1=middle, y2=middle),
        el("line", cls="thin", x1=_at(axis, longest), x2=_at(axis, longest), y1=middle - 3, y2=middle + 3),
        el("line", cls="reach", x1=_at(axis, median), x2=_at(axis, p95), y1=middle, y2=middle),
        el("circle", cls="dot", cx=_at(axis, median), cy=middle, r=4.5),
        cls="whisker",
        width="100%",
        height=ROW,
        role="img",
        aria_label=label,
    )


def bar(share: float) -> Html:
    """A bar for a share of 1, beside a number that says it."""
    width = f"{100 * share:.1f}%"
    return el(
        "svg",
        el("rect", cls="bar", x=0, y=5, width=width, height=12, rx=2),
        width="100%",
        height=22,
        aria_hidden="true",
    )


def histogram(bins: Sequence[LengthBin], *, label: str, marks: dict[str, int]) -> Html:
    """Battles by length; marks: a word -> the length that it points at."""
    height, base, top = 190, 160, 26
    most = max(each["battles"] for each in bins) or 1
    size = 100 / len(bins)
    bars, labels = [], []
    every = max(1, math.ceil(len(bins) / 8))
    for number, each in enumerate(bins):
        tall = (base - top) * each["battles"] / most
        last = "or more" if each["to"] is None else f"to {each['to']}"
        bars.append(
            el(
                "rect",
                el("title", f"{each['from']} {last} turns: {counted(each['battles'], 'battle')}"),
                cls="bar",
                x=f"{number * size + size * 0.06:.2f}%",
                y=round(base - tall, 1),
                width=f"{size * 0.88:.2f}%",
                height=round(tall, 1),
            )
        )
        if number % every == 0 or each["to"] is None:
            text = f"{each['from']}+" if each["to"] is None else str(each["from"])
            anchor = "end" if each["to"] is None else "start"
            place = (number + 1) * size if each["to"] is None else number * size
            if each["to"] is not None and number + every > len(bins) - 1 and bins[-1]["to"] is None and number % every:
                continue
            labels.append(el("text", text, x=f"{place:.2f}%", y=base + 17, text_anchor=anchor))
    pointed = [_mark(word, value, bins, base) for word, value in marks.items()]
    line = el("line", cls="base", x1=0, x2="100%", y1=base + 0.5, y2=base + 0.5)
    return el(
        "svg", bars, line, labels, pointed, cls="histogram", width="100%", height=height, role="img", aria_label=label
    )


def _mark(word: str, value: int, bins: Sequence[LengthBin], base: int) -> Html:
    first, last = bins[0]["from"], bins[0]["to"]
    width = 1 if last is None else last - first + 1
    place = f"{min(100.0, 100 * (value - first + 0.5) / width / len(bins)):.2f}%"
    return join(
        el("line", cls="mark", x1=place, x2=place, y1=18, y2=base),
        el("text", f"{word} {value}", cls="mark", x=place, y=12, text_anchor="middle"),
    )


def turn_chart(entries: Sequence[TurnRate], *, label: str) -> Html:
    """Win rate by turn reached: a dot with its interval for each turn, the turns side by side."""
    top, tall, height = 10, 90, 155
    size = 100 / len(entries)

    def level(score: float) -> float:
        return round(top + tall * (1 - score), 1)

    parts = [
        el("line", cls="half" if share == 0.5 else "tick", x1=0, x2="100%", y1=level(share), y2=level(share))
        for share in (0, 0.5, 1)
    ]
    parts += [el("text", f"{100 * share:.0f}%", x=0, y=level(share) - 3) for share in (0, 0.5, 1)]
    for number, each in enumerate(entries):
        x = f"{(number + 0.5) * size:.2f}%"
        parts += [
            el("line", cls="reach", x1=x, x2=x, y1=level(each["high"]), y2=level(each["low"])),
            el("circle", cls="dot", cx=x, cy=level(each["score"]), r=4),
            el("text", f"{100 * each['score']:.0f}%", cls="strong", x=x, y=top + tall + 17, text_anchor="middle"),
            el("text", f"{'' if number else 'turn '}{each['turn']}", x=x, y=top + tall + 33, text_anchor="middle"),
            el("text", f"{'' if number else 'of '}{each['battles']:,}", x=x, y=top + tall + 48, text_anchor="middle"),
        ]
    return el("svg", parts, cls="turns", width="100%", height=height, role="img", aria_label=label)


def _at(axis: Axis, value: float) -> str:
    return f"{axis.place(value)}%"
