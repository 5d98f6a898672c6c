"""The split of stored sides into training and held-out data.

By pairs: whole pairs of battles (both sides, both seatings) are held out; their teams may occur in the training data.
By teams: teams are held out. No battle with one of them is trained on, and only the sides that play one are held-out data.
The split depends on a hash of the pair's or team's name only, so it is the same for all datasets of the same battles.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal, NamedTuple

from training.data.from_store import Candidate

By = Literal["pairs", "teams"]


class Parts(NamedTuple):
    """Sides as (battle, seat): `learned` are trained on, `measured` are held-out data, all others are unused."""

    learned: frozenset[tuple[int, str]]
    measured: frozenset[tuple[int, str]]


def parts(sides: Sequence[Candidate], fraction: float, by: By) -> Parts:
    """Split sides. fraction: of the battles that are not trained on, from 0 to 1.

    By teams, at least one team is held out: the one with the smallest hash if none is below the bound. A battle has two
    teams, so to hold out a fraction f of the battles, 1 - sqrt(1 - f) of the teams are held out.
    """
    every = frozenset((side.battle_id, side.seat) for side in sides)
    if not fraction:
        return Parts(every, frozenset())
    if by == "pairs":
        held_out = frozenset((side.battle_id, side.seat) for side in sides if uniform_hash(side.pair) < fraction)
        return Parts(every - held_out, held_out)
    hashes = {team: uniform_hash(team) for side in sides for team in (side.team_id, side.opponent_team_id)}
    bound = 1 - (1 - fraction) ** 0.5
    held = {team for team, value in hashes.items() if value < bound} or {min(hashes, key=hashes.__getitem__)}
    learned = frozenset(
        (side.battle_id, side.seat) for side in sides if side.team_id not in held and side.opponent_team_id not in held
    )
    return Parts(learned, frozenset((side.battle_id, side.seat) for side in sides if side.team_id in held))


def uniform_hash(name: str) -> float:
    """Return a hash of a name, uniform in [0, 1): below the fraction, it is held out."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little") / 2**32
