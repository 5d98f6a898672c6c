"""One turn of doubles in expectation: what the actions at all four places do to those who stand there."""

from __future__ import annotations

from collections.abc import Sequence

from agents.mechanics.pokemon_worth import entry_damage
from agents.rules.doubles.actions import SlotAction
from agents.rules.doubles.attack import aims_of, attack
from agents.rules.doubles.places import PLACES, foes_of
from agents.rules.doubles.state import DoublesState, Hits
from agents.rules.doubles.support import support
from agents.rules.turn_outcomes import changed

Actions = Sequence[SlotAction | None]

_UNSCARED = frozenset(
    {"clearbody", "whitesmoke", "fullmetalbody", "hypercutter", "innerfocus", "owntempo", "oblivious", "scrappy",
     "guarddog", "mirrorarmor"}
)  # fmt: skip
_INTIMIDATED = (("atk", -1),)
_BOASTS = {"defiant": (("atk", 1),), "competitive": (("atk", -1), ("spa", 2))}
#: The first generation in which a Tailwind changes the order of the turn in which it begins.
_ORDERS_ANEW = 8


def play(hits: Hits, actions: Actions) -> DoublesState:
    """Return the state after a turn. actions: by place, None for a place where nobody acts or stands."""
    state = DoublesState(hits, [None if one is None else one.combatant for one in actions])
    for place, action in enumerate(actions):
        if action is not None:
            state.bonus += (1 - (place & 2)) * action.bonus
            if action.switches:
                _enter(state, place)
    waiting = [place for place in PLACES if (one := actions[place]) is not None and one.move is not None]
    while waiting:
        place = max(waiting, key=lambda each: _turn_of(state, each, actions))
        waiting.remove(place)
        _use(state, place, actions, waiting)
    for place in PLACES:
        combatant = state.combatant[place]
        if combatant is not None and combatant.drip and state.alive[place] > 0:
            state.heal(place, combatant.drip)
    return state


def _enter(state: DoublesState, place: int) -> None:
    combatant = state.combatant[place]
    assert combatant is not None
    state.hp[place] = max(0.0, state.hp[place] - entry_damage(combatant.fighter, state.hits.field.sides[place >> 1]))
    if combatant.fighter.ability != "intimidate":
        return
    for foe in foes_of(place):
        other = state.combatant[foe]
        if other is not None and "substitute" not in other.fighter.effects:
            ability = other.fighter.ability
            if ability in _BOASTS:
                state.combatant[foe] = changed(other, _BOASTS[ability])
            elif ability not in _UNSCARED:
                state.combatant[foe] = changed(other, _INTIMIDATED)


def _turn_of(state: DoublesState, place: int, actions: Actions) -> tuple[float, float]:
    """Return what the order of a turn goes by: priority, then speed; at equal ones the opponent is first."""
    combatant, action = state.combatant[place], actions[place]
    assert action is not None and combatant is not None
    speed = state.hits.speed(combatant)
    if state.winds[place >> 1] and combatant.fighter.gen >= _ORDERS_ANEW:
        speed = speed * 2 if speed > 0 else speed / 2
    return action.priority, speed + (0.5 if place & 2 else 0.0)


def _use(state: DoublesState, place: int, actions: Actions, waiting: list[int]) -> None:
    """Let the one at a place act. waiting: the places that act later."""
    combatant, action = state.combatant[place], actions[place]
    assert combatant is not None and action is not None and action.move is not None
    move = action.move
    can = state.can_act(place, combatant.fighter)
    if can <= 0:
        return
    if not move.damages:
        support(state, place, action, can)
        return
    for target, chance in aims_of(state, place, action):
        if move.id in ("suckerpunch", "thunderclap") and not _attacks(actions[target], target, waiting):
            continue
        attack(state, place, target, action, can * chance, target in waiting)
    if move.explodes:
        state.alive[place] *= 1 - can
    elif move.recharges or (move.charges and combatant.fighter.item != "powerherb"):
        state.bonus -= (1 - (place & 2)) * 0.25 * can
    if move.self_boosts and can > 0.5 and state.alive[place] > 0:
        state.combatant[place] = changed(combatant, move.self_boosts)


def _attacks(action: SlotAction | None, place: int, waiting: list[int]) -> bool:
    """Return whether a place is about to attack."""
    return place in waiting and action is not None and action.move is not None and action.move.damages
