"""What a damaging move does in the planner's turn of doubles."""

from __future__ import annotations

from agents.mechanics.damage import Damage
from agents.mechanics.moves import MoveFacts
from agents.mechanics.targets import AT_ALL, AT_FOES, SEVERAL, target_type
from agents.rules.doubles.actions import DYNAMAXED, SlotAction
from agents.rules.doubles.places import DRAWN_TYPES, UNDRAWN_ABILITIES, drawn_to, foes_of
from agents.rules.doubles.state import DoublesState
from agents.rules.turn_outcomes import changed

_UNMOVED = frozenset({"innerfocus", "shielddust"})


def aims_of(state: DoublesState, place: int, action: SlotAction) -> list[tuple[int, float]]:
    """Return the places that a damaging move hits, each with the probability that it is aimed there."""
    move, combatant = action.move, state.combatant[place]
    assert move is not None and combatant is not None
    fighter = combatant.fighter
    kind = target_type(move, fighter, state.hits.field)
    foes = [foe for foe in foes_of(place) if state.alive[foe] > 0]
    if action.aimed is None and kind in AT_FOES:
        return [(foe, 1.0) for foe in foes]
    if action.aimed is None and kind in AT_ALL:
        return [(foe, 1.0) for foe in foes] + ([(place ^ 1, 1.0)] if state.alive[place ^ 1] > 0 else [])
    if not foes:
        return []
    if action.aimed is None:
        return [(foe, 1 / len(foes)) for foe in foes] if kind == "randomNormal" else [(foes[0], 1.0)]
    if action.aimed & 2 == place & 2:
        return [(action.aimed, 1.0)] if state.alive[action.aimed] > 0 else []
    if move.type in DRAWN_TYPES:
        drawn = drawn_to(place, move, [None if one is None else one.fighter for one in state.combatant])
        if drawn is not None and state.alive[drawn] > 0:
            return [(drawn, 1.0)]
    aims: list[tuple[int, float]] = []
    drawing, rest = state.drawing[(place >> 1) ^ 1], 1.0
    if drawing is not None and fighter.ability not in UNDRAWN_ABILITIES:
        aims.append((drawing[0], drawing[1] * state.alive[drawing[0]]))
        rest -= aims[0][1]
    aimed, other = action.aimed, action.aimed ^ 1
    aims.append((aimed, rest))
    if state.alive[aimed] < 1 and state.combatant[other] is not None:
        aims.append((other, rest * (1 - state.alive[aimed])))
    return aims


def attack(state: DoublesState, place: int, target: int, action: SlotAction, can: float, early: bool) -> None:
    move, actor, other = action.move, state.combatant[place], state.combatant[target]
    if move is None or actor is None or other is None:
        return
    alive = state.alive
    if state.hp[target] <= 0 or alive[target] <= 0 or alive[place] <= 0:
        return
    spread = action.aimed is None and target_type(move, actor.fighter, state.hits.field) in SEVERAL
    standing = [one if alive[each] > 0 else None for each, one in enumerate(state.combatant)]
    hit = state.hits.hit(move, place, target, standing)
    if hit.mean <= 0:
        return
    chance = can * move.accuracy * (1 - _shielded(state, target, move, action, spread))
    lift = action.lift * state.lift[place]
    if DYNAMAXED in other.fighter.effects and other.side:  # the damage is reckoned with the HP that it had before
        lift /= 2
    if lift != 1.0:
        hit = Damage(hit.low * lift, hit.high * lift, hit.mean * lift, True)
    sign = 1 - (place & 2)
    if "substitute" in other.fighter.effects and "sound" not in move.flags:
        state.bonus += sign * 0.1 * chance * min(1.0, hit.mean * 4)
        return
    dealt = chance * min(hit.mean, state.hp[target]) * state.alive[target]
    state.wound(target, chance, hit, state.sash(target, move))
    _after_hit(state, place, target, action, chance, dealt, early)


def _after_hit(
    state: DoublesState, place: int, target: int, action: SlotAction, chance: float, dealt: float, early: bool
) -> None:
    move, actor, other = action.move, state.combatant[place], state.combatant[target]
    assert move is not None and actor is not None and other is not None
    shielded = other.fighter.item == "covertcloak" or other.fighter.ability in _UNMOVED
    if early and move.flinch and not shielded:
        state.blocked[target] = max(state.blocked[target], chance * move.flinch)
    state.recoil(place, actor.fighter, other.fighter, move, chance, dealt)
    if move.status:
        state.inflict(target, move, chance)
    if move.boosts and chance * move.boost_chance > 0.5 and not shielded and state.alive[target] > 0:
        state.combatant[target] = changed(other, move.boosts)
    if move.id == "knockoff" and other.fighter.item:
        state.bonus += (1 - (place & 2)) * 0.06 * chance


def _shielded(state: DoublesState, target: int, move: MoveFacts, action: SlotAction, spread: bool) -> float:
    """Return the probability that something protects a target from a move."""
    if "protect" not in move.flags:
        return 0.0
    side = target >> 1
    open_to = 1 - state.guarded[target]
    if spread:
        open_to *= 1 - state.wide[side]
    if action.priority > 0:
        open_to *= 1 - state.quick[side]
    return 1 - open_to
