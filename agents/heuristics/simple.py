"""Rules of one sentence: from harmful to naive."""

from __future__ import annotations

from agents.battle import SeatBattle
from agents.choices import Choice
from agents.contract import Agent
from agents.heuristics.options import any_choice
from agents.heuristics.scene import Scene, strongest


class LeastDamage(Agent):
    """The move that hurts the opponent least; never switches of its own will, and then into the worst matchup.

    A harmful player: the mirror image of max-damage, so that a rating list has something below uniform random.
    """

    def act(self, battle: SeatBattle) -> Choice:
        scene = Scene(battle)
        if scene.moves:
            return min(scene.moves, key=lambda option: option.expected).choice
        if scene.switches:
            return min(scene.switches, key=lambda s: scene.reach(s.fighter) - scene.threat(s.fighter)).choice
        return any_choice(battle)


class Restless(Agent):
    """Switches whenever it may, to a random Pokémon; attacks at random when it cannot.

    A harmful player: what an untrained policy does that spreads its choices evenly over moves and switches, carried
    to its end.
    """

    def act(self, battle: SeatBattle) -> Choice:
        switches = [choice for choice in battle.legal if choice.kind == "switch"]
        return self.rng.choice(switches or battle.legal)


class MaxPower(Agent):
    """The move of greatest base power, whatever it meets; a random Pokémon when it must switch.

    After poke-env's MaxBasePowerPlayer, the usual second baseline of Pokémon papers.
    """

    def act(self, battle: SeatBattle) -> Choice:
        scene = Scene(battle)
        if scene.moves:
            return max(scene.moves, key=lambda option: option.move.power * option.move.hits).choice
        return any_choice(battle)


class Gambler(Agent):
    """The move with the greatest damage if everything goes well, however unlikely: Explosion, Fissure, Focus Blast.

    The risk-seeking counterpart of max-damage: accuracy counts for nothing, one-hit knock-outs for everything.
    """

    def act(self, battle: SeatBattle) -> Choice:
        scene = Scene(battle)
        if scene.moves:
            return max(scene.moves, key=lambda option: option.damage.high).choice
        return any_choice(battle)


class TypeSwitcher(Agent):
    """Always wants the better types on the field: switches to the best type matchup, else attacks by type.

    The beginner's reading of the type chart, as in the matchup term of poke-env's SimpleHeuristicsPlayer, without its
    damage. A switch must improve the matchup by `margin` (factors of the type chart), and it never switches twice in a
    row by choice.

    Options: margin, 1.0 by default.
    """

    def __init__(self, margin: float = 1.0) -> None:
        self.margin = margin
        self._switched_on = -1

    def act(self, battle: SeatBattle) -> Choice:
        scene = Scene(battle)
        best = max(scene.switches, key=lambda s: (scene.type_edge(s.fighter), s.fighter.hp), default=None)
        if not scene.moves or scene.me is None:
            return best.choice if best is not None else any_choice(battle)
        gain = scene.type_edge(best.fighter) - scene.type_edge(scene.me) if best is not None else 0.0
        if best is not None and gain >= self.margin and battle.turn > self._switched_on + 1:
            self._switched_on = battle.turn
            return best.choice
        return strongest(scene.moves).choice
