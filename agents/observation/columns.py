"""Names of the columns of an observation (agents/observation/observation.py): the ids and the features of each kind of
token.

The values are indices into the last axis of `token_ids` and `features`. The tokens are written by
agents/observation/packed_tokens.py (field, sides, moves) and agents/observation/pokemon_tokens.py (Pokémon), with the
estimates of agents/observation/estimates.py. Fractions of HP are of the maximum HP unless they are named "of what is
left"; a flag is 0 or 1.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The tokens that stand alone; observation.OURS, THEIRS and OUR_MOVES are the others, the active Pokémon first.
FIELD, OUR_SIDE, THEIR_SIDE = range(3)


class FieldId(IntEnum):
    """Ids of the field's token."""

    GENERATION, WEATHER, FIRST_TERRAIN = range(3)


class FieldFeature(IntEnum):
    """Features of the field's token."""

    TURN = 0  # min(turn, 100) / 100
    INVERSE_TURN = 1  # 1 / (1 + turn)
    WEATHER_AGE = 2  # turns / 8
    FORCED_SWITCH = 3
    TRAPPED = 4
    CAN_TERASTALLIZE = 5
    FIRST_TERRAIN_AGE = 6  # four of them: turns / 8


class SideId(IntEnum):
    """Ids of a side's token."""

    LAST_MOVE = 0


class SideFeature(IntEnum):
    """Features of a side's token."""

    SPIKES = 0  # layers / 3
    STEALTH_ROCK = 1
    TOXIC_SPIKES = 2  # layers / 3
    STICKY_WEB = 3
    REFLECT = 4
    LIGHT_SCREEN = 5
    AURORA_VEIL = 6
    TAILWIND = 7
    SAFEGUARD = 8
    MIST = 9
    LUCKY_CHANT = 10
    REFLECT_AGE = 11  # turns / 8, as the next three
    LIGHT_SCREEN_AGE = 12
    AURORA_VEIL_AGE = 13
    TAILWIND_AGE = 14
    ABLE = 15  # number of Pokémon / 6, as the next two
    KNOWN = 16
    FAINTED = 17
    HP = 18  # sum over the able Pokémon / 6
    USED_TERA = 19


class PokemonId(IntEnum):
    """Ids of a Pokémon's token."""

    SPECIES, ITEM, ABILITY, MOVE_1, MOVE_2, MOVE_3, MOVE_4, STATUS, TYPE_1, TYPE_2, TERA_TYPE = range(11)


class PokemonFeature(IntEnum):
    """Features of a Pokémon's token. From BOOST_ATTACK on they are 0 for benched Pokémon."""

    KNOWN = 0
    UNKNOWN = 1
    HP = 2
    FAINTED = 3
    ACTIVE = 4
    OURS = 5
    REVEALED = 6
    LEVEL = 7  # level / 100
    STATUS_COUNTER = 8  # min(turns, 8) / 8
    MOVES = 9  # number of known moves / 4
    TERASTALLIZED = 10
    BASE_HP = 11  # base stats / 200
    BASE_ATTACK = 12
    BASE_DEFENSE = 13
    BASE_SPECIAL_ATTACK = 14
    BASE_SPECIAL_DEFENSE = 15
    BASE_SPEED = 16
    PP_1 = 17  # fraction of the maximum that is left
    PP_2 = 18
    PP_3 = 19
    PP_4 = 20
    # Estimates against the opponent's active Pokémon (`Estimates.rows`); all 0 if one of the two has fainted or is unknown.
    ESTIMATED = 21
    TAKEN = 22  # maximum expected damage that it takes
    TAKEN_OF_LEFT = 23
    DEALT = 24  # maximum expected damage that it deals
    DEALT_OF_LEFT = 25
    FASTER = 26
    BOOST_ATTACK = 27  # stages / 6
    BOOST_DEFENSE = 28
    BOOST_SPECIAL_ATTACK = 29
    BOOST_SPECIAL_DEFENSE = 30
    BOOST_SPEED = 31
    BOOST_ACCURACY = 32
    BOOST_EVASION = 33
    FIRST_TURN = 34
    MUST_RECHARGE = 35
    PREPARING = 36
    PROTECT_COUNTER = 37  # times in a row / 4
    SUBSTITUTE = 38
    CONFUSION = 39
    LEECH_SEED = 40
    REFLECT = 41
    FOCUS_ENERGY = 42
    TAUNT = 43
    ENCORE = 44
    DISABLE = 45
    TRAPPED = 46
    PARTIALLY_TRAPPED = 47
    CURSE = 48
    YAWN = 49
    DESTINY_BOND = 50
    PERISH_1 = 51
    SALT_CURE = 52
    LOCKED_MOVE = 53


class MoveId(IntEnum):
    """Ids of a move's token."""

    MOVE, TYPE, CATEGORY = range(3)


class MoveFeature(IntEnum):
    """Features of a move's token."""

    LISTED = 0
    DISABLED = 1
    PP = 2  # fraction of the maximum that is left
    # Estimates against the opponent's active Pokémon (`estimates.of_move`).
    DAMAGE = 3  # expected, misses included
    DAMAGE_OF_LEFT = 4
    CAN_KNOCK_OUT = 5  # if it hits, without critical hits, as the next one
    MUST_KNOCK_OUT = 6
    EFFECTIVENESS = 7  # type effectiveness / 4
    SAME_TYPE = 8
    # Constants of the move.
    POWER = 9  # base power / 150
    ACCURACY = 10
    PRIORITY = 11  # / 5
    HITS = 12  # expected number / 5
    RECOIL = 13
    DRAIN = 14
    HEAL = 15
    SWITCHES_USER = 16
    SWITCHES_TARGET = 17
    STATUS = 18
    BOOSTS = 19
    SELF_DESTRUCTS = 20
    SECONDARY = 21


def at_preview(features: NDArray[np.floating[Any]]) -> NDArray[np.bool_]:
    """Return at which decisions [...] of features [..., tokens, features] the battle is at its team preview.

    That is the decision of turn 0. A lead that leaves at once (Eject Pack) is replaced in turn 0, too, by a forced switch.
    """
    field = features[..., FIELD, :]
    is_first: NDArray[np.bool_] = field[..., FieldFeature.INVERSE_TURN] == 1
    return is_first & (field[..., FieldFeature.FORCED_SWITCH] == 0)


def turns(features: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the turn numbers [n] of features [n, 19, 56].

    They come from 1 / (1 + turn), since the other feature of the turn ends at 100. The relative error of a float32 is at
    most 1.2e-7, so they are exact for turns below a million.
    """
    inverse = features[:, FIELD, FieldFeature.INVERSE_TURN].astype(np.float64)
    return np.rint(1 / inverse).astype(np.int64) - 1
