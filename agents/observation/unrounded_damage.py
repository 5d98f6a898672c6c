"""Damage by the formula without rounding between modifiers, as the observations of networks have it.

Networks were trained on it, and agents/observation/engine_estimates.py does the same for whole batches of generation 1, so
it stays as it is. Players that reckon use agents/mechanics/damage.py, which is exact.
"""

from __future__ import annotations

from agents.mechanics.critical_hits import critical_chance
from agents.mechanics.fighters import Fighter
from agents.mechanics.moves import MoveFacts
from agents.mechanics.type_chart import effectiveness
from agents.observation.unrounded_modifiers import (
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
from teamsets.builder.published import STATS

#: Low, high and mean of no damage.
NOTHING: tuple[float, float, float] = (0.0, 0.0, 0.0)


class UnroundedStrike:
    """A damaging move of a healthy, unboosted fighter on an empty field, with what does not depend on its target.

    kind: its type as it is used. attack_factor: of the attacking stat. wall: the index of the defending stat. final: factor
    of the damage. chance: of a critical hit, critical and sharp: its factors.
    """

    __slots__ = (
        "_attack_stat", "_attacker", "_move", "_power", "attack_factor", "chance", "critical", "final", "kind", "sharp",
        "wall",
    )  # fmt: skip

    def __init__(self, attacker: Fighter, move: MoveFacts) -> None:
        self._attacker, self._move = attacker, move
        self.kind = kind = move_type(attacker, move)
        self._power = None if move.id in POWER_BY_TARGET else power_of(attacker, None, move, kind)
        self._attack_stat = attacker.stat(move.attack_stat)
        self.attack_factor = attack_factor(attacker, move, kind)
        self.wall = STATS.index(move.defense_stat)
        self.final = user_factor(attacker, kind)
        self.chance = critical_chance(attacker, move)
        self.critical, self.sharp = 1.5 if attacker.gen >= 6 else 2.0, 1.5 if attacker.ability == "sniper" else 1.0

    def on(self, defender: Fighter) -> tuple[float, float, float]:
        """Return low, high and mean of the damage to a healthy target."""
        attacker, move, kind = self._attacker, self._move, self.kind
        factor = type_factor(attacker, defender, move, kind)
        if factor == 0 or immune(attacker, defender, move, kind):
            return NOTHING
        if move.fixed and move.fixed not in WITHOUT_POWER:
            return _fixed(attacker, defender, move)
        power = self._power
        if power is None:
            power = power_of(attacker, defender, move, kind)
        if power <= 0:
            return NOTHING
        plain, critical = self._rolls(defender, power)
        return _spread(plain, critical, self.chance, factor * move.hits, *_roll_range(defender))

    def _rolls(self, defender: Fighter, power: float) -> tuple[float, float]:
        """Return the damage in HP of one hit at the maximum roll, before type effectiveness: (without, with) a critical."""
        attacker, move = self._attacker, self._move
        gen, level, attack = attacker.gen, attacker.level, self._attack_stat
        if move.id == "foulplay":
            attack = defender.stat(move.attack_stat)
        attack *= self.attack_factor
        defense = defender.stats[self.wall] * defense_factor(defender, move.defense_stat)
        if move.explodes and gen <= 4:
            defense /= 2
        final = self.final * target_factor(attacker, defender, move, self.kind)
        plain = _base(level, power, attack, defense, gen) * final
        if gen == 1:  # a critical hit doubles the level
            return plain, _base(level * 2, power, attack, defense, gen) * final
        return plain, plain * self.critical * self.sharp


class StrikeTarget:
    """A healthy, unboosted fighter on an empty field as a target, with all factors that do not depend on the move."""

    __slots__ = ("fighter", "guarded", "high", "low", "types", "walls")

    def __init__(self, fighter: Fighter) -> None:
        stats = fighter.stats
        self.fighter, self.types, self.guarded = fighter, fighter.types, guarded_types(fighter)
        self.walls = tuple(
            max(1.0, stat * defense_factor(fighter, name)) for name, stat in zip(STATS, stats, strict=True)
        )
        self.low, self.high = _roll_range(fighter)


#: Moves that have neither a power nor a damage here.
WITHOUT_POWER = frozenset({"unknown", "hp", "difference"})
#: Moves and abilities that `CachedStrike.against` does not cover.
_UNUSUAL_MOVES = frozenset(
    {"dreameater", "fakeout", "firstimpression", "flyingpress", "foulplay", "freezedry", "struggle", "thousandarrows"}
)
UNUSUAL_ABILITIES = frozenset({"mindseye", "scrappy", "tintedlens"})


class CachedStrike(UnroundedStrike):
    """A strike that is fast against targets of the same kind.

    usual: `against` covers it. push: the attack terms of the formula, 0 where the power depends on the target.
    """

    __slots__ = ("_attack", "_critical_push", "_gen", "hits", "push", "usual")

    def __init__(self, attacker: Fighter, move: MoveFacts) -> None:
        super().__init__(attacker, move)
        self._gen, self.hits, power = attacker.gen, move.hits, self._power
        self._attack = self._attack_stat * self.attack_factor
        self.usual = (
            (power is None or power > 0)
            and (not move.fixed or move.fixed in WITHOUT_POWER)
            and not (move.explodes and attacker.gen <= 4)
            and move.id not in _UNUSUAL_MOVES
            and attacker.ability not in UNUSUAL_ABILITIES
        )
        self.push, self._critical_push = (0.0, 0.0) if power is None else self._pushes(power)

    def _pushes(self, power: float) -> tuple[float, float]:
        """Return the attack terms of the formula (without, with) a critical hit of generation 1."""
        level, attack = self._attacker.level, self._attack
        return _push(level, power, attack), _push(level * 2, power, attack)

    def push_of(self, power: float) -> float:
        """Return the attack terms of the formula for a power."""
        return self._pushes(power)[0]

    def against(self, target: StrikeTarget) -> tuple[float, float, float]:
        """Return low, high and mean of the damage, equal to those of `on`. The target has the attacker's generation."""
        kind = self.kind
        if not self.usual or kind in target.guarded:
            return self.on(target.fighter)
        factor = effectiveness(self._gen, kind, target.types) * self.hits
        if factor == 0:
            return NOTHING
        gen, wall, push, critical_push = self._gen, target.walls[self.wall], self.push, self._critical_push
        if self._power is None:
            push, critical_push = self._pushes(power_of(self._attacker, target.fighter, self._move, kind))
        final = self.final
        plain = _resisted(push, wall, gen) * final
        critical = _resisted(critical_push, wall, gen) * final if gen == 1 else plain * self.critical * self.sharp
        return _spread(plain, critical, self.chance, factor, target.low, target.high)


def type_factor(attacker: Fighter, defender: Fighter, move: MoveFacts, kind: str) -> float:
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
    if move.fixed and move.fixed not in WITHOUT_POWER and attacker.gen == 1:
        return 1.0  # in generation 1 fixed damage ignores immunities
    return factor


def _fixed(attacker: Fighter, defender: Fighter, move: MoveFacts) -> tuple[float, float, float]:
    hp = defender.stats[0]
    if move.fixed == "ohko":
        able = attacker.level >= defender.level and defender.ability != "sturdy"
        return (1.0, 1.0, 1.0) if able else NOTHING
    if move.fixed == "half":
        return (defender.hp / 2,) * 3
    part = (attacker.level if move.fixed in ("level", "random") else float(move.fixed)) / hp
    return part, part, part


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
