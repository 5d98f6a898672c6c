"""The expected state of a turn of doubles, and the damage between those who stand there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from agents.mechanics.damage import Damage
from agents.mechanics.fighters import Conditions, Fighter
from agents.mechanics.matchups import Combatant, Matchups
from agents.mechanics.moves import MoveFacts
from agents.mechanics.status import can_have
from agents.rules.doubles.places import damage_at
from agents.rules.turn_outcomes import ExpectedTurn

T = TypeVar("T")
#: The part of the HP that a Focus Sash or Sturdy leaves.
_SASHED = 0.01


class Hits:
    """Damage and speed of combatants on one field, each computed once in a decision."""

    def __init__(self, field: Conditions, matchups: Matchups) -> None:
        self.field, self.matchups = field, matchups
        self._damages: dict[tuple[object, ...], Damage] = {}
        self._speeds: dict[Combatant, float] = {}

    def hit(self, move: MoveFacts, place: int, target: int, standing: Sequence[Combatant | None]) -> Damage:
        """Return the damage of a move from one place to another. standing: who is at each place.

        Of the others it counts whether they stand there, and the abilities that act on moves between two others.
        """
        user, other = standing[place], standing[target]
        assert user is not None and other is not None
        abilities = [None if one is None else one.acts_on_others for one in standing]
        key = (move.id, user, other, *abilities)
        damage = self._damages.get(key)
        if damage is None:
            fighters = [None if one is None else one.fighter for one in standing]
            damage = self._damages[key] = damage_at(user.fighter, place, target, move, fighters, self.field)
        return damage

    def speed(self, combatant: Combatant) -> float:
        """Return a combatant's speed, negated under Trick Room."""
        speed = self._speeds.get(combatant)
        if speed is None:
            speed = self._speeds[combatant] = self.matchups.speed(combatant)
        return speed


class DoublesState(ExpectedTurn):
    """The expected state during a turn, by place.

    combatant: who stands there, None for nobody. guarded: probability of being protected. wide, quick: by side, probability
    of Wide Guard and Quick Guard. drawing: by side, the place that draws moves, with its probability. lift: factor of the
    damage dealt (Helping Hand). winds: sides whose Tailwind has begun. room: whether Trick Room has begun or ended.
    """

    __slots__ = ("combatant", "drawing", "guarded", "hits", "lift", "quick", "room", "wide", "winds")

    def __init__(self, hits: Hits, combatants: Sequence[Combatant | None]) -> None:
        super().__init__([0.0 if one is None else one.hp for one in combatants])
        self.hits = hits
        self.combatant = list(combatants)
        # What few moves change is in tuples, which copies of a state share.
        self.guarded: tuple[float, ...] = (0.0,) * 4
        self.lift: tuple[float, ...] = (1.0,) * 4
        self.wide: tuple[float, ...] = (0.0, 0.0)
        self.quick: tuple[float, ...] = (0.0, 0.0)
        self.winds: tuple[bool, ...] = (False, False)
        self.drawing: tuple[tuple[int, float] | None, ...] = (None, None)
        self.room = False

    def copy(self) -> DoublesState:
        """Return a state that is changed on its own from here on."""
        state = DoublesState.__new__(DoublesState)
        state.combatant, state.hp, state.alive = self.combatant[:], self.hp[:], self.alive[:]
        state.status, state.blocked, state.bonus = self.status[:], self.blocked[:], self.bonus
        state.guarded, state.lift, state.wide, state.quick = self.guarded, self.lift, self.wide, self.quick
        state.winds, state.drawing, state.room, state.hits = self.winds, self.drawing, self.room, self.hits
        return state

    def result(self) -> tuple[object, ...]:
        """Return what the turn leaves: two states with the same result are worth the same."""
        return (*self.combatant, *self.hp, *self.alive, *self.status, *self.winds, self.room, self.bonus)

    def sash(self, place: int, move: MoveFacts) -> float:
        """Return the HP that a Focus Sash or Sturdy leaves the one at a place where a move would knock it out; 0 if none."""
        combatant = self.combatant[place]
        assert combatant is not None
        fighter = combatant.fighter
        holds = fighter.item == "focussash" or (fighter.ability == "sturdy" and fighter.gen >= 5)
        return _SASHED if holds and self.hp[place] >= 0.999 and move.most_hits == 1 else 0.0

    def inflict(self, target: int, move: MoveFacts, chance: float) -> None:
        """Inflict a move's status with a probability, unless the target cannot have it."""
        other = self.combatant[target]
        if other is None or self.status[target][0] or "substitute" in other.fighter.effects:
            return
        if can_have(other.fighter, move.status, other.fighter.gen) and not _misty(other.fighter, self.hits.field):
            self.status[target] = (move.status, chance * move.status_chance)


def with_entry(values: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    """Return a tuple with another value at an index."""
    return (*values[:index], value, *values[index + 1 :])


def _misty(fighter: Fighter, field: Conditions) -> bool:
    """Return whether the terrain keeps statuses away, as far as types tell who stands on the ground."""
    return field.terrain == "mistyterrain" and "FLYING" not in fighter.types
