"""The legal choices of a request in doubles: one choice for both slots, and which combinations Showdown admits.

What Showdown demands is read off its sim/side.js (`choose` and what it calls). A move whose target can be chosen names one,
whatever stands there; other moves name none. Each once-per-battle extra is there for one slot, each Pokémon on the bench for
one, and a slot that has nothing to decide (fainted, commanding, not to be replaced) passes. (In the formats of Mix and Mega
alone both slots may mega-evolve at once; a request does not say so, and that is not listed.)
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import permutations
from typing import Any, NamedTuple

from agents.battle.choices import Choice, legal_choices, move_choice, switch_choices, team_choice, usable_moves

#: A target type -> the targets of a Pokémon in the first slot, and in the second. Other types name none.
_TARGETS = {
    "normal": ((1, 2, -2), (1, 2, -1)),
    "any": ((1, 2, -2), (1, 2, -1)),
    "adjacentFoe": ((1, 2), (1, 2)),
    "adjacentAlly": ((-2,), (-1,)),
    "adjacentAllyOrSelf": ((-1, -2), (-1, -2)),
}
#: Extras that exclude each other: a choice has one of them.
_MEGA = ("mega", "megax", "megay")
PASS = Choice("pass", "pass", "pass", 0)


class Replacements(NamedTuple):
    """Which slots are to be replaced. flagged, reviving: of each slot; able: number of Pokémon that can come in."""

    flagged: tuple[bool, bool]
    reviving: tuple[bool, bool]
    able: int

    def admit(self, choices: tuple[Choice, Choice]) -> bool:
        """As many come in as can, the others pass; to revive one counts as a replacement, in the order of the slots."""
        switches = min(sum(self.flagged), self.able)
        passes = sum(self.flagged) - switches
        for flagged, reviving, choice in zip(self.flagged, self.reviving, choices, strict=True):
            if not flagged:
                continue
            if choice.kind == "pass":
                passes -= 1
            elif reviving:
                switches = max(0, switches - 1)
            else:
                switches -= 1
            if passes < 0 or switches < 0:
                return False
        return switches == 0


class SlotChoices(NamedTuple):
    """What each slot may choose. replacements: None where slots are asked for moves."""

    first: list[Choice]
    second: list[Choice]
    replacements: Replacements | None = None

    def draw(self, rng: random.Random) -> Choice:
        """Return a choice of both slots, each with the same chance. Raises IndexError if there is none."""
        if self.replacements is not None:
            return rng.choice(joint_choices(self))
        while True:  # of moves most pairs go together
            one, other = rng.choice(self.first), rng.choice(self.second)
            if self.admit(one, other):
                return joint_choice(one, other)

    def admit(self, one: Choice, other: Choice) -> bool:
        """Whether a choice of the first slot and one of the second are a legal choice of both."""
        return not self.conflict(one, other)

    def conflict(self, one: Choice, other: Choice) -> str:
        """Return why a choice of the first slot and one of the second do not go together; "" if they do."""
        if one.kind == other.kind == "switch" and one.slot == other.slot:
            return "both slots switch to the same Pokémon"
        if one.extra and (one.extra == other.extra or (one.extra in _MEGA and other.extra in _MEGA)):
            return f"only one slot can use {one.extra}"
        if self.replacements is not None and not self.replacements.admit((one, other)):
            return "as many Pokémon must come in as can, and the other slots pass"
        return ""


def legal_joint_choices(request: dict[str, Any]) -> list[Choice]:
    """Return all choices that Showdown's request JSON allows in doubles. Empty if the request asks to wait."""
    if request.get("wait"):
        return []
    if request.get("teamPreview"):
        return selections(request)
    return joint_choices(slot_choices(request))


def stored_labels(request: dict[str, Any], doubles: bool) -> list[str]:
    """Return the choices that a request allows, as they are stored with a decision."""
    if not doubles:
        return [choice.label for choice in legal_choices(request)]
    if request.get("wait") or request.get("teamPreview"):
        return slot_labels(legal_joint_choices(request), None)
    return slot_labels([], slot_choices(request))


