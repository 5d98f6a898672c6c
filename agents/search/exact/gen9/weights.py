"""The weights of positions and choices as agents/engine/gen9/src/search takes them: fitted ones, and a network."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.engine.gen9.library import address, library
from agents.engine.gen9.teams import DATA, IDS
from agents.search.fitted import lines_of, wrong_line

#: What a file has: arrays of network.h, and by name what the rows of `table` and `actions` are.
ARRAYS = ("table", "bias", "first", "first_bias", "second", "actions", "action_bias", "fitted")


class _Network(ctypes.Structure):
    _fields_ = [
        ("width", ctypes.c_int32),
        ("layer", ctypes.c_int32),
        ("fitted", ctypes.c_float),
        *((name, ctypes.c_void_p) for name in ARRAYS[:-1]),
    ]


class PositionNetwork:
    """A network in the engine's order. arrays: by the names of ARRAYS: float32, as in network.h; fitted: [1]."""

    def __init__(self, arrays: dict[str, NDArray[np.float32]]) -> None:
        self._arrays = arrays  # which the library reads
        width, layer = len(arrays["bias"]), len(arrays["second"])
        self._network = _Network(
            width, layer, float(arrays["fitted"][0]), *(address(arrays[name]) for name in ARRAYS[:-1])
        )

    @property
    def pointer(self) -> ctypes.c_void_p:
        """For the library, as long as this object lives."""
        return ctypes.cast(ctypes.byref(self._network), ctypes.c_void_p)


class PositionWeights(NamedTuple):
    """value [F]: of a position's features; choice [C]: of an action's. network: what judges instead; None: nothing."""

    value: NDArray[np.float32]
    choice: NDArray[np.float32]
    network: PositionNetwork | None = None


@cache
def feature_names(of_choices: bool) -> list[str]:
    """The names of the features, in order: of choices, or of a position's value."""
    engine = library()
    engine.gen9_search_names.restype = ctypes.c_char_p
    names: list[str] = engine.gen9_search_names(int(of_choices)).decode().split()
    species = [entry["id"] for entry in DATA["species"]]
    if not of_choices:
        return [*names, *(f"alive:{name}" for name in species), *(f"hp:{name}" for name in species)]
    moves = engine.gen9_search_size(1) - len(names) - len(species)
    first = min(DATA["numbers"]["moves"].values())
    return [*names, *(f"move:{IDS[first + n]}" for n in range(moves)), *(f"switch:{name}" for name in species)]


@cache
def read(file: Path) -> PositionWeights:
    """The weights of a file, a "value NAME WEIGHT" or "choice NAME WEIGHT" a line. Raises BadInput.

    What is not in the engine's world (species, moves) is skipped.
    """
    known = {"value": feature_names(False), "choice": feature_names(True)}
    weights = {kind: np.zeros(len(names), np.float32) for kind, names in known.items()}
    places = {(kind, name): n for kind, names in known.items() for n, name in enumerate(names)}
    for line in lines_of(file):
        fields = line.split(" ")
        try:
            kind, name, weight = fields[0], fields[1], float(fields[2])
            own = weights[kind]
        except (IndexError, KeyError, ValueError):
            raise wrong_line(file, line, "must be 'value NAME WEIGHT' or 'choice NAME WEIGHT'") from None
        if (kind, name) in places:
            own[places[kind, name]] = weight
    return PositionWeights(weights["value"], weights["choice"])
