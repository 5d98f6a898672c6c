"""The player on arrays that switches by types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from agents.observation.actions import SWITCHES
from agents.observation.columns import PokemonFeature, turns
from agents.observation.observation import Observations
from agents.rules.batched.fact_tables import charts, effects, generations, type_indices
from agents.rules.batched.player import (
    BENCH,
    OUR_ACTIVE,
    THEIR_ACTIVE,
    Actions,
    ArrayPlayer,
    Features,
    Floats,
    Ids,
    Mask,
    best_switch,
    faced,
    legal_switches,
    move_or_switch,
    of_chosen,
    strongest,
)

#: Weight of the HP of a switch: less than the smallest difference of two type matchups (1/4).
_HP = np.float32(0.1)


class BatchedTypeSwitcher(ArrayPlayer):
    """Switches to the best type matchup, else uses the strongest move.

    On arrays, with the rule of `heuristic:type-switcher`: a switch must improve the matchup by `margin` (in factors of the
    type chart). It does not switch, unless forced, in the turn after its active Pokémon came in.

    Options: margin, 1.0 by default.
    """

    def __init__(self, margin: float = 1.0) -> None:
        self.margin = margin

    @staticmethod
    def choose(token_ids: Ids, features: Features, legal: Mask, margin: float | NDArray[np.float64] = 1.0) -> Actions:
        """Return the actions [n]. margin: one for all, or [n]."""
        able = legal_switches(legal)
        edges = type_edges(token_ids, features)
        switch = best_switch(edges[:, 1:] + _HP * features[:, BENCH, PokemonFeature.HP], able)
        gain = of_chosen(edges[:, 1:], switch - SWITCHES[0]) - edges[:, 0]
        came_in = (features[:, OUR_ACTIVE, PokemonFeature.FIRST_TURN] > 0) & (turns(features) > 1)
        switches = able.any(axis=1) & (gain >= margin) & ~came_in
        return np.where(switches, switch, move_or_switch(legal, strongest(features, legal), switch))

    @classmethod
    def act_many(cls, agents: Sequence[Self], observations: Observations) -> Actions:
        return cls.choose(*observations, margin=np.array([agent.margin for agent in agents]))


def type_edges(token_ids: Ids, features: Features) -> Floats:
    """Return the type matchup of our six Pokémon, [n, 6], from -4 to 4; 0 where the opponent's active one is not able.

    It is the best effectiveness of our types minus that of theirs (as STAB moves would have it).
    """
    index, chart = generations(token_ids, charts)
    ours = type_indices(token_ids[:, OUR_ACTIVE : BENCH.stop])  # [n, 6, 2]
    theirs = type_indices(token_ids[:, THEIR_ACTIVE])[:, None]  # [n, 1, 2]
    attack, defence = (
        np.maximum(*(effects(chart, index, attacker[..., k], target) for k in (0, 1)))
        for attacker, target in ((ours, theirs), (theirs, ours))
    )
    edges: Floats = np.where(faced(features)[:, None], attack - defence, np.float32(0))
    return edges