def is_stored(choice: str, labels: list[str]) -> bool:
    """Return whether a choice's label is among legal choices as they are stored, in doubles each half of it.

    At team preview another order of those that an order there names is legal, too.
    """
    if choice.startswith("team "):
        return any(sorted(choice) == sorted(label) for label in labels)
    halves = [f"{letter}: {half}" for letter, half in zip("ab", choice.split(", "), strict=False)]
    return choice in labels or (len(halves) == 2 and set(halves) <= set(labels))


def joint_choices(slots: SlotChoices) -> list[Choice]:
    """Return the choices of both slots at once."""
    return list(iter_joint_choices(slots))


def iter_joint_choices(slots: SlotChoices) -> Iterator[Choice]:
    """Yield the choices of both slots at once."""
    return (joint_choice(one, other) for one in slots.first for other in slots.second if slots.admit(one, other))


def slot_labels(legal: list[Choice], slots: SlotChoices | None) -> list[str]:
    """Return legal choices as they are stored: "a: move fakeout +1", "b: switch snorlax" for those of each slot.

    All joint choices of a request can be hundreds. legal: where no slots are asked, at team preview, these.
    """
    if slots is None:
        return [choice.label for choice in legal]
    return [f"{letter}: {choice.label}" for letter, choices in zip("ab", slots[:2], strict=True) for choice in choices]


def slot_choices(request: dict[str, Any]) -> SlotChoices:
    """Return the choices of both slots of a request for moves or replacements: those that occur in some joint choice."""
    team = request["side"]["pokemon"]
    bench = switch_choices(team, range(3, len(team) + 1), fainted=False)
    if request.get("forceSwitch"):
        return _replacing(request["forceSwitch"], team, bench)
    first, second = (_of_slot(position, request["active"][position], team, bench) for position in (0, 1))
    return SlotChoices(first, second)


def _of_slot(
    position: int, active: dict[str, Any] | None, team: list[dict[str, Any]], bench: list[Choice]
) -> list[Choice]:
    """A slot's choices where it is asked for a move."""
    if active is None or position >= len(team) or _passes(team[position]):
        return [PASS]
    moves = [
        move_choice(*usable[:3], target)
        for usable in usable_moves(active)
        for target in _TARGETS.get(usable.target, ((0,), (0,)))[position]
    ]
    return moves if active.get("trapped") else moves + bench


def selections(request: dict[str, Any]) -> list[Choice]:
    """Return the choices at team preview where two lead: each ordered selection of those that are brought.

    Where all are brought, each ordered pair of leads, the others in order behind them.
    """
    size = len(request["side"]["pokemon"])
    return list(_selections(size, min(size, request.get("maxChosenTeamSize") or size)))


@cache
def _selections(size: int, brought: int) -> tuple[Choice, ...]:
    """The selections of a team of `size`: the same in every battle, and up to 360."""
    places = range(1, size + 1)
    if brought < size:
        return tuple([team_choice(order) for order in permutations(places, brought)])
    leads = permutations(places, min(2, size))
    return tuple([team_choice((*lead, *(place for place in places if place not in lead))) for lead in leads])


def _replacing(flags: list[bool], team: list[dict[str, Any]], bench: list[Choice]) -> SlotChoices:
    """flags: which slots are to be replaced."""
    flagged = flags[0], flags[1]
    reviving = bool(team[0].get("reviving")), len(team) > 1 and bool(team[1].get("reviving"))
    first, second = (
        [*(switch_choices(team, range(1, len(team) + 1), fainted=True) if revives else bench if flag else ()), PASS]
        for flag, revives in zip(flagged, reviving, strict=True)
    )
    return _possible(SlotChoices(first, second, Replacements(flagged, reviving, len(bench))))


def _possible(slots: SlotChoices) -> SlotChoices:
    """Leave out what goes with no choice of the other slot: to pass where one must come in, a switch where none may."""
    first = [one for one in slots.first if any(slots.admit(one, other) for other in slots.second)]
    second = [other for other in slots.second if any(slots.admit(one, other) for one in slots.first)]
    return slots._replace(first=first, second=second)


def _passes(mon: dict[str, Any]) -> bool:
    return mon["condition"].endswith(" fnt") or bool(mon.get("commanding"))


@lru_cache(maxsize=1 << 16)
def joint_choice(one: Choice, other: Choice) -> Choice:
    """Return the choice of the first slot and that of the second as one."""
    return Choice(f"{one.label}, {other.label}", f"{one.wire}, {other.wire}", "joint", 0, parts=(one, other))
