"""Fits the network of `search:exact` to battles of exact_search_battles.py or gen9_search_battles.py: who won, and what the
search chose.

The value is fitted to the mixture of the result and of the search's own value (`--of-search`); the corrections of the priors
to both seats' visits. One battle in ten is held out, whole; printed of it after each pass: the log loss of who won and the
share of winners predicted, the log loss of the search's choices and how often its first choice was the likeliest, beside the
same of the fitted weights (agents/search/weights).

    python scripts/build/fit_exact_search.py battles/*.npz --out agents/search/weights/exact1.npz
    python scripts/build/fit_exact_search.py --gen 9 battles9/*.npz --out agents/search/weights/exact9.npz

Needs torch: `make training`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from agents.engine.compiled import compiled
from agents.engine.gen1.layout import WORDS
from agents.engine.gen1.requests import legal_actions, lists_one_move
from agents.engine.gen1.state import side_of
from agents.search.exact.features import FEATURES, MOST, features_of
from agents.search.exact.fitted_values import logits_of, read_weights, value_of
from agents.search.exact.network import ACTION_ROWS, row_of
from agents.search.exact.weights import FITTED
from teamsets.errors import BadInput

_HELD_OUT = 10
#: Of a file: names -> the arrays whose rows they name.
_NAMED = {"table_names": ["table"], "actions_names": ["actions", "action_bias"]}


class Positions(NamedTuple):
    """n positions of A actions. places [n, 2, M] int16 (-1: none) and amounts: features of both sides. rows [n, 2, A] int16:
    of `actions` (-1: illegal). fitted [n, 2, A]: fitted logits. value [n]: of the fitted weights, for seat 0.

    visits [n, 2, A]: shares, all 0 where a seat waits. searched [n], won [n]: values for seat 0. held_out [n].
    """

    places: Tensor
    amounts: Tensor
    rows: Tensor
    fitted: Tensor
    value: Tensor
    visits: Tensor
    searched: Tensor
    won: Tensor
    held_out: Tensor

    def at(self, chosen: Tensor) -> Positions:
        return Positions(*(field[chosen] for field in self))


class World(NamedTuple):
    """features: rows of a network's table; actions: rows of its actions; names: what stands beside its arrays in a file."""

    features: int
    actions: int
    names: dict[str, list[str]]


def world_of(gen: int) -> World:
    """A generation's."""
    if gen == 1:
        return World(FEATURES, ACTION_ROWS, {})
    from agents.search.exact.gen9.network import action_names, side_names

    return World(len(side_names()), len(action_names()), {"table_names": side_names(), "actions_names": action_names()})


@compiled
def _extract(positions, value_weights, choice_weights, places, amounts, rows, fitted, value):
    b = np.zeros(WORDS, np.int32)
    listed, numbers = np.zeros(MOST, np.int64), np.zeros(MOST, np.float32)
    for n in range(len(positions)):
        b[:] = positions[n]
        value[n] = value_of(b, value_weights)
        for i in range(2):
            s = side_of(i)
            count = features_of(b, s, listed, numbers)
            for k in range(count):
                places[n, i, k], amounts[n, i, k] = listed[k], numbers[k]
            legal = legal_actions(b, s)
            if legal == 0:
                continue
            logits_of(b, s, legal, choice_weights, fitted[n, i])
            single = lists_one_move(b, s)
            for action in range(9):
                if legal >> action & 1:
                    rows[n, i, action] = row_of(b, s, action, single)


def _renumbered(numbers: NDArray[np.int16], names: list[str], wanted: list[str]) -> NDArray[np.int16]:
    """Numbers of `names` (-1: none) as those of `wanted`, -1 for what is not there."""
    place = {name: n for n, name in enumerate(wanted)}
    return np.array([*(place.get(name, -1) for name in names), -1], np.int16)[numbers]


def _stored(file: Path, field: str, script: str) -> dict[str, NDArray[Any]]:
    """The arrays of a file of battles. Raises BadInput for one that has no `field`, so that `script` has not written it."""
    with np.load(file) as stored:
        found = {name: stored[name] for name in stored.files}
    if field not in found:
        raise BadInput(f"{file} holds no battles of {script}: name a folder that it alone writes to.")
    return found


