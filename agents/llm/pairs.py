"""Reads a model's action in doubles: what both slots do, or who is brought, with signs and words that are put around it."""

from __future__ import annotations

import re
from typing import Any

from agents.battle.choices import named_switch, switch_choices
from agents.llm.prompts import AROUND

#: What stands in brackets is a note, as in the prompt's list of choices; the last one may not be closed.
_NOTE = re.compile(r"\s*\([^()]*(?:\)|$)")
_BETWEEN = re.compile(r"\s*[,;\n]\s*")
_AND = re.compile(r"\s+(?:and|&|\+)\s+")
#: "slot a: ", "slot_a: ", "b) " before a slot's action.
_SLOT = re.compile(r"(?:slot[\s_]+)?([ab])\s*[:=)]\s*(.+)")
_DIGITS = re.compile(r"\d[\d\s>-]*")
#: Words before a Pokémon's name at team preview.
_ROLE = re.compile(r"^(?:(?:team|bring|leads?|send|start with|then|back|bench)\b[\s:]*)+")
#: In the place of an answer that says nothing: the seat takes an empty part for any choice.
_NOTHING = "(nothing)"


def joint_action(action: str, request: dict[str, Any]) -> str:
    """Return an action as the seat of a battle of doubles reads it: "move fakeout +1, switch snorlax", "team 3142".

    action: what a model wrote for both slots, or for the one that has something to decide; at team preview numbers or
    names. What is no legal choice is none afterwards, either. request: Showdown's, that is to be answered.
    """
    if request.get("teamPreview"):
        return _selection(action, request)
    plain = _NOTE.sub("", action.lower())
    parts = [part for each in _BETWEEN.split(plain) if (part := each.strip(AROUND))]
    if len(parts) == 1:
        parts = [part for each in _AND.split(parts[0]) if (part := each.strip(AROUND))]
    named = [_SLOT.fullmatch(part) for part in parts]
    letters = [match[1] for match in named if match is not None]
    parts = [part if match is None else match[2].strip(AROUND) for part, match in zip(parts, named, strict=True)]
    if letters == ["b", "a"] and len(parts) == 2:
        parts.reverse()
    return ", ".join(parts) or _NOTHING


def _selection(action: str, request: dict[str, Any]) -> str:
    """Return the selection of a team that an action names, by numbers or names; an action that names none as it is."""
    text = _NOTE.sub("", action.lower()).strip(AROUND)
    team = request["side"]["pokemon"]
    members = switch_choices(team, range(1, len(team) + 1), fainted=False)
    by_label = {member.label.removeprefix("switch "): member for member in members}
    numbers = ""
    for each in (part for joined in _BETWEEN.split(text) for part in _AND.split(joined)):
        name = _ROLE.sub("", each.strip(AROUND))
        member = by_label.get(name) or named_switch(name, members, request)
        if member is None and not _DIGITS.fullmatch(name):
            return text or _NOTHING
        numbers += re.sub(r"\D", "", name) if member is None else str(member.slot)
    return f"team {numbers}"
