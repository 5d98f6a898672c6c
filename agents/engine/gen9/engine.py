"""N generation-9 battles at once: started, stepped and forked as arrays, equal to Showdown's decision by decision."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.engine.gen1.checks import check_seed, indices, whole_numbers
from agents.engine.gen9.layout import CONSTANTS, ROW, WORDS
from agents.engine.gen9.library import library
from agents.engine.gen9.teams import side_words
from teamsets.errors import BadInput

Words = NDArray[np.int32]
SLOTS = CONSTANTS["ACTIVE"]
UNDECIDED, TIE = CONSTANTS["UNDECIDED"], CONSTANTS["TIE"]
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _at(array: NDArray[Any]) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


def records(words: Words) -> NDArray[Any]:
    """Words [N, WORDS] by name: [N] of layout.ROW, sharing memory."""
    return words.view(ROW)[:, 0]


class Engine:
    """N battles. `words` [N, WORDS] int32 is all of their state (src/layout.h); a copy of a row is a fork of its battle.

    A choice: 0 to 3 a move, 4 to 7 the same after terastallizing, 8 to 12 a switch to the Pokémon in position 1 to 5. A seat
    has a choice for each of its SLOTS; in singles the second is ignored.
    """

    def __init__(self, battles: int, threads: int = CORES) -> None:
        self.words: Words = np.zeros((battles, WORDS), np.int32)
        self.threads = threads

    def reset(self, teams: Sequence[tuple[str, str]], seeds: Sequence[str]) -> None:
        """Starts a battle in each row: both packed teams, and a seed "gen5,…" (16 hexadecimal digits).

        Raises BadInput for a team or seed that the engine cannot play, and for another number of them.
        """
        started = initial_rows(teams, seeds, len(self.words))
        library().gen9_start(_at(started), ctypes.c_int64(len(started)), self.threads)
        self.words[:] = started

    def fork(self, rows: Sequence[int]) -> Engine:
        """A new engine with copies of those battles, in that order. Raises BadInput for a row that is not there."""
        copies = Engine(0, self.threads)
        copies.words = self.words[indices("rows", rows, len(self.words))]
        return copies

    def legal(self) -> NDArray[np.int32]:
        """[N, 2, SLOTS]: legal choices as bits; 0 where a seat waits or the battle is over."""
        masks = np.zeros((len(self.words), 2, SLOTS), np.int32)
        rows = np.arange(len(self.words))
        library().gen9_legal(_at(self.words), _at(rows), ctypes.c_int64(len(rows)), _at(masks), self.threads)
        return masks

    def step(self, choices: NDArray[np.int32]) -> None:
        """Plays `choices` [N, 2, SLOTS] on to each battle's next request. Finished battles and waiting seats ignore theirs.

        Raises BadInput for an illegal choice or another shape; then no battle is stepped.
        """
        choices = whole_numbers("choices", choices)
        if choices.shape != (len(self.words), 2, SLOTS):
            raise BadInput(f"choices of shape {list(choices.shape)}: [{len(self.words)}, 2, {SLOTS}] is needed.")
        legal = self.legal()
        illegal = (legal != 0) & ((legal >> choices) & 1 == 0)
        if illegal.any():
            battle, seat, slot = np.argwhere(illegal)[0]
            raise BadInput(f"battle {battle}, seat {seat}: choice {choices[battle, seat, slot]} is not legal.")
        rows, given = np.arange(len(self.words)), np.ascontiguousarray(choices, np.int32)
        library().gen9_step(_at(self.words), _at(rows), ctypes.c_int64(len(rows)), _at(given), self.threads)

    def rollout(self, fresh: Words, states: NDArray[np.uint64], steps: int) -> tuple[int, int, int]:
        """Plays `steps` steps of each battle at random; returns finished battles, choices, turns of finished battles.

        fresh [N, WORDS]: each before its start (initial_rows), from which a finished battle begins anew with another seed.
        states [N]: random states of the players, none of them 0; changed.
        """
        counts = np.zeros((len(self.words), 3), np.int64)
        library().gen9_rollout(
            _at(self.words), _at(fresh), _at(states), ctypes.c_int64(len(counts)), steps, _at(counts), self.threads
        )
        battles, choices, turns = counts.sum(axis=0).tolist()
        return battles, choices, turns


def initial_rows(teams: Sequence[tuple[str, str]], seeds: Sequence[str], count: int) -> Words:
    """Words [count, WORDS] of battles before their start. Raises BadInput, also for another number of teams or seeds."""
    if not len(teams) == len(seeds) == count:
        raise BadInput(f"{len(teams)} pairs of teams and {len(seeds)} seeds for {count} rows: as many are needed.")
    words = np.zeros((count, WORDS), np.int32)
    named = records(words)
    for n, (pair, seed) in enumerate(zip(teams, seeds, strict=True)):
        check_seed(seed)
        named["seed"][n] = [int(seed[5 + 4 * part : 9 + 4 * part], 16) for part in range(4)]
        named["activePerSide"][n] = 1
        for seat, packed in enumerate(pair):
            named["sides"][n, seat] = side_words(packed, seat)
    return words
