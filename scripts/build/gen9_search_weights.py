"""Fits the weights of `search:exact` in gen9ou to battles of the search with itself, in which both seats know everything.

Value: a logistic regression on who won; priors: a softmax regression on the search's visits. Both start from the weights
that are there, and a penalty keeps them near: some hundred battles say little of rare moves and species. Both seats choose
by the visits of one tree; the first turns are drawn by them, later ones the most visited. Battles are kept in parts in a
folder, so that the same command resumes.

    python scripts/build/gen9_search_weights.py fitted9 --battles 2000 --seed 1
    python scripts/build/gen9_search_weights.py fitted9 --fit weights.txt
"""

from __future__ import annotations

import argparse
import ctypes
import random
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from agents.engine.gen9.engine import UNDECIDED, Engine, records
from agents.engine.gen9.library import library
from agents.search.exact.gen9.position import HIDDEN, Root
from agents.search.exact.gen9.tree import ACTIONS, Tree
from agents.search.exact.gen9.weights import feature_names, read
from agents.search.exact.root_values import TreeSettings
from agents.search.exact.weights import NINTH

PARITY = Path(__file__).parents[1] / "parity"
sys.path.insert(0, str(PARITY))

import gen9_teams  # noqa: E402

PART = 50
_DRAWN_TURNS = 6
_MOST_TURNS = 200
_HELD_OUT = 10  # one battle in so many
_EVERY = (1 << ACTIONS) - 1


class Sparse(NamedTuple):
    """Rows of features: which row, which feature, how much."""

    rows: NDArray[np.int32]
    features: NDArray[np.int32]
    amounts: NDArray[np.float32]

    def times(self, weights: NDArray[np.float64], count: int) -> NDArray[np.float64]:
        """The sum of each of `count` rows."""
        return np.bincount(self.rows, self.amounts * weights[self.features], count)

    def gradient(self, errors: NDArray[np.float64], size: int) -> NDArray[np.float64]:
        return np.bincount(self.features, self.amounts * errors[self.rows], size)


def _at(array: NDArray[Any]) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


class Recorder:
    """The features of positions, and of their seats' choices, as lists that become arrays."""

    def __init__(self) -> None:
        self.values: list[NDArray[np.float32]] = []
        self.choices: list[tuple[NDArray[np.float32], NDArray[np.float64]]] = []
        self.battles: list[int] = []
        self.winners: list[float] = []
        self._sizes = library().gen9_search_size(0), library().gen9_search_size(1)

    def position(self, row: NDArray[np.int32], battle: int) -> None:
        features = np.zeros(self._sizes[0], np.float32)
        library().gen9_search_value_features(_at(row), _at(features))
        self.values.append(features)
        self.battles.append(battle)

    def choice(self, row: NDArray[np.int32], seat: int, legal: int, visits: NDArray[np.int32]) -> None:
        features = np.zeros((ACTIONS, self._sizes[1]), np.float32)
        library().gen9_search_choice_features(_at(row), seat, legal, _at(features))
        chosen = [action for action in range(ACTIONS) if legal >> action & 1]
        self.choices.append((features[chosen], visits[chosen] / max(1, visits.sum())))

    def save(self, file: Path) -> None:
        values = np.stack(self.values)
        rows, columns = np.nonzero(values)
        actions = np.concatenate([features for features, _ in self.choices])
        action_rows, action_columns = np.nonzero(actions)
        np.savez_compressed(
            file,
            battles=np.array(self.battles, np.int32), winners=np.array(self.winners, np.float32),
            value_rows=rows.astype(np.int32), value_features=columns.astype(np.int32), value_amounts=values[rows, columns],
            shares=np.concatenate([shares for _, shares in self.choices]).astype(np.float32),
            decisions=np.repeat(np.arange(len(self.choices)), [len(s) for _, s in self.choices]).astype(np.int32),
            choice_rows=action_rows.astype(np.int32), choice_features=action_columns.astype(np.int32),
            choice_amounts=actions[action_rows, action_columns],
        )  # fmt: skip


