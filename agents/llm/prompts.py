"""A decision and an answer as text: the same for language models that play and for the pairs that train them.

`prompt` fills a template with what a seat knows (descriptions.py); `answer` is the form in which an answer is expected, and
`read` finds it in what a model wrote. Nothing but these modules and the templates knows the wording.
"""

from __future__ import annotations

import functools
import json
import re
import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agents.battle import SeatBattle, SeatDoubleBattle
from agents.llm.descriptions import known
from agents.paths import resolve_path
from teamsets.errors import BadInput
from teamsets.reading import UnusableText, read_text

_TEMPLATES = Path(__file__).with_name("templates")
#: Style -> what an answer says, in its order. Each style has a shipped template for each of KINDS.
STYLES: dict[str, tuple[str, ...]] = {"plan": ("plan", "action"), "action": ("action",)}
#: What is decided, a turn of singles or of doubles, or the team preview of doubles -> the end of its templates' names.
KINDS = {"singles": "", "doubles": "-doubles", "preview": "-preview"}
#: What a template may name in braces.
FIELDS = ("format", "turn", "ours", "theirs", "bench", "their_bench", "field", "choices")
_PLAN, _ACTION = "Plan:", "Action:"
#: A line of an answer: its name, with the signs that models put around it, and its text.
_LINE = re.compile(r"^[\s>#*_-]*(plan|action)[\s*_]*:[\s*_]*(.*)$", re.IGNORECASE | re.MULTILINE)
#: A line of an answer that has the action of one slot only: the slot's letter and its text.
_SLOT_LINE = re.compile(
    r"^[\s>#*_-]*(?:action|slot)[\s*_]*\(?(?:slot\s*)?([ab])\)?[\s*_]*:[\s*_]*(.*)$", re.IGNORECASE | re.MULTILINE
)
#: A key of a JSON object that has the action of one slot: "a", "slot_a", "action_a".
_SLOT_KEY = re.compile(r"(?:(?:action|slot)[ _]?(?:slot[ _]?)?)?([ab])")
_FENCED = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)
#: Signs around a choice that are no part of it.
AROUND = " \t\"'`*_.,;:<>[]()"
#: Longest template in bytes.
_MAX_TEMPLATE = 1 << 16


class PromptAnswer(NamedTuple):
    """What an answer says. action: "" where it names none."""

    plan: str
    action: str


def kind_of(battle: SeatBattle | SeatDoubleBattle) -> str:
    """Return which of KINDS is decided now."""
    if not isinstance(battle, SeatDoubleBattle):
        return "singles"
    return "preview" if battle.teampreview else "doubles"


