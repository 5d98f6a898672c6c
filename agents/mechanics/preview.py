"""Team preview: the choice of a lead, and the opponent's Pokémon that it showed."""

from __future__ import annotations

from poke_env.battle.pokemon import Pokemon

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


def only_previewed(battle: SeatBattle) -> list[Pokemon]:
    """Return the opponent's Pokémon that team preview showed and that have not entered yet."""
    if not battle.opponent_team or not battle.teampreview_opponent_team:
        return []
    out = [mon.base_species for mon in battle.opponent_team.values()]
    waiting = []
    for mon in battle.teampreview_opponent_team:
        if mon.base_species in out:
            out.remove(mon.base_species)
        else:
            waiting.append(mon)
    return waiting
