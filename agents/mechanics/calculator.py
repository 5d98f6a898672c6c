"""poke-env's damage calculator with the opponent's stats lent to it.

The calculator reads the battle object and insists on known stats; the opponent's are estimated from the sets of its
species (`fighters.estimated_stats`), put in its place for the length of one call, and taken out again.
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
    """Least and most damage of `move` in HP of the defender as it is estimated, without critical hits.

    One of the two must be ours, the other the opponent's. Where the calculator has a gap and raises, (0, 0).
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
        except Exception:  # its gaps show as KeyError, TypeError, AssertionError …; a move it cannot price is worth 0
            return (0.0, 0.0)


def _total(damage: Any) -> float:
    """In generations 1 and 2 a move of several hits gives a list, the damage of each."""
    return float(sum(damage)) if isinstance(damage, list) else float(damage)


@contextmanager
def lent_stats(battle: SeatBattle, mon: Pokemon) -> Iterator[dict[str, int]]:
    """Within the block `mon.stats` is a full table (known or estimated); after it, what it was before."""
    kept = mon._stats
    estimate = estimated_stats(mon, battle)
    mon._stats = dict(estimate)
    try:
        yield estimate
    finally:
        mon._stats = kept
