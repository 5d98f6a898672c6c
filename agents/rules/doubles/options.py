"""What both sides may do in a turn of doubles: our legal choices, and the opponent's likely actions."""

from __future__ import annotations

from poke_env.battle.pokemon import Pokemon

from agents.battle.choices import Choice
from agents.mechanics.fighters import Conditions, foe_fighter, own_fighter
from agents.mechanics.matchups import Combatant
from agents.mechanics.moves import MoveFacts, move_facts
from agents.rules.doubles.actions import DYNAMAXED, MEGAS, SlotAction, evolved, lift_of, priority_of
from agents.rules.doubles.places import foes_of
from agents.rules.doubles.support import DRAWING
from agents.rules.doubles.view import DoublesView, MoveChoice
from agents.rules.options import locked_move
from agents.rules.planner import benched, terastallized

#: Target types of moves that name a place.
_NAMED = frozenset({"normal", "any", "adjacentFoe", "adjacentAllyOrSelf"})
_FIRST_TURN = frozenset({"fakeout", "firstimpression"})
_MOVES = 6
#: How likely the opponent is to do something before it is weighed: to protect itself, to switch.
_PROTECTS, _LEAVES = 0.35, 0.06
#: Value of protecting oneself, besides what the turn shows.
_COST_OF_PROTECTION = -0.03
#: A Pokémon that protects itself again succeeds a third as often.
_AGAIN = 3
Option = tuple[Choice, SlotAction | None]


class Sides:
    """Who can fight on both sides, as combatants. standing: who stands at each place."""

    def __init__(self, view: DoublesView) -> None:
        self.view, self.field = view, view.field
        self.of_mon: dict[int, Combatant] = {}
        self.standing: list[Combatant | None] = [
            None if mon is None else self.combatant(mon, place >> 1) for place, mon in enumerate(view.mons)
        ]
        active = [mon for mon in view.mons if mon is not None]
        battle = view.battle
        teams = (battle.team.values(), battle.opponent_team.values())
        self.bench: list[list[Combatant]] = [
            [self.combatant(mon, side) for mon in team if not mon.fainted and not any(mon is out for out in active)]
            for side, team in enumerate(teams)
        ]

    def combatant(self, mon: Pokemon, side: int) -> Combatant:
        """Return the combatant of a Pokémon, one for each."""
        known = self.of_mon.get(id(mon))
        if known is None:
            fighter = (foe_fighter if side else own_fighter)(mon, self.view.battle)
            known = self.of_mon[id(mon)] = Combatant(fighter, side)
        return known


def can_evolve(sides: Sides, slot: int) -> bool:
    """Return whether a slot may use Mega Evolution or Ultra Burst now."""
    return any(choice.extra in MEGAS for choice in sides.view.choices(slot))


def our_options(sides: Sides, slot: int, evolve: bool) -> list[Option]:
    """Return a slot's choices and what each does; None for passing.

    evolve: with Mega Evolution; else without extras.
    """
    view, options = sides.view, []
    for option in view.moves(slot, extras=True):
        extra = option.choice.extra
        if extra in MEGAS if evolve else not extra:
            options += _as_option(sides, slot, option)
    options += [(choice, entry(sides, slot, sides.combatant(mon, 0), choice)) for choice, mon in view.switches(slot)]
    rest: list[Option] = [(choice, None) for choice in view.choices(slot) if choice.kind == "pass"]
    return options + rest


def with_extra(sides: Sides, slot: int, choice: Choice) -> list[Option]:
    """Return the same choice of a slot with each extra that it may have, or without the one that it has."""
    found: list[Option] = []
    for option in sides.view.moves(slot, extras=True):
        other = option.choice
        if (other.slot, other.target) == (choice.slot, choice.target) and other.extra != choice.extra:
            found += _as_option(sides, slot, option)
    return found


