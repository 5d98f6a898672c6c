"""The probability of a critical hit, in each generation."""

from __future__ import annotations

from poke_env.data import GenData

from agents.battle.formes import base_species
from agents.mechanics.fighters import Fighter
from agents.mechanics.moves import MoveFacts
from agents.mechanics.strikes import Strike

_OF_2 = (17 / 256, 32 / 256, 64 / 256, 85 / 256, 128 / 256)
_UP_TO_5 = (1 / 16, 1 / 8, 1 / 4, 1 / 3, 1 / 2)
_OF_6 = (1 / 16, 1 / 8, 1 / 2, 1.0)
_SINCE_7 = (1 / 24, 1 / 8, 1 / 2, 1.0)
#: Items of one species, which raise the stage by two (in generation 2: to the third).
_SPECIES_ITEMS = {
    "luckypunch": ("chansey",), "stick": ("farfetchd",), "leek": ("farfetchd", "sirfetchd"),
}  # fmt: skip


def strike_chance(strike: Strike) -> float:
    """Return the probability that a move's hit is critical, unless the target prevents it."""
    user, move, gen = strike.user, strike.move, strike.gen
    if move.crit_stage >= 9 or ("laserfocus" in user.effects and gen >= 7):
        return 1.0
    focused = "focusenergy" in user.effects
    if gen == 1:
        speed = _base_speed(user)
        if focused:  # it divides by four what it should multiply
            return float(min(255, speed // 4 * 4) if move.crit_stage > 0 else speed // 8) / 256
        return critical_chance_of(speed, move.crit_stage > 0)
    stage = move.crit_stage + focused * (1 if gen == 2 else 2)
    stage += (strike.ability == "superluck") + (strike.item in ("scopelens", "razorclaw"))
    if strike.item in _SPECIES_ITEMS and _fits(strike):
        stage = 2 if gen == 2 else stage + 2
    chances = _OF_2 if gen == 2 else _UP_TO_5 if gen <= 5 else _OF_6 if gen == 6 else _SINCE_7
    return chances[min(stage, len(chances) - 1)]


def _fits(strike: Strike) -> bool:
    return base_species(strike.gen, strike.user.species) in _SPECIES_ITEMS[strike.item]


def _base_speed(fighter: Fighter) -> int:
    entry = GenData.from_gen(1).pokedex.get(fighter.species, {})
    return int(entry.get("baseStats", {}).get("spe", 75))


def critical_chance(attacker: Fighter, move: MoveFacts) -> float:
    """Return the probability as observations have it, which networks were trained on: `strike_chance` knows more."""
    if move.crit_stage >= 9:
        return 1.0
    if attacker.gen == 1:
        return critical_chance_of(_base_speed(attacker), move.crit_stage > 0)
    steps = _UP_TO_5 if attacker.gen <= 5 else _SINCE_7
    stage = (
        move.crit_stage
        + (attacker.ability == "superluck")
        + 2 * ("focusenergy" in attacker.effects)
        + (attacker.item in ("scopelens", "razorclaw"))
    )
    return steps[min(stage, len(steps) - 1)]


def critical_chance_of(base_speed: int, high: bool) -> float:
    """Return the probability of a critical hit in generation 1. high: of a move with a high critical-hit ratio."""
    return float(min(255, (base_speed // 2) * (8 if high else 1)) / 256)