def play(folder: Path, battles: int, seed: int, iterations: int, weights: Path) -> None:
    """Plays battles, in parts of PART."""
    teams = gen9_teams.teams_of(["ring1", "ring1", "ring2"])
    tree, fitted = Tree(1 << 12), read(weights)
    for first in range(0, battles, PART):
        file = folder / f"{seed}-{first}.npz"
        if file.exists():
            continue
        recorder = Recorder()
        for battle in range(first, min(first + PART, battles)):
            rng = random.Random(f"{seed} {battle}")
            pair = rng.choice(teams), rng.choice(teams)
            _play(recorder, battle, pair, rng, tree, iterations, fitted)
        recorder.save(file)
        print(f"{min(first + PART, battles)} of {battles} battles", flush=True)


def _play(
    recorder: Recorder, battle: int, pair: Any, rng: random.Random, tree: Tree, iterations: int, fitted: Any
) -> None:
    engine = Engine(1)
    orders = []
    for packed in pair:
        places = list(range(packed.count("]") + 1))
        places.insert(0, places.pop(rng.randrange(len(places))))
        orders.append(places)
    engine.reset([pair], [f"gen5,{rng.getrandbits(64):016x}"], orders=[(orders[0], orders[1])])
    started = len(recorder.values)
    hidden = np.full((2, HIDDEN), -1, np.int32)
    while True:
        row = records(engine.words)[0]
        if row["winner"] != UNDECIDED or row["turn"] > _MOST_TURNS:
            break
        legal = engine.legal()[0, :, 0].tolist()
        words = engine.words[0].copy()
        actions = np.zeros((1, *Engine.shape), np.int32)
        several = any(mask & (mask - 1) for mask in legal)
        if several:
            tree.plant(Root(words, hidden), np.array([_EVERY, _EVERY]), TreeSettings(), fitted, 1 + rng.getrandbits(60))
            tree.grow(iterations)
            recorder.position(words, battle)
        for seat, mask in enumerate(legal):
            if not mask & (mask - 1):
                actions[0, seat, 0] = max(0, mask.bit_length() - 1)
                continue
            visits, _ = tree.edges(seat)
            recorder.choice(words, seat, mask, visits)
            drawn = row["turn"] <= _DRAWN_TURNS or rng.random() < 0.1
            odds = visits.astype(float) if drawn else (visits == visits.max()).astype(float)
            actions[0, seat, 0] = rng.choices(range(ACTIONS), odds.tolist())[0]
        engine.step(actions)
    winner = int(records(engine.words)[0]["winner"])
    recorder.winners += [{0: 1.0, 1: 0.0}.get(winner, 0.5)] * (len(recorder.values) - started)


def _merged(folder: Path) -> dict[str, NDArray[Any]]:
    """All parts as one."""
    parts: dict[str, list[NDArray[Any]]] = {}
    shifts = {"battles": 0, "value_rows": 0, "decisions": 0, "choice_rows": 0}
    for file in sorted(folder.glob("*.npz")):
        with np.load(file) as part:
            arrays = {name: part[name] for name in part.files}
        sizes = {
            "battles": PART, "value_rows": len(arrays["battles"]), "decisions": int(arrays["decisions"].max()) + 1,
            "choice_rows": len(arrays["shares"]),
        }  # fmt: skip
        arrays["battles"] = arrays["battles"] % PART
        for name, array in arrays.items():
            parts.setdefault(name, []).append(array + shifts.get(name, 0))
        for name, size in sizes.items():
            shifts[name] += size
    return {name: np.concatenate(arrays) for name, arrays in parts.items()}


