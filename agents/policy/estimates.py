"""What two Pokémon would do to each other, by the rules' damage formula: quick enough for every pair at every decision.

The formula is asked once for two Pokémon that are well and unboosted, on an empty field, and remembered. Boosts, burns,
paralysis and screens come as factors on top of that. Weather, terrain and what hangs on the HP that are left are not in it.
What the opponent's Pokémon carries is guessed from what it has shown and the published sets, as the rules guess it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from struct import Struct
from typing import Any, NamedTuple

from poke_env.battle.effect import Effect
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.side_condition import SideCondition
from poke_env.battle.status import Status

from agents.battle import SeatBattle
from agents.heuristics.damage import Strike
from agents.heuristics.fighters import STAGES, Conditions, Fighter, foe_fighter, own_fighter
from agents.heuristics.modifiers import speed
from agents.heuristics.moves import move_facts
from agents.heuristics.type_chart import effectiveness
from agents.policy.vocabulary import move_word

#: So many Pokémon are remembered, and as many pairs of them, each from both sides.
_REMEMBERED = 20_000
#: Where there is no estimate for a move, and none for a Pokémon.
NO_MOVE: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 1 / 4, 0.0)
_ROW = Struct("=6f").pack
NO_ESTIMATE = _ROW(*(0.0,) * 6)
#: More than this share of the HP is all the same.
_MOST = 1.5


class _Hit(NamedTuple):
    """One move on a healthy target, in fractions of its maximum HP.

    kind: 0 physical, 1 special. mean: with its misses. factor: of the types, 1 for a status move. same_type: as its user.
    """

    kind: int
    low: float
    high: float
    mean: float
    factor: float
    same_type: bool


@dataclass(slots=True)
class _Body:
    """A Pokémon that is well, but for its moves, which most often change. strikes: by the ids of those used as yet."""

    fighter: Fighter
    number: int
    speed: float
    strikes: dict[str, Strike] = field(default_factory=dict)


class _Known(NamedTuple):
    """A Pokémon as it is known. attacks: the ids of its moves that do damage, with the chance that it has them."""

    body: _Body
    attacks: tuple[tuple[str, float], ...]


@lru_cache(maxsize=16)
def _empty_field(gen: int) -> Conditions:
    return Conditions(gen, "", "", False, ({}, {}))


def _hit(attacker: _Body, defender: Fighter, name: str) -> _Hit:
    user = attacker.fighter
    move, gen = move_facts(name, user.gen), user.gen
    kind, same_type = int(move.category == "special"), move.type in user.types
    if not move.damages:
        return _Hit(kind, 0.0, 0.0, 0.0, 1.0, same_type)
    strike = attacker.strikes.get(name)
    if strike is None:
        strike = attacker.strikes[name] = Strike(user, move, _empty_field(gen))
    low, high, mean = strike.on(defender, {})
    return _Hit(kind, low, high, mean * move.accuracy, effectiveness(gen, move.type, defender.types), same_type)


class Standing(NamedTuple):
    """A Pokémon as it stands: its number in `Estimates`, its factors, the share of its HP that is left.

    attack, wall: (physical, special), of what it deals and of what it takes. pace: of its speed.
    """

    number: int
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
    """Remembers Pokémon and what they do to each other.

    Pokémon have numbers (`number`), which mean nothing any more once it was emptied.
    """

    def __init__(self) -> None:
        self._known: list[_Known] = []
        self._bodies: dict[Fighter, _Body] = {}
        self._most: dict[tuple[int, int], tuple[float, float]] = {}
        self._hits: dict[tuple[int, int, str], _Hit] = {}

    @property
    def full(self) -> bool:
        return len(self._known) > _REMEMBERED or len(self._most) > 2 * _REMEMBERED

    def number(self, mon: Pokemon, entry: dict[str, Any] | None, battle: SeatBattle) -> int:
        """A new number for a Pokémon as it is known. entry: of the request, for one of ours; None for one of theirs."""
        if entry is None:
            known = foe_fighter(mon, battle)
            moves = known.moves
        else:
            known = own_fighter(mon, battle)
            moves = tuple((move_facts(move_word(move), battle.gen), 1.0) for move in entry["moves"])
        fighter = _well(known)
        body = self._bodies.get(fighter)
        if body is None:
            body = _Body(fighter, len(self._bodies), speed(fighter, _empty_field(fighter.gen), {}))
            self._bodies[fighter] = body
        self._known.append(_Known(body, tuple((move.id, chance) for move, chance in moves if move.damages)))
        return len(self._known) - 1

    def rows(self, many: Iterable[Standing | None], near: Side, foe: Standing, far: Side, first: bool) -> list[bytes]:
        """Of each of a side's Pokémon against the other's on the field, six float32: 1; what it must fear, of its
        maximum HP and of what is left of it; what it can do, of the other's; whether it is faster. Zeros for None.

        near, far: what lies over its side and over the other's. first: whether it counts as faster where both are as fast.
        """
        number, (hits, special_hits), foe_wall, foe_pace, foe_hp = foe
        near_wall, near_special_wall = near.wall
        wall, special_wall = foe_wall[0] * far.wall[0], foe_wall[1] * far.wall[1]
        known, most = self._known, self._most
        theirs = known[number].body
        pace = theirs.speed * foe_pace * far.pace
        out = []
        for one in many:
            if one is None:
                out.append(NO_ESTIMATE)
                continue
            own_number, (attack, special_attack), (own_wall, own_special_wall), own_pace, hp = one
            ours = known[own_number].body
            taken = most.get((number, ours.number)) or self._deals(number, ours)
            dealt = most.get((own_number, theirs.number)) or self._deals(own_number, theirs)
            fear, hope = taken[0] * hits * own_wall * near_wall, dealt[0] * attack * wall
            special_fear = taken[1] * special_hits * own_special_wall * near_special_wall
            special_hope = dealt[1] * special_attack * special_wall
            if special_fear > fear:
                fear = special_fear
            if special_hope > hope:
                hope = special_hope
            own_pace *= ours.speed * near.pace
            out.append(
                _ROW(
                    1.0,
                    fear if fear < _MOST else _MOST,
                    _of_left(fear, hp),
                    hope if hope < _MOST else _MOST,
                    _of_left(hope, foe_hp),
                    own_pace > pace or (first and own_pace == pace),
                )
            )
        return out

    def _deals(self, attacker: int, defender: _Body) -> tuple[float, float]:
        """(physical, special): the most that a Pokémon's moves may be expected to take from another."""
        body, attacks = self._known[attacker]
        most = [0.0, 0.0]
        for name, chance in attacks:
            hit = self._hit(body, defender, name)
            expected = hit.mean * chance
            if expected > most[hit.kind]:
                most[hit.kind] = expected
        found = self._most[attacker, defender.number] = most[0], most[1]
        return found

    def _hit(self, attacker: _Body, defender: _Body, name: str) -> _Hit:
        """What a move of one does to the other, whatever else the two know."""
        key = attacker.number, defender.number, name
        found = self._hits.get(key)
        if found is None:
            found = self._hits[key] = _hit(attacker, defender.fighter, name)
        return found

    def of_move(self, move: str, own: Standing, foe: Standing, other: Side) -> tuple[float, ...]:
        """The numbers of our move: what it may be expected to take of their maximum, and of their HP left; whether it
        can knock out, and whether it must when it hits (criticals apart); the factor of the types; whether it is of a type
        of its user. It may be one that was only copied."""
        hit = self._hit(self._known[own.number].body, self._known[foe.number].body, move)
        factor = own.attack[hit.kind] * foe.wall[hit.kind] * other.wall[hit.kind]
        mean, hp = hit.mean * factor, foe.hp
        return (
            mean if mean < _MOST else _MOST,
            _of_left(mean, hp),
            hit.high * factor >= hp > 0,
            hit.low * factor >= hp > 0,
            hit.factor / 4,
            hit.same_type,
        )


def _well(fighter: Fighter) -> Fighter:
    """The Pokémon as it would be with nothing done to it, apart from its moves."""
    return replace(
        fighter,
        moves=(),
        boosts=(),
        hp=1.0,
        status="",
        effects=frozenset(),
        first_turn=False,
        must_recharge=False,
        slept=0,
    )


def _of_left(damage: float, hp: float) -> float:
    if hp <= 0:
        return 0.0
    share = damage / hp
    return share if share < _MOST else _MOST


def health(mon: Pokemon) -> float:
    """The share of its HP that is left; 0 where nothing is known of it."""
    hp = mon._current_hp
    return hp / mon.max_hp if hp else 0.0


def standing(number: int, mon: Pokemon, hp: float) -> Standing:
    """How a Pokémon stands that has this number. hp: the share that is left."""
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
    if status is Status.BRN and mon.ability != "guts":
        attack /= 2
    elif status is Status.PAR and mon.ability != "quickfeet":
        pace *= 0.25 if mon.gen <= 6 else 0.5
    left = 0.0 if status is Status.FNT else hp if mon._max_hp else 1.0
    return Standing(number, (attack, special_attack), (wall, special_wall), pace, left)
