"""Number formatting, shared by the terminal, Markdown and HTML output."""

from __future__ import annotations

from datetime import datetime

from arena.report.summary_types import RankedFormat, RankingRow


def percent(probability: float) -> str:
    """A probability: "71%", and no surer than "> 99%"."""
    if probability > 0.99:
        return "> 99%"
    return "< 1%" if probability < 0.01 else f"{100 * probability:.0f}%"


def percent_of(score: float | None) -> str:
    """A share of 1 for a column headed with %: 0.625 -> "62"."""
    return "–" if score is None else f"{100 * score:.0f}"


def interval(low: float | None, high: float | None) -> str:
    """Shares of 1 for a column headed with %: "[31, 86]"."""
    return "" if low is None or high is None else f"[{100 * low:.0f}, {100 * high:.0f}]"


def whole(value: float, *, signed: bool = False) -> str:
    """A rounded number with a real minus, and with its plus when signed: "−12", "+80", "0"."""
    text = f"{round(value):+d}" if signed and round(value) else str(round(value))
    return text.replace("-", "−")


def difference(value: float, low: float, high: float) -> str:
    """A difference of two shares of 1 with its interval, in percentage points: "+8 [−2, 17]"."""
    return f"{whole(100 * value, signed=True)} [{whole(100 * low)}, {whole(100 * high)}]"


def clear(low: float, high: float) -> bool:
    """Return whether an interval excludes 0."""
    return low > 0 or high < 0


def duration(milliseconds: float) -> str:
    """A time, of two digits where it is short: "0.01 ms", "2.8 ms", "137 ms", "1.3 s"."""
    if milliseconds < 99.5:
        return f"{milliseconds:.2g} ms"
    if milliseconds < 999.5:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.2g} s" if seconds < 99.5 else f"{seconds:.0f} s"


def moment(text: str) -> str:
    """An ISO time: "21 Nov 2026, 18:35 UTC"."""
    time = datetime.fromisoformat(text)
    return f"{time.day} {time:%b %Y, %H:%M} {time:%Z}"


def counted(number: int, noun: str) -> str:
    """ "1 battle", "1,200 battles"."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """ "battle" -> "battles"; "series" stays."""
    return noun if noun.endswith("s") else f"{noun}s"


def unit_of(best_of: int) -> str:
    """What counts as one result in a run: a "battle" or a "series" of several."""
    return "battle" if best_of == 1 else "series"


def result_unit(ranked: RankedFormat) -> str:
    """What counts as one result in a format's ranking and tables."""
    return ranked.get("unit", "battle")


def result_units(ranked: RankedFormat) -> str:
    """The same in the plural."""
    return plural(result_unit(ranked))


def counted_minutes(minutes: float) -> str:
    """ "1 minute", "2 minutes", "0.5 minutes"."""
    return f"{minutes:g} minute{'s' * (minutes != 1)}"


def nash_percent(row: RankingRow) -> str:
    """A ranking's row: its share of the Nash average in %, nothing below half a percent, "–" where there is none."""
    if row["nash"] is None:
        return "–"
    return "" if row["nash"]["mean"] < 0.005 else f"{100 * row['nash']['mean']:.0f}"


def alpha_percent(row: RankingRow) -> str:
    """A ranking's row: its share of time in alpha-rank in % with its interval; empty where there is none."""
    if row["alpha_rank"] is None:
        return ""
    return f"{percent_of(row['alpha_rank'])} {interval(row['alpha_rank_low'], row['alpha_rank_high'])}"


def listed(names: list[str]) -> str:
    """ "a, b and c"."""
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)


def group_letter(group: int) -> str:
    return chr(ord("A") + group) if group < 26 else str(group + 1)
