"""Damage of a move by its generation's formula, to the HP: what Showdown would deal (docs/damage.md).

`damage` gives what players need: the range without a critical hit and the mean. `rolls` gives every possible value.
scripts/parity/damage_parity.py compares both with Showdown and with @smogon/calc.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from agents.mechanics.bystanders import CLOUD_NINE, GAS, UNSUPPRESSED, Beside, emits_gas, gassed, working
from agents.mechanics.critical_hits import strike_chance
from agents.mechanics.estimate_flags import is_estimate
from agents.mechanics.fighters import Conditions, Fighter
from agents.mechanics.final_modifiers import own_final, same_type_bonus, screen_factor, target_final, weather_factor
from agents.mechanics.fixed_damage import fixed_damage
from agents.mechanics.formula import Blow, damage_of, rolls_of
from agents.mechanics.held_items import active_item
from agents.mechanics.immunities import broken_first, immune_by_type, stopped, type_steps
from agents.mechanics.move_powers import POWER_BY_TARGET, Foe, own_power
from agents.mechanics.moves import MoveFacts
from agents.mechanics.multi_hit import after_hit, bonded, expected_hits, hits_of, reacts
from agents.mechanics.old_formula import STEADY, damage_1, damage_2
from agents.mechanics.power_modifiers import modified_power, own_modifiers, target_modifiers
from agents.mechanics.rounding import ONE, chain
from agents.mechanics.stat_modifiers import attack, defense, own_attack
from agents.mechanics.strikes import NO_SIDE, Strike, stabs, switches_off

_SHADED = frozenset({"sunnyday", "desolateland", "raindance", "primordialsea"})
_BREAKABLE = frozenset({"disguise", "iceface"})
#: Moves whose second hit has twice the power of the first, and the third three times.
_GROWING = frozenset({"tripleaxel", "triplekick"})


class Damage(NamedTuple):
    """Damage of a hit as fractions of the target's maximum HP: minimum and maximum without a critical hit, and the mean
    including critical hits. Accuracy is not included. A move that hits several times counts in full.

    estimate: whether something that changes the damage is not known, or not computed (docs/damage.md lists what).
    """

    low: float
    high: float
    mean: float
    estimate: bool = False

    def knocks_out(self, hp: float) -> float:
        """Return the probability that a hit deals at least `hp`, assuming uniform rolls."""
        if hp <= self.low:
            return 1.0
        if hp > self.high:
            return 0.0 if self.mean <= (self.low + self.high) / 2 * 1.001 or hp > 1.9 * self.high else 0.08
        return min(1.0, max(0.08, (self.high - hp) / max(self.high - self.low, 1e-9)))


NOTHING = Damage(0.0, 0.0, 0.0)
_UNKNOWN = Damage(0.0, 0.0, 0.0, True)


def damage(
    attacker: Fighter,
    defender: Fighter,
    move: MoveFacts,
    field: Conditions,
    screens: Mapping[str, int],
    own_side: Mapping[str, int] = NO_SIDE,
    beside: Beside | None = None,
) -> Damage:
    """Return the total damage of one use of `move`.

    screens: side conditions of the defender's side; own_side: of the attacker's (Tailwind). beside: in doubles, who else is
    on the field. A move with a charging turn counts in full.
    """
    return Attack(attacker, move, field, own_side, beside).on(defender, screens) if move.damages else NOTHING


def rolls(
    attacker: Fighter,
    defender: Fighter,
    move: MoveFacts,
    field: Conditions,
    screens: Mapping[str, int],
    own_side: Mapping[str, int] = NO_SIDE,
    critical: bool = False,
    beside: Beside | None = None,
) -> list[int]:
    """Return the damage in HP for each random factor, from the lowest: 39 of them in generations 1 and 2, else 16.

    A move with several hits has the same factor at each of them. Arguments as for `damage`; [] if it deals no damage.
    """
    if not move.damages:
        return []
    return Attack(attacker, move, field, own_side, beside).hp(defender, screens, critical, rolls_of(attacker.gen))


class Attack:
    """A damaging move of a fighter on a field, with all that does not depend on the target worked out once.

    beside: in doubles, who else is on the field while it hits a target.
    """

    __slots__ = (
        "_at_once", "_attack_modifiers", "_burnt", "_chance", "_first", "_power", "_power_modifiers", "_same_type",
        "_strike",
    )  # fmt: skip

    def __init__(
        self,
        attacker: Fighter,
        move: MoveFacts,
        field: Conditions,
        own_side: Mapping[str, int] = NO_SIDE,
        beside: Beside | None = None,
    ) -> None:
        if beside is not None:
            attacker, field, beside = _among_others(attacker, field, beside)
        self._strike = strike = Strike(attacker, move, field, own_side, beside)
        gen = attacker.gen
        self._power = None if move.id in POWER_BY_TARGET else own_power(strike)
        self._chance = strike_chance(strike)
        if gen <= 2:
            return
        self._burnt = (
            attacker.status == "brn"
            and strike.physical
            and strike.ability != "guts"
            and not (move.id == "facade" and gen >= 6)
        )
        self._power_modifiers = own_modifiers(strike)
        self._at_once, self._attack_modifiers = own_attack(strike)
        self._same_type = same_type_bonus(strike)
        self._first = 6144 if gen <= 4 and "flashfire" in attacker.effects and strike.kind == "FIRE" else ONE

    def on(self, defender: Fighter, screens: Mapping[str, int] = NO_SIDE) -> Damage:
        """Return the damage to a target, as `damage` does."""
        found = self._facing(defender)
        return found._on(defender, screens)

    def _on(self, defender: Fighter, screens: Mapping[str, int]) -> Damage:
        strike, gen, full, chance = self._strike, defender.gen, defender.stats[0], self._chance_on(defender)
        foe = self._foe(defender, screens)
        estimate = is_estimate(strike, foe)
        possible = chance > 0 and self._can_be_critical(foe)
        kinds = (False,) if not possible else (True,) if chance >= 1 else (False, True)
        hits = self._hits(foe, kinds, (217, 255) if gen <= 2 else (85, 100))
        if not hits:
            return _UNKNOWN if estimate else NOTHING
        low, high = hits[0]
        mean = (low + high) / 2
        if len(hits) > 1:
            mean += chance * (sum(hits[1]) / 2 - mean)
        if strike.move.most_hits > 1:
            mean *= expected_hits(strike) / hits_of(strike)
        return Damage(low / full, high / full, mean / full, estimate)

    def hp(self, defender: Fighter, screens: Mapping[str, int], critical: bool, factors: range) -> list[int]:
        """Return the damage in HP for each random factor, as `rolls` does."""
        facing = self._facing(defender)
        foe = facing._foe(defender, screens)
        critical = (critical or facing._chance_on(defender) >= 1) and facing._can_be_critical(foe)
        hits = facing._hits(foe, (critical,), factors)
        return hits[0] if hits else []

    def _chance_on(self, defender: Fighter) -> float:
        """Return the probability of a critical hit, unless something prevents it."""
        merciless = self._strike.ability == "merciless" and defender.status in ("psn", "tox")
        return 1.0 if merciless else self._chance

    def _power_on(self, foe: Foe) -> int:
        """Return the power of the move before modifiers."""
        return self._power if self._power is not None else POWER_BY_TARGET[self._strike.id](self._strike, foe)

    def _facing(self, defender: Fighter) -> Attack:
        """Return the attack as the target's ability leaves it: under Cloud Nine or Neutralizing Gas it is another."""
        strike, ability = self._strike, defender.ability
        beside = strike.beside
        if beside is not None and emits_gas(defender) and (others := beside.gassed()) != beside:
            return Attack(strike.given, strike.move, strike.field, strike.side, others)._facing(defender)
        if ability in CLOUD_NINE and strike.weather:
            return Attack(strike.given, strike.move, replace(strike.field, weather=""), strike.side, beside)
        if strike.id == "shellsidearm" and not strike.physical and stabs(strike, defender):
            physical = replace(
                strike.move, category="physical", attack_stat="atk", flags=strike.move.flags | {"contact"}
            )
            return Attack(strike.given, physical, strike.field, strike.side, beside)._facing(defender)
        if (
            ability == "neutralizinggas"
            and "gastroacid" not in defender.effects
            and strike.ability
            and strike.ability not in UNSUPPRESSED
            and strike.user.item != "abilityshield"
        ):
            return Attack(replace(strike.given, ability=""), strike.move, strike.field, strike.side, beside)
        return self

    def _foe(self, defender: Fighter, screens: Mapping[str, int]) -> Foe:
        """Return the target, without an ability and an item that something switches off."""
        strike, ability, item = self._strike, defender.ability, defender.item
        if GAS in strike.company.rest:
            defender = gassed(defender)
        if ability and item != "abilityshield" and switches_off(strike, defender):
            ability = ""
        if item:
            item = active_item(item, ability, defender.effects, strike.rooms)
        weather = strike.weather
        if weather and item == "utilityumbrella" and weather in _SHADED:
            weather = ""
        return Foe(defender, ability, item, weather, strike.field, screens)

    def _can_be_critical(self, foe: Foe) -> bool:
        if foe.ability in ("battlearmor", "shellarmor"):
            return False
        strike = self._strike
        return (
            not strike.move.fixed and not (strike.gen == 2 and strike.id in STEADY) and "luckychant" not in foe.screens
        )

    def _hits(self, foe: Foe, criticals: tuple[bool, ...], factors: range | tuple[int, ...]) -> list[list[int]]:
        """Return the damage of all hits for each random factor, for each of `criticals`; [] if there is none."""
        strike, move, gen = self._strike, self._strike.move, self._strike.gen
        # In generation 1 fixed damage ignores immunities.
        if (gen > 1 or move.fixed in ("", "ohko")) and immune_by_type(strike, foe):
            return []
        doublings = type_steps(strike, foe)
        if stopped(strike, foe, doublings):
            return []
        if foe.ability in _BREAKABLE and broken_first(strike, foe):
            return self._breaking(foe, doublings, criticals, factors)
        if move.fixed:
            fixed = fixed_damage(strike, foe, len(factors))
            return [fixed for _ in criticals] if fixed else []
        power = self._power_on(foe)
        if power <= 0:
            return []
        if gen <= 2:
            return [self._old_hits(foe, power, doublings, critical, factors) for critical in criticals]
        first = self._hit(foe, power, doublings, criticals, factors)
        hits = hits_of(strike)
        if hits == 1:
            return first
        shrunk = self._shrunk()
        if move.id in _GROWING or reacts(strike, foe):
            each = [first, *self._later_hits(foe, hits, criticals, factors, shrunk)]
            return [[sum(of) for of in zip(*same, strict=True)] for same in zip(*each, strict=True)]
        later = self._hit(foe, power, doublings, criticals, factors, shrunk)
        return [
            [first_roll + (hits - 1) * later_roll for first_roll, later_roll in zip(a, b, strict=True)]
            for a, b in zip(first, later, strict=True)
        ]

    def _breaking(
        self, foe: Foe, doublings: int, criticals: tuple[bool, ...], factors: range | tuple[int, ...]
    ) -> list[list[int]]:
        """Return the damage to a Disguise or Ice Face, which takes the first hit, as `_hits` does."""
        broken = max(1, foe.fighter.stats[0] // 8) if foe.ability == "disguise" and self._strike.gen >= 8 else 0
        later = 0 if self._strike.move.fixed else hits_of(self._strike) - 1
        if not later:
            return [[broken] * len(factors) for _ in criticals] if broken else []
        again = self._hit(foe, self._power_on(foe), doublings, criticals, factors, self._shrunk())
        return [[broken + later * value for value in values] for values in again]

    def _old_hits(
        self, foe: Foe, power: int, doublings: int, critical: bool, factors: range | tuple[int, ...]
    ) -> list[int]:
        strike = self._strike
        if strike.gen == 1:
            values = damage_1(strike, foe, power, critical, factors)
        elif strike.id == "triplekick":
            each = [damage_2(strike, foe, power * number, doublings, critical, factors) for number in (1, 2, 3)]
            return [sum(of) for of in zip(*each, strict=True)]
        else:
            values = damage_2(strike, foe, power, doublings, critical, factors)
        hits = hits_of(strike)
        return values if hits == 1 else [hits * value for value in values]

    def _shrunk(self) -> int:
        """Return the factor of hits after the first, which Parental Bond weakens."""
        strike = self._strike
        return ONE if not bonded(strike) else 1024 if strike.gen > 6 else 2048

    def _later_hits(
        self, foe: Foe, hits: int, criticals: tuple[bool, ...], factors: range | tuple[int, ...], shrunk: int
    ) -> Iterator[list[list[int]]]:
        """Yield the damage of each hit after the first one, where they differ, as `_hits` does."""
        now = self
        for number in range(2, hits + 1):
            if reacts(now._strike, foe):
                user, target, field = after_hit(now._strike, foe)
                now = Attack(user, self._strike.move, field, self._strike.side, self._strike.beside)._facing(target)
                foe = now._foe(target, foe.screens)
            power = now._power_on(foe)
            grown = power * number if self._strike.id in _GROWING else power
            yield now._hit(foe, grown, type_steps(now._strike, foe), criticals, factors, shrunk)

    def _hit(
        self,
        foe: Foe,
        power: int,
        doublings: int,
        criticals: tuple[bool, ...],
        factors: range | tuple[int, ...],
        shrunk: int = 0,
    ) -> list[list[int]]:
        """Return the damage of one hit of generation 3 or later as `_hits` does. shrunk: a later one's factor, else 0."""
        strike, gen = self._strike, self._strike.gen
        later = shrunk > 0
        power = modified_power(strike, power, self._power_modifiers, target_modifiers(strike, foe, doublings))
        final = target_final(strike, foe, doublings, later)
        screen = screen_factor(strike, foe) if foe.screens else 0
        weather = weather_factor(strike, foe) if foe.weather or strike.own_weather else ONE
        spread = _spread_factor(strike)
        attacking = attack(strike, self._at_once, self._attack_modifiers, foe, criticals[0])
        defending = defense(strike, foe, criticals[0])
        staged = bool(strike.user.boosts or foe.fighter.boosts) or strike.ability == "contrary"
        by_critical = []
        for critical in criticals:
            if staged and critical != criticals[0]:  # a critical hit ignores boosts, and nothing else of the stats
                attacking = attack(strike, self._at_once, self._attack_modifiers, foe, critical)
                defending = defense(strike, foe, critical)
            own = own_final(strike, doublings, critical)
            first = self._first
            if screen and not critical:
                if gen <= 4:
                    first = chain((screen, first))
                else:
                    own.append(screen)
            blow = Blow(
                strike.user.level,
                power,
                attacking,
                defending,
                self._same_type,
                doublings,
                weather,
                critical,
                self._burnt,
                first,
                gen == 4 and strike.item == "lifeorb",
                chain(own + final) if own or final else ONE,
                shrunk or ONE,
                strike.physical,
                spread,
            )
            by_critical.append(damage_of(blow, gen, factors))
        return by_critical


def _spread_factor(strike: Strike) -> int:
    """Return the factor of a move that hits several: in generation 3 a half of moves at both opponents alone."""
    if not strike.company.spread:
        return ONE
    if strike.gen == 3:
        return 2048 if strike.move.target == "allAdjacentFoes" else ONE
    return 3072


def _among_others(attacker: Fighter, field: Conditions, beside: Beside) -> tuple[Fighter, Conditions, Beside]:
    """Return user, field and others as abilities of the others that act on all of them leave them."""
    if any(map(emits_gas, beside.rest)):
        attacker, beside = gassed(attacker), beside.gassed()
    elif emits_gas(attacker):
        beside = beside.gassed()
    if field.weather and not CLOUD_NINE.isdisjoint(working(fighter, attacker.gen, False) for fighter in beside.rest):
        field = replace(field, weather="")
    return attacker, field, beside
