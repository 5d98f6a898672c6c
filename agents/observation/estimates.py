"""Estimates of the damage that two Pokémon deal to each other, fast enough for all pairs at every decision.

The damage formula (agents/observation/unrounded_damage.py) is evaluated once for two healthy, unboosted Pokémon on an empty
field, and cached. Boosts, burn, paralysis and screens are applied as factors. Weather, terrain and effects of the remaining
HP are ignored. After Transform the stats are the Pokémon's own, as in agents/observation/engine_estimates.py. Unknown moves
and items of the opponent's Pokémon are estimated from published sets, as by the heuristic players.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from struct import Struct
from typing import Any, NamedTuple

from poke_env.battle.effect import Effect
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.side_condition import SideCondition
from poke_env.battle.status import Status
from poke_env.data import to_id_str

from agents.battle.seat_view import SeatView
from agents.mechanics.fighters import (
    STAGES,
    Fighter,
    Loadout,
    empty_field,
    foe_loadout,
    own_loadout,
    well_fighter,
)
from agents.mechanics.modifiers import speed
from agents.mechanics.moves import MoveFacts, move_facts
from agents.mechanics.type_chart import effectiveness
from agents.observation.unrounded_damage import NOTHING, CachedStrike, StrikeTarget

#: Maximum number of cached pairs (attacker, defender).
_MAX_CACHED_PAIRS = 40_000
#: Features of a move, and of a Pokémon, without an estimate.
NO_MOVE: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 1 / 4, 0.0)
_ROW = Struct("=6f").pack
NO_ESTIMATE = _ROW(*(0.0,) * 6)
#: Damage is clipped to this fraction of the HP.
_MAX_DAMAGE = 1.5


class Attack:
    """A move of a healthy Pokémon. kind: 0 physical, 1 special. same_type: it gets the same-type attack bonus.

    damages: defender's number -> cached result of `on`. strike: None for a status move.
    """

    __slots__ = ("damages", "kind", "move", "same_type", "strike")

    def __init__(self, user: Fighter, move: MoveFacts) -> None:
        self.move, self.kind, self.same_type = move, int(move.category == "special"), move.type in user.types
        self.strike = CachedStrike(user, move) if move.damages else None
        self.damages: dict[int, tuple[float, float, float]] = {}

    def on(self, defender: Combatant) -> tuple[float, float, float]:
        """Return the damage to a healthy defender if it hits: (minimum, maximum, mean), as fractions of its maximum HP.

        The result is cached in `damages`.
        """
        found = NOTHING if self.strike is None else self.strike.against(defender.target)
        self.damages[defender.number] = found
        return found

    def factor(self, defender: Combatant) -> float:
        """Return the type effectiveness; 1 for a status move."""
        return (
            1.0 if self.strike is None else effectiveness(defender.fighter.gen, self.move.type, defender.target.types)
        )


@dataclass(slots=True)
class Combatant:
    """A healthy Pokémon, apart from its moves, which change most often. attacks: move id -> cached attack."""

    fighter: Fighter
    target: StrikeTarget
    number: int
    speed: float
    attacks: dict[str, Attack] = field(default_factory=dict)

    def attack(self, move: str) -> Attack:
        cached = self.attacks.get(move)
        if cached is None:
            cached = self.attacks[move] = Attack(self.fighter, move_facts(move, self.fighter.gen))
        return cached


@dataclass(slots=True)
class KnownPokemon:
    """A Pokémon as far as it is known.

    attacks: its damaging moves as (attack, its `damages`, kind, accuracy, probability that it has the move). most:
    defender's number -> cached maximum expected damage (physical, special).
    """

    combatant: Combatant
    attacks: list[tuple[Attack, dict[int, tuple[float, float, float]], int, float, float]]
    most: dict[int, tuple[float, float]] = field(default_factory=dict)


class ActivePokemon(NamedTuple):
    """A Pokémon's current state.

    attack, wall: factors (physical, special) of the damage that it deals, and takes. pace: factor of its speed. hp: fraction
    of its HP that is left.
    """

    known: KnownPokemon
    attack: tuple[float, float]
    wall: tuple[float, float]
    pace: float
    hp: float


class SideFactors(NamedTuple):
    """A side's conditions as factors. wall: (physical, special), of the damage its Pokémon take. pace: of their speed."""

    wall: tuple[float, float] = (1.0, 1.0)
    pace: float = 1.0


