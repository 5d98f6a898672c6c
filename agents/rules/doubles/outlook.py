"""The value of a position of doubles: what stands, what both sides threaten, and who moves first."""

from __future__ import annotations

from dataclasses import dataclass

from agents.battle.choices import Choice
from agents.mechanics.matchups import Combatant, Matchups
from agents.mechanics.pokemon_worth import expected_worth, worth
from agents.rules.doubles.actions import MEGAS
from agents.rules.doubles.options import Sides
from agents.rules.doubles.places import PLACES, foes_of
from agents.rules.doubles.state import DoublesState

#: A hit of this part of the HP begins to threaten a knock-out, and this much more makes it sure.
_NEARLY, _SURELY = 0.8, 0.3
_PAIRS = ((0, 2), (0, 3), (1, 2), (1, 3))


@dataclass(frozen=True, slots=True)
class DoublesWeights:
    """The planner's weights in doubles.

    alive: the part of a Pokémon's worth that does not depend on its HP. threat: of what both sides threaten next. order: of
    moving first, for each pair of opponents. lasting: the same of an order that this turn has changed (Tailwind, Trick
    Room). bench: what one from the bench threatens where one has fainted. tera: cost of terastallizing, dynamax: of Dynamax
    and Z-moves. reply: see PlannerWeights. quiet: how attractive the opponent's moves without damage look.
    """

    alive: float = 0.4
    threat: float = 0.5
    order: float = 0.04
    lasting: float = 0.1
    bench: float = 0.25
    tera: float = 0.1
    dynamax: float = 0.1
    reply: float = 4.0
    quiet: float = 0.25

    def cost_of(self, *choices: Choice) -> float:
        """Return the cost of the extras of some choices, which are there once a battle."""
        costs = {"terastallize": self.tera, "dynamax": self.dynamax, "zmove": self.dynamax}
        return sum(costs.get(choice.extra, 0.0) for choice in choices if choice.extra not in MEGAS)


class Outlook:
    """Values positions after a turn, from one decision's position."""

    def __init__(self, sides: Sides, matchups: Matchups, weights: DoublesWeights) -> None:
        self.sides, self.matchups, self.weights = sides, matchups, weights
        self._rates: dict[tuple[int, int], float] = {}
        self._kept: list[Combatant] = []
        battle = sides.view.battle
        brought = max(len(battle.team), 2)
        unseen = max(0, brought - len(battle.opponent_team))
        self.reserves = (bool(sides.bench[0]), bool(sides.bench[1]) or unseen > 0)

    def value(self, state: DoublesState) -> float:
        """Return the value to us of a state after a turn, in units of a healthy Pokémon."""
        weights = self.weights
        total = state.bonus + self.material(state)
        total += weights.threat * (self._threat(state, 0) - self._threat(state, 2))
        return total + self._order(state)

    def material(self, state: DoublesState) -> float:
        """Return what the turn has taken from the opponent, less what it has taken from us."""
        total = 0.0
        for place in PLACES:
            combatant = state.combatant[place]
            if combatant is not None:
                fighter, alive = combatant.fighter, self.weights.alive
                now = expected_worth(fighter, state.hp[place], alive, state.status[place])
                total += (1 - (place & 2)) * (state.alive[place] * now - worth(fighter, combatant.hp, alive))
        return total

    def _threat(self, state: DoublesState, side: int) -> float:
        """Return what a side's two threaten to take next."""
        total = 0.0
        for place in (side, side + 1):
            alive = state.alive[place]
            if alive > 0:
                gains = [
                    state.alive[foe] * self._gain(state, place, foe) for foe in foes_of(place) if state.alive[foe] > 0
                ]
                status, chance = state.status[place]
                able = 1 - chance * (0.7 if status in ("slp", "frz") else 0.25 if status in ("par", "brn") else 0.0)
                total += alive * able * max(gains, default=0.0)
            if alive < 1 and self.reserves[side >> 1]:
                total += (1 - alive) * self.weights.bench
        return total

    def _gain(self, state: DoublesState, place: int, foe: int) -> float:
        ours, theirs = state.combatant[place], state.combatant[foe]
        assert ours is not None and theirs is not None
        return gain(self._rate(ours, theirs), max(state.hp[foe], 0.01), self.weights.alive)

    def _rate(self, ours: Combatant, theirs: Combatant) -> float:
        key = (id(ours), id(theirs))
        known = self._rates.get(key)
        if known is None:
            self._kept += (ours, theirs)
            known = self._rates[key] = self.matchups.rate(ours, theirs)
        return known

    def _order(self, state: DoublesState) -> float:
        """Return the value of moving first."""
        changes = state.room or any(state.winds)
        total = 0.0
        for place, foe in _PAIRS:
            both = state.alive[place] * state.alive[foe]
            if both > 0:
                now, then = self._first(state, place, foe)
                total += both * self.weights.order * then
                if changes:
                    total += both * self.weights.lasting * (then - now)
        return total

    def _first(self, state: DoublesState, place: int, foe: int) -> tuple[float, float]:
        """Return who of two moves first, 1 for ours, -1 for theirs: before what the turn has changed, and after."""
        ours, theirs = state.combatant[place], state.combatant[foe]
        assert ours is not None and theirs is not None
        one, other = state.hits.speed(ours), state.hits.speed(theirs)
        now = _sign(one - other)
        if not (state.room or any(state.winds)):
            return now, now
        speeds = [abs(speed) * (2 if wind else 1) for speed, wind in zip((one, other), state.winds, strict=True)]
        reversed_order = state.room != self.sides.field.trick_room
        return now, _sign(speeds[0] - speeds[1]) * (-1 if reversed_order else 1)


def gain(rate: float, hp: float, alive: float) -> float:
    """Return the worth that damage of a mean `rate` takes from who has `hp` left. alive: see DoublesWeights."""
    knocks = min(1.0, max(0.0, (rate / hp - _NEARLY) / _SURELY))
    return (1 - alive) * min(rate, hp) + alive * knocks


def _sign(value: float) -> float:
    return 1.0 if value > 0 else -1.0 if value < 0 else 0.0
