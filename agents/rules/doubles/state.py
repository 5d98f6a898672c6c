"""The expected state of a turn of doubles, and the damage between those who stand there."""

from __future__ import annotations

from collections.abc import Sequence

from agents.mechanics.damage import Damage
from agents.mechanics.fighters import Conditions, Fighter
from agents.mechanics.matchups import Combatant, Matchups
from agents.mechanics.moves import MoveFacts
from agents.mechanics.status import can_have
from agents.rules.doubles.places import damage_at
from agents.rules.turn_outcomes import ExpectedTurn

#: The part of the HP that a Focus Sash or Sturdy leaves.
_SASHED = 0.01


class Hits:
    """Damage and speed of combatants on one field, each computed once in a decision."""

    def __init__(self, field: Conditions, matchups: Matchups) -> None:
        self.field, self.matchups = field, matchups
        self._known: dict[tuple[object, ...], Damage] = {}
        self._speeds: dict[int, float] = {}
        self._kept: list[Combatant] = []  # so that no id is used again

    def hit(self, move: MoveFacts, place: int, target: int, standing: Sequence[Combatant | None]) -> Damage:
        """Return the damage of a move from one place to another. standing: who is at each place."""
        user, other = standing[place], standing[target]
        assert user is not None and other is not None
        abilities = tuple(None if one is None else one.fighter.ability for one in standing)
        key = (move.id, id(user), id(other), abilities)
        known = self._known.get(key)
        if known is None:
            self._kept += (user, other)
            fighters = [None if one is None else one.fighter for one in standing]
            known = self._known[key] = damage_at(user.fighter, place, target, move, fighters, self.field)
        return known

    def speed(self, combatant: Combatant) -> float:
        """Return a combatant's speed, negated under Trick Room."""
        known = self._speeds.get(id(combatant))
        if known is None:
            self._kept.append(combatant)
            known = self._speeds[id(combatant)] = self.matchups.speed(combatant)
        return known


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
        self.guarded, self.lift = [0.0] * 4, [1.0] * 4
        self.wide, self.quick, self.winds = [0.0, 0.0], [0.0, 0.0], [False, False]
        self.drawing: list[tuple[int, float] | None] = [None, None]
        self.room = False

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


def _misty(fighter: Fighter, field: Conditions) -> bool:
    """Return whether the terrain keeps statuses away, as far as types tell who stands on the ground."""
    return field.terrain == "mistyterrain" and "FLYING" not in fighter.types
