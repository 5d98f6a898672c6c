"""What a seat may choose where a stored battle is forked: a choice's actions, and the choices that are tried instead.

In doubles a choice is one of both slots, and the network decides slot by slot. The choices that are tried instead of one
differ from it in one slot, or at team preview in one pick: such a pair is a comparison at one decision of the network, and
what it gains is gained by that slot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from agents.battle import SeatDoubleBattle
from agents.battle.choices import Choice, team_choice
from agents.battle.joint_choices import SlotChoices, joint_choice
from agents.observation.actions import action_of
from agents.observation.doubles.decisions import DoublesDecisions
from agents.observation.layout import DOUBLES

#: Pokémon that lead in doubles. The order among them, and among those behind them, makes no other selection.
_LEADS = 2


class SeatChoices(Protocol):
    """The legal choices of a seat at one request."""

    def actions(self, label: str) -> list[int] | None:
        """Return the actions for `Battles.play` by which a choice is made, one for each decision; None: it is not legal."""

    def others(self, label: str) -> list[list[str]]:
        """Return the labels of other legal choices, in groups by the decision at which they differ from this one."""


class SinglesChoices:
    """See `SeatChoices`. labels: of the legal choices, with the action of each. All others are one group."""

    def __init__(self, labels: Mapping[str, int]) -> None:
        self.labels = labels

    def actions(self, label: str) -> list[int] | None:
        return [self.labels[label]] if label in self.labels else None

    def others(self, label: str) -> list[list[str]]:
        return [sorted(other for other in self.labels if other != label)]


class DoublesChoices:
    """See `SeatChoices`. battle: as long as it waits for this request's answer. A group for each slot, or for each pick."""

    def __init__(self, battle: SeatDoubleBattle) -> None:
        self._battle = battle

    def actions(self, label: str) -> list[int] | None:
        turn, actions = DoublesDecisions(self._battle), list[int]()
        parts = turn.parts_of(label)
        while turn.actions:
            action = action_of(parts[turn.number], turn.actions) if turn.number < len(parts) else None
            if action is None:  # not a network's: both slots at once
                listed = (k for k, choice in enumerate(self._battle.legal) if choice.label == label)
                return next(([DOUBLES.actions + k] for k in listed), None)
            actions.append(action)
            turn.take(action)
        return actions

    def others(self, label: str) -> list[list[str]]:
        request = self._battle.last_request
        choice = self._battle.read_answer(label, request)
        assert choice is not None, "of a legal choice"
        if self._battle.legal_slots is not None:
            return [list(group) for group in _other_slots(self._battle.legal_slots, choice.parts)]
        order = [int(digit) for digit in choice.label.removeprefix("team ")]
        return _other_picks(order, len(request["side"]["pokemon"]))


def _other_slots(slots: SlotChoices, parts: Sequence[Choice]) -> Iterator[Iterator[str]]:
    """Yield for each slot the joint choices in which it does something else and the other slot the same."""
    one, other = parts
    yield (joint_choice(each, other).label for each in slots.first if each != one and slots.admit(each, other))
    yield (joint_choice(one, each).label for each in slots.second if each != other and slots.admit(one, each))


def _other_picks(order: Sequence[int], size: int) -> list[list[str]]:
    """Return for each pick the selections in which another Pokémon is picked, from those that were not picked before it.

    One that was to be picked later changes places with it. order: of the team's numbers, from 1; size: of the team.
    """
    brought = len(order)
    groups: list[list[str]] = []
    for pick in range(brought if brought < size else _LEADS):
        selections = []
        for number in (each for each in range(1, size + 1) if each not in order[: pick + 1]):
            changed = [order[pick] if each == number else each for each in order]
            changed[pick] = number
            if brought == size:  # only the leads are chosen
                changed[_LEADS:] = sorted(changed[_LEADS:])
            if _selected(changed) != _selected(order):
                selections.append(team_choice(changed).label)
        groups.append(selections)
    return groups


def _selected(order: Sequence[int]) -> tuple[frozenset[int], frozenset[int]]:
    """Return who leads and who is brought behind them."""
    return frozenset(order[:_LEADS]), frozenset(order[_LEADS:])
