"""What two Pokémon would do to each other, by the rules' damage formula: quick enough for every pair at every decision.

The formula is asked once for two Pokémon that are well and unboosted, on an empty field, and remembered. Boosts, burns,
paralysis and screens come as factors on top of that. Weather, terrain and what depends on the HP left are not in it.
What the opponent's Pokémon carries is guessed from what it has shown and the published sets, as the rules guess it.
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

from agents.battle import SeatBattle
from agents.mechanics.damage import NOTHING, Target, WellStrike, empty_field
from agents.mechanics.fighters import STAGES, Fighter, Loadout, foe_loadout, own_loadout, well_fighter
from agents.mechanics.modifiers import speed
from agents.mechanics.moves import MoveFacts, move_facts
from agents.mechanics.type_chart import effectiveness

#: So many pairs of Pokémon are remembered: what the one does to the other.
_REMEMBERED = 40_000
#: Where there is no estimate for a move, and none for a Pokémon.
NO_MOVE: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 1 / 4, 0.0)
_ROW = Struct("=6f").pack
NO_ESTIMATE = _ROW(*(0.0,) * 6)
#: More than this share of the HP is all the same.
_MOST = 1.5


class _Attack:
    """A move of a Pokémon that is well. kind: 0 physical, 1 special. same_type: whether it is of a type of its user.
    damages: by the numbers of others' bodies, what `on` has found."""

    __slots__ = ("_strike", "damages", "kind", "move", "same_type")

    def __init__(self, user: Fighter, move: MoveFacts) -> None:
        self.move, self.kind, self.same_type = move, int(move.category == "special"), move.type in user.types
        self._strike = WellStrike(user, move) if move.damages else None
        self.damages: dict[int, tuple[float, float, float]] = {}

    def on(self, defender: _Body) -> tuple[float, float, float]:
        """What it does to another that is well, misses apart: (least, most, mean). It stands in `damages` from then on."""
        found = NOTHING if self._strike is None else self._strike.against(defender.target)
        self.damages[defender.number] = found
        return found

    def factor(self, defender: _Body) -> float:
        """Of the types; 1 for a status move."""
        return (
            1.0 if self._strike is None else effectiveness(defender.fighter.gen, self.move.type, defender.target.types)
        )


@dataclass(slots=True)
class _Body:
    """A Pokémon that is well, but for its moves, which most often change. attacks: by the ids of those used as yet."""

    fighter: Fighter
    target: Target
    number: int
    speed: float
    attacks: dict[str, _Attack] = field(default_factory=dict)

    def attack(self, move: str) -> _Attack:
        found = self.attacks.get(move)
        if found is None:
            found = self.attacks[move] = _Attack(self.fighter, move_facts(move, self.fighter.gen))
        return found


@dataclass(slots=True)
class Known:
    """A Pokémon as it is known. attacks: its moves that do damage, with their `damages`, kind and accuracy, and the chance
    that it has them. most: by the number of another's body, (physical, special): the most that they may be expected to take
    from it, as far as it was asked."""

    body: _Body
    attacks: list[tuple[_Attack, dict[int, tuple[float, float, float]], int, float, float]]
    most: dict[int, tuple[float, float]] = field(default_factory=dict)


class Standing(NamedTuple):
    """A Pokémon as it stands: as it is known, its factors, the share of its HP that is left.

    attack, wall: (physical, special), of what it deals and of what it takes. pace: of its speed.
    """

    known: Known
    attack: tuple[float, float]
    wall: tuple[float, float]
    pace: float
    hp: float


class Side(NamedTuple):
    """What lies over a side as factors. wall: (physical, special), of what its Pokémon take. pace: of their speed."""

    wall: tuple[float, float] = (1.0, 1.0)
    pace: float = 1.0


_BARE = Side()
# The members of an enumeration are hashed slowly, and there is one of each: which one it is says as much.
_VEIL, _REFLECT, _LIGHT_SCREEN, _TAILWIND = map(
    id, (SideCondition.AURORA_VEIL, SideCondition.REFLECT, SideCondition.LIGHT_SCREEN, SideCondition.TAILWIND)
)


def side_factors(conditions: dict[SideCondition, int]) -> Side:
    """The factors of side conditions."""
    if not conditions:
        return _BARE
    held = set(map(id, conditions))
    return Side(
        (
            0.5 if _VEIL in held or _REFLECT in held else 1.0,
            0.5 if _VEIL in held or _LIGHT_SCREEN in held else 1.0,
        ),
        2.0 if _TAILWIND in held else 1.0,
    )


