"""What a place of doubles may do in a turn, as the planner reckons with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from poke_env.data import GenData, to_id_str

from agents.battle.choices import Choice
from agents.mechanics.fighters import Conditions, Fighter
from agents.mechanics.matchups import Combatant
from agents.mechanics.moves import MoveFacts
from agents.mechanics.strikes import Strike
from teamsets.builder.published import STATS

#: Dynamax and Z-moves: the factor of the damage, as an estimate.
_LIFTS = {"dynamax": 1.3, "zmove": 1.7}
DYNAMAXED = "dynamax"
MEGAS = frozenset({"mega", "megax", "megay", "ultra"})


@dataclass(slots=True, eq=False)
class SlotAction:
    """A possible action of the one who stands at a place; each is a key of its own, also beside an equal one.

    combatant: who acts (terastallized, mega-evolved), or comes in. move: None for a switch or a lost turn. aimed: the place
    that is named, None for none. priority: of the move. chance: how likely it is (theirs). lift: factor of its damage, of
    Protect the probability of working. bonus: value that depends on the action only.
    """

    choice: Choice | None
    combatant: Combatant
    move: MoveFacts | None = None
    aimed: int | None = None
    switches: bool = False
    priority: float = 0.0
    chance: float = 1.0
    lift: float = 1.0
    bonus: float = 0.0


def priority_of(move: MoveFacts, fighter: Fighter, field: Conditions) -> int:
    """Return the priority of a move in its user's hands."""
    if move.damages:
        return Strike(fighter, move, field).priority
    return move.priority + (fighter.ability == "prankster")


def lift_of(move: MoveFacts, extra: str) -> float:
    """Return the factor of a damaging move's damage as a Max Move or Z-Move."""
    return _LIFTS.get(extra, 1.0) if move.damages else 1.0


def evolved(combatant: Combatant, extra: str) -> Combatant:
    """Return a combatant after Mega Evolution or Ultra Burst; itself if the forme is not known."""
    variant = combatant.variant(extra, lambda: _mega(combatant.fighter))
    variant.root = combatant
    return variant


def _mega(fighter: Fighter) -> Fighter:
    dex = GenData.from_gen(fighter.gen).pokedex
    base = dex.get(fighter.species, {})
    for name in map(to_id_str, base.get("otherFormes", ())):
        entry = dex.get(name, {})
        if to_id_str(entry.get("requiredItem", "")) == fighter.item and "baseStats" in entry and fighter.item:
            return _with_forme(fighter, name, entry, base)
    return fighter


def _with_forme(fighter: Fighter, name: str, entry: dict[str, Any], base: dict[str, Any]) -> Fighter:
    """Return a fighter in another forme; what the base stats differ by is added, without the nature's tenth."""
    gained = (2 * (entry["baseStats"][stat] - base["baseStats"][stat]) * fighter.level // 100 for stat in STATS)
    types = tuple(kind.upper() for kind in entry["types"])
    stats = tuple(map(sum, zip(fighter.stats, gained, strict=True)))
    ability = to_id_str(entry["abilities"]["0"])
    return replace(fighter, species=name, types=types, base_types=types, stats=stats, ability=ability)