def _read_ninth(files: list[Path]) -> Positions:
    """Battles of gen9_search_battles.py."""
    parts, world = [], world_of(9)
    for number, file in enumerate(files):
        found = _stored(file, "table_names", "gen9_search_battles.py")
        for field, names in (("places", "table_names"), ("rows", "actions_names")):
            found[field] = _renumbered(found[field], found[names].tolist(), world.names[names])
        visits = found["visits"]
        shares = visits / np.maximum(visits.sum(axis=2, keepdims=True), 1)
        most = int((found["places"] >= 0).any(axis=(0, 1)).nonzero()[0].max()) + 1
        arrays: list[NDArray[Any]] = [
            found["places"], found["amounts"], found["rows"], found["fitted"], found["fitted_value"],
            shares.astype(np.float32), found["value"], found["won"], (found["battle"] + number) % _HELD_OUT == 0,
        ]  # fmt: skip
        parts.append((most, [torch.from_numpy(array) for array in arrays]))
    most = max(most for most, _ in parts)
    cut = [[places[..., :most], amounts[..., :most], *rest] for _, (places, amounts, *rest) in parts]
    return Positions(*(torch.cat(field) for field in zip(*cut, strict=True)))


def _read(files: list[Path]) -> Positions:
    parts = []
    value_weights, choice_weights = read_weights(FITTED)
    for number, file in enumerate(files):
        stored = _stored(file, "words", "exact_search_battles.py")
        positions, visits, battle = stored["words"], stored["visits"], stored["battle"]
        searched, won = stored["value"], stored["won"]
        n = len(positions)
        places, amounts = np.full((n, 2, MOST), -1, np.int16), np.zeros((n, 2, MOST), np.float32)
        rows, fitted = np.full((n, 2, 9), -1, np.int16), np.zeros((n, 2, 9), np.float32)
        value = np.zeros(n, np.float32)
        _extract(positions, value_weights, choice_weights, places, amounts, rows, fitted, value)
        shares = visits / np.maximum(visits.sum(axis=2, keepdims=True), 1)
        held_out = (battle + number) % _HELD_OUT == 0
        arrays: list[NDArray[Any]] = [
            places, amounts.astype(np.float16), rows, fitted, value, shares.astype(np.float32), searched, won, held_out,
        ]  # fmt: skip
        parts.append([torch.from_numpy(array) for array in arrays])
    return Positions(*(torch.cat(field) for field in zip(*parts, strict=True)))


class _Model(nn.Module):
    """`PositionNetwork`, to be trained."""

    def __init__(self, width: int, layer: int, world: World) -> None:
        super().__init__()
        self._world = world
        self.table = nn.EmbeddingBag(world.features + 1, width, mode="sum", padding_idx=world.features)
        self.bias = nn.Parameter(torch.zeros(width))
        self.first = nn.Linear(2 * width, layer)
        self.second = nn.Linear(layer, 1, bias=False)
        self.actions = nn.Embedding(world.actions, 2 * width)
        self.action_bias = nn.Parameter(torch.zeros(world.actions))
        self.fitted = nn.Parameter(torch.ones(1))
        with torch.no_grad():
            self.table.weight.mul_(0.1)
            self.actions.weight.zero_()

    def forward(self, positions: Positions) -> tuple[Tensor, Tensor]:
        """Logits of seat 0's win [n] and of all actions [n, 2, A], -inf where illegal."""
        n = len(positions.places)
        places = positions.places.long().masked_fill(positions.places < 0, self._world.features).view(2 * n, -1)
        amounts = positions.amounts.float().masked_fill(positions.places < 0, 0.0).view(2 * n, -1)
        sums = functional.relu(self.table(places, per_sample_weights=amounts) + self.bias).view(n, 2, -1)
        pairs = torch.stack([sums.flatten(1), sums.flip(1).flatten(1)], dim=1)  # [n, 2, 2 H], own side first
        judged = self.second(functional.relu(self.first(pairs))).squeeze(-1)
        rows = positions.rows.long().clamp(min=0)
        logits = torch.einsum("nsad,nsd->nsa", self.actions(rows), pairs) + self.action_bias[rows]
        logits = (logits + self.fitted * positions.fitted).masked_fill(positions.rows < 0, -torch.inf)
        return judged[:, 0] - judged[:, 1], logits

    def clear_unseen(self, positions: Positions) -> None:
        """Features that no position has count nothing, instead of what they were drawn as."""
        with torch.no_grad():
            unseen = torch.ones(self._world.features + 1, dtype=torch.bool)
            unseen[positions.places[positions.places >= 0].long()] = False
            self.table.weight[unseen] = 0

    def save(self, file: Path) -> None:
        """Writes what `read_network` of the generation reads: rows that have a name only where they are not 0."""
        arrays: dict[str, Tensor] = {
            "table": self.table.weight[: self._world.features], "bias": self.bias, "first": self.first.weight.T,
            "first_bias": self.first.bias, "second": self.second.weight[0], "actions": self.actions.weight,
            "action_bias": self.action_bias, "fitted": self.fitted,
        }  # fmt: skip
        found: dict[str, Any] = {
            name: np.ascontiguousarray(tensor.detach().numpy(), np.float32) for name, tensor in arrays.items()
        }
        for name, names in self._world.names.items():
            rows = _NAMED[name]
            used = np.any([found[field].reshape(len(names), -1).any(axis=1) for field in rows], axis=0)
            found |= {field: found[field][used] for field in rows} | {name: np.array(names)[used]}
        np.savez_compressed(file, **found)


