"""max-damage in doubles: the pair of choices that takes the most HP, less what it takes from one's own side."""

from __future__ import annotations

import random

from poke_env.battle.pokemon import Pokemon

from agents.battle import SeatDoubleBattle
from agents.battle.choices import Choice
from agents.battle.joint_choices import iter_joint_choices
from agents.mechanics.damage import Damage
from agents.mechanics.fighters import own_fighter
from agents.rules.doubles.places import damage_at, foes_of
from agents.rules.doubles.view import DoublesView, MoveChoice

#: What counts of damage beyond the HP that are left: of two moves that knock out, the stronger.
_BEYOND = 1e-3


def most_damage(battle: SeatDoubleBattle, risk: float, rng: random.Random) -> Choice:
    """Return the joint choice with the most expected damage to the opponents, less that to one's own side.

    Damage beyond the HP that are left does not count, also where both slots hit the same. Replacements are those with the
    strongest moves. risk: 0 takes the least damage, 1 the greatest. Raises IndexError if nothing is legal.
    """
    slots = battle.legal_slots
    if slots is None:
        return rng.choice(battle.legal)
    view = DoublesView(battle)
    by_choice: dict[tuple[int, Choice], list[tuple[int, float]]] = {}
    for slot in (0, 1):
        for option in view.moves(slot):
            by_choice[slot, option.choice] = _expected(view, slot, option, risk)
    entries = {(slot, choice): _reach(view, slot, mon) for slot in (0, 1) for choice, mon in view.switches(slot)}
    plain = [joint for joint in iter_joint_choices(slots) if not any(part.extra for part in joint.parts)]
    best, chosen = -float("inf"), None
    for joint in plain or iter_joint_choices(slots):
        pairs = list(enumerate(joint.parts))
        attacks = sum(key in by_choice for key in pairs)
        total = _taken(view, [hit for key in pairs for hit in by_choice.get(key, ())])
        if slots.replacements is not None or not by_choice:
            total += sum(entries.get(key, 0.0) for key in pairs)
        total += 1e-6 * attacks
        if total > best:
            best, chosen = total, joint
    return chosen if chosen is not None else rng.choice(battle.legal)


def _expected(view: DoublesView, slot: int, option: MoveChoice, risk: float) -> list[tuple[int, float]]:
    """Return the places that a move hits, each with its expected damage as a fraction of the target's HP."""
    found = view.hits(slot, option)
    share = 1 / len(found) if option.aimed is None and option.move.target == "randomNormal" and found else 1.0
    return [(place, share * _between(hit, risk) * option.move.accuracy) for place, hit in found]


def _between(hit: Damage, risk: float) -> float:
    return (1 - risk) * hit.low + risk * hit.high


def _taken(view: DoublesView, hits: list[tuple[int, float]]) -> float:
    """Return what a number of hits takes from the opponents, less what they take from one's own side."""
    total, left = 0.0, [0.0 if fighter is None else max(fighter.hp, 0.01) for fighter in view.fighters]
    for place, dealt in hits:
        taken = min(dealt, left[place])
        left[place] -= taken
        total += (taken + _BEYOND * dealt) * (1 if place >= 2 else -1)
    return total


def _reach(view: DoublesView, slot: int, mon: Pokemon) -> float:
    """Return what the strongest move of one on the bench would take from an opponent."""
    fighter = own_fighter(mon, view.battle)
    dealt = [
        min(damage_at(fighter, slot, foe, move, view.fighters, view.field).mean * move.accuracy, target.hp)
        for foe in foes_of(slot)
        if (target := view.fighters[foe]) is not None
        for move, _ in fighter.moves
        if move.damages
    ]
    return max(dealt, default=0.0)
