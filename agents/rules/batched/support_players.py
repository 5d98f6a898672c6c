"""Players on arrays that use status moves first: set-up and healing, statuses, or entry hazards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from agents.observation.columns import THEIR_SIDE, MoveFeature, MoveId, PokemonFeature, PokemonId, SideFeature
from agents.observation.observation import THEIRS, Observations
from agents.observation.vocabulary import vocabulary
from agents.rules.batched.fact_tables import (
    NO_STATUS,
    charts,
    effects,
    generations,
    indices,
    moves,
    preventing_abilities,
    preventing_types,
    type_indices,
)
from agents.rules.batched.player import (
    MOVE_TOKENS,
    OUR_ACTIVE,
    THEIR_ACTIVE,
    Actions,
    ArrayPlayer,
    Features,
    Ids,
    Mask,
    attack_or_answer,
    best_move,
    faced,
    legal_moves,
    move_features,
    of_chosen,
    strongest,
)

#: The boosts that `tables.RISING` names, and the stage from which on a stat is not raised further.
_BOOSTS = [PokemonFeature.BOOST_ATTACK, PokemonFeature.BOOST_SPECIAL_ATTACK, PokemonFeature.BOOST_SPEED]
_ENOUGH = 2
#: Weight of the accuracy beside a status's rank.
_ACCURACY = np.float32(0.9)
#: The features of `fact_tables.HAZARDS`, and their values from which on a layer more has no effect.
_LAID = [SideFeature.SPIKES, SideFeature.STEALTH_ROCK, SideFeature.TOXIC_SPIKES, SideFeature.STICKY_WEB]
_ALL_LAYERS = np.array([1.0, 1.0, 0.6, 1.0], np.float32)


class BatchedSetUp(ArrayPlayer):
    """Maximum damage with set-up and healing by HP: boosts its stats while healthy, heals while hurt, else attacks.

    On arrays, with the rule of `heuristic:balanced`: it sets up only if the opponent's best hit takes less than a third,
    heals below `heal_under` if the hit takes less than half, and prefers a certain knock-out to both.

    Options: heal_under, a fraction of HP, 0.45 by default.
    """

    def __init__(self, heal_under: float = 0.45) -> None:
        self.heal_under = heal_under

    @staticmethod
    def choose(
        token_ids: Ids, features: Features, legal: Mask, heal_under: float | NDArray[np.float64] = 0.45
    ) -> Actions:
        """Return the actions [n]. heal_under: one for all, or [n]."""
        allowed, active = legal_moves(legal), features[:, OUR_ACTIVE]
        hp, threat, estimated = (
            active[:, f] for f in (PokemonFeature.HP, PokemonFeature.TAKEN, PokemonFeature.ESTIMATED)
        )
        heals, rises = _healing(token_ids) & allowed, _rising(token_ids, features) & allowed
        attack = strongest(features, legal)
        sure = of_chosen(move_features(features, MoveFeature.MUST_KNOCK_OUT), attack) > 0
        able = (estimated > 0) & allowed.any(axis=1) & ~sure
        heal = able & heals.any(axis=1) & (hp < heal_under) & (threat < 1 / 2)
        rise = able & rises.any(axis=1) & (hp > 0.8) & (threat < 1 / 3)
        actions = np.where(rise, rises.argmax(axis=1), attack_or_answer(features, legal))
        return np.where(heal, heals.argmax(axis=1), actions)

    @classmethod
    def act_many(cls, agents: Sequence[Self], observations: Observations) -> Actions:
        return cls.choose(*observations, heal_under=np.array([agent.heal_under for agent in agents]))


class BatchedStatusSpreader(ArrayPlayer):
    """Inflicts a status on every opponent that has none (sleep, paralysis, burn, poison, in this order), then attacks.

    On arrays, with the rule of `heuristic:status-spreader`. Of the opponent's abilities it uses those that are revealed.
    """

    @staticmethod
    def choose(token_ids: Ids, features: Features, legal: Mask) -> Actions:
        useful = _useful(token_ids, features) & legal_moves(legal)
        index, table = generations(token_ids, moves)
        rank = table.status[index[:, None], _our_moves(token_ids)]
        value = _ACCURACY * move_features(features, MoveFeature.ACCURACY) - rank.astype(np.float32)
        return np.where(useful.any(axis=1), best_move(value, useful), attack_or_answer(features, legal))


class BatchedHazardStacker(ArrayPlayer):
    """Sets all layers of entry hazards first, then forces switches (Roar, Whirlwind), else attacks.

    On arrays, with the rule of `heuristic:hazard-stacker`, which forces switches by chance; here it does so with Spikes or
    Stealth Rock out while its best attack takes less than a quarter of what is left.
    """

    @staticmethod
    def choose(token_ids: Ids, features: Features, legal: Mask) -> Actions:
        allowed, side = legal_moves(legal), features[:, THEIR_SIDE]
        index, table = generations(token_ids, moves)
        hazard = table.hazard[index[:, None], _our_moves(token_ids)]  # [n, 4]
        room = np.append(side[:, _LAID] < _ALL_LAYERS, np.zeros((len(side), 1), np.bool_), axis=1)
        others = np.rint(6 * side[:, SideFeature.FAINTED]) < 5
        sets = allowed & np.take_along_axis(room, hazard, axis=1) & others[:, None]
        drives = allowed & (move_features(features, MoveFeature.SWITCHES_TARGET) > 0)
        drives &= move_features(features, MoveFeature.POWER) == 0
        weak = np.where(allowed, move_features(features, MoveFeature.DAMAGE_OF_LEFT), 0).max(axis=1) < 1 / 4
        hurt = (side[:, [SideFeature.SPIKES, SideFeature.STEALTH_ROCK]] > 0).any(axis=1)
        actions = np.where(drives.any(axis=1) & hurt & weak, drives.argmax(axis=1), attack_or_answer(features, legal))
        return np.where(sets.any(axis=1), sets.argmax(axis=1), actions)


def _our_moves(token_ids: Ids) -> NDArray[np.int64]:
    """Return our moves as indices into `tables.moves`, [n, 4]."""
    return indices("moves", token_ids[:, MOVE_TOKENS, MoveId.MOVE])


def _healing(token_ids: Ids) -> Mask:
    """Return which of our moves restore half of the user's HP or more at once, [n, 4]; not Rest while it is asleep."""
    index, table = generations(token_ids, moves)
    at, listed = index[:, None], _our_moves(token_ids)
    asleep = token_ids[:, OUR_ACTIVE, PokemonId.STATUS] == vocabulary().region("statuses")["slp"]
    healing: Mask = (table.heal[at, listed] >= 0.5) & ~(table.rest[at, listed] & asleep[:, None])
    return healing


