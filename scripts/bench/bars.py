"""How a measured figure is printed beside the figure that it should reach."""

from __future__ import annotations


def against_bar(name: str, value: float, bar: float, unit: str, *, at_most: bool = False) -> str:
    """A line with the figure, the bar, whether it is reached, and their ratio. at_most: the bar is an upper limit."""
    reached = value <= bar if at_most else value >= bar
    number = f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
    limit = f"{'at most' if at_most else 'at least'} {bar:,g}"
    return f"{name}: {number} {unit} ({limit}: {'yes' if reached else 'NO'}, {value / bar:.2f} of it)"
