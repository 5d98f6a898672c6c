"""Two battles of the generation-9 engine: teams, seeds, and choices that depend on the legal ones alone."""

from __future__ import annotations

import numpy as np

from support.scripts import script

SETS = script("parity/gen9_parity.py").SETS
SEEDS = ("gen5,0123456789abcdef", "gen5,fedcba9876543210")
TEAM, OTHER = "]".join(SETS[:6]), "]".join(SETS[4:])
PAIRS = [(TEAM, OTHER), (OTHER, TEAM)]


def firsts(legal: np.ndarray) -> np.ndarray:
    """The first legal choice of every slot."""
    return np.where(legal == 0, 0, np.log2(np.maximum(legal & -legal, 1))).astype(np.int32)


def team(*members: tuple[str, str, str, str]) -> str:
    """species, item, ability, moves of each Pokémon, packed."""
    return "]".join(
        f"{s}||{item}|{ability}|{moves}|Hardy|84,84,84,84,84,84|N||||,,,,,Normal" for s, item, ability, moves in members
    )
