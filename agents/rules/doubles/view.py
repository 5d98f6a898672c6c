"""A request of doubles as rules use it: who stands at the four places, each slot's choices, and the damage between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from poke_env.battle.pokemon import Pokemon

from agents.battle import SeatDoubleBattle
from agents.battle.choices import Choice
from agents.mechanics.damage import Damage
from agents.mechanics.fighters import Fighter, conditions, foe_fighter, own_fighter
from agents.mechanics.moves import MoveFacts, facts_of
from agents.rules.doubles.places import damage_at, place_of, struck
from agents.rules.options import moves_of, switches_of


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
        options = []
        for choice, move in moves_of(self.choices(slot), mon.moves, self.battle.gen, extras):
            aimed = place_of(slot, choice.target) if choice.target else None
            if aimed is None or self.mons[aimed] is not None or self.mons[aimed ^ 1] is None:
                options.append(MoveChoice(choice, facts_of(move), aimed))
        return options

    def switches(self, slot: int) -> list[tuple[Choice, Pokemon]]:
        """Return a slot's legal switches, each with the incoming Pokémon."""
        return switches_of(self.choices(slot), self.battle)

    def hits(self, place: int, option: MoveChoice) -> list[tuple[int, Damage]]:
        """Return the places that a damaging move hits, each with its damage there."""
        if not option.move.damages:
            return []
        places = struck(place, option.move, option.aimed, self.fighters, self.field)
        user = self.fighters[place]
        assert user is not None
        return [(target, damage_at(user, place, target, option.move, self.fighters, self.field)) for target in places]