_BARE = SideFactors()
# Enum members are singletons and slow to hash, so they are looked up by id().
_VEIL, _REFLECT, _LIGHT_SCREEN, _TAILWIND = map(
    id, (SideCondition.AURORA_VEIL, SideCondition.REFLECT, SideCondition.LIGHT_SCREEN, SideCondition.TAILWIND)
)


def side_factors(conditions: dict[SideCondition, int]) -> SideFactors:
    """Return the factors of side conditions."""
    if not conditions:
        return _BARE
    held = set(map(id, conditions))
    return SideFactors(
        (
            0.5 if _VEIL in held or _REFLECT in held else 1.0,
            0.5 if _VEIL in held or _LIGHT_SCREEN in held else 1.0,
        ),
        2.0 if _TAILWIND in held else 1.0,
    )


class Estimates:
    """A cache of Pokémon and of the damage that they deal to each other."""

    def __init__(self) -> None:
        self._combatants: dict[tuple[Any, ...], Combatant] = {}
        self._pairs = 0

    @property
    def full(self) -> bool:
        """True if the cache has reached its limit and should be replaced."""
        return self._pairs > _MAX_CACHED_PAIRS

    def known(self, mon: Pokemon, moves_listed: Sequence[str] | None, battle: SeatView) -> KnownPokemon:
        """Return a Pokémon as far as it is known now. moves_listed: move ids for one of ours; None for one of theirs."""
        if moves_listed is None:
            loadout, moves = foe_loadout(mon, battle, as_copied=False)
        else:
            loadout = own_loadout(mon, battle, as_copied=False)
            moves = tuple((to_id_str(move), 1.0) for move in moves_listed)
        combatant = self._combatant(mon, battle.gen, loadout)
        attacks = []
        for name, chance in moves:
            attack = combatant.attack(name)
            if attack.move.damages:
                attacks.append((attack, attack.damages, attack.kind, attack.move.accuracy, chance))
        return KnownPokemon(combatant, attacks)

    def _combatant(self, mon: Pokemon, gen: int, loadout: Loadout) -> Combatant:
        types = map(id, (mon._terastallized_type, mon._type_1, mon._type_2, *mon._temporary_types))  # see `_VEIL`
        roosts = bool(mon._effects) and Effect.ROOST in mon._effects
        key = gen, mon._species, mon._level, mon._weightkg, mon._terastallized, roosts, *types, loadout
        cached = self._combatants.get(key)
        if cached is None:
            fighter = well_fighter(mon, gen, loadout)
            quickness = speed(fighter, empty_field(gen), {})
            cached = self._combatants[key] = Combatant(fighter, StrikeTarget(fighter), len(self._combatants), quickness)
        return cached

    def rows(
        self, many: Iterable[ActivePokemon | None], near: SideFactors, foe: ActivePokemon, far: SideFactors, first: bool
    ) -> list[bytes]:
        """Return six float32 for each Pokémon of a side against the opponent's active one; zeros for None.

        They are 1; the maximum expected damage that it takes, as a fraction of its maximum HP and of its remaining HP; the
        same for the damage that it deals; whether it is faster. near, far: conditions of its side and of the other. first:
        whether it counts as faster at equal speed.
        """
        foe_known, (hits, special_hits), foe_wall, foe_pace, foe_hp = foe
        near_wall, near_special_wall = near.wall
        wall, special_wall = foe_wall[0] * far.wall[0], foe_wall[1] * far.wall[1]
        theirs, foe_most, near_pace = foe_known.combatant, foe_known.most, near.pace
        number, pace = theirs.number, theirs.speed * foe_pace * far.pace
        out, most = [], _MAX_DAMAGE
        for mon in many:
            if mon is None:
                out.append(NO_ESTIMATE)
                continue
            known, (attack, special_attack), (own_wall, own_special_wall), own_pace, hp = mon
            ours = known.combatant
            received = foe_most.get(ours.number) or self._deals(foe_known, ours)
            dealt = known.most.get(number) or self._deals(known, theirs)
            damage_taken, damage_dealt = received[0] * hits * own_wall * near_wall, dealt[0] * attack * wall
            special_damage_taken = received[1] * special_hits * own_special_wall * near_special_wall
            special_damage_dealt = dealt[1] * special_attack * special_wall
            if special_damage_taken > damage_taken:
                damage_taken = special_damage_taken
            if special_damage_dealt > damage_dealt:
                damage_dealt = special_damage_dealt
            own_pace *= ours.speed * near_pace
            taken_of_left, dealt_of_left = (
                damage_taken / hp if hp > 0 else 0.0,
                damage_dealt / foe_hp if foe_hp > 0 else 0.0,
            )
            out.append(
                _ROW(
                    1.0,
                    damage_taken if damage_taken < most else most,
                    taken_of_left if taken_of_left < most else most,
                    damage_dealt if damage_dealt < most else most,
                    dealt_of_left if dealt_of_left < most else most,
                    own_pace > pace or (first and own_pace == pace),
                )
            )
        return out

    def _deals(self, attacker: KnownPokemon, defender: Combatant) -> tuple[float, float]:
        most, number = [0.0, 0.0], defender.number
        for attack, damages, kind, accuracy, chance in attacker.attacks:
            _, _, mean = damages.get(number) or attack.on(defender)
            expected = mean * accuracy * chance
            if expected > most[kind]:
                most[kind] = expected
        found = attacker.most[number] = most[0], most[1]
        self._pairs += 1
        return found


