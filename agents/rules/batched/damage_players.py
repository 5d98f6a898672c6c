"""Players on arrays that attack: by power, by expected damage, and with revenge kills."""

from __future__ import annotations

import numpy as np

from agents.observation.actions import SWITCHES
from agents.observation.columns import MoveFeature, PokemonFeature
from agents.rules.batched.player import (
    OUR_ACTIVE,
    Actions,
    ArrayPlayer,
    Features,
    Ids,
    Mask,
    bench_features,
    best_answer,
    best_move,
    best_switch,
    legal_moves,
    legal_switches,
    move_features,
    move_or_switch,
    of_chosen,
    strongest,
)

#: Weight of the whole damage beside the part of it that the remaining HP limits.
_OVERKILL = np.float32(1e-3)


class BatchedMaxPower(ArrayPlayer):
    """The move with the maximum base power; the first able Pokémon when it must switch.

    On arrays, as `heuristic:max-power`, which switches to a random Pokémon.
    """

    @staticmethod
    def choose(token_ids: Ids, features: Features, legal: Mask) -> Actions:
        power = move_features(features, MoveFeature.POWER) * move_features(features, MoveFeature.HITS)
        first_able = legal_switches(legal).argmax(axis=1) + SWITCHES[0]
        return move_or_switch(legal, best_move(power, legal_moves(legal)), first_able)


class BatchedMaxDamage(ArrayPlayer):
    """The move with the maximum expected damage, up to the HP that is left; forced switches by the same criterion.

    On arrays, as `heuristic:max-damage`, but with the estimates of an observation (agents/observation/estimates.py) instead
    of poke-env's damage calculator.
    """

    @staticmethod
    def choose(token_ids: Ids, features: Features, legal: Mask) -> Actions:
        moves, of_left = (move_features(features, f) for f in (MoveFeature.DAMAGE, MoveFeature.DAMAGE_OF_LEFT))
        bench, bench_of_left = (
            bench_features(features, f) for f in (PokemonFeature.DEALT, PokemonFeature.DEALT_OF_LEFT)
        )
        return move_or_switch(
            legal,
            best_move(np.minimum(of_left, 1) + _OVERKILL * moves, legal_moves(legal)),
            best_switch(np.minimum(bench_of_left, 1) + _OVERKILL * bench, legal_switches(legal)),
        )


class BatchedRevenger(ArrayPlayer):
    """Maximum damage, but leaves when it would be knocked out first, for a faster Pokémon that knocks out.

    On arrays, with the rule of `heuristic:revenger`.
    """

    @staticmethod
    def choose(token_ids: Ids, features: Features, legal: Mask) -> Actions:
        able = legal_switches(legal)
        attack, active = strongest(features, legal), features[:, OUR_ACTIVE]
        priority, of_left, accuracy = (
            of_chosen(move_features(features, f), attack)
            for f in (MoveFeature.PRIORITY, MoveFeature.DAMAGE_OF_LEFT, MoveFeature.ACCURACY)
        )
        first = (active[:, PokemonFeature.FASTER] > 0) | (priority > 0)
        knocked_out = active[:, PokemonFeature.TAKEN_OF_LEFT] >= 1
        doomed = knocked_out & ~(first & (of_left >= accuracy) & (of_left > 0))
        received = bench_features(features, PokemonFeature.TAKEN)
        withstands = able & (bench_features(features, PokemonFeature.HP) - received > 0.5)
        leaves = doomed & (active[:, PokemonFeature.HP] > 0.3) & withstands.any(axis=1)
        killers = (
            able
            & (bench_features(features, PokemonFeature.FASTER) > 0)
            & (bench_features(features, PokemonFeature.DEALT_OF_LEFT) >= 1)
        )
        revenge = np.where(killers.any(axis=1), best_switch(-received, killers), best_answer(features, legal))
        return np.where(leaves, revenge, move_or_switch(legal, attack, revenge))
