"""Which status conditions a Pokémon can have."""

from __future__ import annotations

from agents.battle import SeatBattle
from agents.mechanics.fighters import Fighter
from agents.mechanics.moves import MoveFacts
from agents.mechanics.type_chart import effectiveness

_IMMUNE_ABILITIES = {
    "slp": {"insomnia", "vitalspirit", "sweetveil"},
    "par": {"limber"},
    "brn": {"waterveil", "waterbubble", "thermalexchange"},
    "psn": {"immunity", "pastelveil"},
    "tox": {"immunity", "pastelveil"},
    "frz": {"magmaarmor"},
}
_IMMUNE_TO_ALL = {"comatose", "purifyingsalt", "goodasgold", "magicbounce"}


def can_have(fighter: Fighter, status: str, gen: int) -> bool:
    """Return whether types and ability allow a status: "slp", "par", "brn", "psn", "tox" or "frz"."""
    if fighter.status or fighter.ability in _IMMUNE_TO_ALL or fighter.ability in _IMMUNE_ABILITIES.get(status, ()):
        return False
    types = fighter.types
    if status in ("psn", "tox"):
        return "POISON" not in types and ("STEEL" not in types or gen <= 1)
    if status == "brn":
        return "FIRE" not in types
    if status == "frz":
        return "ICE" not in types
    return not (status == "par" and gen >= 6 and "ELECTRIC" in types)


def can_inflict(move: MoveFacts, foe: Fighter, battle: SeatBattle) -> bool:
    """Return whether a status move would work now, given immunities, Substitute and the sleep clause."""
    gen = battle.gen
    if not move.status or not can_have(foe, move.status, gen):
        return False
    if "substitute" in foe.effects and gen >= 2:
        return False
    if gen >= 6 and "powder" in move.flags and "GRASS" in foe.types:
        return False
    if (move.id == "thunderwave" or (move.id == "glare" and gen <= 3)) and not effectiveness(gen, move.type, foe.types):
        return False
    return move.status != "slp" or not sleeper_held(battle)


def sleeper_held(battle: SeatBattle) -> bool:
    """Return whether one of the opponent's Pokémon is asleep, so that the sleep clause forbids another."""
    return any(mon.status is not None and mon.status.name == "SLP" for mon in battle.opponent_team.values())
