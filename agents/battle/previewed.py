"""The opponent's Pokémon that team preview showed."""

from __future__ import annotations

from poke_env.battle.pokemon import Pokemon

from agents.battle.seat_view import SeatView


def only_previewed(battle: SeatView) -> list[Pokemon]:
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
