"""Which stored sides are learned from, and which only measured.

By pairs: whole pairs of battles (both sides, both seatings) are held out; their teams may be known from other battles.
By teams: teams are held out. No battle with one of them is learned from, and only the sides that play one are measured.
What falls where depends on the name of the pair or team alone, so it is the same for every dataset of the same battles.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal, NamedTuple

from training.data.from_store import Candidate

By = Literal["pairs", "teams"]


class Parts(NamedTuple):
    """Sides as (battle, seat): those learned from, those measured. The others are neither."""

    learned: frozenset[tuple[int, str]]
    measured: frozenset[tuple[int, str]]


def parts(sides: Sequence[Candidate], share: float, by: By) -> Parts:
    """Divides sides. share: of the battles that are not learned from, from 0 to 1.

    By teams at least one is held out: the first by its hash where none falls below the share. A battle has two teams, so a
    share s of the battles has 1 - sqrt(1 - s) of the teams.
    """
    every = frozenset((one.battle_id, one.seat) for one in sides)
    if not share:
        return Parts(every, frozenset())
    if by == "pairs":
        aside = frozenset((one.battle_id, one.seat) for one in sides if _place(one.pair) < share)
        return Parts(every - aside, aside)
    places = {team: _place(team) for one in sides for team in (one.team_id, one.opponent_team_id)}
    bound = 1 - (1 - share) ** 0.5
    held = {team for team, place in places.items() if place < bound} or {min(places, key=places.__getitem__)}
    learned = frozenset(
        (one.battle_id, one.seat) for one in sides if one.team_id not in held and one.opponent_team_id not in held
    )
    return Parts(learned, frozenset((one.battle_id, one.seat) for one in sides if one.team_id in held))


def _place(name: str) -> float:
    """A name's place in [0, 1), evenly spread."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little") / 2**32
