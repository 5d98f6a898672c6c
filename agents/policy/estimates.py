"""What two Pokémon would do to each other, by the rules' damage formula: quick enough for every pair at every decision.

The formula is asked once for two Pokémon that are well and unboosted, on an empty field, and remembered. Boosts, burns,
paralysis and screens come as factors on top of that. Weather, terrain and what hangs on the HP that are left are not in it.
What the opponent's Pokémon carries is guessed from what it has shown and the published sets, as the rules guess it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from poke_env.battle.effect import Effect
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.side_condition import SideCondition
from poke_env.battle.status import Status

from agents.battle import SeatBattle
from agents.heuristics.damage import damage
from agents.heuristics.fighters import STAGES, Conditions, Fighter, foe_fighter, own_fighter
from agents.heuristics.modifiers import speed
from agents.heuristics.moves import move_facts
from agents.heuristics.type_chart import effectiveness
from agents.policy.vocabulary import move_word

#: So many Pokémon (and pairs of them) are remembered.
_REMEMBERED = 20_000
#: Where there is no estimate for a move.
NO_MOVE = [0.0, 0.0, 0.0, 0.0, 1 / 4, 0.0]
#: More than this share of the HP is all the same.
_MOST = 1.5


@dataclass(frozen=True, slots=True)
class _Hit:
    """One move on a healthy target, in fractions of its maximum HP.

    kind: 0 physical, 1 special. mean: with its misses. factor: of the types, 1 for a status move. same_type: as its user.
    """

    kind: int
    low: float
    high: float
    mean: float
    factor: float
    same_type: bool


@dataclass(frozen=True, slots=True)
class _Known:
    """A Pokémon that is well. body: a number for all that is alike but for the moves, which most often change."""

    fighter: Fighter
    body: int
    speed: float


class _Hits:
    """What a move of one Pokémon does to another, remembered whatever else the two know."""

    def __init__(self) -> None:
        self._bodies: dict[Fighter, tuple[int, float]] = {}
        self._found: dict[tuple[int, int, str], _Hit] = {}

    def known(self, fighter: Fighter) -> _Known:
        body = replace(fighter, moves=())
        found = self._bodies.get(body)
        if found is None:
            found = self._bodies[body] = len(self._bodies), speed(body, _empty_field(fighter.gen), {})
        return _Known(fighter, *found)

    def hit(self, attacker: _Known, defender: _Known, name: str) -> _Hit:
        key = attacker.body, defender.body, name
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = _hit(attacker.fighter, defender.fighter, name)
        return found


@lru_cache(maxsize=16)
def _empty_field(gen: int) -> Conditions:
    return Conditions(gen, "", "", False, ({}, {}))


def _hit(attacker: Fighter, defender: Fighter, name: str) -> _Hit:
    move = move_facts(name, attacker.gen)
    done = damage(attacker, defender, move, _empty_field(attacker.gen), {})
    return _Hit(
        int(move.category == "special"),
        done.low,
        done.high,
        done.mean * move.accuracy,
        effectiveness(attacker.gen, move.type, defender.types) if move.damages else 1.0,
        move.type in attacker.types,
    )


class _Pair:
    """One of ours and one of theirs.

    best, worst: (physical, special), the most that the moves of ours and of theirs may be expected to take.
    """

    def __init__(self, ours: _Known, theirs: _Known, hits: _Hits) -> None:
        self._ours, self._theirs, self._hits = ours, theirs, hits
        self.best, self.worst = [0.0, 0.0], [0.0, 0.0]
        for move, _ in ours.fighter.moves:
            hit = self.hit(move.id)
            self.best[hit.kind] = max(self.best[hit.kind], hit.mean)
        for move, chance in theirs.fighter.moves:
            taken = hits.hit(theirs, ours, move.id)
            self.worst[taken.kind] = max(self.worst[taken.kind], taken.mean * chance)

    def hit(self, name: str) -> _Hit:
        """What a move of ours does, one that it has only copied included."""
        return self._hits.hit(self._ours, self._theirs, name)


@dataclass(frozen=True, slots=True)
class Standing:
    """A Pokémon as it stands: which one (a number for what never changes), its factors, the HP that it has left.

    attack, wall: (physical, special), of what it deals and of what it takes. pace: of its speed.
    """

    number: int
    attack: tuple[float, float]
    wall: tuple[float, float]
    pace: float
    hp: float


@dataclass(frozen=True, slots=True)
class Side:
    """What lies over a side as factors. wall: (physical, special), of what its Pokémon take. pace: of their speed."""

    wall: tuple[float, float] = (1.0, 1.0)
    pace: float = 1.0


_BARE = Side()


def side_factors(conditions: dict[SideCondition, int]) -> Side:
    """The factors of side conditions."""
    if not conditions:
        return _BARE
    veiled = SideCondition.AURORA_VEIL in conditions
    return Side(
        (
            0.5 if veiled or SideCondition.REFLECT in conditions else 1.0,
            0.5 if veiled or SideCondition.LIGHT_SCREEN in conditions else 1.0,
        ),
        2.0 if SideCondition.TAILWIND in conditions else 1.0,
    )


class Estimates:
    """Remembers Pokémon and pairs of them. What `standing` gave means nothing any more once it was emptied."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._fighters: list[_Known] = []
        self._pairs: dict[tuple[int, int], _Pair] = {}
        self._hits = _Hits()

    @property
    def full(self) -> bool:
        return len(self._fighters) > _REMEMBERED or len(self._pairs) > _REMEMBERED

    def standing(self, mon: Pokemon, entry: dict[str, Any] | None, battle: SeatBattle) -> Standing:
        """How a Pokémon stands. entry: of the request, for one of ours; None for one of theirs."""
        if entry is not None:
            key = (
                battle.gen, mon.species, mon.level, mon.max_hp, mon.item, mon.ability, entry.get("terastallized"),
                *map(id, mon.types), *entry["moves"], *entry["stats"].values(),
            )  # fmt: skip
        else:
            key = (
                battle.format_id, mon.species, mon.level, mon.item, mon.ability, mon.is_terastallized,
                id(mon.tera_type), *map(id, mon.types), *mon.moves,
            )  # fmt: skip
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._fighters)
            self._fighters.append(self._hits.known(_well(mon, entry, battle)))
        return _standing(number, mon)

    def _pair(self, ours: Standing, theirs: Standing) -> _Pair:
        key = ours.number, theirs.number
        found = self._pairs.get(key)
        if found is None:
            found = self._pairs[key] = _Pair(self._fighters[ours.number], self._fighters[theirs.number], self._hits)
        return found

    def of_ours(self, one: Standing, own: Side, foe: Standing, other: Side) -> list[float]:
        """The numbers of one of ours against one of theirs: 1; what it must fear, of its maximum and of its HP left; what
        it can do, of the other's maximum and HP left; whether it is faster."""
        fear, hope, faster = self._odds(one, own, foe, other)
        return [1.0, min(fear, _MOST), _of_left(fear, one.hp), min(hope, _MOST), _of_left(hope, foe.hp), float(faster)]

    def of_theirs(self, one: Standing, own: Side, foe: Standing, other: Side) -> list[float]:
        """The same of theirs against ours."""
        hope, fear, slower = self._odds(one, own, foe, other)
        return [
            1.0,
            min(fear, _MOST),
            _of_left(fear, foe.hp),
            min(hope, _MOST),
            _of_left(hope, one.hp),
            float(not slower),
        ]

    def _odds(self, one: Standing, own: Side, foe: Standing, other: Side) -> tuple[float, float, bool]:
        """What one of ours must fear, and what it can do, of the maximum HP; whether it is faster."""
        pair = self._pair(one, foe)
        (a, b), (c, d) = one.wall, own.wall
        (e, f), (g, h) = foe.wall, other.wall
        fear = max(pair.worst[0] * foe.attack[0] * a * c, pair.worst[1] * foe.attack[1] * b * d)
        hope = max(pair.best[0] * one.attack[0] * e * g, pair.best[1] * one.attack[1] * f * h)
        ours, theirs = self._fighters[one.number].speed, self._fighters[foe.number].speed
        return fear, hope, ours * one.pace * own.pace > theirs * foe.pace * other.pace

    def of_move(self, move: str, own: Standing, foe: Standing, other: Side) -> list[float]:
        """The numbers of our move: what it may be expected to take of their maximum, and of their HP left; whether it
        can knock out, and whether it must when it hits (criticals apart); the factor of the types; whether it is of a type
        of its user."""
        hit = self._pair(own, foe).hit(move_word(move))
        factor = own.attack[hit.kind] * foe.wall[hit.kind] * other.wall[hit.kind]
        mean = hit.mean * factor
        return [
            min(mean, _MOST),
            _of_left(mean, foe.hp),
            float(hit.high * factor >= foe.hp > 0),
            float(hit.low * factor >= foe.hp > 0),
            hit.factor / 4,
            float(hit.same_type),
        ]


