"""The expert's doubles: every pair of our choices against the opponent's likely pairs, one turn ahead."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from agents.battle import SeatDoubleBattle
from agents.battle.choices import Choice
from agents.battle.joint_choices import SlotChoices, joint_choice
from agents.mechanics.matchups import Matchups
from agents.rules.doubles.actions import SlotAction
from agents.rules.doubles.options import Option, Sides, can_evolve, our_options, their_options, with_extra
from agents.rules.doubles.outlook import DoublesWeights, Outlook
from agents.rules.doubles.state import Hits
from agents.rules.doubles.turn import PairOfActions, Turns
from agents.rules.doubles.view import DoublesView
from agents.rules.planner import replies

#: How many of the opponent's actions a place has at most, and how many of their pairs.
_OF_PLACE, _REPLIES = 5, 12
#: How many of our pairs are weighed against all replies, and for how many of these extras are tried.
_WEIGHED, _WITH_EXTRAS = 24, 3
#: How attractive an action looks at least.
_FLOOR = 0.1


@dataclass(slots=True)
class Candidate:
    """A pair of our choices, and what they do."""

    first: Option
    second: Option
    acts: PairOfActions


@dataclass(slots=True)
class Reply:
    """What the opponent does at both places."""

    acts: PairOfActions
    chance: float


class DoublesPlan:
    """One decision."""

    def __init__(self, battle: SeatDoubleBattle, matchups: Matchups, weights: DoublesWeights) -> None:
        self.battle, self.weights = battle, weights
        view = DoublesView(battle)
        matchups.turn_to(view.field)
        self.sides = Sides(view)
        hits = Hits(view.field, matchups)
        self.turns = Turns(hits)
        self.idle = [None if one is None else SlotAction(None, one) for one in self.sides.standing]
        self.outlook = Outlook(self.sides, hits, weights)

    def best(self) -> tuple[Choice, float] | None:
        """Return the best choice of both slots and its value; None if the planner knows none."""
        slots = self.battle.legal_slots
        pairs = [] if slots is None else self._pairs(slots)
        if slots is None or not pairs:
            return None
        theirs = self._replies() if slots.replacements is None else [Reply(self._whole(None, None, 2), 1.0)]
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
                cost = self.weights.cost_of(pair.first[0], pair.second[0])
                valued.append((_mean(chances, [self._value(pair, reply) for reply in theirs]) - cost, pair))
        value, best = max(valued, key=lambda each: each[0])
        return joint_choice(best.first[0], best.second[0]), value

    def _pairs(self, slots: SlotChoices) -> list[Candidate]:
        """Return the pairs of choices that go together; of two that may evolve the first does."""
        first, second = (can_evolve(self.sides, slot) for slot in (0, 1))
        options = our_options(self.sides, 0, first), our_options(self.sides, 1, second and not first)
        return self._candidates(product(*options), slots)

    def _candidates(self, pairs: Iterable[tuple[Option, Option]], slots: SlotChoices) -> list[Candidate]:
        return [
            Candidate(first, second, self._whole(first[1], second[1], 0))
            for first, second in pairs
            if slots.admit(first[0], second[0])
        ]

    def _with_extras(self, pair: Candidate, slots: SlotChoices) -> list[Candidate]:
        """Return a pair with the extras that it may have besides, or without the one that it has."""
        first, second = pair.first, pair.second
        firsts, seconds = with_extra(self.sides, 0, first[0]), with_extra(self.sides, 1, second[0])
        pairs = [*((changed, second) for changed in firsts), *((first, changed) for changed in seconds)]
        if all(can_evolve(self.sides, slot) for slot in (0, 1)):  # the second instead of the first
            pairs += product(firsts, seconds)
        return self._candidates(pairs, slots)

    def _value(self, pair: Candidate, reply: Reply) -> float:
        return self.outlook.value(self.turns.play(pair.acts, reply.acts))

    def _whole(self, first: SlotAction | None, second: SlotAction | None, place: int) -> PairOfActions:
        """Return the actions of a side, from its first place on: who stands where nobody acts waits."""
        return PairOfActions(first or self.idle[place], second or self.idle[place + 1])

    def _replies(self) -> list[Reply]:
        """Return the opponent's likely pairs of actions, by what is known of its moves and what each takes alone."""
        together = []
        for (one, first), (other, second) in product(self._weighed(2), self._weighed(3)):
            if one and other and one.switches and other.switches and one.combatant.root is other.combatant.root:
                continue
            together.append((first * second, one, other))
        together.sort(key=lambda each: -each[0])
        kept = together[:_REPLIES]
        total = sum(chance for chance, _, _ in kept) or 1.0
        return [Reply(self._whole(one, other, 2), chance / total) for chance, one, other in kept]

    def _weighed(self, place: int) -> list[tuple[SlotAction | None, float]]:
        """Return an opponent's most attractive actions, each with its weight; (None, 1) if nobody stands there."""
        weighed = [(action, action.chance * self._harm(place, action)) for action in their_options(self.sides, place)]
        weighed.sort(key=lambda pair: -pair[1])
        return [*weighed[:_OF_PLACE]] or [(None, 1.0)]

    def _harm(self, place: int, action: SlotAction) -> float:
        """Return how attractive an action looks alone: what it takes from us, beside a floor for what lasts."""
        if action.move is None or not action.move.damages:
            return self.weights.quiet
        alone = self._whole(action, None, 2) if place == 2 else self._whole(None, action, 2)
        state = self.turns.play(self._whole(None, None, 0), alone)
        return _FLOOR + max(0.0, -self.outlook.material(state))


def _mean(chances: list[float], row: list[float]) -> float:
    return sum(chance * value for chance, value in zip(chances, row, strict=True))
