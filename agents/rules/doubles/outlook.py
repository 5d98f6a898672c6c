"""The value of a position of doubles: what stands, what both sides threaten, and who moves first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from agents.battle.choices import Choice
from agents.mechanics.matchups import Combatant
from agents.mechanics.pokemon_worth import status_cost, worth
from agents.rules.doubles.actions import MEGAS
from agents.rules.doubles.options import Sides
from agents.rules.doubles.state import DoublesState, Hits

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


class Pairing(NamedTuple):
    """Two opponents: what each takes from the other in a turn on average, and their speeds, negated under Trick Room.

    first: who of them moves first, 1 for ours, -1 for theirs, 0 if either may.
    """

    rate: float
    their_rate: float
    speeds: tuple[float, float]
    first: float


class Outlook:
    """Values positions after a turn, from one decision's position."""

    def __init__(self, sides: Sides, hits: Hits, weights: DoublesWeights) -> None:
        self.sides, self.hits, self.weights = sides, hits, weights
        self._pairings: dict[tuple[Combatant, Combatant], Pairing] = {}
        self._worths: dict[Combatant, tuple[float, float]] = {}
        self._values: dict[tuple[object, ...], float] = {}
        battle = sides.view.battle
        brought = max(len(battle.team), 2)
        unseen = max(0, brought - len(battle.opponent_team))
        self.reserves = (bool(sides.bench[0]), bool(sides.bench[1]) or unseen > 0)

    def value(self, state: DoublesState) -> float:
        """Return the value to us of a state after a turn, in units of a healthy Pokémon; of equal states computed once."""
        result = state.result()
        value = self._values.get(result)
        if value is None:
            best_gains, order = self._pairs(state)
            threats = self._threat(state, 0, best_gains) - self._threat(state, 2, best_gains)
            value = self._values[result] = state.bonus + self.material(state) + self.weights.threat * threats + order
        return value

    def material(self, state: DoublesState) -> float:
        """Return what the turn has taken from the opponent, less what it has taken from us."""
        total, part = 0.0, self.weights.alive
        for place, combatant in enumerate(state.combatant):
            if combatant is not None:
                health, before = self._worth(combatant)
                now = (part + (1 - part) * state.hp[place]) * health
                status, chance = state.status[place]
                if status:
                    now *= 1 - chance * status_cost(combatant.fighter, status)
                total += (1 - (place & 2)) * (state.alive[place] * now - before)
        return total

    def _worth(self, combatant: Combatant) -> tuple[float, float]:
        """Return the part of its worth that its status leaves a combatant, and its worth before the turn."""
        known = self._worths.get(combatant)
        if known is None:
            fighter = combatant.fighter
            health = 1 - status_cost(fighter, fighter.status)
            known = self._worths[combatant] = health, worth(fighter, combatant.hp, self.weights.alive)
        return known

    def _pairs(self, state: DoublesState) -> tuple[list[float], float]:
        """Return what the one at each place threatens to take next, where it hits best, and the value of moving first."""
        gains, order, weights = [0.0] * 4, 0.0, self.weights
        hp, alive = state.hp, state.alive
        unchanged = not (state.room or any(state.winds))
        for place, foe in _PAIRS:
            both = alive[place] * alive[foe]
            if both > 0:
                pairing = self._pairing(state.combatant[place], state.combatant[foe])
                ours = alive[foe] * gain(pairing.rate, max(hp[foe], 0.01), weights.alive)
                theirs = alive[place] * gain(pairing.their_rate, max(hp[place], 0.01), weights.alive)
                gains[place], gains[foe] = max(gains[place], ours), max(gains[foe], theirs)
                first = pairing.first if unchanged else self._first_then(state, pairing)
                order += both * weights.order * first
                if first != pairing.first:
                    order += both * weights.lasting * (first - pairing.first)
        return gains, order

    def _pairing(self, ours: Combatant | None, theirs: Combatant | None) -> Pairing:
        assert ours is not None and theirs is not None
        known = self._pairings.get((ours, theirs))
        if known is None:
            rate, speeds = self.hits.matchups.rate, (self.hits.speed(ours), self.hits.speed(theirs))
            known = Pairing(rate(ours, theirs), rate(theirs, ours), speeds, _sign(speeds[0] - speeds[1]))
            self._pairings[ours, theirs] = known
        return known

    def _threat(self, state: DoublesState, side: int, gains: list[float]) -> float:
        """Return what a side's two threaten to take next. gains: by place, if it is able to act."""
        total = 0.0
        for place in (side, side + 1):
            alive = state.alive[place]
            if alive > 0:
                status, chance = state.status[place]
                able = 1 - chance * (0.7 if status in ("slp", "frz") else 0.25 if status in ("par", "brn") else 0.0)
                total += alive * able * gains[place]
            if alive < 1 and self.reserves[side >> 1]:
                total += (1 - alive) * self.weights.bench
        return total

    def _first_then(self, state: DoublesState, pairing: Pairing) -> float:
        """Return who of two moves first after what the turn has changed: Tailwind, Trick Room. See Pairing.first."""
        ours, theirs = (
            abs(speed) * (2 if wind else 1) for speed, wind in zip(pairing.speeds, state.winds, strict=True)
        )
        reversed_order = state.room != self.sides.field.trick_room
        return _sign(ours - theirs) * (-1 if reversed_order else 1)


def gain(rate: float, hp: float, alive: float) -> float:
    """Return the worth that damage of a mean `rate` takes from who has `hp` left. alive: see DoublesWeights."""
    knocks = (rate / hp - _NEARLY) / _SURELY
    knocks = 0.0 if knocks <= 0 else 1.0 if knocks >= 1 else knocks
    return (1 - alive) * (rate if rate < hp else hp) + alive * knocks


def _sign(value: float) -> float:
    return 1.0 if value > 0 else -1.0 if value < 0 else 0.0
