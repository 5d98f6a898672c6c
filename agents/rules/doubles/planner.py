"""The expert's doubles: every pair of our choices against the opponent's likely pairs, one turn ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from agents.battle import SeatDoubleBattle
from agents.battle.choices import Choice
from agents.battle.joint_choices import SlotChoices, joint_choice
from agents.mechanics.matchups import Matchups
from agents.rules.doubles.actions import SlotAction
from agents.rules.doubles.options import Option, Sides, can_evolve, our_options, their_options, with_extra
from agents.rules.doubles.outlook import DoublesWeights, Outlook
from agents.rules.doubles.places import PLACES
from agents.rules.doubles.state import Hits
from agents.rules.doubles.turn import play
from agents.rules.doubles.view import DoublesView
from agents.rules.planner import replies

#: How many of the opponent's actions a place has at most, and how many of their pairs.
_OF_PLACE, _REPLIES = 5, 12
#: How many of our pairs are weighed against all replies, and for how many of these extras are tried.
_WEIGHED, _WITH_EXTRAS = 24, 3
#: How attractive an action looks at least.
_FLOOR = 0.1


Pair = tuple[Option, Option]


@dataclass(slots=True)
class Reply:
    """What the opponent does at both places."""

    actions: tuple[SlotAction | None, SlotAction | None]
    chance: float


class DoublesPlan:
    """One decision."""

    def __init__(self, battle: SeatDoubleBattle, matchups: Matchups, weights: DoublesWeights) -> None:
        self.battle, self.weights = battle, weights
        view = DoublesView(battle)
        matchups.turn_to(view.field)
        self.sides = Sides(view)
        self.hits = Hits(view.field, matchups)
        self.outlook = Outlook(self.sides, matchups, weights)

    def best(self) -> tuple[Choice, float] | None:
        """Return the best choice of both slots and its value; None if the planner knows none."""
        slots = self.battle.legal_slots
        pairs = [] if slots is None else self._pairs(slots)
        if slots is None or not pairs:
            return None
        theirs = self._replies() if slots.replacements is None else [Reply((None, None), 1.0)]
        likely = max(theirs, key=lambda reply: reply.chance)
        if len(pairs) > _WEIGHED:
            pairs.sort(key=lambda pair: -self._value(pair, likely))
            pairs = pairs[:_WEIGHED]
        values = [[self._value(pair, reply) for reply in theirs] for pair in pairs]
        chances = replies(values, [reply.chance for reply in theirs], self.weights.reply)
        valued = [(_mean(chances, row), pair) for pair, row in zip(pairs, values, strict=True)]
        valued.sort(key=lambda each: -each[0])
        for _, without in valued[:_WITH_EXTRAS]:
            for pair in self._with_extras(without, slots):
                cost = self.weights.cost_of(pair[0][0], pair[1][0])
                valued.append((_mean(chances, [self._value(pair, reply) for reply in theirs]) - cost, pair))
        value, (first, second) = max(valued, key=lambda each: each[0])
        return joint_choice(first[0], second[0]), value

    def _pairs(self, slots: SlotChoices) -> list[Pair]:
        """Return the pairs of choices that go together; of two that may evolve the first does."""
        first, second = (can_evolve(self.sides, slot) for slot in (0, 1))
        options = our_options(self.sides, 0, first), our_options(self.sides, 1, second and not first)
        return [(one, other) for one, other in product(*options) if slots.admit(one[0], other[0])]

    def _with_extras(self, pair: Pair, slots: SlotChoices) -> list[Pair]:
        """Return a pair with the extras that it may have besides, or without the one that it has."""
        first, second = pair
        firsts, seconds = with_extra(self.sides, 0, first[0]), with_extra(self.sides, 1, second[0])
        pairs = [*((changed, second) for changed in firsts), *((first, changed) for changed in seconds)]
        if all(can_evolve(self.sides, slot) for slot in (0, 1)):  # the second instead of the first
            pairs += product(firsts, seconds)
        return [pair for pair in pairs if slots.admit(pair[0][0], pair[1][0])]

    def _value(self, pair: Pair, reply: Reply) -> float:
        acting = (pair[0][1], pair[1][1], *reply.actions)
        return self.outlook.value(play(self.hits, self._whole(acting)))

    def _whole(self, acting: Sequence[SlotAction | None]) -> list[SlotAction | None]:
        """Return the actions of all places: who stands where nobody acts waits."""
        standing = self.sides.standing
        return [
            action if action is not None else None if (one := standing[place]) is None else SlotAction(None, one)
            for place, action in zip(PLACES, acting, strict=True)
        ]

    def _replies(self) -> list[Reply]:
        """Return the opponent's likely pairs of actions, by what is known of its moves and what each takes alone."""
        together = []
        for (one, first), (other, second) in product(self._weighed(2), self._weighed(3)):
            if one and other and one.switches and other.switches and one.combatant.root is other.combatant.root:
                continue
            together.append(Reply((one, other), first * second))
        together.sort(key=lambda reply: -reply.chance)
        kept = together[:_REPLIES]
        total = sum(reply.chance for reply in kept) or 1.0
        for reply in kept:
            reply.chance /= total
        return kept

    def _weighed(self, place: int) -> list[tuple[SlotAction | None, float]]:
        """Return an opponent's most attractive actions, each with its weight; (None, 1) if nobody stands there."""
        weighed = [(action, action.chance * self._harm(place, action)) for action in their_options(self.sides, place)]
        weighed.sort(key=lambda pair: -pair[1])
        return [*weighed[:_OF_PLACE]] or [(None, 1.0)]

    def _harm(self, place: int, action: SlotAction) -> float:
        """Return how attractive an action looks alone: what it takes from us, beside a floor for what lasts."""
        if action.move is None or not action.move.damages:
            return self.weights.quiet
        alone: list[SlotAction | None] = [None] * 4
        alone[place] = action
        state = play(self.hits, self._whole(alone))
        return _FLOOR + max(0.0, -self.outlook.material(state))


def _mean(chances: list[float], row: list[float]) -> float:
    return sum(chance * value for chance, value in zip(chances, row, strict=True))
