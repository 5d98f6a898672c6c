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
#: Moves that fail unless their target is about to attack.
_AMBUSHES = frozenset({"suckerpunch", "thunderclap"})
#: The first generation in which a Tailwind changes the order of the turn in which it begins.
_ORDERS_ANEW = 8


class PairOfActions:
    """What the two of a side do. actions: by slot, None where nobody stands.

    opening: what of it counts before the first move: who comes in, and what the actions are worth by themselves.
    """

    __slots__ = ("actions", "opening")

    def __init__(self, first: SlotAction | None, second: SlotAction | None) -> None:
        self.actions = first, second
        self.opening = tuple(
            None if action is None else (action.combatant, action.switches, action.bonus, action.move is None)
            for action in self.actions
        )


class Turns:
    """The turns that may follow from one position. Those that begin alike share what has happened until they part.

    Two turns in which the same acts first, in the same way, differ only after it: of the several hundred that a decision
    compares, most attacks are computed once for many of them.
    """

    def __init__(self, hits: Hits) -> None:
        self.hits = hits
        self._openings: dict[tuple[object, ...], _Moment] = {}

    def play(self, ours: PairOfActions, theirs: PairOfActions) -> DoublesState:
        """Return the state after a turn, to be read only. ours, theirs: None where nobody stands."""
        moment = self._openings.get((ours.opening, theirs.opening))
        actions = (*ours.actions, *theirs.actions)
        if moment is None:
            moment = self._openings[ours.opening, theirs.opening] = _opened(self.hits, actions)
        while moment.waiting:
            place = moment.next_place(actions)
            action = actions[place]
            assert action is not None and action.move is not None
            key: object = action
            if action.move.id in _AMBUSHES:  # what it does depends on what the others are about to do
                key = action, *(each for each in moment.waiting if _attacks(actions[each]))
            following = moment.after.get(key)
            if following is None:
                following = moment.after[key] = _acted(moment, place, actions)
            moment = following
        return moment.state


class _Moment:
    """A moment of a turn. waiting: the places that have yet to act. after: the next moment, by who acts and how."""

    __slots__ = ("after", "speeds", "state", "waiting")

    def __init__(self, state: DoublesState, waiting: list[int]) -> None:
        self.state, self.waiting = state, waiting
        if waiting:
            self.after: dict[object, _Moment] = {}
            self.speeds = [(place, _speed(state, place)) for place in waiting]
        else:
            _end(state)

    def next_place(self, actions: Actions) -> int:
        """Return the place that acts next: by priority, then by speed."""
        if len(self.waiting) == 1:
            return self.waiting[0]
        first, highest, fastest = -1, 0.0, 0.0
        for place, speed in self.speeds:
            action = actions[place]
            assert action is not None
            priority = action.priority
            if first < 0 or priority > highest or (priority == highest and speed > fastest):
                first, highest, fastest = place, priority, speed
        return first


def _opened(hits: Hits, actions: Actions) -> _Moment:
    """Return the moment before the first move: who switches has come in."""
    state = DoublesState(hits, [None if one is None else one.combatant for one in actions])
    for place, action in enumerate(actions):
        if action is not None:
            state.bonus += (1 - (place & 2)) * action.bonus
            if action.switches:
                _enter(state, place)
    moving = [place for place, action in enumerate(actions) if action is not None and action.move is not None]
    return _Moment(state, moving)


def _acted(moment: _Moment, place: int, actions: Actions) -> _Moment:
    """Return the moment after the one at a place has acted."""
    state, waiting = moment.state.copy(), [each for each in moment.waiting if each != place]
    _use(state, place, actions, waiting)
    return _Moment(state, waiting)


def _end(state: DoublesState) -> None:
    """Apply what the end of a turn does: Leftovers, poison and the like."""
    for place in PLACES:
        combatant = state.combatant[place]
        if combatant is not None and combatant.drip and state.alive[place] > 0:
            state.heal(place, combatant.drip)


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


def _speed(state: DoublesState, place: int) -> float:
    """Return the speed by which the one at a place acts; at equal ones the opponent is first."""
    combatant = state.combatant[place]
    assert combatant is not None
    speed = state.hits.speed(combatant)
    if state.winds[place >> 1] and combatant.fighter.gen >= _ORDERS_ANEW:
        speed = speed * 2 if speed > 0 else speed / 2
    return speed + (0.5 if place & 2 else 0.0)


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
        if move.id in _AMBUSHES and not (target in waiting and _attacks(actions[target])):
            continue
        attack(state, place, target, action, can * chance, target in waiting)
    if move.explodes:
        state.alive[place] *= 1 - can
    elif move.recharges or (move.charges and combatant.fighter.item != "powerherb"):
        state.bonus -= (1 - (place & 2)) * 0.25 * can
    if move.self_boosts and can > 0.5 and state.alive[place] > 0:
        state.combatant[place] = changed(combatant, move.self_boosts)


def _attacks(action: SlotAction | None) -> bool:
    """Return whether an action is an attack."""
    return action is not None and action.move is not None and action.move.damages
