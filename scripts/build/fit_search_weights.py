"""Fits the weights of the search agent to stored battles: what a position is worth, and what strong players choose in it.

From each turn of a battle in which both sides chose freely comes one position, with nothing hidden. A logistic regression
learns who won; the strength of who plays is fitted with it and left out of the file. A softmax regression learns what was
chosen by the agents named with --teacher. Positions of one pair of battles are all in the fitting or all held out.

Printed of what was held out: the log loss and the share of winners predicted, beside those of poke-engine's own evaluation
(its scale and the players' strengths fitted in the same way); the log loss of the choices and how often the likeliest was
chosen, beside those of options that are all alike.

    arena evaluate heuristic:expert heuristic:staller … --format gen1ou --battles 80 --db battles.duckdb
    python scripts/build/fit_search_weights.py --format gen1ou --db battles.duckdb --teacher heuristic:expert
    arena match "search:mcts?weights=search-weights-gen1.txt" search:mcts --format gen1ou

The shipped weights stay as they are; `--out agents/search/weights/gen1.txt --replace` replaces them. Needs poke-engine:
`make search`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import scipy.optimize
import scipy.sparse

sys.path.insert(0, str(Path(__file__).parents[1] / "simulate"))
from prediction import turns

from agents.search.poke_engine.builds import missing
from agents.search.poke_engine.engine import EngineFailed, engines
from arena.record import unpacked
from arena.store import rows
from arena.venues.simulator.reproduction import PackedLogs, with_logs
from teamsets.formats import get_format

#: How much a weight is drawn to zero, by the number of positions: what was tried, the best on what is held out is taken.
_PENALTIES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
#: Of so many turns one teaches choices: there are enough of them.
_EVERY = 2
_STEPS = {"maxiter": 1000}
# Who plays is fitted too, and left out of the file: a strong player's habits (terastallizing late, say) would otherwise
# pass for what wins.
_PLAYER = "player:"
#: Features seen in less than one in so many positions, or options, are left out.
_RARE = 500


@dataclass(frozen=True)
class Battle:
    """pair: shared by the two battles with the teams exchanged. won: p1's result. logs, choices: of each side.

    agents: who played.
    """

    pair: str
    agents: tuple[str, str]
    won: float
    logs: tuple[list[str], list[str]]
    choices: tuple[list[str], list[str]]


@dataclass(frozen=True)
class Chosen:
    """One choice of a teacher: the options' features, and the index of the one that was chosen."""

    options: list[dict[str, float]]
    chosen: int


@dataclass
class Positions:
    """won: side one's result (1, 0, 0.5). evaluations: poke-engine's own, for side one. pairs: whose it is."""

    features: list[dict[str, float]] = field(default_factory=list)
    evaluations: list[float] = field(default_factory=list)
    won: list[float] = field(default_factory=list)
    pairs: list[str] = field(default_factory=list)
    chosen: list[Chosen] = field(default_factory=list)
    chosen_pairs: list[str] = field(default_factory=list)


def battles(db: Path, format_id: str) -> Iterator[Battle]:
    """Those that were played to their end."""
    stored = rows(
        "SELECT (battle_id, input_log, p1_log, p2_log), pair, p1, p2, winner,"
        " list(choice ORDER BY d.index) FILTER (seat = 'p1'), list(choice ORDER BY d.index) FILTER (seat = 'p2')"
        " FROM battles JOIN decisions d USING (battle_id)"
        " WHERE format = ? AND reason IN ('win', 'tie', 'turn-limit') GROUP BY ALL ORDER BY pair",
        db,
        [format_id],
    )
    full = with_logs([PackedLogs(*row[0]) for row in stored])
    for (_, pair, p1, p2, winner, *choices), logs in zip(stored, full, strict=True):
        p1_log, p2_log = logs.p1_log, logs.p2_log
        won = 0.5 if winner is None else float(winner == "p1")
        yield Battle(pair, (p1, p2), won, (unpacked(p1_log), unpacked(p2_log)), (choices[0] or [], choices[1] or []))


def positions(databases: list[Path], format_id: str, teachers: list[str]) -> Positions:
    samples = Positions()
    with multiprocessing.Pool() as pool:
        for db in databases:
            orders = ((battle, format_id, teachers) for battle in battles(db, format_id))
            for pair, agents, won, seen, chosen in pool.imap(_of_battle, orders, chunksize=8):
                samples.evaluations += [evaluation for evaluation, _ in seen]
                players = {f"{_PLAYER}{agents[0]}": 1.0, f"{_PLAYER}{agents[1]}": -1.0}
                samples.features += [{**features, **players} for _, features in seen]
                samples.won += [won] * len(seen)
                samples.pairs += [f"{db.name} {pair}"] * len(seen)
                samples.chosen += chosen
                samples.chosen_pairs += [f"{db.name} {pair}"] * len(chosen)
    return samples


