"""The worth of a Pokémon by HP and status, and the cost of hazards, in units of a healthy Pokémon."""

from __future__ import annotations

from agents.mechanics.fighters import Fighter
from agents.mechanics.grounding import grounded
from agents.mechanics.type_chart import effectiveness

# Fraction of its worth that a Pokémon loses with a status: (generation 1, later ones).
_STATUS = {
    "slp": (0.45, 0.25),
    "frz": (0.8, 0.4),
    "par": (0.22, 0.2),
    "brn": (0.15, 0.2),
    "tox": (0.15, 0.2),
    "psn": (0.1, 0.12),
}


def worth(fighter: Fighter, hp: float, alive: float, status: str | None = None) -> float:
    """Return the worth of an able Pokémon at `hp`.

    alive: the part of its worth that does not depend on its HP. status: used instead of its own if given.
    """
    status = fighter.status if status is None else status
    value = alive + (1 - alive) * hp
    return value * (1 - status_cost(fighter, status))


def expected_worth(fighter: Fighter, hp: float, alive: float, inflicted: tuple[str, float]) -> float:
    """Return the worth of an able Pokémon that may have got a status. inflicted: (status, probability); ("", 0) for none."""
    status, chance = inflicted
    value = worth(fighter, hp, alive)
    return value * (1 - chance * status_cost(fighter, status)) if status else value


def status_cost(fighter: Fighter, status: str) -> float:
    """Return the fraction of its worth that a Pokémon loses with a status; less the longer it has been asleep."""
    if not status:
        return 0.0
    cost = _STATUS.get(status, (0.1, 0.1))[0 if fighter.gen == 1 else 1]
    if status == "slp" and fighter.status == "slp":
        cost *= max(0.4, 1 - 0.15 * fighter.slept)
    if status == "brn" and any(move.category == "special" and move.power > 60 for move, _ in fighter.moves):
        cost *= 0.6
    if status in ("brn", "tox", "psn") and fighter.ability in ("guts", "magicguard", "poisonheal", "marvelscale"):
        cost = 0.0
    return cost


def entry_damage(fighter: Fighter, side: dict[str, int]) -> float:
    """Return the fraction of its HP that a Pokémon loses to hazards when it enters."""
    if fighter.item == "heavydutyboots" or fighter.ability == "magicguard":
        return 0.0
    lost = 0.0
    if "stealthrock" in side:
        lost += effectiveness(fighter.gen, "ROCK", fighter.types) / 8
    if "spikes" in side and grounded(fighter):
        lost += (0.125, 0.167, 0.25)[min(side["spikes"], 3) - 1]
    if "toxicspikes" in side and grounded(fighter) and not fighter.status and "POISON" not in fighter.types:
        lost += 0.08
    return lost + (0.04 if "stickyweb" in side and grounded(fighter) else 0.0)


def hazards_cost(team: list[Fighter], unknown: int, side: dict[str, int]) -> float:
    """Return the expected cost of a side's hazards to its team: half an entry for each able Pokémon."""
    if not side.keys() & {"stealthrock", "spikes", "toxicspikes", "stickyweb"}:
        return 0.0
    known = sum(entry_damage(fighter, side) for fighter in team)
    return 0.5 * (known + 0.14 * unknown)


def with_hazard(side: dict[str, int], hazard: str) -> dict[str, int]:
    """Return the side conditions with one more layer of `hazard`, up to its maximum."""
    max_layers = {"spikes": 3, "toxicspikes": 2}.get(hazard, 1)
    return {**side, hazard: min(max_layers, side.get(hazard, 0) + 1)}
