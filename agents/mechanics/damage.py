"""Damage of a move by the damage formula of its generation.

The formula is the one of Bulbapedia ("Damage") and of Showdown's simulator, with the modifiers that matter in singles and
without rounding between modifiers (an error of 1-2%). poke-env's calculator (`poke_env.calc`) covers generations 1, 2 and
9, requires the whole battle with all stats known, and takes five to ten times as long; tests compare this one with it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from poke_env.data import GenData

from agents.mechanics.fighters import STAGES, Conditions, Fighter
from agents.mechanics.modifiers import (
    POWER_BY_TARGET,
    attack_factor,
    defense_factor,
    guarded_types,
    immune,
    move_type,
    power_of,
    target_factor,
    user_factor,
)
from agents.mechanics.moves import MoveFacts
from agents.mechanics.type_chart import effectiveness
from teamsets.builder.published import STATS


class Damage(NamedTuple):
    """Damage of a hit as fractions of the target's maximum HP: minimum and maximum without a critical hit, and the mean
    including critical hits. Accuracy is not included."""

    low: float
    high: float
    mean: float

    def knocks_out(self, hp: float) -> float:
        """Return the probability that a hit deals at least `hp`, assuming uniform rolls."""
        if hp <= self.low:
            return 1.0
        if hp > self.high:
            return 0.0 if self.mean <= (self.low + self.high) / 2 * 1.001 or hp > 1.9 * self.high else 0.08
        return min(1.0, max(0.08, (self.high - hp) / max(self.high - self.low, 1e-9)))


NOTHING = Damage(0.0, 0.0, 0.0)


def damage(attacker: Fighter, defender: Fighter, move: MoveFacts, field: Conditions, screens: dict[str, int]) -> Damage:
    """Return the total damage of one use of `move`.

    screens: side conditions of the defender's side. A move with a charging turn counts in full.
    """
    return Strike(attacker, move, field).on(defender, screens) if move.damages else NOTHING


class Strike:
    """A damaging move of a fighter on a field, with all factors that do not depend on the target precomputed."""

    __slots__ = (
        "_attack_factor", "_attack_stat", "_attacker", "_burnt", "_chance", "_critical", "_field", "_final", "_kind",
        "_move", "_power", "_rise", "_sharp", "_wall",
    )  # fmt: skip

    def __init__(self, attacker: Fighter, move: MoveFacts, field: Conditions) -> None:
        self._attacker, self._move, self._field = attacker, move, field
        self._kind = kind = move_type(attacker, move, field)
        self._power = None if move.id in POWER_BY_TARGET else power_of(attacker, None, move, kind, field)
        self._attack_stat, self._rise = attacker.stat(move.attack_stat), attacker.stage(move.attack_stat)
        self._attack_factor = attack_factor(attacker, move, kind, field)
        self._burnt = (
            attacker.status == "brn"
            and move.category == "physical"
            and move.id != "facade"
            and attacker.ability != "guts"
        )
        self._wall = STATS.index(move.defense_stat)
        self._final = user_factor(attacker, kind, field)
        self._chance = critical_chance(attacker, move)
        self._critical, self._sharp = 1.5 if attacker.gen >= 6 else 2.0, 1.5 if attacker.ability == "sniper" else 1.0

    def on(self, defender: Fighter, screens: dict[str, int]) -> Damage:
        """Return the damage to a target, as `damage` does."""
        attacker, move, kind = self._attacker, self._move, self._kind
        factor = _type_factor(attacker, defender, move, kind)
        if factor == 0 or immune(attacker, defender, move, kind, self._field):
            return NOTHING
        if move.fixed:
            return _fixed(attacker, defender, move)
        power = self._power
        if power is None:
            power = power_of(attacker, defender, move, kind, self._field)
        if power <= 0:
            return NOTHING
        plain, critical = self._rolls(defender, power, screens)
        return Damage(*_spread(plain, critical, self._chance, factor * move.hits, *_roll_range(defender)))

    def _rolls(self, defender: Fighter, power: float, screens: dict[str, int]) -> tuple[float, float]:
        """Return the damage in HP of one hit at the maximum roll, before type effectiveness: (without, with) a critical."""
        attacker, move, field, rise = self._attacker, self._move, self._field, self._rise
        gen, level, attack = attacker.gen, attacker.level, self._attack_stat
        if move.id == "foulplay":
            attack, rise = defender.stat(move.attack_stat), defender.stage(move.attack_stat)
        attack *= self._attack_factor
        defense = defender.stats[self._wall] * defense_factor(defender, move.defense_stat, field)
        fall = defender.stage(move.defense_stat) if defender.boosts else 0
        if defender.ability == "unaware" and attacker.ability != "moldbreaker":
            rise = 0
        if attacker.ability == "unaware" or move.id in ("sacredsword", "chipaway", "darkestlariat"):
            fall = 0
        if move.explodes and gen <= 4:
            defense /= 2
        weakened = attack / 2 if self._burnt else attack
        final = self._final * target_factor(attacker, defender, move, self._kind, field)
        screen = _screen(move, screens, defender) if screens or defender.effects else 1.0
        wall, thin = (screen, 1.0) if gen <= 2 else (1.0, screen)
        plain = _base(level, power, weakened * STAGES[rise], defense * STAGES[fall] * wall, gen) * final / thin
        if gen == 1:  # a critical hit doubles the level and ignores boosts, burn and screens
            return plain, _base(level * 2, power, attack, defense, gen) * final
        critical = _base(level, power, weakened * STAGES[max(0, rise)], defense * STAGES[min(0, fall)], gen) * final
        return plain, critical * self._critical * self._sharp


@lru_cache(maxsize=16)
def empty_field(gen: int) -> Conditions:
    """Return a field without conditions."""
    return Conditions(gen, "", "", False, ({}, {}))


class Target:
    """A healthy, unboosted fighter on an empty field as a target, with all factors that do not depend on the move."""

    __slots__ = ("fighter", "guarded", "high", "low", "types", "walls")

    def __init__(self, fighter: Fighter) -> None:
        field, stats = empty_field(fighter.gen), fighter.stats
        self.fighter, self.types, self.guarded = fighter, fighter.types, guarded_types(fighter)
        self.walls = tuple(
            max(1.0, stat * defense_factor(fighter, name, field)) for name, stat in zip(STATS, stats, strict=True)
        )
        self.low, self.high = _roll_range(fighter)


#: Moves that `WellStrike.against` does not cover.
_UNUSUAL_MOVES = frozenset(
    {"dreameater", "fakeout", "firstimpression", "flyingpress", "foulplay", "freezedry", "struggle", "thousandarrows"}
)
_UNUSUAL_ABILITIES = frozenset({"mindseye", "scrappy", "tintedlens"})


class WellStrike(Strike):
    """A strike of a healthy, unboosted fighter on an empty field, fast against targets of the same kind."""

    __slots__ = ("_attack", "_critical_push", "_gen", "_hits", "_push", "_usual")

    def __init__(self, attacker: Fighter, move: MoveFacts) -> None:
        super().__init__(attacker, move, empty_field(attacker.gen))
        self._gen, self._hits, power = attacker.gen, move.hits, self._power
        self._attack = self._attack_stat * self._attack_factor
        self._usual = (
            (power is None or power > 0)
            and not move.fixed
            and not (move.explodes and attacker.gen <= 4)
            and move.id not in _UNUSUAL_MOVES
            and attacker.ability not in _UNUSUAL_ABILITIES
        )
        self._push, self._critical_push = (0.0, 0.0) if power is None else self._pushes(power)

    def _pushes(self, power: float) -> tuple[float, float]:
        """Return the attack terms of the formula (without, with) a critical hit of generation 1."""
        level, attack = self._attacker.level, self._attack
        return _push(level, power, attack), _push(level * 2, power, attack)

    def against(self, target: Target) -> tuple[float, float, float]:
        """Return low, high and mean of the damage, equal to those of `on`. The target has the attacker's generation."""
        kind = self._kind
        if not self._usual or kind in target.guarded:
            return self.on(target.fighter, {})
        factor = effectiveness(self._gen, kind, target.types) * self._hits
        if factor == 0:
            return NOTHING
        gen, wall, push, critical_push = self._gen, target.walls[self._wall], self._push, self._critical_push
        if self._power is None:
            push, critical_push = self._pushes(power_of(self._attacker, target.fighter, self._move, kind, self._field))
        final = self._final
        plain = _resisted(push, wall, gen) * final
        critical = _resisted(critical_push, wall, gen) * final if gen == 1 else plain * self._critical * self._sharp
        return _spread(plain, critical, self._chance, factor, target.low, target.high)


