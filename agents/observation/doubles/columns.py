"""Names of the columns that an observation of doubles has besides those of singles (agents/observation/columns.py).

The first 56 features of a token are those of singles. A Pokémon's first estimate is against the foe in slot a; of one of
theirs it is against the Pokémon of our deciding slot. A flag is 0 or 1.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from agents.observation.columns import FIELD
from agents.observation.layout import DOUBLES

#: The id of a Pokémon's token that is its last move, if it is on the field.
LAST_MOVE = 11


class FieldFeature(IntEnum):
    """Features of the field's token: which decision it is."""

    SECOND_SLOT = 56  # it is slot b that decides
    PREVIEW = 57
    REVIVES = 58
    PICKED = 59  # number of Pokémon picked so far / 6
    TO_PICK = 60  # of all / 6
    CAN_MEGA_EVOLVE = 61  # or Ultra Burst
    CAN_USE_Z_MOVE = 62
    CAN_DYNAMAX = 63
    OTHER_HAS_CHOSEN = 64  # the other slot


class SideFeature(IntEnum):
    """Features of a side's token."""

    USED_MEGA_EVOLUTION = 56
    USED_Z_MOVE = 57
    USED_DYNAMAX = 58


class PokemonFeature(IntEnum):
    """Features of a Pokémon's token."""

    # As ESTIMATED … FASTER of singles, against the other of both; see above.
    SECOND_ESTIMATED = 56
    SECOND_TAKEN = 57
    SECOND_TAKEN_OF_LEFT = 58
    SECOND_DEALT = 59
    SECOND_DEALT_OF_LEFT = 60
    SECOND_FASTER = 61
    IN_SLOT_A = 62
    IN_SLOT_B = 63
    DECIDES = 64
    COMES_IN = 65  # it is the other slot's choice to bring it in, or picked
    PICK = 66  # its place among the picks / 6
    AIMED_AT = 67  # by the other slot's move
    MOVES = 68  # what the other slot's Pokémon does, as the next three
    SWITCHES = 69
    PASSES = 70
    USES_MECHANIC = 71
    COMMANDS = 72
    DYNAMAXED = 73
    PERISH_2 = 74
    PERISH_3 = 75
    IMPRISONS = 76


class MoveFeature(IntEnum):
    """Features of a move's token. The first estimate is against the foe in slot a. Damage is that of several targets."""

    # As DAMAGE … SAME_TYPE of singles: against the foe in slot b, then against the ally.
    SECOND_DAMAGE = 56
    ALLY_DAMAGE = 62
    SPREADS = 68  # it hits both foes
    HITS_ALLY = 69
    NAMES_TARGET = 70
    CHOSEN = 71  # by the other slot
    AIMED_AT_A = 72
    AIMED_AT_B = 73
    AIMED_AT_ALLY = 74
    WITH_MECHANIC = 75


def decision_numbers(features: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the numbers [n] of decisions in their requests, from their features: 0 in singles, else slot or pick."""
    if features.shape[2] != DOUBLES.features:
        return np.zeros(len(features), np.int64)
    field = features[:, FIELD].astype(np.float64)
    return np.rint(field[:, FieldFeature.SECOND_SLOT] + 6 * field[:, FieldFeature.PICKED]).astype(np.int64)
