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
from typing import TYPE_CHECKING

import numpy as np
import orjson
from numpy.typing import NDArray

from arena.ratings.evidence import Floats
from arena.ratings.rates import interval
from arena.store import rows
from teamsets.errors import BadInput
from training.data.win_probabilities import win_probability
from training.runs.figures import figure_of_panels, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BINS = 10
RESAMPLES = 2000


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


def calibration_figure(found: list[Calibration]) -> Figure:
    """Draw the reliability diagrams; a calibrated agent's points are on the diagonal."""
    title = "Reliability of predicted win probabilities"
    figure, panels = figure_of_panels(title, len(found), columns=3, size=(3.6, 4.0), above=0.45, below=0.6)
    for panel, one in zip(panels, found, strict=True):
        most = max(each.decisions for each in one.bins)
        predicted, won = [each.predicted for each in one.bins], [each.won for each in one.bins]
        panel.plot([0, 1], [0, 1], "--", color="#66707a", linewidth=1, label="calibrated")
        panel.vlines(
            predicted, [each.low for each in one.bins], [each.high for each in one.bins], label="95% interval of pairs"
        )
        sizes = [10 + 60 * each.decisions / most for each in one.bins]
        panel.scatter(predicted, won, sizes, label="mean result; its area: the number of decisions")
        name = one.agent if len(one.agent) <= 40 else "…" + one.agent[-39:]
        panel.set(
            title=f"{name}\nBrier {one.brier:.3f}, base rate {one.base_rate:.3f}",
            xlabel="predicted P(win)",
            ylabel="fraction won",
            xlim=(0, 1),
            ylim=(0, 1),
        )
    figure.legend(handles=panels[0].get_legend_handles_labels()[0], loc="lower left", ncols=1 if len(found) == 1 else 3)
    return figure


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
        if not write_figure(asked.out, lambda: calibration_figure(found)):
            sys.exit(2)
        print(f"wrote {asked.out}", file=sys.stderr)


def _refused(words: str) -> int:
    print(f"calibration.py: {words}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