def fit(folder: Path, out: Path, value_l2: float, choice_l2: float) -> None:
    """Fits both regressions, prints their quality on battles that are held out, and writes the weights."""
    data = _merged(folder)
    value = Sparse(data["value_rows"], data["value_features"], data["value_amounts"])
    count, size = len(data["winners"]), len(feature_names(False))
    trained, before = data["battles"] % _HELD_OUT != 0, read(NINTH)
    print(f"{data['battles'].max() + 1} battles, {count} positions")

    def value_loss(weights: NDArray[np.float64], on: NDArray[np.bool_]) -> tuple[float, NDArray[np.float64]]:
        logits = value.times(weights, count)
        chances = 1 / (1 + np.exp(-logits))
        losses = np.logaddexp(0, logits) - data["winners"] * logits
        errors = np.where(on, chances - data["winners"], 0)
        change = weights - before.value
        loss = losses[on].sum() + value_l2 * (change**2).sum() / 2
        return float(loss), value.gradient(errors, size) + value_l2 * change

    def log_loss(weights: NDArray[np.float64]) -> float:
        change = weights - before.value
        return (value_loss(weights, ~trained)[0] - value_l2 * float((change**2).sum()) / 2) / int((~trained).sum())

    found = minimize(
        value_loss, before.value.astype(float), (trained,), jac=True, method="L-BFGS-B", options={"maxiter": 300}
    ).x
    print(
        f"value, held out: log loss {log_loss(found):.4f}; of the weights so far {log_loss(before.value.astype(float)):.4f}"
    )
    choices = _fit_choices(data, choice_l2, before.choice.astype(float))
    lines = [
        f"# gen9ou, {data['battles'].max() + 1} battles of the search with itself: scripts/build/gen9_search_weights.py"
    ]
    for kind, names, weights in (("value", feature_names(False), found), ("choice", feature_names(True), choices)):
        lines += [
            f"{kind} {name} {weight:.5g}" for name, weight in zip(names, weights, strict=True) if abs(weight) > 1e-4
        ]
    out.write_text("\n".join(lines) + "\n")


def _fit_choices(data: dict[str, NDArray[Any]], l2: float, before: NDArray[np.float64]) -> NDArray[np.float64]:
    choice = Sparse(data["choice_rows"], data["choice_features"], data["choice_amounts"])
    decisions, shares = data["decisions"], data["shares"]
    count, size, decision_count = len(shares), len(feature_names(True)), int(decisions.max()) + 1
    trained = decisions % _HELD_OUT != 0

    def loss(weights: NDArray[np.float64], on: NDArray[np.bool_]) -> tuple[float, NDArray[np.float64]]:
        logits = choice.times(weights, count)
        most = np.full(decision_count, -np.inf)
        np.maximum.at(most, decisions, logits)
        odds = np.exp(logits - most[decisions])
        sums = np.bincount(decisions, odds, decision_count)
        chances = odds / sums[decisions]
        losses = -shares * np.log(np.maximum(chances, 1e-12))
        errors = np.where(on, chances - shares, 0)
        change = weights - before
        return float(losses[on].sum() + l2 * (change**2).sum() / 2), choice.gradient(errors, size) + l2 * change

    def entropy(weights: NDArray[np.float64]) -> float:
        held_out = ~trained
        change = weights - before
        return (loss(weights, held_out)[0] - l2 * float((change**2).sum()) / 2) / len(np.unique(decisions[held_out]))

    found: NDArray[np.float64] = minimize(
        loss, before, (trained,), jac=True, method="L-BFGS-B", options={"maxiter": 200}
    ).x
    print(f"priors, held out: cross entropy {entropy(found):.4f}; of the weights so far {entropy(before):.4f}")
    return found


def main() -> None:
    """Plays, or fits with --fit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--battles", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=150)
    parser.add_argument("--weights", type=Path, default=NINTH, help="what it plays with")
    parser.add_argument("--fit", type=Path, help="writes the weights to this file")
    parser.add_argument("--value-l2", type=float, default=30.0)
    parser.add_argument("--choice-l2", type=float, default=3.0)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.fit:
        fit(options.folder, options.fit, options.value_l2, options.choice_l2)
    else:
        play(options.folder, options.battles, options.seed, options.iterations, options.weights)


if __name__ == "__main__":
    main()