def _of_battle(
    order: tuple[Battle, str, list[str]],
) -> tuple[str, tuple[str, str], float, list[tuple[float, dict[str, float]]], list[Chosen]]:
    """A battle's pair, agents and result, what is seen of its positions, what its teachers chose; none where it fails."""
    battle, format_id, teachers = order
    engine = engines.get(get_format(format_id).gen)
    try:
        played = list(turns(battle.logs, battle.choices, engine.gen, format_id))
        seen = engine.features([turn.state for turn in played])
        taught = played[::_EVERY] if any(agent in teachers for agent in battle.agents) else []
        options = engine.choices([turn.state for turn in taught])
    except EngineFailed as error:
        print(f"left out a battle: {error}")
        return battle.pair, battle.agents, battle.won, [], []
    chosen = []
    for turn, sides in zip(taught, options, strict=True):
        for agent, choice, side in zip(battle.agents, (turn.first_choice, turn.second_choice), sides, strict=True):
            names = [name.removeprefix("switch ") for name in side]
            if agent in teachers and choice in names and len(names) > 1:
                chosen.append(Chosen(list(side.values()), names.index(choice)))
    return battle.pair, battle.agents, battle.won, seen, chosen


def matrix(features: list[dict[str, float]], names: list[str]) -> scipy.sparse.csr_matrix:
    places = {name: place for place, name in enumerate(names)}
    entries = [(row, places[n], x) for row, one in enumerate(features) for n, x in one.items() if n in places]
    at, columns, values = (np.array(part) for part in zip(*entries, strict=True))
    return scipy.sparse.csr_matrix((values, (at, columns)), shape=(len(features), len(names)))


def fit(x: scipy.sparse.csr_matrix, won: np.ndarray, penalty: float) -> np.ndarray:
    """The weights of the penalised logistic regression. Without a constant: the sides are alike."""

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        logits = x @ weights
        value = np.mean(np.logaddexp(0, logits) - won * logits) + penalty * weights @ weights / 2
        slope = x.T @ (1 / (1 + np.exp(-logits)) - won) / len(won) + penalty * weights
        return float(value), slope

    return scipy.optimize.minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B", options=_STEPS).x


def log_loss(logits: np.ndarray, won: np.ndarray) -> float:
    return float(np.mean(np.logaddexp(0, logits) - won * logits))


def foreseen(logits: np.ndarray, won: np.ndarray) -> float:
    """The share of positions whose later winner is the side with the better chance."""
    decided = won != 0.5
    return float(np.mean((logits > 0)[decided] == (won > 0.5)[decided]))


class Softmax:
    """Of choices: the loss of weights on the options' features, which are stacked; `starts`: the first options' rows."""

    def __init__(self, chosen: list[Chosen], names: list[str]) -> None:
        self.x = matrix([option for decision in chosen for option in decision.options], names)
        counts = np.array([len(decision.options) for decision in chosen])
        self.starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        self.counts = counts
        self.chosen_rows = self.starts + np.array([decision.chosen for decision in chosen])

    def chances(self, weights: np.ndarray) -> np.ndarray:
        scores = self.x @ weights
        odds = np.exp(scores - np.repeat(np.maximum.reduceat(scores, self.starts), self.counts))
        return odds / np.repeat(np.add.reduceat(odds, self.starts), self.counts)

    def loss(self, weights: np.ndarray, penalty: float = 0.0) -> tuple[float, np.ndarray]:
        chances = self.chances(weights)
        value = -np.mean(np.log(np.maximum(chances[self.chosen_rows], 1e-12))) + penalty * weights @ weights / 2
        chances[self.chosen_rows] -= 1
        return float(value), self.x.T @ chances / len(self.chosen_rows) + penalty * weights

    def fit(self, penalty: float) -> np.ndarray:
        start = np.zeros(self.x.shape[1])
        return scipy.optimize.minimize(self.loss, start, (penalty,), jac=True, method="L-BFGS-B", options=_STEPS).x

    def describe(self, weights: np.ndarray) -> str:
        chances = self.chances(weights)
        likeliest = chances >= np.repeat(np.maximum.reduceat(chances, self.starts), self.counts)
        hits = np.mean(likeliest[self.chosen_rows] / np.add.reduceat(likeliest.astype(float), self.starts))
        return f"log loss {self.loss(weights)[0]:.4f}, top choice matched in {hits:.1%}"


