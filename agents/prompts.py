"""A decision and an answer as text: the same for language models that play and for the pairs that train them.

`prompt` fills a template with what a seat knows (`known`); `answer` is the form in which an answer is expected. Nothing but
this module knows the wording.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from poke_env.battle.move import Move
from poke_env.battle.pokemon import Pokemon

from agents.battle import SeatBattle

#: Fields: format, turn, ours, theirs, bench, their_bench, field, choices.
TEMPLATE = """\
You play a Pokémon battle ({format}), turn {turn}.
Your active Pokémon: {ours}
Your bench:
{bench}
Their active Pokémon: {theirs}
Their bench, as far as it was seen:
{their_bench}
Field: {field}
Your legal choices:
{choices}
Say in one sentence what you want to do, then choose. Answer in two lines:
Plan: ...
Action: one of the legal choices, word for word
"""
_PLAN, _ACTION = "Plan:", "Action:"


def prompt(battle: SeatBattle, template: str = TEMPLATE) -> str:
    """Return the text of the decision that a seat is asked for now. template: with the fields of TEMPLATE, in braces."""
    return template.format(**known(battle))


def answer(action: str, plan: str = "") -> str:
    """Return an answer as text. action: the label of a choice ("move thunderbolt"). plan: left out if empty."""
    return "\n".join([f"{_PLAN} {plan}"] * bool(plan) + [f"{_ACTION} {action}"])


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
        "choices": _listed(choice.words for choice in battle.legal),
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
    told = [
        *_effects("", {**battle.weather, **battle.fields}),
        *_effects("our side: ", battle.side_conditions),
        *_effects("their side: ", battle.opponent_side_conditions),
    ]
    return ", ".join(told) or "nothing"


def _effects(whose: str, effects: Mapping[Any, Any]) -> list[str]:
    return [whose + effect.name.lower().replace("_", " ") for effect in effects]


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines) or "- none"