@functools.cache
def template(style: str, file: str = "", kind: str = "singles") -> str:
    """Return the template of a style, or that in a file, which is that of all kinds.

    kind: one of KINDS. Raises BadInput: unknown style, unusable file, unknown field.
    """
    if style not in STYLES:
        raise BadInput(f"style={style}: must be one of {', '.join(STYLES)}")
    path = resolve_path(file) if file else _TEMPLATES / f"{style}{KINDS[kind]}.txt"
    try:
        text = read_text(path, _MAX_TEMPLATE)
        named = {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    except OSError as error:
        raise BadInput(f"prompt={file}: cannot be read ({error.strerror}): give a text file") from None
    except UnusableText as error:
        raise BadInput(f"prompt={file}: {error}: give a text file") from None
    except ValueError as error:
        raise BadInput(f"prompt={file}: {error}: a brace that is no field is written twice") from None
    unknown = sorted(named - set(FIELDS))
    if unknown or "choices" not in named:
        problem = f"{{{unknown[0]}}} is no field" if unknown else "the field {choices} is missing"
        raise BadInput(f"prompt={file}: {problem}: the fields are {', '.join(FIELDS)}")
    return text


def prompt(battle: SeatBattle | SeatDoubleBattle, filled: str) -> str:
    """Return the text of the decision that a seat is asked for now. filled: a template, as `template` returns it."""
    return filled.format(**known(battle))


def prompt_in_style(battle: SeatBattle | SeatDoubleBattle, style: str, file: str = "") -> str:
    """Return the same in a style, or by the template in a file. Raises BadInput as `template`."""
    return prompt(battle, template(style, file, kind_of(battle)))


def retry_prompt(text: str, refused: str) -> str:
    """Return a prompt after an answer that was no legal choice. refused: what was answered."""
    shown = " ".join(refused.split())[:200]
    return f"{text}Your last answer was not one of the legal choices: {shown}\n"


def answer(action: str, plan: str = "") -> str:
    """Return an answer as text. action: the label of a choice ("move thunderbolt"). plan: left out if empty."""
    return "\n".join([f"{_PLAN} {plan}"] * bool(plan) + [f"{_ACTION} {action}"])


def answer_start(text: str) -> str:
    """Return what a model wrote, up to where its action is to follow: its plan's line, if it has one, and "Action:"."""
    before = _LINE.search(text)
    plan = before.group(2).strip() if before is not None and before.group(1).lower() == "plan" else ""
    return "\n".join([f"{_PLAN} {plan}"] * bool(plan) + [_ACTION])


def answer_schema(style: str, choices: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of an answer, for servers that constrain what a model writes.

    choices: the labels of the legal choices. Those of two slots are an object with the keys a and b.
    """
    joint = any(", " in label for label in choices)
    parts: dict[str, Any] = {"plan": {"type": "string"}, "action": _pairs_schema(choices) if joint else _enum(choices)}
    return _object_schema({name: parts[name] for name in STYLES[style]})


def _pairs_schema(labels: Sequence[str]) -> dict[str, Any]:
    """Return the schema of pairs of choices: what slot a may choose, together with what slot b may then choose.

    All pairs in one list would be hundreds, more than servers take.
    """
    with_a: dict[str, list[str]] = {}
    for label in labels:
        first, _, second = label.partition(", ")
        with_a.setdefault(first, []).append(second)
    groups: dict[tuple[str, ...], list[str]] = {}
    for first, seconds in with_a.items():
        groups.setdefault(tuple(seconds), []).append(first)
    return {"anyOf": [_object_schema({"a": _enum(firsts), "b": _enum(seconds)}) for seconds, firsts in groups.items()]}


def _enum(values: Sequence[str]) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def _object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def read(text: str) -> PromptAnswer:
    """Find plan and action in what a model wrote: lines, the last of each, or a JSON object with these keys.

    What it thinks between <think> and </think> is no answer. Actions of single slots ("Action a: …", "Action b: …") become
    one, "a: …, b: …".
    """
    parts = _parts(text)
    plan, action = (" ".join(parts.get(name, "").split()) for name in ("plan", "action"))
    slots = [f"{letter}: {parts[letter]}" for letter in "ab" if letter in parts]
    return PromptAnswer(plan, (", ".join(slots) or action).strip(AROUND).lower())


def has_action(text: str) -> bool:
    """Return whether a model that goes on writing has written an action: not that of one slot only."""
    slots = _parts(text).keys() & {"a", "b"}
    return len(slots) == 2 if slots else bool(read(text).action)


def _parts(text: str) -> dict[str, str]:
    """Return the parts of an answer: plan, action, and instead of the latter a and b where they are given one by one."""
    text = text.rpartition("</think>")[2].partition("<think>")[0]
    named = _object(text)
    if named:
        parts = {key: _as_text(value) for key, value in named.items()}
        slots = {found[1]: value for key, value in parts.items() if (found := _SLOT_KEY.fullmatch(key))}
        return {**{name: parts[name] for name in ("plan", "action") if name in parts}, **slots}
    lines = list(_LINE.finditer(text))
    parts = {line[1].lower(): line[2] for line in lines}
    last = max((line.start() for line in lines if line[1].lower() == "action"), default=-1)
    slots = {line[1].lower(): line[2].strip() for line in _SLOT_LINE.finditer(text) if line.end() > last}
    return {**parts, **slots}


def _as_text(value: Any) -> str:
    """Return a value of a JSON object as text: a list's items with commas, those of an object with their keys."""
    if isinstance(value, dict):
        return ", ".join(f"{key}: {item}" for key, item in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _object(text: str) -> dict[str, Any]:
    fenced = _FENCED.search(text)
    body = (fenced.group(1) if fenced else text).strip()
    if not body.startswith("{"):
        return {}
    try:
        parsed, _ = json.JSONDecoder().raw_decode(body)
    except (ValueError, RecursionError):
        return {}
    return {str(key).lower(): value for key, value in parsed.items()}
