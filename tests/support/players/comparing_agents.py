"""An agent for the tests: plays at random and notes how our damage and poke-env's compare on what it meets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from poke_env.data import GenData

from agents import Agent, Choice, SeatBattle
from agents.mechanics.damage import damage
from agents.mechanics.moves import facts_of
from agents.rules.damage_players import damage_range
from agents.rules.options import move_options
from agents.rules.turn_view import TurnView

#: (generation, move id, our highest roll, poke-env's, whether the opponent's stats are as before)
SEEN: list[tuple[int, str, float, float, bool]] = []


class Comparing(Agent):
    """Random play with notes."""

    def act(self, battle: SeatBattle) -> Choice:
        view = TurnView(battle)
        mon, foe = battle.active_pokemon, battle.opponent_active_pokemon
        if view.me is not None and view.foe is not None and mon is not None and foe is not None:
            known = replace(view.foe, **self._as_poke_env_sees(foe, battle.gen))
            for _, move in move_options(battle):
                facts = facts_of(move)
                if facts.damages:
                    before = dict(foe.stats)
                    _, high = damage_range(battle, mon, foe, move)
                    ours = damage(view.me, known, facts, view.field, view.field.sides[1]).high * known.stats[0]
                    SEEN.append((battle.gen, facts.id, ours, high, foe.stats == before))
        return self.rng.choice(battle.legal)

    def _as_poke_env_sees(self, foe: Any, gen: int) -> dict[str, str]:
        """Without our guesses of item and ability."""
        item = foe.item if foe.item and foe.item != GenData.UNKNOWN_ITEM else ""
        return {"item": item, "ability": (foe.ability or "") if gen >= 3 else ""}