def _rising(token_ids: Ids, features: Features) -> Mask:
    """Return which of our moves raise attack, special attack or speed that is below +2, [n, 4]."""
    index, table = generations(token_ids, moves)
    stages = np.rint(6 * features[:, OUR_ACTIVE, _BOOSTS])  # [n, 3]
    rises = table.rises[index[:, None], _our_moves(token_ids)]  # [n, 4, 3]
    rising: Mask = np.any(rises & (stages < _ENOUGH)[:, None], axis=2)
    return rising


def _useful(token_ids: Ids, features: Features) -> Mask:
    """Return which of our moves would give the opponent's active Pokémon a status, [n, 4].

    Given are immunities, Substitute and the sleep clause, as in `agents.mechanics.status.can_inflict`.
    """
    index, table = generations(token_ids, moves)
    at, listed = index[:, None], _our_moves(token_ids)
    foe, foe_types = token_ids[:, THEIR_ACTIVE], type_indices(token_ids[:, THEIR_ACTIVE])
    status, statuses = table.status[at, listed], vocabulary().region("statuses")  # [n, 4]
    prevented = generations(token_ids, preventing_types)[1][at[..., None], status[..., None], foe_types[:, None]]
    kinds = indices("types", token_ids[:, MOVE_TOKENS, MoveId.TYPE])
    effect = effects(generations(token_ids, charts)[1], index, kinds, foe_types[:, None])
    grass = (foe_types == indices("types", np.array(vocabulary().region("types")["grass"]))).any(axis=1)
    after_gen_1 = token_ids[:, 0, 0] > vocabulary().region("gens")["1"]
    behind_substitute = after_gen_1 & (features[:, THEIR_ACTIVE, PokemonFeature.SUBSTITUTE] > 0)
    sleeper = (token_ids[:, THEIRS[0] : THEIRS[-1] + 1, PokemonId.STATUS] == statuses["slp"]).any(axis=1)
    healthy = (foe[:, PokemonId.STATUS] == statuses.none) | (foe[:, PokemonId.STATUS] == 0)
    useful: Mask = (
        (status != NO_STATUS)
        & (faced(features) & healthy & ~behind_substitute)[:, None]
        & ~prevented.any(axis=2)
        & ~preventing_abilities()[status, indices("abilities", foe[:, PokemonId.ABILITY])[:, None]]
        & ~(table.powder[at, listed] & grass[:, None])
        & ~(table.by_type[at, listed] & (effect == 0))
        & ~((status == 0) & sleeper[:, None])
    )
    return useful