class Estimates:
    """Remembers Pokémon and what they do to each other."""

    def __init__(self) -> None:
        self._bodies: dict[tuple[Any, ...], _Body] = {}
        self._pairs = 0

    @property
    def full(self) -> bool:
        """Whether so many pairs are remembered that it had better begin anew."""
        return self._pairs > _REMEMBERED

    def known(self, mon: Pokemon, moves_listed: Sequence[str] | None, battle: SeatBattle) -> Known:
        """A Pokémon as it is known now. moves_listed: the ids of its moves, for one of ours; None for one of theirs."""
        if moves_listed is None:
            loadout, moves = foe_loadout(mon, battle)
        else:
            loadout, moves = own_loadout(mon, battle), tuple((to_id_str(move), 1.0) for move in moves_listed)
        body = self._body(mon, battle.gen, loadout)
        attacks = []
        for name, chance in moves:
            attack = body.attack(name)
            if attack.move.damages:
                attacks.append((attack, attack.damages, attack.kind, attack.move.accuracy, chance))
        return Known(body, attacks)

    def _body(self, mon: Pokemon, gen: int, loadout: Loadout) -> _Body:
        types = map(id, (mon._terastallized_type, mon._type_1, mon._type_2, *mon._temporary_types))  # see `_VEIL`
        key = gen, mon._species, mon._level, mon._weightkg, mon._terastallized, *types, loadout
        found = self._bodies.get(key)
        if found is None:
            fighter = well_fighter(mon, gen, loadout)
            quickness = speed(fighter, empty_field(gen), {})
            found = self._bodies[key] = _Body(fighter, Target(fighter), len(self._bodies), quickness)
        return found

    def rows(self, many: Iterable[Standing | None], near: Side, foe: Standing, far: Side, first: bool) -> list[bytes]:
        """Of each of a side's Pokémon against the other's on the field, six float32: 1; what it must fear, of its
        maximum HP and of what is left of it; what it can do, of the other's; whether it is faster. Zeros for None.

        near, far: what lies over its side and over the other's. first: whether it counts as faster where both are as fast.
        """
        foe_known, (hits, special_hits), foe_wall, foe_pace, foe_hp = foe
        near_wall, near_special_wall = near.wall
        wall, special_wall = foe_wall[0] * far.wall[0], foe_wall[1] * far.wall[1]
        theirs, foe_most, near_pace = foe_known.body, foe_known.most, near.pace
        number, pace = theirs.number, theirs.speed * foe_pace * far.pace
        out, most = [], _MOST
        for one in many:
            if one is None:
                out.append(NO_ESTIMATE)
                continue
            known, (attack, special_attack), (own_wall, own_special_wall), own_pace, hp = one
            ours = known.body
            taken = foe_most.get(ours.number) or self._deals(foe_known, ours)
            dealt = known.most.get(number) or self._deals(known, theirs)
            fear, hope = taken[0] * hits * own_wall * near_wall, dealt[0] * attack * wall
            special_fear = taken[1] * special_hits * own_special_wall * near_special_wall
            special_hope = dealt[1] * special_attack * special_wall
            if special_fear > fear:
                fear = special_fear
            if special_hope > hope:
                hope = special_hope
            own_pace *= ours.speed * near_pace
            fear_of_left, hope_of_left = fear / hp if hp > 0 else 0.0, hope / foe_hp if foe_hp > 0 else 0.0
            out.append(
                _ROW(
                    1.0,
                    fear if fear < most else most,
                    fear_of_left if fear_of_left < most else most,
                    hope if hope < most else most,
                    hope_of_left if hope_of_left < most else most,
                    own_pace > pace or (first and own_pace == pace),
                )
            )
        return out

    def _deals(self, attacker: Known, defender: _Body) -> tuple[float, float]:
        most, number = [0.0, 0.0], defender.number
        for attack, damages, kind, accuracy, chance in attacker.attacks:
            _, _, mean = damages.get(number) or attack.on(defender)
            expected = mean * accuracy * chance
            if expected > most[kind]:
                most[kind] = expected
        found = attacker.most[number] = most[0], most[1]
        self._pairs += 1
        return found


def of_move(move: str, own: Standing, foe: Standing, other: Side) -> tuple[float, ...]:
    """The numbers of our move: what it may be expected to take of their maximum, and of their HP left; whether it can knock
    out, and whether it must when it hits (criticals apart); the factor of the types; whether it is of a type of its user. It
    may be one that was only copied."""
    attack, theirs, hp = own.known.body.attack(move), foe.known.body, foe.hp
    low, high, mean = attack.damages.get(theirs.number) or attack.on(theirs)
    kind = attack.kind
    factor = own.attack[kind] * foe.wall[kind] * other.wall[kind]
    mean = mean * attack.move.accuracy * factor
    of_left = mean / hp if hp > 0 else 0.0
    return (
        mean if mean < _MOST else _MOST,
        of_left if of_left < _MOST else _MOST,
        high * factor >= hp > 0,
        low * factor >= hp > 0,
        attack.factor(theirs) / 4,
        attack.same_type,
    )


def health(mon: Pokemon) -> float:
    """The share of its HP that is left; 0 where nothing is known of it."""
    hp, most = mon._current_hp, mon._max_hp
    return hp / most if hp and most else 0.0


def standing(known: Known, mon: Pokemon, hp: float) -> Standing:
    """How a Pokémon stands. hp: the share that is left."""
    attack, special_attack, wall, special_wall, pace = 1.0, 1.0, 1.0, 1.0, 1.0
    if mon._active:
        boosts = mon._boosts
        attack, special_attack = STAGES[boosts["atk"]], STAGES[boosts["spa"]]
        wall, special_wall = 1 / STAGES[boosts["def"]], 1 / STAGES[boosts["spd"]]
        pace = STAGES[boosts["spe"]]
        # Generation 1's: poke-env knows it of the Pokémon, and its Light Screen not at all.
        if mon._effects and Effect.REFLECT in mon._effects:
            wall /= 2
    status = mon._status
    if status is None:
        return Standing(known, (attack, special_attack), (wall, special_wall), pace, hp if mon._max_hp else 1.0)
    if status is Status.BRN and mon.ability != "guts":
        attack /= 2
    elif status is Status.PAR and mon.ability != "quickfeet":
        pace *= 0.25 if mon.gen <= 6 else 0.5
    left = 0.0 if status is Status.FNT else hp if mon._max_hp else 1.0
    return Standing(known, (attack, special_attack), (wall, special_wall), pace, left)