def _well(mon: Pokemon, entry: dict[str, Any] | None, battle: SeatBattle) -> Fighter:
    """The Pokémon as it would be with nothing done to it, and with all its moves."""
    if entry is None:
        fighter = foe_fighter(mon, battle)
    else:
        moves = tuple((move_facts(move_word(move), battle.gen), 1.0) for move in entry["moves"])
        fighter = replace(own_fighter(mon, battle), moves=moves)
    return replace(
        fighter, boosts=(), hp=1.0, status="", effects=frozenset(), first_turn=False, must_recharge=False, slept=0
    )


def _of_left(damage: float, hp: float) -> float:
    return min(damage / hp, _MOST) if hp > 0 else 0.0


def _standing(number: int, mon: Pokemon) -> Standing:
    attack, special_attack, wall, special_wall, pace = 1.0, 1.0, 1.0, 1.0, 1.0
    if mon.active:
        boosts = mon.boosts
        attack, special_attack = STAGES[boosts["atk"]], STAGES[boosts["spa"]]
        wall, special_wall = 1 / STAGES[boosts["def"]], 1 / STAGES[boosts["spd"]]
        pace = STAGES[boosts["spe"]]
        if (
            Effect.REFLECT in mon.effects
        ):  # generation 1's: poke-env knows it of the Pokémon, and its Light Screen not at all
            wall /= 2
    status = mon.status
    if status is Status.BRN and mon.ability != "guts":
        attack /= 2
    elif status is Status.PAR and mon.ability != "quickfeet":
        pace *= 0.25 if mon.gen <= 6 else 0.5
    hp = 0.0 if mon.fainted else mon.current_hp_fraction if mon.max_hp else 1.0
    return Standing(number, (attack, special_attack), (wall, special_wall), pace, hp)
