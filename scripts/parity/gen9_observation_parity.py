"""Proves that the generation-9 engine's observations are those of the protocol: the arrays that a network gets on Showdown.

Battles are played on the engine, which is equal to Showdown (gen9_parity.py), and writes the protocol's lines. At each
decision a SeatBattle has read the lines and the request of its seat; its observation (agents/observation/observation.py)
must equal the engine's bit by bit: ids, features, legal actions, and so must that of its team preview. Differences are shown
by name; then the exit code is 1.

    python scripts/parity/gen9_observation_parity.py --battles 200 --seed 1 --teams ring1 --policy random

--teams: random, ring1, ring2 or team sets, as of gen9_parity.py. --policy: as described at gen9_seats.POLICIES. Where they
differ, gen9_shown_parity.py with the same options says whether what the seat was shown differs already.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import gen9_seats
import numpy as np

from agents.engine.gen9.engine import Engine
from agents.observation.gen9_observation import observe_rows
from agents.observation.observation import Observations, observe


def differences(expected: Observations, actual: Observations) -> Iterator[tuple[str, str]]:
    """Yields (place, both values) of each difference."""
    for name in ("token_ids", "features", "legal"):
        ours, theirs = getattr(expected, name)[0], getattr(actual, name)[0]
        for place in map(tuple, np.argwhere(ours != theirs)):
            yield f"{name} {list(map(int, place))}", f"{ours[place]} by the protocol, {theirs[place]} by the engine"


def compare(battles: gen9_seats.SeatedBattles) -> Iterator[tuple[int, str, str]]:
    """Compares the observations of the seats that are asked; before the first of them those of the team previews."""
    if battles.previews:
        yield from _compare_previews(battles)
        battles.previews = []
    rows, seats = (np.array([decision[n] for decision in battles.pending], np.int64) for n in range(2))
    seen = observe_rows(battles.engine, rows, seats)
    for n, decision in enumerate(battles.pending):
        for place, what in differences(Observations.single(observe(decision.battle)), seen.take([n])):
            yield n, place, what


def _compare_previews(battles: gen9_seats.SeatedBattles) -> Iterator[tuple[int, str, str]]:
    count = len(battles.teams)
    engine = Engine(count, 1, shows=True)
    engine.preview(battles.teams, battles.seeds, range(count), np.ones((count, 2), np.bool_))
    rows, seats = np.repeat(np.arange(count), 2), np.tile(np.arange(2), count)
    seen = observe_rows(engine, rows, seats)
    asked = {(decision.row, decision.seat): n for n, decision in enumerate(battles.pending)}
    for k, (row, seat) in enumerate(zip(rows.tolist(), seats.tolist(), strict=True)):
        for place, what in differences(Observations.single(battles.previews[row][seat]), seen.take([k])):
            yield asked.get((row, seat), 0), f"team preview of battle {row}, p{seat + 1}: {place}", what


if __name__ == "__main__":
    sys.exit(gen9_seats.main(__doc__, compare))
