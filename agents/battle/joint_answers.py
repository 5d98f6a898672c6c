"""Reads an agent's answer in doubles: a joint choice, one answer for each slot, or text as Showdown's client sends it."""

from __future__ import annotations

import re
from typing import Any

from poke_env.battle.move import Move
from poke_env.battle.pokemon import Pokemon
from poke_env.data import to_id_str
from poke_env.player.battle_order import BattleOrder, DoubleBattleOrder

from agents.battle.choices import Choice, is_move_named, named_switch, team_choice
from agents.battle.joint_choices import SlotChoices, iter_joint_choices, joint_choice
from agents.battle.quick_double_battle import SLOT_LETTERS

_EXTRAS = frozenset({"mega", "megax", "megay", "ultra", "dynamax", "terastallize", "zmove"})
_TARGET = re.compile(r"[+-]?[12]")


def read_joint_answer(
    answer: Any, legal: list[Choice], slots: SlotChoices | None, request: dict[str, Any]
) -> Choice | None:
    """Return the legal choice of both slots that an answer means, or None if it means none.

    legal: the selections at team preview, where slots is None; not read otherwise.
    answer: a joint `Choice`, its label or wire; a tuple or list with an answer for each slot (a slot's `Choice`, its label
    or wire, poke-env's order, `Move` or `Pokemon`); poke-env's `DoubleBattleOrder`; or text as Showdown's client sends it
    ("/choose move fakeout 1, switch Incineroar", "/team 3142", "default"). One answer is enough where the other slot
    passes. Of poke-env's orders a target that the move does not take is left out, and one that it lacks is its first: its
    players do not know that a move that goes on names none, and that a Max Move names one.
    """
    if slots is None and not legal:
        return None
    if isinstance(answer, Choice) and slots is None:
        return legal[legal.index(answer)] if answer in legal else None
    if isinstance(answer, str):
        text = _plain(answer)
        if text in ("default", "auto"):
            return legal[0] if slots is None else next(iter_joint_choices(slots), None)
        if slots is None:
            return _selection(text, request)
    if slots is None:
        return None
    parts = _parts(answer, slots)
    if len(parts) != 2:
        return None
    first, second = (choices or [] for choices in _meant(parts, slots, request))
    pairs = ((one, other) for one in first for other in second)
    return next((joint_choice(one, other) for one, other in pairs if slots.admit(one, other)), None)


def explain_refusal(answer: Any, slots: SlotChoices | None, request: dict[str, Any]) -> str:
    """Return why an answer that `read_joint_answer` refuses is no legal choice; "" where nothing simple can be said."""
    if slots is None:
        return _refused_selection(answer, request) if request.get("teamPreview") else ""
    if answer is None:
        return ""
    parts = _parts(answer, slots)
    if len(parts) == 1:
        return "only one slot was answered"
    if len(parts) != 2:
        return f"{len(parts)} choices for two slots"
    for position, choices in enumerate(_meant(parts, slots, request)):
        if choices is None:
            own = slots.first if position == 0 else slots.second
            why = _refused_part(parts[position], own, position, request)
            return f"slot {SLOT_LETTERS[position]}: {why}"
    return slots.conflict(*(choices[0] for choices in _meant(parts, slots, request) if choices))


def _parts(answer: Any, slots: SlotChoices) -> list[Any]:
    """Return the answers of the slots, as many as there are; where one slot can only pass, the other's is enough."""
    if isinstance(answer, Choice) and answer.kind == "joint":
        answer = answer.parts
    if isinstance(answer, DoubleBattleOrder):
        answer = (answer.first_order, answer.second_order)
    if isinstance(answer, str):
        answer = [part.strip() for part in _plain(answer).split(",")]
    parts = list(answer) if isinstance(answer, tuple | list) and not isinstance(answer, Choice) else [answer]
    return _with_pass(parts[0], slots) if len(parts) == 1 else parts


def _meant(parts: list[Any], slots: SlotChoices, request: dict[str, Any]) -> list[list[Choice] | None]:
    """Return the choices that each slot's part may mean; None for a part that means none."""
    meant: list[list[Choice] | None] = []
    for position, (part, choices) in enumerate(zip(parts, slots[:2], strict=True)):
        if _is_default(part):
            meant.append(choices)
        else:
            choice = _of_slot(part, choices, position, request)
            meant.append(None if choice is None else [choice])
    return meant


