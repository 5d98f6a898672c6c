"""What a move without damage does in the planner's turn of doubles."""

from __future__ import annotations

from agents.mechanics.moves import MoveFacts
from agents.mechanics.type_chart import effectiveness
from agents.rules.doubles.actions import SlotAction
from agents.rules.doubles.places import foes_of
from agents.rules.doubles.state import DoublesState, with_entry
from agents.rules.turn_outcomes import changed

DRAWING = frozenset({"followme", "ragepowder", "spotlight"})
#: Value of what lasts beyond the turn and is not computed.
_LASTING = {
    "reflect": 0.2, "lightscreen": 0.2, "auroraveil": 0.35, "taunt": 0.15, "encore": 0.15, "disable": 0.08, "yawn": 0.2,
    "leechseed": 0.1, "substitute": 0.12, "wish": 0.12, "safeguard": 0.03, "perishsong": 0.05, "imprison": 0.05,
    "raindance": 0.08, "sunnyday": 0.08, "sandstorm": 0.05, "snowscape": 0.05, "hail": 0.05, "grassyterrain": 0.05,
    "electricterrain": 0.05, "psychicterrain": 0.05, "mistyterrain": 0.05, "stealthrock": 0.12, "spikes": 0.08,
    "toxicspikes": 0.06, "stickyweb": 0.15, "partingshot": 0.12, "haze": 0.05,
}  # fmt: skip
_UNTAUGHT = frozenset({"oblivious", "aromaveil"})
_NO_POWDER = frozenset({"overcoat"})
_NO_STATUS_MOVES = frozenset({"goodasgold", "magicbounce"})


def support(state: DoublesState, place: int, action: SlotAction, can: float) -> None:
    """Apply a move without damage. can: probability that its user acts."""
    move, combatant = action.move, state.combatant[place]
    assert move is not None and combatant is not None
    side, sign = place >> 1, 1 - (place & 2)
    if move.protects:
        state.guarded = with_entry(state.guarded, place, max(state.guarded[place], can * action.lift))
    elif move.id == "wideguard":
        state.wide = with_entry(state.wide, side, max(state.wide[side], can))
    elif move.id == "quickguard":
        state.quick = with_entry(state.quick, side, max(state.quick[side], can))
    elif move.id in DRAWING:
        drawn = place if action.aimed is None else action.aimed
        state.drawing = with_entry(state.drawing, drawn >> 1, (drawn, can))
    elif move.id == "helpinghand":
        state.lift = with_entry(state.lift, place ^ 1, state.lift[place ^ 1] * (1 + 0.5 * can))
    elif move.id == "tailwind":
        state.winds = with_entry(state.winds, side, "tailwind" not in state.hits.field.sides[side])
    elif move.id == "trickroom":
        state.room = not state.room
    elif move.heal:
        _heal(state, place, action, can)
    else:
        _at_targets(state, place, action, can)
        lasting = _LASTING.get(move.id, 0.0)
        if lasting and not (move.id in state.hits.field.sides[side] or move.id in _present(state)):
            state.bonus += sign * lasting * can
    if move.self_boosts and can > 0.5:
        state.combatant[place] = changed(combatant, move.self_boosts)


def _present(state: DoublesState) -> tuple[str, str]:
    return state.hits.field.weather, state.hits.field.terrain


def _heal(state: DoublesState, place: int, action: SlotAction, can: float) -> None:
    move = action.move
    assert move is not None
    if move.target == "allies":
        healed = [place, place ^ 1]
    elif action.aimed is not None:
        healed = [action.aimed]
    else:
        healed = [place]
    for each in healed:
        if state.alive[each] > 0:
            state.heal(each, can * move.heal)
    if move.id == "rest":
        state.status[place] = ("slp", can)


def _at_targets(state: DoublesState, place: int, action: SlotAction, can: float) -> None:
    """Apply statuses and boosts to whom the move is used on."""
    move = action.move
    assert move is not None
    if not (move.status or move.boosts or move.id in ("taunt", "encore", "disable", "yawn", "leechseed")):
        return
    for target in _targets(state, place, action):
        other = state.combatant[target]
        if other is None or state.alive[target] <= 0:
            continue
        at_foe = (target ^ place) & 2
        chance = can * move.accuracy
        if at_foe:
            chance *= (1 - state.guarded[target] if "protect" in move.flags else 1.0) * _works(
                state, place, target, move
            )
        if chance <= 0:
            continue
        if move.status:
            state.inflict(target, move, chance)
        if move.boosts and chance * move.boost_chance > 0.5:
            state.combatant[target] = changed(other, move.boosts)


def _targets(state: DoublesState, place: int, action: SlotAction) -> list[int]:
    move = action.move
    assert move is not None
    if action.aimed is not None:
        drawing = state.drawing[action.aimed >> 1]
        if drawing is not None and (action.aimed ^ place) & 2 and drawing[1] > 0.5:
            return [drawing[0]]
        return [action.aimed]
    if move.target in ("allAdjacentFoes", "all", "allAdjacent", "foeSide"):
        return list(foes_of(place))
    if move.target in ("allies", "allySide", "allyTeam"):
        return [place, place ^ 1]
    return [place ^ 1] if move.target == "adjacentAlly" else []


def _works(state: DoublesState, place: int, target: int, move: MoveFacts) -> float:
    """Return whether a status move affects an opponent, as 1 or 0."""
    user, other = state.combatant[place], state.combatant[target]
    assert user is not None and other is not None
    fighter, gen = other.fighter, other.fighter.gen
    if fighter.ability in _NO_STATUS_MOVES or (move.id == "taunt" and fighter.ability in _UNTAUGHT):
        return 0.0
    if user.fighter.ability == "prankster" and gen >= 7 and "DARK" in fighter.types:
        return 0.0
    if "powder" in move.flags and gen >= 6:
        immune = "GRASS" in fighter.types or fighter.ability in _NO_POWDER or fighter.item == "safetygoggles"
        if immune:
            return 0.0
    if move.id in ("thunderwave", "glare") and not effectiveness(gen, move.type, fighter.types):
        return 0.0
    asleep = any(
        one is not None and one.fighter.status == "slp" for one in state.combatant[target & 2 : (target & 2) + 2]
    )
    return 0.0 if move.status == "slp" and asleep else 1.0