def _as_option(sides: Sides, slot: int, option: MoveChoice) -> list[Option]:
    combatant = sides.standing[slot]
    if combatant is None or _is_at_friend(slot, option.move, option.aimed):
        return []
    extra, bonus, move, aimed = option.choice.extra, 0.0, option.move, option.aimed
    dynamaxed = extra == "dynamax" or DYNAMAXED in combatant.fighter.effects
    if dynamaxed and not move.damages:
        move, aimed = move_facts("maxguard", combatant.fighter.gen), None
    if extra == "terastallize":
        combatant = terastallized(combatant)
    elif extra in MEGAS:
        combatant = evolved(combatant, extra)
    elif extra == "dynamax":
        bonus = 0.15 * combatant.hp
    action = action_of(sides.field, combatant, move, aimed, sides.view.mons[slot])
    action.choice, action.bonus = option.choice, action.bonus + bonus
    action.lift *= lift_of(move, "dynamax" if dynamaxed else extra)
    return [(option.choice, action)]


def action_of(
    field: Conditions, combatant: Combatant, move: MoveFacts, aimed: int | None, mon: Pokemon | None
) -> SlotAction:
    """Return the action of a move. mon: who uses it, of whom it counts how often it has protected itself."""
    action = SlotAction(None, combatant, move, aimed, priority=priority_of(move, combatant.fighter, field))
    if move.protects and mon is not None:
        action.lift = 1 / _AGAIN**mon.protect_counter
        action.bonus = _COST_OF_PROTECTION
    return action


def _is_at_friend(place: int, move: MoveFacts, aimed: int | None) -> bool:
    """Return whether a move is aimed at one's own side and would harm it."""
    return aimed is not None and not (aimed ^ place) & 2 and (move.damages or bool(move.status) or not _helps(move))


def _helps(move: MoveFacts) -> bool:
    raised = any(stage > 0 for _, stage in move.boosts)
    return raised or bool(move.heal) or move.target in ("adjacentAlly", "adjacentAllyOrSelf")


def entry(sides: Sides, place: int, combatant: Combatant, choice: Choice | None) -> SlotAction:
    """Return the switch of who stands at a place, if anybody does, to one on the bench."""
    leaving, bonus = sides.standing[place], 0.0
    if leaving is not None and leaving.fighter.ability == "regenerator":
        bonus = 0.5 * min(1 / 3, 1 - leaving.hp)
    elif leaving is not None and leaving.fighter.ability == "naturalcure" and leaving.fighter.status:
        bonus = 0.15
    return SlotAction(choice, benched(combatant, combatant.hp), switches=True, bonus=bonus)


def their_options(sides: Sides, place: int) -> list[SlotAction]:
    """Return what an opponent may do, each with its probability before it is weighed; empty if nobody stands there."""
    combatant, mon = sides.standing[place], sides.view.mons[place]
    if combatant is None or mon is None:
        return []
    waiting = SlotAction(None, combatant)
    fighter = combatant.fighter
    if fighter.must_recharge or "commander" in fighter.effects:
        return [waiting]
    locked = locked_move(mon)
    moves = [(locked, 1.0)] if locked is not None else sorted(fighter.moves, key=lambda pair: -pair[1])[:_MOVES]
    options = []
    for move, chance in moves:
        if move.id in _FIRST_TURN and not fighter.first_turn:
            continue
        targets = _targets(sides, place, move)
        for aimed in targets:
            action = action_of(sides.field, combatant, move, aimed, mon)
            action.chance = chance / len(targets) * (_PROTECTS if move.protects else 1.0)
            options.append(action)
    for other in sides.bench[1]:
        action = entry(sides, place, other, None)
        action.chance = _LEAVES
        options.append(action)
    return options or [waiting]


def _targets(sides: Sides, place: int, move: MoveFacts) -> list[int | None]:
    """Return the places that an opponent may name for a move; [None] if it names none."""
    if move.target not in _NAMED or move.id in DRAWING:
        return [None]
    if move.target == "adjacentAllyOrSelf":
        return [place]
    foes = [foe for foe in foes_of(place) if sides.standing[foe] is not None]
    friendly = not move.damages and not move.status and _helps(move)
    ally = place ^ 1
    if friendly:
        return [ally] if sides.standing[ally] is not None else []
    return list(foes)
