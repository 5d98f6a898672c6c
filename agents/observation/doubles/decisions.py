"""The decisions of one request in doubles: slot a, then slot b given what a has chosen; at team preview pick by pick."""

from __future__ import annotations

from collections.abc import Sequence

from agents.battle import SeatDoubleBattle
from agents.battle.choices import Choice, switch_choices, team_choice
from agents.battle.joint_choices import PASS, SlotChoices, joint_choice
from agents.observation.doubles.actions import slot_actions
from agents.observation.doubles.observation import observe_pick, observe_slot
from agents.observation.observation import Observation

LETTERS = "ab"


class DoublesDecisions:
    """See `Decisions` (agents/observation/decisions.py).

    A slot whose only choice is to pass has no decision. At team preview those are picked that are brought, or the two that
    lead where all are.
    """

    def __init__(self, battle: SeatDoubleBattle) -> None:
        self._battle, self._request = battle, battle.last_request
        self._slots = battle.legal_slots
        self._chosen: list[Choice] = []
        self.number = 0
        self._picks = 0 if self._slots is not None else _picks(battle)
        self._pass()
        self.actions = self._legal()

    @property
    def slot(self) -> int | None:
        """The slot that decides; None at team preview."""
        return None if self._slots is None else len(self._chosen)

    @property
    def choice(self) -> Choice:
        if self.actions or not self._chosen:
            return self._battle.legal[0]
        if self._slots is not None:
            return joint_choice(self._chosen[0], self._chosen[1])
        order = [choice.slot for choice in self._chosen]
        size = len(self._request["side"]["pokemon"])
        if len(self._battle.legal[0].label) == len(team_choice(order).label):
            return team_choice(order)
        return team_choice([*order, *(place for place in range(1, size + 1) if place not in order)])

    @property
    def is_preview(self) -> bool:
        """Whether the request is that of team preview."""
        return self._slots is None

    def observe(self) -> Observation:
        if self._slots is None:
            return observe_pick(self._battle, [choice.slot - 1 for choice in self._chosen], self._picks, self.actions)
        slot = len(self._chosen)
        return observe_slot(self._battle, slot, self._chosen[0] if slot else None, self.actions)

    def take(self, action: int) -> None:
        self._chosen.append(self.actions[action])
        self.number += 1
        self._pass()
        self.actions = self._legal()

    @property
    def prefix(self) -> str:
        """ "a: " or "b: "; "1: " … at team preview."""
        return f"{len(self._chosen) + 1 if self._slots is None else LETTERS[len(self._chosen)]}: "

    def label_of(self, action: int) -> str:
        return self.prefix + self.actions[action].label

    def parts_of(self, label: str) -> Sequence[str]:
        if self._slots is not None:
            return [
                part for part, choices in zip(label.split(", "), self._slots[:2], strict=False) if choices != [PASS]
            ]
        team = self._request["side"]["pokemon"]
        named = {choice.slot: choice.label for choice in _members(team)}
        digits = label.removeprefix("team ")
        return [named.get(int(digit), "") for digit in digits[: self._picks] if digit.isdecimal()]

    def _pass(self) -> None:
        """Answer for the slots that can only pass."""
        while self._slots is not None and len(self._chosen) < 2 and self._slots[len(self._chosen)] == [PASS]:
            self._chosen.append(PASS)

    def _legal(self) -> dict[int, Choice]:
        if self._slots is None:
            if len(self._chosen) == self._picks:
                return {}
            picked = {choice.slot for choice in self._chosen}
            left = [choice for choice in _members(self._request["side"]["pokemon"]) if choice.slot not in picked]
            return slot_actions(self._request, None, left)
        slot = len(self._chosen)
        if slot == 2:
            return {}
        return slot_actions(self._request, slot, _possible(self._slots, self._chosen))


def _possible(slots: SlotChoices, chosen: Sequence[Choice]) -> list[Choice]:
    """Return the choices of the next slot, in the second those that go with the first's."""
    if chosen:
        return [other for other in slots.second if slots.admit(chosen[0], other)]
    return slots.first


def _picks(battle: SeatDoubleBattle) -> int:
    """Return how many Pokémon are picked at team preview; 0 if there is nothing to choose."""
    if not battle.legal or battle.legal[0].kind != "team":
        return 0
    brought, size = len(battle.legal[0].label.removeprefix("team ")), len(battle.last_request["side"]["pokemon"])
    return brought if brought < size else min(2, size)


def _members(team: list[dict[str, object]]) -> list[Choice]:
    """Return a pick of each Pokémon, as the choice to bring it in."""
    return switch_choices(team, range(1, len(team) + 1), fainted=False)
