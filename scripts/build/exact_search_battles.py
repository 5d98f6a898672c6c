"""Plays battles of the exact search with itself, both seats knowing everything, for fit_exact_search.py to learn from.

Each turn in which a side chooses freely is searched by one tree; both seats sample from its visits to the power of 1/T, and
now and then play any legal action, so that positions differ from those that the search likes. Kept of each: the position,
both seats' visits, the search's value, and who won in the end.

    python scripts/build/exact_search_battles.py --out battles --battles 5000 --seed 1
    python scripts/build/fit_exact_search.py battles/*.npz --out agents/search/weights/exact1.npz

One file of `--part` battles each; a file that exists is not played again, so a killed run goes on. Two processes with
different seeds use both cores.
"""

from __future__ import annotations

import argparse
import random
from typing import Any

import numpy as np
import search_battles

from agents.engine.gen1.engine import Engine
from agents.engine.gen1.layout import TURN, UNDECIDED, WINNER, WORDS
from agents.search.exact.root_values import TreeSettings
from agents.search.exact.tree import Tree, hidden_of
from agents.search.exact.weights import read
from teamsets.loading import load_set

_MOST_TURNS = 300


def main() -> None:
    options = search_battles.parser(__doc__, iterations=400, teams="variety:2000").parse_args()
    teams = [team.packed for team in load_set(options.teams, "gen1ou").teams]
    tree, weights = Tree(), read(options.weights)

    def battle(number: int) -> dict[str, Any]:
        rng = random.Random(f"exact {options.seed} {number}")
        return _battle(number, (rng.choice(teams), rng.choice(teams)), tree, weights, rng, options)

    search_battles.play_parts(options, battle)


def _battle(
    number: int, teams: tuple[str, str], tree: Tree, weights: Any, rng: random.Random, options: argparse.Namespace
) -> dict[str, Any]:
    """words [n, WORDS] int16, visits [n, 2, 9] (0: waits), value [n] and won [n] for seat 0, battle [n] (number)."""
    engine = Engine(1)
    engine.reset([teams], [f"gen5,{rng.getrandbits(64):016x}"])
    positions, visits, value = [], [], []
    allowed = np.full(2, 511, np.int64)
    while engine.words[0, WINNER] == UNDECIDED and engine.words[0, TURN] <= _MOST_TURNS:
        row = engine.words[0].copy()
        legal = engine.legal()[0]
        actions = [int(mask).bit_length() - 1 if mask else 0 for mask in legal]
        if any(bin(mask).count("1") > 1 for mask in legal):
            tree.plant(row, hidden_of(row), allowed, TreeSettings(), weights, 1 + rng.getrandbits(60))
            tree.grow(options.iterations)
            edges = [tree.edges(seat) for seat in range(2)]
            positions.append(row.astype(np.int16))
            visits.append(np.stack([edge[0] * (mask > 0) for edge, mask in zip(edges, legal, strict=True)]))
            value.append(edges[0][1].sum() / edges[0][0].sum())
            for seat in range(2):
                if legal[seat]:
                    actions[seat] = search_battles.sampled(edges[seat][0], int(legal[seat]), rng, options)
        engine.step(np.array([actions], np.int32))
    winner = int(engine.words[0, WINNER])
    won = 1.0 if winner == 0 else 0.0 if winner == 1 else 0.5
    n = len(positions)
    return {
        "words": np.array(positions, np.int16).reshape(n, WORDS),
        "visits": np.array(visits, np.uint16).reshape(n, 2, 9),
        "value": np.array(value, np.float32),
        "won": np.full(n, won, np.float32),
        "battle": np.full(n, number, np.int32),
    }


if __name__ == "__main__":
    main()
