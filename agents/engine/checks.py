"""Checks of what callers give to the engine: its kernels read and write memory without any of their own."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teamsets.errors import BadInput

_SEED = re.compile(r"gen5,[0-9a-fA-F]{16}")
LEVELS, EVS, IVS = range(1, 101), range(256), range(32)


def check_actions_shape(actions: Any, shape: tuple[int, ...]) -> None:
    """Raises BadInput unless `actions`, an array of the host or of a GPU, is of this shape: battles, their seats, …"""
    if tuple(actions.shape) != shape:
        raise BadInput(
            f"actions of shape {list(actions.shape)}: {list(shape)} is needed, one for each seat of each battle."
        )


def _array(name: str, values: Any) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:  # lists of different lengths
        raise BadInput(f"{name} cannot be read as an array: {error}") from None


def whole_numbers(name: str, values: Any) -> NDArray[Any]:
    """Returns `values` as an array. Raises BadInput, which calls it `name`, unless it holds whole numbers."""
    array = _array(name, values)
    if array.dtype.kind not in "iu":
        raise BadInput(f"{name} of type {array.dtype}: whole numbers are needed.")
    return array.astype(np.int64) if array.dtype == np.uint64 else array


def one_each(name: str, values: Any, count: int) -> NDArray[np.int64]:
    """Returns `values` as int64 [count], contiguous. Raises BadInput, which calls it `name`, for another shape or type."""
    array = np.ascontiguousarray(whole_numbers(name, values), np.int64)
    if array.shape != (count,):
        raise BadInput(f"{name} of shape {list(array.shape)}: [{count}] is needed.")
    return array


def indices(name: str, values: Any, below: int, count: int | None = None) -> NDArray[np.int64]:
    """Returns `values` as int64 [count]. Raises BadInput, which calls it `name`, unless each is from 0 to below - 1.

    count: None: any number of them.
    """
    array = _array(name, values)
    if array.size:
        whole_numbers(name, array)
    if array.ndim != 1 or (count is not None and len(array) != count):
        needed = "[n]" if count is None else f"[{count}]"
        raise BadInput(f"{name} of shape {list(array.shape)}: {needed} is needed.")
    array = np.ascontiguousarray(array, np.int64)
    # As unsigned numbers, negative ones are above every limit: one pass finds both.
    if len(array) and array.view(np.uint64).max() >= below:
        wrong = array[(array < 0) | (array >= below)][0]
        raise BadInput(f"{name}: there is no {wrong}; there are {below}, from 0.")
    return array


def check_number(name: str, value: Any, least: int) -> None:
    """Raises BadInput, which calls it `name`, unless it is a whole number, `least` or more."""
    if not isinstance(value, int | np.integer) or value < least:
        raise BadInput(f"{name}={value!r}: must be a whole number, {least} or more.")


def check_pair(teams: Any) -> None:
    """Raises BadInput unless they are the packed teams of both sides."""
    if not isinstance(teams, tuple | list) or len(teams) != 2 or not all(isinstance(team, str) for team in teams):
        raise BadInput(f"teams {str(teams)[:80]!r}: two packed teams are needed, both as text (docs/teams.md).")


def check_seed(seed: str) -> None:
    """Raises BadInput unless it is a seed that the engine can start a battle with."""
    if not isinstance(seed, str) or not _SEED.fullmatch(seed):
        raise BadInput(f"{seed!r} is no seed of the form gen5,0123456789abcdef: the engine has only that generator.")


def seed_words(seed: str) -> list[int]:
    """The four words of 16 bits of a seed "gen5,…"."""
    return [int(seed[start : start + 4], 16) for start in range(5, 21, 4)]


def number_in(what: str, text: str, accepted: range) -> int:
    """Returns a number of a packed team. Raises BadInput, which calls it `what`, unless it is accepted."""
    if not re.fullmatch(r"-?[0-9]{1,9}", text) or int(text) not in accepted:
        raise BadInput(f"{what} '{text}': must be a whole number from {accepted[0]} to {accepted[-1]}.")
    return int(text)
