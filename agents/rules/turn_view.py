"""A request as most rules use it: both active fighters, the field, and each legal move with its damage."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from poke_env.battle.pokemon import Pokemon

from agents.battle import SeatBattle
from agents.battle.choices import Choice
from agents.mechanics.damage import NOTHING, Damage, damage
from agents.mechanics.fighters import Conditions, Fighter, conditions, foe_fighter, own_fighter
from agents.mechanics.modifiers import speed
from agents.mechanics.moves import MoveFacts, facts_of
from agents.mechanics.type_chart import effectiveness
from agents.rules.options import move_options, switch_options


@dataclass(frozen=True, slots=True)
class MoveOption:
    """A legal move: the choice, its facts, and its damage to the opponent's active Pokémon (fractions of its HP)."""

    choice: Choice
    move: MoveFacts
    damage: Damage

    @property
    def expected(self) -> float:
        """Mean damage, misses included."""
        return self.damage.mean * self.move.accuracy


@dataclass(frozen=True, slots=True)
class SwitchOption:
    """A legal switch: the choice, poke-env's Pokémon and the fighter that would come in."""

    choice: Choice
    mon: Pokemon
    fighter: Fighter


class TurnView:
    """One request for the rules, computed lazily."""

    def __init__(self, battle: SeatBattle) -> None:
        self.battle = battle
        self.field: Conditions = conditions(battle)

    @cached_property
    def me(self) -> Fighter | None:
        """Our active fighter; None before the first Pokémon has entered."""
        mon = self.battle.active_pokemon
        return own_fighter(mon, self.battle) if mon is not None else None

    @cached_property
    def foe(self) -> Fighter | None:
        """The opponent's active fighter; None when it is unknown or has fainted."""
        mon = self.battle.opponent_active_pokemon
        return foe_fighter(mon, self.battle) if mon is not None and not mon.fainted else None

    @cached_property
    def moves(self) -> list[MoveOption]:
        """The legal moves (without once-a-battle extras)."""
        return [
            MoveOption(choice, facts, self._damage_to_foe(facts))
            for choice, facts in ((choice, facts_of(move)) for choice, move in move_options(self.battle))
        ]

    def _damage_to_foe(self, move: MoveFacts) -> Damage:
        if self.me is None or self.foe is None:
            return NOTHING
        return damage(self.me, self.foe, move, self.field, self.field.sides[1], self.field.sides[0])

    @cached_property
    def switches(self) -> list[SwitchOption]:
        """The legal switches."""
        return [SwitchOption(choice, mon, own_fighter(mon, self.battle)) for choice, mon in switch_options(self.battle)]

    def threat(self, target: Fighter) -> float:
        """Return the mean damage of the opponent's best move against one of ours, times the probability of having it."""
        if self.foe is None:
            return 0.0
        mine, theirs = self.field.sides
        return max(
            (damage(self.foe, target, m, self.field, mine, theirs).mean * m.accuracy * c for m, c in self.foe.moves),
            default=0.0,
        )

    def reach(self, fighter: Fighter) -> float:
        """Return the mean damage of one of ours' best move against the opponent's active Pokémon."""
        if self.foe is None:
            return 0.0
        mine, theirs = self.field.sides
        return max(
            (damage(fighter, self.foe, m, self.field, theirs, mine).mean * m.accuracy for m, _ in fighter.moves),
            default=0.0,
        )

    def faster(self, fighter: Fighter) -> bool:
        """Return whether one of ours would move before the opponent's active Pokémon, at equal priority."""
        if self.foe is None:
            return True
        own, other = speed(fighter, self.field, self.field.sides[0]), speed(self.foe, self.field, self.field.sides[1])
        return own < other if self.field.trick_room else own > other

    def type_edge(self, fighter: Fighter) -> float:
        """Return the type matchup: best effectiveness of our types minus that of theirs (-4 to 4)."""
        if self.foe is None:
            return 0.0
        gen = fighter.gen
        attack = max(effectiveness(gen, kind, self.foe.types) for kind in fighter.types)
        return attack - max(effectiveness(gen, kind, fighter.types) for kind in self.foe.types)


def strongest(options: list[MoveOption]) -> MoveOption:
    """Return the option with the maximum expected damage; the first of equals. `options` must not be empty."""
    return max(options, key=lambda option: option.expected)


def best_answer(view: TurnView) -> SwitchOption:
    """Return the switch with the maximum of damage dealt - damage taken + 0.3 · HP. `view.switches` must not be empty."""
    return max(view.switches, key=lambda s: view.reach(s.fighter) - view.threat(s.fighter) + 0.3 * s.fighter.hp)