def _refused_part(part: Any, choices: list[Choice], position: int, request: dict[str, Any]) -> str:
    """Return why a slot's part of an answer means none of its choices."""
    if all(choice.kind == "pass" for choice in choices):
        return "it can only pass"
    text = _text_of(part)
    if text is None:
        return "no choice, no text and no order of poke-env"
    kind, _, rest = text.partition(" ")
    if kind == "move":
        wanted, extra, _ = _split_move(rest)
        named = _moves_named(wanted, choices, position, request)
        targets = [f"{choice.target:+d}" for choice in named if choice.extra == extra and choice.target]
        if targets:
            return f"the target must be {' or '.join(targets)}"
        if any(choice.extra == extra for choice in named):
            return "this move takes no target"
        if named:
            return f"this move cannot {extra} now" if extra else "this move needs an extra now"
    return f"'{text[:40]}' is not among its choices"


def _refused_selection(answer: Any, request: dict[str, Any]) -> str:
    text = answer.label if isinstance(answer, Choice) else answer
    if not isinstance(text, str) or not _plain(text).startswith("team "):
        return "team preview takes 'team' and numbers"
    return f"the numbers must be different ones from 1 to {len(request['side']['pokemon'])}"


def _is_default(part: Any) -> bool:
    """Return whether a slot's part of an answer leaves it open: its first choice that goes with the other's is meant."""
    text = part.message if isinstance(part, BattleOrder) else part
    return isinstance(text, str) and _plain(text) in ("default", "auto", "")


def _with_pass(part: Any, slots: SlotChoices) -> list[Any]:
    """Return the answers of both slots where one of them has nothing to decide; else the one that there is."""
    idle = [all(choice.kind == "pass" for choice in choices) for choices in slots[:2]]
    if idle == [True, False]:
        return ["pass", part]
    return [part, "pass"] if idle[1] else [part]


def _plain(text: str) -> str:
    return text.strip().removeprefix("/choose ").removeprefix("/").strip()


def _of_slot(part: Any, choices: list[Choice], position: int, request: dict[str, Any]) -> Choice | None:
    """Return the choice of one slot that its part of an answer means."""
    if isinstance(part, Choice):
        return part if part in choices else None
    text = _text_of(part)
    if text is None:
        return None
    for choice in choices:
        if text in (choice.label, choice.wire):
            return choice
    kind, _, rest = text.partition(" ")
    if kind == "switch":
        return named_switch(rest, choices, request)
    return _named_move(rest, choices, position, request, isinstance(part, BattleOrder)) if kind == "move" else None


def _text_of(part: Any) -> str | None:
    """Return a slot's part of an answer as text; None for an object that is no choice."""
    if isinstance(part, Choice):
        return part.label
    if isinstance(part, Move):
        return f"move {part.id}"
    if isinstance(part, Pokemon):
        return f"switch {part.name}"
    if isinstance(part, BattleOrder):
        part = part.message
    return _plain(part) if isinstance(part, str) else None


def _named_move(
    rest: str, choices: list[Choice], position: int, request: dict[str, Any], lenient: bool
) -> Choice | None:
    """Find a move by its number, id or name, with its target and extra in any order behind it, as Showdown reads them.

    lenient: where it has no such target, the first is taken.
    """
    wanted, extra, target = _split_move(rest)
    named = [choice for choice in _moves_named(wanted, choices, position, request) if choice.extra == extra]
    aimed = [choice for choice in named if choice.target == target] or (named if lenient else [])
    return aimed[0] if aimed else None


def _split_move(rest: str) -> tuple[str, str, int]:
    """Return what names the move ("fakeout", "1"), its extra or "", and its target or 0."""
    words = rest.split(" ")
    extra, target = "", 0
    while len(words) > 1:
        if words[-1] in _EXTRAS and not extra:
            extra = words.pop()
        elif _TARGET.fullmatch(words[-1]) and not target:
            target = int(words.pop())
        else:
            break
    return to_id_str(" ".join(words)), extra, target


def _moves_named(wanted: str, choices: list[Choice], position: int, request: dict[str, Any]) -> list[Choice]:
    """Return a slot's choices of a move with any target and extra. wanted: its number, id or name."""
    moves = (request.get("active") or [])[position]["moves"] if request.get("active") else []
    return [
        choice
        for choice in choices
        if choice.kind == "move" and (wanted == str(choice.slot) or is_move_named(moves[choice.slot - 1], wanted))
    ]


def _selection(text: str, request: dict[str, Any]) -> Choice | None:
    """Read the order of a team: too long it is cut, too short it is completed in the team's own order, as Showdown does."""
    kind, _, rest = text.partition(" ")
    digits = [part.strip() for part in (rest.split(",") if "," in rest else rest.replace(" ", ""))]
    if kind != "team" or not all(digit.isdecimal() for digit in digits):
        return None
    size = len(request["side"]["pokemon"])
    brought = min(size, request.get("maxChosenTeamSize") or size)
    order = [int(digit) for digit in digits][:brought]
    order += [place for place in range(1, size + 1) if place not in order][: brought - len(order)]
    if len(set(order)) != len(order) or not all(1 <= place <= size for place in order):
        return None
    return team_choice(order)
