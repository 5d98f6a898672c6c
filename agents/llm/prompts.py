"""A decision and an answer as text: the same for language models that play and for the pairs that train them.

`prompt` fills a template with what a seat knows (`known`); `answer` is the form in which an answer is expected, and `read`
finds it in what a model wrote. Nothing but this module and the templates knows the wording.
"""

from __future__ import annotations

import functools
import json
import re
import string
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from poke_env.battle.move import Move
from poke_env.battle.pokemon import Pokemon

from agents.battle import SeatBattle
from agents.paths import resolve_path
from teamsets.errors import BadInput
from teamsets.reading import UnusableText, read_text

_TEMPLATES = Path(__file__).with_name("templates")
#: Style -> what an answer says, in its order. Each style has a shipped template.
STYLES: dict[str, tuple[str, ...]] = {"plan": ("plan", "action"), "action": ("action",)}
#: What a template may name in braces.
FIELDS = ("format", "turn", "ours", "theirs", "bench", "their_bench", "field", "choices")
_PLAN, _ACTION = "Plan:", "Action:"
#: A line of an answer: its name, with the signs that models put around it, and its text.
_LINE = re.compile(r"^[\s>#*_-]*(plan|action)[\s*_]*:[\s*_]*(.*)$", re.IGNORECASE | re.MULTILINE)
_FENCED = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)
#: Signs around a choice that are no part of it.
_AROUND = " \t\"'`*_.,;:<>[]()"
#: Longest template in bytes.
_MAX_TEMPLATE = 1 << 16


class PromptAnswer(NamedTuple):
    """What an answer says. action: "" where it names none."""

    plan: str
    action: str


@functools.cache
def template(style: str, file: str = "") -> str:
    """Return the template of a style, or that in a file. Raises BadInput: unknown style, unusable file, unknown field."""
    if style not in STYLES:
        raise BadInput(f"style={style}: must be one of {', '.join(STYLES)}")
    path = resolve_path(file) if file else _TEMPLATES / f"{style}.txt"
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


def prompt(battle: SeatBattle, filled: str) -> str:
    """Return the text of the decision that a seat is asked for now. filled: a template, as `template` returns it."""
    return filled.format(**known(battle))


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
    """Return the JSON schema of an answer, for servers that constrain what a model writes."""
    parts: dict[str, Any] = {"plan": {"type": "string"}, "action": {"type": "string", "enum": list(choices)}}
    wanted = STYLES[style]
    return {
        "type": "object",
        "properties": {name: parts[name] for name in wanted},
        "required": list(wanted),
        "additionalProperties": False,
    }


def read(text: str) -> PromptAnswer:
    """Find plan and action in what a model wrote: lines, the last of each, or a JSON object with these keys.

    What it thinks between <think> and </think> is no answer.
    """
    text = text.rpartition("</think>")[2].partition("<think>")[0]
    parts = _object(text)
    if not parts:
        parts = {name.lower(): content for name, content in _LINE.findall(text)}
    plan, action = (str(parts.get(name) or "") for name in ("plan", "action"))
    return PromptAnswer(" ".join(plan.split()), " ".join(action.split()).strip(_AROUND).lower())


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


def known(battle: SeatBattle) -> dict[str, Any]:
    """Return the fields of a template, as text, from what the seat knows and not more."""
    ours, theirs = battle.active_pokemon, battle.opponent_active_pokemon
    return {
        "format": battle.format_id,
        "turn": battle.turn,
        "ours": "none" if ours is None else described(ours, ours=True),
        "theirs": "none" if theirs is None else described(theirs),
        "bench": _listed(described(mon, ours=True) for mon in battle.team.values() if not mon.active),
        "their_bench": _listed(described(mon) for mon in battle.opponent_team.values() if not mon.active),
        "field": _field(battle),
        "choices": _listed(choice.label for choice in battle.legal),
    }


def described(mon: Pokemon, *, ours: bool = False) -> str:
    """Return a Pokémon in one line: species, HP, status, boosts, effects, and its moves as far as they are known.

    ours: with the PP that are left.
    """
    if mon.fainted:
        return f"{mon.species}: fainted"
    parts = [f"{mon.species} L{mon.level}", f"{round(100 * mon.current_hp_fraction)}% HP"]
    if mon.status is not None:
        parts.append(mon.status.name)
    parts += [f"{stat} {stage:+d}" for stat, stage in mon.boosts.items() if stage]
    parts += [effect.name.lower().replace("_", " ") for effect in mon.effects]
    moves = ", ".join(_move(move, ours=ours) for move in mon.moves.values())
    return ", ".join(parts) + (f"; moves: {moves}" if moves else "")


def _move(move: Move, *, ours: bool) -> str:
    return f"{move.id} ({move.current_pp} PP)" if ours else move.id


def _field(battle: SeatBattle) -> str:
    conditions = [
        *_effects("", {**battle.weather, **battle.fields}),
        *_effects("our side: ", battle.side_conditions),
        *_effects("their side: ", battle.opponent_side_conditions),
    ]
    return ", ".join(conditions) or "nothing"


def _effects(whose: str, effects: Mapping[Any, Any]) -> list[str]:
    return [whose + effect.name.lower().replace("_", " ") for effect in effects]


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines) or "- none"
