"""The expected state of a turn of doubles, and the damage between those who stand there."""

from __future__ import annotations

from collections.abc import Sequence

from agents.mechanics.damage import Damage, damage
from agents.mechanics.fighters import Conditions, Fighter
from agents.mechanics.matchups import Combatant, Matchups
from agents.mechanics.moves import MoveFacts
from agents.mechanics.status import can_have
from agents.mechanics.targets import beside
from agents.rules.doubles.places import foes_of

#: The part of the HP that a Focus Sash or Sturdy leaves.
_SASHED = 0.01


class Hits:
    """Damage and speed of combatants on one field, each computed once in a decision."""

    def __init__(self, field: Conditions, matchups: Matchups) -> None:
        self.field, self.matchups = field, matchups
        self._known: dict[tuple[object, ...], Damage] = {}
        self._speeds: dict[int, float] = {}
        self._kept: list[Combatant] = []  # so that no id is used again

    def hit(
        self, move: MoveFacts, place: int, target: int, standing: Sequence[Combatant | None], spread: bool
    ) -> Damage:
        """Return the damage of a move from one place to another. standing: who is at each place."""
        user, other = standing[place], standing[target]
        assert user is not None and other is not None
        abilities = tuple(None if one is None else one.fighter.ability for one in standing)
        key = (move.id, id(user), id(other), spread, abilities)
        known = self._known.get(key)
        if known is None:
            self._kept += (user, other)
            known = self._known[key] = self._damage(move, place, target, standing)
        return known

    def _damage(self, move: MoveFacts, place: int, target: int, standing: Sequence[Combatant | None]) -> Damage:
        user, other, ally = standing[place], standing[target], standing[place ^ 1]
        assert user is not None and other is not None
        foes = [one.fighter for foe in foes_of(place) if (one := standing[foe]) is not None]
        by = beside(move, user.fighter, other.fighter, None if ally is None else ally.fighter, foes, self.field)
        sides = self.field.sides
        return damage(user.fighter, other.fighter, move, self.field, sides[target >> 1], sides[place >> 1], by)

    def speed(self, combatant: Combatant) -> float:
        """Return a combatant's speed, negated under Trick Room."""
        known = self._speeds.get(id(combatant))
        if known is None:
            self._kept.append(combatant)
            known = self._speeds[id(combatant)] = self.matchups.speed(combatant)
        return known


class DoublesState:
    """The expected state during a turn, by place.

    combatant: who stands there, None for nobody. alive: probability of not having fainted. hp: mean HP if alive. blocked:
    probability of losing the turn. guarded: probability of being protected. status: inflicted now, as (status, chance).
    wide, quick: by side, probability of Wide Guard and Quick Guard. drawing: by side, the place that draws moves, with its
    probability. lift: factor of the damage dealt (Helping Hand). winds: sides whose Tailwind has begun. room: whether Trick
    Room has begun or ended. bonus: value to us.
    """

    __slots__ = (
        "alive", "blocked", "bonus", "combatant", "drawing", "guarded", "hits", "hp", "lift", "quick", "room",
        "status", "wide", "winds",
    )  # fmt: skip

    def __init__(self, hits: Hits, combatants: Sequence[Combatant | None]) -> None:
        self.hits = hits
        self.combatant = list(combatants)
        self.hp = [0.0 if one is None else one.hp for one in combatants]
        self.alive = [1.0 if hp > 0 else 0.0 for hp in self.hp]
        self.blocked, self.guarded, self.lift = [0.0] * 4, [0.0] * 4, [1.0] * 4
        self.status = [("", 0.0)] * 4
        self.wide, self.quick, self.winds = [0.0, 0.0], [0.0, 0.0], [False, False]
        self.drawing: list[tuple[int, float] | None] = [None, None]
        self.room = False
        self.bonus = 0.0

    def wound(self, place: int, chance: float, hit: Damage, move: MoveFacts) -> None:
        """Apply a hit with a probability."""
        hp, combatant = self.hp[place], self.combatant[place]
        assert combatant is not None
        fatal = hit.knocks_out(hp)
        left = max(0.03, hp - min(hit.mean, hit.high)) if fatal < 1 else hp
        fighter = combatant.fighter
        sash = fighter.item == "focussash" or (fighter.ability == "sturdy" and fighter.gen >= 5)
        if fatal > 0 and sash and hp >= 0.999 and move.most_hits == 1:
            left = (1 - fatal) * left + fatal * _SASHED
            fatal = 0.0
        out = chance * fatal
        self.alive[place] *= 1 - out
        self.hp[place] = ((1 - chance) * hp + chance * (1 - fatal) * left) / max(1 - out, 1e-6)

    def heal(self, place: int, part: float) -> None:
        """Restore a fraction of the maximum HP; a negative one is lost, down to a minimum of 0.02."""
        self.hp[place] = min(1.0, max(0.02, self.hp[place] + part))

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
