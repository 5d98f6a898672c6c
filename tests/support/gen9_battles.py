"""Two battles of the generation-9 engine: teams, seeds, and choices that depend on the legal ones alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.engine.gen9.engine import UNDECIDED, Engine, records
from support.scripts import script
from teamsets.loading import load_set

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


def met_at_random(battles: int, steps: int) -> list[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    """Words and legal actions [2], as bits, of all positions of battles of `competitive` teams with random choices."""
    teams = [one.packed for one in load_set("competitive", "gen9ou").teams]
    rng, engine, met = np.random.default_rng(5), Engine(battles), []
    pairs = [(teams[2 * n % len(teams)], teams[(2 * n + 1) % len(teams)]) for n in range(battles)]
    engine.reset(pairs, [f"gen5,{n:016x}" for n in range(battles)])
    for _ in range(steps):
        legal = engine.legal()[:, :, 0]
        met += [
            (engine.words[n].copy(), legal[n].copy())
            for n in range(battles)
            if records(engine.words)["winner"][n] == UNDECIDED
        ]
        allowed = (legal[:, :, None] >> np.arange(13) & 1) * rng.random((battles, 2, 13))
        actions = np.zeros((battles, *Engine.shape), np.int32)
        actions[:, :, 0] = allowed.argmax(2)
        engine.step(actions)
    return met