def of_move(
    move: str, own: ActivePokemon, foe: ActivePokemon, other: SideFactors, share: float = 1.0
) -> tuple[float, ...]:
    """Return six features of our move (which may be a copied one).

    They are the expected damage as a fraction of the target's maximum HP and of its remaining HP; whether it can, and
    whether it must knock out if it hits (without critical hits); the type effectiveness / 4; whether it has the same-type
    bonus. share: of the damage that is left where the move hits several at once.
    """
    attack, theirs, hp = own.known.combatant.attack(move), foe.known.combatant, foe.hp
    low, high, mean = attack.damages.get(theirs.number) or attack.on(theirs)
    kind = attack.kind
    factor = own.attack[kind] * foe.wall[kind] * other.wall[kind] * share
    mean = mean * attack.move.accuracy * factor
    of_left = mean / hp if hp > 0 else 0.0
    return (
        mean if mean < _MAX_DAMAGE else _MAX_DAMAGE,
        of_left if of_left < _MAX_DAMAGE else _MAX_DAMAGE,
        high * factor >= hp > 0,
        low * factor >= hp > 0,
        attack.factor(theirs) / 4,
        attack.same_type,
    )


def health(mon: Pokemon) -> float:
    """Return the fraction of a Pokémon's HP that is left; 0 if unknown."""
    hp, most = mon._current_hp, mon._max_hp
    return hp / most if hp and most else 0.0


def standing(known: KnownPokemon, mon: Pokemon, hp: float) -> ActivePokemon:
    """Return a Pokémon's current state. hp: the fraction that is left."""
    attack, special_attack, wall, special_wall, pace = 1.0, 1.0, 1.0, 1.0, 1.0
    if mon._active:
        boosts = mon._boosts
        attack, special_attack = STAGES[boosts["atk"]], STAGES[boosts["spa"]]
        wall, special_wall = 1 / STAGES[boosts["def"]], 1 / STAGES[boosts["spd"]]
        pace = STAGES[boosts["spe"]]
        # In generation 1 poke-env has Reflect as an effect of the Pokémon, and does not track Light Screen.
        if mon._effects and Effect.REFLECT in mon._effects:
            wall /= 2
    status = mon._status
    if status is None:
        return ActivePokemon(known, (attack, special_attack), (wall, special_wall), pace, hp if mon._max_hp else 1.0)
    if status is Status.BRN and mon.ability != "guts":
        attack /= 2
    elif status is Status.PAR and mon.ability != "quickfeet":
        pace *= 0.25 if mon.gen <= 6 else 0.5
    left = 0.0 if status is Status.FNT else hp if mon._max_hp else 1.0
    return ActivePokemon(known, (attack, special_attack), (wall, special_wall), pace, left)