def fit_values(samples: Positions, out: np.ndarray) -> list[str]:
    """The lines of the file about values. out: which positions are held out."""
    won, names = np.array(samples.won), frequent(samples.features)
    x = matrix(samples.features, names)
    print(f"values: {len(won)} positions, {out.sum()} of them held out; {len(names)} features")
    players = [place for place, name in enumerate(names) if name.startswith(_PLAYER)]
    own = scipy.sparse.hstack([np.array(samples.evaluations)[:, None] / 100, x[:, players]]).tocsr()
    print(f"  poke-engine's evaluation: {describe_fit(own[out] @ fit(own[~out], won[~out], 0.0), won[out])}")
    losses = {}
    for penalty in _PENALTIES:
        logits = x[out] @ fit(x[~out], won[~out], penalty)
        losses[penalty] = log_loss(logits, won[out])
        print(f"  fitted, penalty {penalty:g}: {describe_fit(logits, won[out])}")
    weights = fit(x, won, min(losses, key=lambda penalty: losses[penalty]))
    kept = [(name, weight) for name, weight in zip(names, weights, strict=True) if not name.startswith(_PLAYER)]
    return [f"value {name} {weight:.5g}" for name, weight in kept]


def fit_choices(samples: Positions, out: np.ndarray) -> list[str]:
    """The lines of the file about choices. out: which choices are held out."""
    names = frequent([option for decision in samples.chosen for option in decision.options])
    kept = Softmax([decision for decision, held in zip(samples.chosen, out, strict=True) if not held], names)
    held = Softmax([decision for decision, held in zip(samples.chosen, out, strict=True) if held], names)
    print(f"choices: {len(out)}, {out.sum()} of them held out; {len(names)} features")
    print(f"  all alike: {held.describe(np.zeros(len(names)))}")
    losses = {}
    for penalty in _PENALTIES:
        weights = kept.fit(penalty)
        losses[penalty] = held.loss(weights)[0]
        print(f"  fitted, penalty {penalty:g}: {held.describe(weights)}")
    weights = Softmax(samples.chosen, names).fit(min(losses, key=lambda penalty: losses[penalty]))
    return [f"choice {name} {weight:.5g}" for name, weight in zip(names, weights, strict=True)]


def frequent(features: list[dict[str, float]]) -> list[str]:
    """The names of those that are not too rare to be fitted."""
    seen = Counter(name for one in features for name in one)
    return sorted(name for name, count in seen.items() if count * _RARE >= len(features))


def describe_fit(logits: np.ndarray, won: np.ndarray) -> str:
    return f"log loss {log_loss(logits, won):.4f}, winners predicted {foreseen(logits, won):.1%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--format", default="gen1ou")
    parser.add_argument("--db", type=Path, nargs="+", required=True)
    parser.add_argument("--teacher", nargs="+", required=True)
    parser.add_argument("--out", type=Path, help="file of the weights (default: search-weights-genN.txt)")
    parser.add_argument("--replace", action="store_true", help="replace the file if it exists")
    options = parser.parse_args()
    gen = get_format(options.format).gen
    out = options.out or Path(f"search-weights-gen{gen}.txt")
    if out.exists() and not options.replace:
        parser.error(f"--out {out}: exists already; name another file, or replace it with --replace")
    if problem := missing(gen):
        parser.error(problem)
    samples = positions(options.db, options.format, options.teacher)
    if not samples.won or not samples.chosen:
        parser.error(
            f"--db {' '.join(map(str, options.db))}: no battles of {options.format} in which {options.teacher[0]} plays"
        )
    pairs = np.unique(samples.pairs)
    if len(pairs) < 5:
        parser.error(
            f"--db {' '.join(map(str, options.db))}: {len(pairs)} pairs of battles of {options.format}; at least 5 are "
            "needed"
        )
    held = np.random.default_rng(0).permutation(pairs)[: len(pairs) // 5]
    head = f"# {options.format}, {len(pairs)} pairs of battles: for scripts/poke_engine/fitted.rs, by fit_search_weights.py"
    lines = [
        head,
        *fit_values(samples, np.isin(samples.pairs, held)),
        *fit_choices(samples, np.isin(samples.chosen_pairs, held)),
    ]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
