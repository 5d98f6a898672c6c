"""Damage-based players: maximum damage, and simple extensions of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from poke_env.battle.move import Move
from poke_env.battle.pokemon import Pokemon
from poke_env.calc import calculate_damage
from poke_env.calc.damage_calc_gen1_2 import calculate_damage_gen12

from agents.battle import SeatBattle, SeatDoubleBattle
from agents.battle.choices import Choice
from agents.contract import Agent, SinglesAgent
from agents.mechanics.fighters import Fighter, estimated_stats
from agents.mechanics.moves import facts_of
from agents.rules.doubles.max_damage import most_damage
from agents.rules.options import any_choice, move_options, switch_options
from agents.rules.support_players import attack_or_answer, heals, set_up_options
from agents.rules.turn_view import TurnView, best_answer, strongest


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


class MaxDamage(Agent):
    """The move with the maximum expected damage by the damage formula; forced switches by the same criterion.

    The classic greedy baseline, with poke-env's port of Smogon's damage calculator (`poke_env.calc`) and the
    opponent's stats estimated from its species' sets. `risk` weights the rolls: 0 uses the minimum, 1 the maximum damage.
    In doubles the pair of choices with the most damage to the opponents, less that to its own side, by the project's damage
    formula, which knows all four on the field; damage beyond the HP that are left does not count.

    Options: risk, 0.5 by default.
    """

    def __init__(self, risk: float = 0.5) -> None:
        self.risk = risk

    def act(self, battle: SeatBattle | SeatDoubleBattle) -> Choice:
        if isinstance(battle, SeatDoubleBattle):
            return most_damage(battle, self.risk, self.rng)
        foe, me = battle.opponent_active_pokemon, battle.active_pokemon
        moves = move_options(battle)
        if moves and me is not None and foe is not None:
            return max(moves, key=lambda pair: self._value(battle, me, foe, pair[1]))[0]
        switches = switch_options(battle)
        if switches and foe is not None:
            return max(switches, key=lambda pair: self._best(battle, pair[1], foe))[0]
        return any_choice(battle)

    def _best(self, battle: SeatBattle, mon: Pokemon, foe: Pokemon) -> float:
        return max((self._value(battle, mon, foe, move) for move in mon.moves.values()), default=0.0)

    def _value(self, battle: SeatBattle, mon: Pokemon, foe: Pokemon, move: Move) -> float:
        low, high = damage_range(battle, mon, foe, move)
        hits = ((1 - self.risk) * low + self.risk * high) * facts_of(move).accuracy
        return min(hits, estimated_stats(foe, battle)["hp"] * max(foe.current_hp_fraction, 0.01)) + hits * 1e-3


class Balanced(SinglesAgent):
    """Maximum damage with set-up and healing by HP: boosts its stats while healthy, heals while hurt, else attacks.

    The rule of thumb of in-game guides. It sets up only if the opponent's best hit takes less than a third, heals below
    `heal_under` if the hit takes less than half, and prefers a certain knock-out to both.

    Options: heal_under, a fraction of HP, 0.45 by default.
    """

    def __init__(self, heal_under: float = 0.45) -> None:
        self.heal_under = heal_under

    def act(self, battle: SeatBattle) -> Choice:
        view = TurnView(battle)
        me, foe = view.me, view.foe
        if me is None or foe is None or not view.moves:
            return attack_or_answer(view)
        best = strongest(view.moves)
        if best.damage.low >= foe.hp:
            return best.choice
        threat = view.threat(me)
        healing = [o for o in view.moves if heals(o.move, me)]
        if healing and me.hp < self.heal_under and threat < 0.5:
            return healing[0].choice
        rising = set_up_options(view)
        if rising and me.hp > 0.8 and threat < 1 / 3:
            return rising[0].choice
        return best.choice


class Revenger(SinglesAgent):
    """Maximum damage, but switches when it would be knocked out first, and brings in a faster Pokémon that knocks out.

    The revenge killer of team-building guides as a player: it retreats until a benched Pokémon can knock the opponent out
    before being hit.
    """

    def act(self, battle: SeatBattle) -> Choice:
        view = TurnView(battle)
        me, foe = view.me, view.foe
        if me is None or foe is None or not view.moves:
            return self._revenge(view)
        best = strongest(view.moves)
        first = view.faster(me) or best.move.priority > 0
        doomed = view.threat(me) >= me.hp and not (first and best.damage.mean >= foe.hp)
        if doomed and me.hp > 0.3 and any(self._takes(view, s.fighter) for s in view.switches):
            return self._revenge(view)
        return best.choice

    def _revenge(self, view: TurnView) -> Choice:
        if not view.switches:
            return any_choice(view.battle)
        killers = [
            s for s in view.switches if view.foe and view.faster(s.fighter) and view.reach(s.fighter) >= view.foe.hp
        ]
        if killers:
            return min(killers, key=lambda s: view.threat(s.fighter)).choice
        return best_answer(view).choice

    def _takes(self, view: TurnView, fighter: Fighter) -> bool:
        """Return whether it has more than half of its HP left after switching into the expected hit."""
        return fighter.hp - view.threat(fighter) > 0.5


class Pessimist(SinglesAgent):
    """Looks one turn ahead and assumes the worst: the best choice against the opponent's strongest reply.

    Minimax of depth one over damage. A move counts its damage minus the strongest reply (none if it knocks out first); a
    switch counts the strongest hit on the incoming Pokémon, minus `switch_cost`.

    Options: switch_cost, in fractions of HP, 0.3 by default.
    """

    def __init__(self, switch_cost: float = 0.3) -> None:
        self.switch_cost = switch_cost

    def act(self, battle: SeatBattle) -> Choice:
        view = TurnView(battle)
        me, foe = view.me, view.foe
        if me is None or foe is None or not view.moves:
            return attack_or_answer(view)
        threat, first = view.threat(me), view.faster(me)
        scored = []
        for option in view.moves:
            dealt = min(option.expected, foe.hp)
            knocked = option.damage.knocks_out(foe.hp) * option.move.accuracy
            spared = knocked if first or option.move.priority > 0 else 0.0
            scored.append((dealt + knocked - self._loss(me, threat) * (1 - spared), option.choice))
        for switch in view.switches:
            net_damage = view.reach(switch.fighter) - view.threat(switch.fighter)
            scored.append(
                (
                    0.5 * net_damage - self._loss(switch.fighter, view.threat(switch.fighter)) - self.switch_cost,
                    switch.choice,
                )
            )
        return max(scored, key=lambda pair: pair[0])[1]

    def _loss(self, fighter: Fighter, hit: float) -> float:
        return min(hit, fighter.hp) + (1.0 if hit >= fighter.hp else 0.0)
