"""poke-env's damage calculator with estimated stats of the opponent.

The calculator reads the battle object and requires all stats. The opponent's are estimated from the sets of its species
(`fighters.estimated_stats`) and set on the battle object for the duration of a call.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from poke_env.battle.move import Move
from poke_env.battle.pokemon import Pokemon
from poke_env.calc import calculate_damage
from poke_env.calc.damage_calc_gen1_2 import calculate_damage_gen12

from agents.battle import SeatBattle
from agents.mechanics.fighters import estimated_stats


def damage_range(battle: SeatBattle, attacker: Pokemon, defender: Pokemon, move: Move) -> tuple[float, float]:
    """Return the minimum and maximum damage of `move` in HP of the defender, without critical hits.

    One Pokémon must be ours, the other the opponent's. (0, 0) if the calculator raises because it lacks a case.
    """
    own, other = battle.player_role or "p1", battle.opponent_role or "p2"
    mine = any(mon is attacker for mon in battle.team.values())
    names = (attacker.identifier(own if mine else other), defender.identifier(other if mine else own))
    with lent_stats(battle, attacker), lent_stats(battle, defender):
        try:
            if battle.gen <= 2:
                low, high, _ = calculate_damage_gen12(*names, move, battle)
            else:
                low, high = calculate_damage(*names, move, battle)
            return _total(low), _total(high)
        except Exception:  # missing cases raise KeyError, TypeError, AssertionError …; such a move counts as 0
            return (0.0, 0.0)


def _total(damage: Any) -> float:
    """Sum the damage of a multi-hit move, which in generations 1 and 2 is a list."""
    return float(sum(damage)) if isinstance(damage, list) else float(damage)


@contextmanager
def lent_stats(battle: SeatBattle, mon: Pokemon) -> Iterator[dict[str, int]]:
    """Set `mon.stats` to its known or estimated stats within the block, and restore it afterwards."""
    before = mon._stats
    estimate = estimated_stats(mon, battle)
    mon._stats = dict(estimate)
    try:
        yield estimate
    finally:
        mon._stats = before
