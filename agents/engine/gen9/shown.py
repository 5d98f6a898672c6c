"""What both seats of a battle have been shown, beside its words: kept by src/shown/ as SeatBattle does from the lines."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agents.engine.batch import Words
from agents.engine.gen9.layout import SHOWN, SHOWN_WORDS
from agents.engine.gen9.requests import members_of


def initial_shown(teams: Sequence[tuple[str, str]]) -> Words:
    """Words [N, 2, SHOWN_WORDS] of battles before their start: the order of the names of each side's own Pokémon."""
    shown = np.zeros((len(teams), 2, SHOWN_WORDS), np.int32)
    ranks = shown.view(SHOWN)[:, :, 0]["nameRank"]
    for n, pair in enumerate(teams):
        for seat, packed in enumerate(pair):
            ranks[n, seat] = _name_ranks(packed)
    return shown


@functools.lru_cache(maxsize=16384)
def _name_ranks(packed: str) -> NDArray[np.int32]:
    names = [member.name for member in members_of(packed)]
    ranks = np.zeros(6, np.int32)
    ranks[: len(names)] = np.argsort(np.argsort(np.array(names, object), kind="stable"), kind="stable")
    ranks.flags.writeable = False
    return ranks
