"""A request of doubles as rules use it: who stands at the four places, each slot's choices, and the damage between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from poke_env.battle.pokemon import Pokemon

from agents.battle import SeatDoubleBattle
from agents.battle.choices import Choice
from agents.mechanics.damage import Damage, damage
from agents.mechanics.fighters import Fighter, conditions, foe_fighter, own_fighter
from agents.mechanics.moves import MoveFacts, facts_of
from agents.mechanics.targets import beside
from agents.rules.doubles.places import PLACES, place_of, struck
from agents.rules.options import find_move


@dataclass(frozen=True, slots=True)
class MoveChoice:
    """A slot's choice of a move. aimed: the place that it names, None if it names none."""

    choice: Choice
    move: MoveFacts
    aimed: int | None


class DoublesView:
    """One request, computed lazily. fighters: who can act at each place (places.py), None for nobody."""

    def __init__(self, battle: SeatDoubleBattle) -> None:
        self.battle = battle
        self.field = conditions(battle)
        actives = [*battle.active_pokemon, *battle.opponent_active_pokemon]
        self.mons: list[Pokemon | None] = [mon if mon is not None and not mon.fainted else None for mon in actives]

    @cached_property
    def fighters(self) -> list[Fighter | None]:
        """Who stands at each place."""
        return [
            None if mon is None else (own_fighter if place < 2 else foe_fighter)(mon, self.battle)
            for place, mon in enumerate(self.mons)
        ]

    def choices(self, slot: int) -> list[Choice]:
        """Return all legal choices of a slot."""
        slots = self.battle.legal_slots
        return [] if slots is None else slots[:2][slot]

    def moves(self, slot: int, extras: bool = False) -> list[MoveChoice]:
        """Return a slot's legal moves with their targets; not those at nobody where someone stands beside.

        extras: also with terastallization and the like.
        """
        mon = self.mons[slot]
        if mon is None:
            return []
        found = []
        for choice in self.choices(slot):
            if choice.kind == "move" and (extras or not choice.extra):
                move = find_move(choice.label.split(" ")[1], mon.moves, self.battle.gen)
                if move is not None:
                    aimed = place_of(slot, choice.target) if choice.target else None
                    if aimed is None or self.mons[aimed] is not None or self.mons[aimed ^ 1] is None:
                        found.append(MoveChoice(choice, facts_of(move), aimed))
        return found

    def switches(self, slot: int) -> list[tuple[Choice, Pokemon]]:
        """Return a slot's legal switches, each with the incoming Pokémon."""
        entries = self.battle.last_request["side"]["pokemon"]
        switches = [choice for choice in self.choices(slot) if choice.kind == "switch"]
        return [(choice, self.battle.team[entries[choice.slot - 1]["ident"]]) for choice in switches]

    def hits(self, place: int, option: MoveChoice) -> list[tuple[int, Damage]]:
        """Return the places that a damaging move hits, each with its damage there."""
        if not option.move.damages:
            return []
        places = struck(place, option.move, option.aimed, self.fighters, self.field)
        return [(target, self.damage(place, option.move, target)) for target in places]

    def damage(self, place: int, move: MoveFacts, target: int) -> Damage:
        """Return the damage of a move to who stands at another place."""
        return self.damage_of(self.fighters[place], place, move, target)

    def damage_of(self, user: Fighter | None, place: int, move: MoveFacts, target: int) -> Damage:
        """Return the damage of a move of who stands, or would stand, at a place."""
        other, ally = self.fighters[target], self.fighters[place ^ 1]
        assert user is not None and other is not None
        foes = [self.fighters[foe] for foe in PLACES if foe & 2 != place & 2 and self.fighters[foe] is not None]
        by = beside(move, user, other, ally, [foe for foe in foes if foe is not None], self.field)
        sides = self.field.sides
        return damage(user, other, move, self.field, sides[target >> 1], sides[place >> 1], by)
