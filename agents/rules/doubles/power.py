"""What the choices of doubles are worth by power alone: who is hit, and for how much of the power."""

from __future__ import annotations

import random

from poke_env.battle.move import Move
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.target import Target

from agents.battle import SeatDoubleBattle
from agents.battle.choices import Choice
from agents.battle.joint_choices import iter_joint_choices

#: The share of its power with which a move hits each of several.
SPREAD = 0.75
_FOES = (Target.ALL_ADJACENT_FOES, Target.ALL_ADJACENT, Target.ALL)
_WITH_ALLY = (Target.ALL_ADJACENT, Target.ALL)


def strongest_pair(battle: SeatDoubleBattle, rng: random.Random) -> Choice:
    """Return the joint choice with the most power at the opponents, less that at one's own; replacements are random.

    Of equal targets that with fewer HP. Raises IndexError if nothing is legal.
    """
    slots = battle.legal_slots
    if slots is None or slots.replacements is not None:
        return rng.choice(battle.legal)
    worth = {
        (slot, choice): _worth(battle, slot, choice) for slot, choices in enumerate(slots[:2]) for choice in choices
    }
    totals = [(worth[0, joint.parts[0]] + worth[1, joint.parts[1]], joint) for joint in iter_joint_choices(slots)]
    most = max(total for total, _ in totals)
    return rng.choice([joint for total, joint in totals if total == most])


def _worth(battle: SeatDoubleBattle, slot: int, choice: Choice) -> float:
    """Return the power of a slot's choice at the opponents, less that at its ally; 0 of what is no attack."""
    mon = battle.active_pokemon[slot]
    move = None if mon is None or choice.kind != "move" else _move(battle, slot, choice)
    if move is None or not move.base_power:
        return 0.0
    power = move.base_power * move.expected_hits
    foes = [foe for foe in battle.opponent_active_pokemon if foe is not None]
    ally = battle.active_pokemon[1 - slot]
    if move.target in _FOES:
        struck = len(foes) + (ally is not None and move.target in _WITH_ALLY)
        share = SPREAD if struck > 1 else 1.0
        return power * share * (len(foes) - (struck - len(foes)))
    if choice.target < 0:
        return -power
    foe = battle.opponent_active_pokemon[choice.target - 1] if choice.target else None
    if choice.target and foe is None:
        return 0.0 if foes else power
    return power + (0.0 if foe is None else _nearness(foe))


def _nearness(foe: Pokemon) -> float:
    """Return how close a target is to fainting, as less than one point of power."""
    return 0.5 * (1.0 - foe.current_hp_fraction)


def _move(battle: SeatDoubleBattle, slot: int, choice: Choice) -> Move | None:
    listed = battle.last_request["active"][slot]["moves"][choice.slot - 1]["id"]
    return next((move for move in battle.available_moves[slot] if move.id == listed), None)
