"""How often do agents win when they say so? Brier scores and reliability of the chances to win in stored battles.

    python scripts/calibration.py runs/gen1ou-cpu/arena.duckdb --agents "policy:%" --out calibration.svg

The Brier score (Brier 1950) is the mean over decisions of (win probability - result of the battle)²; lower is better. It is
compared with the base rate's, which predicts the agent's mean result at every decision: predictions that are no better carry
no information about the position. Decisions of a battle share its result, so intervals come from random weights on whole
pairs of battles (Bayesian bootstrap with exponential weights, Rubin 1981).
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

from arena.ratings.evidence import Floats
from arena.ratings.rates import interval
from arena.report.sections import Axis, Html, document, el
from arena.store import rows
from teamsets.atomic import write_atomic
from teamsets.errors import BadInput
from training.data.win_probabilities import win_probability

BINS = 10
RESAMPLES = 2000
#: Size of a panel and its margins in pixels, and panels per row.
_SIZE, _LEFT, _TOP, _ACROSS = 250, 54, 44, 3
_STYLE = """
svg { font: 12px system-ui, sans-serif; }
.back { fill: #ffffff; }
text { fill: #1d2329; } text.head { font-weight: 600; } text.tick { font-size: 10.5px; fill: #66707a; }
line { stroke: #e6e9ec; } line.even { stroke: #66707a; stroke-dasharray: 4 3; }
line.reach { stroke: #1f6feb; stroke-width: 1.6; }
circle { fill: #1f6feb; }
"""


@dataclass(frozen=True)
class Bin:
    """Decisions with similar win probabilities. predicted: mean prediction; won: mean result, with its 95% interval."""

    decisions: int
    predicted: float
    won: float
    low: float
    high: float


@dataclass(frozen=True)
class Calibration:
    """An agent's calibration. predicted: mean prediction; won: mean result. brier, base_rate: Brier scores.

    gain: base_rate - brier, with its 95% interval (value, low, high).
    """

    agent: str
    battles: int
    decisions: int
    predicted: float
    won: float
    brier: float
    base_rate: float
    gain: tuple[float, float, float]
    bins: tuple[Bin, ...]


def calibrations(db: Path, agents: str = "policy:%", *, seed: int = 0) -> list[Calibration]:
    """Return the calibration of each agent whose spec is LIKE `agents` and that reported win probabilities."""
    found = rows(
        "SELECT agent, pair, battle_id, score::DOUBLE, list(diagnostics ORDER BY index) FROM results "
        "JOIN decisions USING (battle_id, seat) WHERE agent LIKE ? AND score IS NOT NULL AND diagnostics IS NOT NULL "
        "GROUP BY agent, pair, battle_id, seat, score ORDER BY battle_id, seat",
        db,
        [agents],
    )
    by_agent: dict[str, list[tuple[str, float, Floats]]] = {}
    for agent, pair, _, score, diagnostics in found:
        refused: Counter[str] = Counter()
        predicted = np.array([win_probability(orjson.loads(text), agent, refused) for text in diagnostics])
        if np.isfinite(predicted).any():
            by_agent.setdefault(agent, []).append((pair, score, predicted[np.isfinite(predicted)]))
    return [calibration(agent, battles, seed=seed) for agent, battles in by_agent.items()]


def calibration(agent: str, battles: list[tuple[str, float, Floats]], *, seed: int = 0) -> Calibration:
    """Compute an agent's calibration from one or more battles: (pair, result 1, 0.5 or 0, win probabilities [T])."""
    place = {pair: number for number, pair in enumerate(dict.fromkeys(pair for pair, _, _ in battles))}
    predicted = np.concatenate([chances for *_, chances in battles])
    won = np.concatenate([np.full(len(chances), score) for _, score, chances in battles])
    of_pair = np.concatenate([np.full(len(chances), place[pair]) for pair, _, chances in battles])
    in_bin = np.minimum((predicted * BINS).astype(int), BINS - 1)

    def by_pair(values: Floats, chosen: NDArray[np.bool_] | None = None) -> Floats:
        kept = slice(None) if chosen is None else chosen
        return np.bincount(of_pair[kept], weights=values[kept], minlength=len(place)).astype(np.float64)

    weights = np.vstack(
        [np.ones(len(place)), np.random.default_rng(seed).exponential(size=(RESAMPLES, len(place)))]
    )  # [1 + RESAMPLES, P]; the first row is the observed sample
    decisions = weights @ by_pair(np.ones_like(predicted))
    mean = weights @ by_pair(won) / decisions
    squares = weights @ by_pair(won**2) / decisions
    brier = weights @ by_pair((predicted - won) ** 2) / decisions
    base_rate = squares - mean**2
    bins = []
    for number in range(BINS):
        chosen = in_bin == number
        if chosen.any():
            sums = weights @ by_pair(won, chosen), weights @ by_pair(np.ones_like(predicted), chosen)
            shares = sums[0] / np.maximum(sums[1], 1e-12)
            bins.append(
                Bin(int(chosen.sum()), float(predicted[chosen].mean()), float(shares[0]), *interval(shares[1:]))
            )
    gain = base_rate - brier
    return Calibration(
        agent,
        len(battles),
        len(predicted),
        float(predicted.mean()),
        float(mean[0]),
        float(brier[0]),
        float(base_rate[0]),
        (float(gain[0]), *interval(gain[1:])),
        tuple(bins),
    )


def picture(found: list[Calibration]) -> str:
    """Draw the reliability diagrams as one SVG; a calibrated agent's points are on the diagonal."""
    down = -(-len(found) // _ACROSS)
    wide, high = min(len(found), _ACROSS) * (_SIZE + _LEFT) + 20, down * (_SIZE + _TOP + 34) + 10
    panels = [
        _panel(one, x=(number % _ACROSS) * (_SIZE + _LEFT), y=(number // _ACROSS) * (_SIZE + _TOP + 34))
        for number, one in enumerate(found)
    ]
    return document(_STYLE, panels, width=wide, height=high, label="Reliability diagram of predicted win probabilities")


def _panel(one: Calibration, *, x: int, y: int) -> Html:
    axis = Axis(0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0))

    def across(value: float) -> float:
        return round(_LEFT + _SIZE * axis.place(value) / 100, 1)

    def up(value: float) -> float:
        return round(_TOP + _SIZE * (1 - axis.place(value) / 100), 1)

    grid = [
        part
        for tick in axis.ticks
        for part in (
            el("line", x1=across(tick), x2=across(tick), y1=up(0), y2=up(1)),
            el("line", x1=across(0), x2=across(1), y1=up(tick), y2=up(tick)),
            el("text", f"{tick:g}", cls="tick", x=across(tick), y=up(0) + 14, text_anchor="middle"),
            el("text", f"{tick:g}", cls="tick", x=across(0) - 6, y=up(tick) + 4, text_anchor="end"),
        )
    ]
    most = max(each.decisions for each in one.bins)
    dots = [
        el(
            "g",
            el(
                "title",
                f"{each.decisions:,} decisions: predicted {each.predicted:.2f}, won {each.won:.2f} [{each.low:.2f}, "
                f"{each.high:.2f}]",
            ),
            el(
                "line",
                cls="reach",
                x1=across(each.predicted),
                x2=across(each.predicted),
                y1=up(each.low),
                y2=up(each.high),
            ),
            el(
                "circle", cx=across(each.predicted), cy=up(each.won), r=round(2 + 4 * (each.decisions / most) ** 0.5, 1)
            ),
        )
        for each in one.bins
    ]
    name = one.agent if len(one.agent) <= 40 else "…" + one.agent[-39:]
    words = f"Brier {one.brier:.3f}, base rate {one.base_rate:.3f}"
    return el(
        "g",
        el("text", name, cls="head", x=_LEFT, y=18),
        el("text", words, cls="tick", x=_LEFT, y=34),
        grid,
        el("text", "predicted P(win)", cls="tick", x=across(0.5), y=up(0) + 28, text_anchor="middle"),
        el(
            "text",
            "fraction won",
            cls="tick",
            x=0,
            y=0,
            text_anchor="middle",
            transform=f"translate(12 {up(0.5)}) rotate(-90)",
        ),
        el("line", cls="even", x1=across(0), x2=across(1), y1=up(0), y2=up(1)),
        dots,
        transform=f"translate({x} {y})",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database", type=Path)
    parser.add_argument("--agents", default="policy:%", help="specs LIKE this (%(default)s)")
    parser.add_argument("--out", type=Path, help="an SVG with the reliability plots")
    parser.add_argument("--seed", type=int, default=0, help="of the intervals (%(default)s)")
    asked = parser.parse_args()
    try:
        found = calibrations(asked.database, asked.agents, seed=asked.seed)
    except BadInput as error:
        sys.exit(_refused(str(error)))
    if not found:
        sys.exit(
            _refused(
                f"{asked.database}: no agent LIKE '{asked.agents}' predicted a win probability; select others with --agents"
            )
        )
    print("agent · battles · decisions · mean predicted P(win) · mean result · Brier · of the base rate · gain [95%]")
    for one in found:
        gain, low, high = one.gain
        print(
            f"{one.agent} · {one.battles:,} · {one.decisions:,} · {one.predicted:.3f} · {one.won:.3f} · {one.brier:.3f} · "
            f"{one.base_rate:.3f} · {gain:+.3f} [{low:+.3f}, {high:+.3f}]"
        )
    if asked.out:
        write_atomic(asked.out, picture(found))
        print(f"wrote {asked.out}", file=sys.stderr)


def _refused(words: str) -> int:
    print(f"calibration.py: {words}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
