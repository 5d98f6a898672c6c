"""Plays gen9ou battles of the exact search with itself, both seats knowing everything, for fit_exact_search.py.

Each turn in which a side chooses freely is searched by one tree; both seats sample from its visits to the power of 1/T, and
now and then play any legal action. Kept of each position: both sides' features, the fitted logits and visits of all legal
actions, the search's value and that of the fitted weights, and who won in the end. What the features and actions are stands
there by name, so that the battles outlive changes of the engine's world.

    arena teams make competitive --format gen9ou --count 2400 --seed 7 --out teams9
    python scripts/build/leave_out_held_out_teams.py teams9 gen9ou
    python scripts/build/gen9_search_battles.py --teams teams9 --out battles9 --battles 10000 --seed 1
    python scripts/build/fit_exact_search.py --gen 9 battles9/*.npz --out agents/search/weights/exact9.npz

One file of `--part` battles each; a file that exists is not played again, so a killed run goes on.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator

import numpy as np
import search_battles
from search_battles import Arrays

from agents.engine.gen9.engine import UNDECIDED, Engine, records
from agents.search.exact.gen9.network import action_names, judge, read_weights, side_names
from agents.search.exact.gen9.position import HIDDEN, Root
from agents.search.exact.gen9.tree import ACTIONS, Tree
from agents.search.exact.gen9.weights import PositionWeights
from agents.search.exact.root_values import TreeSettings
from teamsets.errors import BadInput
from teamsets.loading import load_set

_MOST_TURNS = 200
_KNOWN = np.full((2, HIDDEN), -1, np.int32)
_EVERY = np.full(2, (1 << ACTIONS) - 1, np.int32)


def _positions(
    engine: Engine, tree: Tree, weights: PositionWeights, rng: random.Random, options: argparse.Namespace
) -> Iterator[Arrays]:
    """Plays a battle to its end; yields what was seen of each searched position."""
    while True:
        row = records(engine.words)[0]
        if row["winner"] != UNDECIDED or row["turn"] > _MOST_TURNS:
            return
        legal = np.ascontiguousarray(engine.legal()[0, :, 0], np.int32)
        actions = np.zeros((1, *Engine.shape), np.int32)
        actions[0, :, 0] = [max(0, int(mask).bit_length() - 1) for mask in legal]
        if any(mask & (mask - 1) for mask in legal.tolist()):
            words = engine.words[0].copy()
            tree.plant(Root(words, _KNOWN), _EVERY, TreeSettings(), weights, 1 + rng.getrandbits(60))
            tree.grow(options.iterations)
            edges = [tree.edges(seat) for seat in range(2)]
            visits = np.stack([edge[0] * (mask > 0) for edge, mask in zip(edges, legal, strict=True)])
            value = edges[0][1].sum() / edges[0][0].sum()
            seen = judge(words, legal, weights._replace(network=None))
            yield {
                "places": seen.places.astype(np.int16), "amounts": seen.amounts.astype(np.float16),
                "rows": seen.rows.astype(np.int16), "fitted": seen.logits, "fitted_value": np.float32(seen.value),
                "visits": visits.astype(np.uint16), "value": np.float32(value),
            }  # fmt: skip
            for seat, mask in enumerate(legal.tolist()):
                if mask & (mask - 1):
                    actions[0, seat, 0] = search_battles.sampled(visits[seat], mask, rng, options)
        engine.step(actions)


def _battle(number: int, teams: list[str], tree: Tree, weights: PositionWeights, options: argparse.Namespace) -> Arrays:
    """The positions of a battle as arrays, with won [n] for seat 0 and battle [n], its number."""
    rng = random.Random(f"exact9 {options.seed} {number}")
    engine = Engine(1)
    while True:
        pair = rng.choice(teams), rng.choice(teams)
        try:
            engine.reset([pair], [f"gen5,{rng.getrandbits(64):016x}"], orders=[_orders(pair, rng)])
            break
        except BadInput:  # a team that the engine does not play
            continue
    played = list(_positions(engine, tree, weights, rng, options))
    winner = int(records(engine.words)[0]["winner"])
    won = {0: 1.0, 1: 0.0}.get(winner, 0.5)
    arrays = {name: np.stack([seen[name] for seen in played]) for name in played[0]}
    return {
        **arrays,
        "won": np.full(len(played), won, np.float32),
        "battle": np.full(len(played), number, np.int32),
    }


def _orders(pair: tuple[str, str], rng: random.Random) -> tuple[list[int], list[int]]:
    """Any of a team's Pokémon first."""
    orders = []
    for packed in pair:
        places = list(range(packed.count("]") + 1))
        places.insert(0, places.pop(rng.randrange(len(places))))
        orders.append(places)
    return orders[0], orders[1]


def main() -> None:
    options = search_battles.parser(__doc__, iterations=200).parse_args()
    teams = [team.packed for team in load_set(options.teams, "gen9ou", skip_invalid=True).teams]
    tree, weights = Tree(1 << 12), read_weights(options.weights)
    search_battles.play_parts(
        options,
        lambda number: _battle(number, teams, tree, weights, options),
        {"table_names": np.array(side_names()), "actions_names": np.array(action_names())},
    )


if __name__ == "__main__":
    main()
