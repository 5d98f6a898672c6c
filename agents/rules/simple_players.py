"""One-rule players: from harmful to naive."""

from __future__ import annotations

from agents.battle import SeatBattle, SeatDoubleBattle
from agents.battle.choices import Choice
from agents.contract import Agent, SinglesAgent
from agents.rules.doubles.power import strongest_pair
from agents.rules.options import any_choice
from agents.rules.turn_view import TurnView, strongest


class LeastDamage(SinglesAgent):
    """The move with the minimum damage; switches only when forced, and then into the worst matchup.

    A harmful player: the opposite of max-damage, so that a rating list has something below uniform random.
    """

    def act(self, battle: SeatBattle) -> Choice:
        view = TurnView(battle)
        if view.moves:
            return min(view.moves, key=lambda option: option.expected).choice
        if view.switches:
            return min(view.switches, key=lambda s: view.reach(s.fighter) - view.threat(s.fighter)).choice
        return any_choice(battle)


class Restless(SinglesAgent):
    """Switches to a random Pokémon whenever it can; a random move otherwise.

    A harmful player: an exaggeration of untrained policies, which switch too often.
    """

    def act(self, battle: SeatBattle) -> Choice:
        switches = [choice for choice in battle.legal if choice.kind == "switch"]
        return self.rng.choice(switches or battle.legal)


class MaxPower(Agent):
    """The move with the maximum base power; a random Pokémon when it must switch.

    After poke-env's MaxBasePowerPlayer, the usual second baseline of Pokémon papers. In doubles the pair of choices with the
    most power at the opponents, less that at one's own side: a move that hits several has 0.75 of its power at each.
    """

    def act(self, battle: SeatBattle | SeatDoubleBattle) -> Choice:
        if isinstance(battle, SeatDoubleBattle):
            return strongest_pair(battle, self.rng)
        view = TurnView(battle)
        if view.moves:
            return max(view.moves, key=lambda option: option.move.power * option.move.hits).choice
        return any_choice(battle)


class Gambler(SinglesAgent):
    """The move with the maximum possible damage, however unlikely: Explosion, Fissure, Focus Blast.

    The risk-seeking counterpart of max-damage: it ignores accuracy and overrates one-hit knock-outs.
    """

    def act(self, battle: SeatBattle) -> Choice:
        view = TurnView(battle)
        if view.moves:
            return max(view.moves, key=lambda option: option.damage.high).choice
        return any_choice(battle)


class TypeSwitcher(SinglesAgent):
    """Switches to the best type matchup, else uses the strongest move.

    The matchup term of poke-env's SimpleHeuristicsPlayer without its damage terms. A switch must improve the matchup by
    `margin` (in factors of the type chart), and it does not switch twice in a row unless forced.

    Options: margin, 1.0 by default.
    """

    def __init__(self, margin: float = 1.0) -> None:
        self.margin = margin
        self._switched_on = -1

    def act(self, battle: SeatBattle) -> Choice:
        view = TurnView(battle)
        best = max(view.switches, key=lambda s: (view.type_edge(s.fighter), s.fighter.hp), default=None)
        if not view.moves or view.me is None:
            return best.choice if best is not None else any_choice(battle)
        gain = view.type_edge(best.fighter) - view.type_edge(view.me) if best is not None else 0.0
        if best is not None and gain >= self.margin and battle.turn > self._switched_on + 1:
            self._switched_on = battle.turn
            return best.choice
        return strongest(view.moves).choice