def critical_chance(attacker: Fighter, move: MoveFacts) -> float:
    """Return the probability of a critical hit. In generation 1 it depends on the base speed."""
    if move.crit_stage >= 9:
        return 1.0
    if attacker.gen == 1:
        speed = GenData.from_gen(1).pokedex.get(attacker.species, {}).get("baseStats", {}).get("spe", 75)
        return critical_chance_of(speed, move.crit_stage > 0)
    steps = (1 / 16, 1 / 8, 1 / 4, 1 / 3, 1 / 2) if attacker.gen <= 5 else (1 / 24, 1 / 8, 1 / 2, 1.0)
    stage = move.crit_stage + (attacker.ability == "superluck") + (attacker.item in ("scopelens", "razorclaw"))
    return steps[min(stage, len(steps) - 1)]


def critical_chance_of(base_speed: int, high: bool) -> float:
    """Return the probability of a critical hit in generation 1. high: of a move with a high critical-hit ratio."""
    return float(min(255, (base_speed // 2) * (8 if high else 1)) / 256)


def _type_factor(attacker: Fighter, defender: Fighter, move: MoveFacts, kind: str) -> float:
    types = defender.types
    if kind in ("NORMAL", "FIGHTING") and attacker.ability in ("scrappy", "mindseye"):
        types = tuple(t for t in types if t != "GHOST")
    if move.id == "thousandarrows":
        types = tuple(t for t in types if t != "FLYING")
    factor = effectiveness(attacker.gen, kind, types)
    if move.id == "freezedry" and "WATER" in types:
        factor *= 4
    if move.id == "flyingpress":
        factor *= effectiveness(attacker.gen, "FLYING", types)
    if move.id == "struggle":
        return 1.0
    if move.fixed and attacker.gen == 1:
        return 1.0  # in generation 1 fixed damage ignores immunities
    return factor


def _fixed(attacker: Fighter, defender: Fighter, move: MoveFacts) -> Damage:
    hp = defender.stats[0]
    if move.fixed == "ohko":
        able = attacker.level >= defender.level and defender.ability != "sturdy"
        return Damage(1.0, 1.0, 1.0) if able else NOTHING
    if move.fixed == "half":
        return Damage(defender.hp / 2, defender.hp / 2, defender.hp / 2)
    part = (attacker.level if move.fixed == "level" else float(move.fixed)) / hp
    return Damage(part, part, part)


def _roll_range(defender: Fighter) -> tuple[float, float]:
    """Return the minimum and maximum roll, divided by the target's HP."""
    hp = defender.stats[0]
    return (217 / 255 if defender.gen <= 2 else 0.85) / hp, 1.0 / hp


def _spread(
    plain: float, critical: float, chance: float, factor: float, low: float, high: float
) -> tuple[float, float, float]:
    """Return low, high and mean of `Damage`, from the HP at the maximum roll. chance: of a critical hit."""
    mean = ((1 - chance) * plain + chance * critical) * factor * (low + high) / 2
    base = (critical if chance >= 1 else plain) * factor
    return base * low, base * high, mean


def _base(level: int, power: float, attack: float, defense: float, gen: int) -> float:
    return _resisted(_push(level, power, attack), max(1.0, defense), gen)


def _push(level: int, power: float, attack: float) -> float:
    return (2 * level // 5 + 2) * power * attack


def _resisted(push: float, wall: float, gen: int) -> float:
    base = push / wall / 50
    return (min(997.0, base) if gen <= 2 else base) + 2


def _screen(move: MoveFacts, screens: dict[str, int], defender: Fighter) -> float:
    if move.id in ("brickbreak", "psychicfangs", "ragingbull") and defender.gen >= 3:
        return 1.0
    wall = "reflect" if move.category == "physical" else "lightscreen"
    # In generation 1 a screen protects one Pokémon, not a side.
    return 2.0 if "auroraveil" in screens or wall in screens or wall in defender.effects else 1.0
