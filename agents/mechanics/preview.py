"""Team preview: the choice of a lead."""

from __future__ import annotations

from agents.battle import SeatBattle
from agents.battle.choices import Choice
from agents.mechanics.fighters import conditions, foe_fighter, own_fighter
from agents.mechanics.matchups import Combatant, Matchups


def best_lead(battle: SeatBattle, matchups: Matchups, alive: float = 0.4) -> Choice | None:
    """Return the lead with the best mean duel against the Pokémon shown; None if none is shown.

    alive: the part of a Pokémon's worth that does not depend on its HP.
    """
    matchups.turn_to(conditions(battle))
    theirs = [Combatant(foe_fighter(mon, battle), 1) for mon in battle.opponent_team.values()]
    ours = [battle.team.get(entry["ident"]) for entry in battle.last_request["side"]["pokemon"]]
    combatants = [Combatant(own_fighter(mon, battle), 0) if mon is not None else None for mon in ours]
    if not theirs or len(combatants) != len(battle.legal):
        return None
    scores = [
        sum(matchups.value(combatant, foe, 1.0, 1.0, alive) for foe in theirs) if combatant is not None else -99.0
        for combatant in combatants
    ]
    return battle.legal[max(range(len(scores)), key=scores.__getitem__)]
