"""The network of `search:exact` in gen9ou, as agents/engine/gen9/src/search/network.h takes it."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.engine.gen9.library import address, library
from agents.search import fitted
from agents.search.exact.gen9.tree import ACTIONS
from agents.search.exact.gen9.weights import ARRAYS, PositionNetwork, PositionWeights, feature_names, read
from agents.search.exact.weights import files_of
from teamsets.errors import BadInput


class Sizes(NamedTuple):
    """side: rows of `table`; most_side: features that a side has at once; actions: rows of `actions`; width, layer: most."""

    side: int
    most_side: int
    actions: int
    width: int
    layer: int


@cache
def sizes() -> Sizes:
    """Those of the engine's world."""
    found = (ctypes.c_int32 * len(Sizes._fields))()
    library().gen9_search_network_sizes(found)
    return Sizes(*found)


@cache
def side_names() -> list[str]:
    """The names of `table`'s rows, in order."""
    moves, species = _moves_and_species()
    return [*feature_names(False), *(f"out:{name}" for name in species), *(f"move:{name}" for name in moves)]


@cache
def action_names() -> list[str]:
    """The names of the rows of `actions`, in order."""
    moves, species = _moves_and_species()
    rows = (("move", moves), ("tera", moves), ("switch", species))
    return [f"{kind}:{name}" for kind, names in rows for name in names]


def _moves_and_species() -> tuple[list[str], list[str]]:
    names = [name.partition(":") for name in feature_names(True)]
    return [rest for kind, _, rest in names if kind == "move"], [rest for kind, _, rest in names if kind == "switch"]


class Judged(NamedTuple):
    """A position as a network sees it.

    places int32 and amounts float32 [2, most_side]: both sides' features, -1 behind the last. rows int32 [2, ACTIONS]: of
    `actions`, -1 for what is not legal; logits float32 [2, ACTIONS]: of the legal actions. value: seat 0's chance to win.
    """

    places: NDArray[np.int32]
    amounts: NDArray[np.float32]
    rows: NDArray[np.int32]
    logits: NDArray[np.float32]
    value: float


def judge(words: NDArray[np.int32], legal: NDArray[np.int32], weights: PositionWeights) -> Judged:
    """Judges a position (its words) by the network or, without one, the fitted weights. legal [2]: actions as bits."""
    most = sizes().most_side
    places, amounts = np.zeros((2, most), np.int32), np.zeros((2, most), np.float32)
    rows, logits = np.zeros((2, ACTIONS), np.int32), np.zeros((2, ACTIONS), np.float32)
    position = library().gen9_search_position
    position.restype = ctypes.c_float
    value = position(
        address(np.ascontiguousarray(words)), address(np.ascontiguousarray(legal, np.int32)),
        address(weights.value), address(weights.choice), None if weights.network is None else weights.network.pointer,
        address(places), address(amounts), address(rows), address(logits),
    )  # fmt: skip
    return Judged(places, amounts, rows, logits, value)


def read_weights(weights: str) -> PositionWeights:
    """What a name or file stands for (`files_of`). Raises BadInput."""
    fitted, network = files_of(weights, 9)
    return read(fitted)._replace(network=None if network is None else read_network(network))


@cache
def read_network(file: Path) -> PositionNetwork:
    """The network of a file that scripts/build/fit_exact_search.py has written. Raises BadInput for another.

    Species and moves that are not in the engine's world are left out; those that the file lacks count nothing.
    """
    try:
        with np.load(file) as stored:
            arrays = {name: np.ascontiguousarray(stored[name], np.float32) for name in ARRAYS}
            names = {name: stored[f"{name}_names"].tolist() for name in ("table", "actions")}
    except fitted.NO_ARRAYS as error:
        raise BadInput(
            f"{file}: is no network of search:exact in gen9ou ({error}): give one that "
            "scripts/build/fit_exact_search.py has written"
        ) from error
    width, layer, known = len(arrays["bias"]), len(arrays["second"]), sizes()
    shapes = {
        "table": (len(names["table"]), width), "first": (2 * width, layer), "first_bias": (layer,),
        "actions": (len(names["actions"]), 2 * width), "action_bias": (len(names["actions"]),), "fitted": (1,),
    }  # fmt: skip
    wrong = [name for name, shape in shapes.items() if arrays[name].shape != shape]
    if wrong or width > known.width or layer > known.layer:
        raise BadInput(
            f"{file}: {', '.join(wrong) or 'width or layer'}: has not the shape of a network of search:exact"
        )
    for name, wanted in (("table", side_names()), ("actions", action_names())):
        arrays[name] = _in_order(arrays[name], names[name], wanted)
    arrays["action_bias"] = _in_order(arrays["action_bias"], names["actions"], action_names())
    return PositionNetwork(arrays)


def _in_order(rows: NDArray[np.float32], names: list[str], wanted: list[str]) -> NDArray[np.float32]:
    place = {name: n for n, name in enumerate(names)}
    ordered = np.zeros((len(wanted), *rows.shape[1:]), np.float32)
    for n, name in enumerate(wanted):
        if name in place:
            ordered[n] = rows[place[name]]
    return ordered