def _losses(model: _Model, positions: Positions, of_search: float) -> tuple[Tensor, Tensor]:
    value, logits = model(positions)
    target = (1 - of_search) * positions.won + of_search * positions.searched
    choosing = positions.visits.sum(dim=2) > 0
    choice = -(positions.visits * logits.log_softmax(2).masked_fill(positions.rows < 0, 0.0)).sum(2)
    return functional.binary_cross_entropy_with_logits(value, target), choice[choosing].mean()


@torch.no_grad()
def _report(model: _Model, positions: Positions, say: str) -> None:
    values, logits = [], []
    for part in torch.arange(len(positions.won)).split(8192):
        value, logit = model(positions.at(part))
        values.append(torch.sigmoid(value))
        logits.append(logit)
    print(f"{say}: {_scores(positions, torch.cat(values), torch.cat(logits).log_softmax(2))}", flush=True)


def _scores(positions: Positions, value: Tensor, log_priors: Tensor) -> str:
    value = value.clamp(1e-6, 1 - 1e-6)
    loss = functional.binary_cross_entropy(value, positions.won)
    decided = positions.won != 0.5
    right = ((value > 0.5) == (positions.won > 0.5))[decided].float().mean()
    free = (positions.visits > 0).sum(2) > 1
    choice = -(positions.visits * log_priors.masked_fill(positions.rows < 0, 0.0)).sum(2)[free].mean()
    first = (log_priors.argmax(2) == positions.visits.argmax(2))[free].float().mean()
    return f"won {loss:.4f}, right {right:.2%}; choices {choice:.4f}, first {first:.2%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    parser.add_argument("--gen", type=int, default=1, choices=(1, 9))
    parser.add_argument("--width", type=int, default=32, metavar="H")
    parser.add_argument("--layer", type=int, default=16, metavar="K")
    parser.add_argument("--passes", type=int, default=3, metavar="N")
    parser.add_argument("--batch", type=int, default=2048, metavar="N")
    parser.add_argument("--rate", type=float, default=3e-3, metavar="R")
    parser.add_argument("--of-search", type=float, default=0.7, metavar="P")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    try:
        positions = (_read if options.gen == 1 else _read_ninth)(sorted(options.files))
    except BadInput as error:
        parser.error(str(error))
    held_out = positions.at(positions.held_out)
    learned = (~positions.held_out).nonzero().squeeze(1)
    print(f"{len(learned):,} positions, {len(held_out.won):,} held out", flush=True)
    model = _Model(options.width, options.layer, world_of(options.gen))
    model.clear_unseen(positions.at(learned))
    fitted = held_out.fitted.masked_fill(held_out.rows < 0, -torch.inf).log_softmax(2)
    print(f"fitted weights: {_scores(held_out, held_out.value, fitted)}", flush=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.rate, weight_decay=1e-3)
    steps = options.passes * -(-len(learned) // options.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, options.rate, total_steps=steps, pct_start=0.1)
    for number in range(options.passes):
        for part in learned[torch.randperm(len(learned))].split(options.batch):
            optimizer.zero_grad()
            value, choice = _losses(model, positions.at(part), options.of_search)
            (value + choice).backward()
            optimizer.step()
            schedule.step()
        _report(model, held_out, f"pass {number + 1}")
        model.save(options.out)


if __name__ == "__main__":
    numba.set_num_threads(1)
    main()
