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
    return not (
        fighter.status
        or ability_prevents(fighter.ability, status)
        or any(type_prevents(kind, status, gen) for kind in fighter.types)
    )


def ability_prevents(ability: str, status: str) -> bool:
    """Return whether an ability prevents a status."""
    return ability in _IMMUNE_TO_ALL or ability in _IMMUNE_ABILITIES.get(status, ())


def type_prevents(kind: str, status: str, gen: int) -> bool:
    """Return whether Pokémon of a type ("FIRE") cannot have a status."""
    if status in ("psn", "tox"):
        return kind == "POISON" or (kind == "STEEL" and gen >= 2)
    if status == "par":
        return kind == "ELECTRIC" and gen >= 6
    return (status, kind) in (("brn", "FIRE"), ("frz", "ICE"))


def needs_effect(move: MoveFacts, gen: int) -> bool:
    """Return whether a status move has no effect on Pokémon whose types are immune to its own."""
    return move.id == "thunderwave" or (move.id == "glare" and gen <= 3)


def can_inflict(move: MoveFacts, foe: Fighter, battle: SeatBattle) -> bool:
    """Return whether a status move would work now, given immunities, Substitute and the sleep clause."""
    gen = battle.gen
    if not move.status or not can_have(foe, move.status, gen):
        return False
    if "substitute" in foe.effects and gen >= 2:
        return False
    if gen >= 6 and "powder" in move.flags and "GRASS" in foe.types:
        return False
    if needs_effect(move, gen) and not effectiveness(gen, move.type, foe.types):
        return False
    return move.status != "slp" or not sleeper_held(battle)


def sleeper_held(battle: SeatBattle) -> bool:
    """Return whether one of the opponent's Pokémon is asleep, so that the sleep clause forbids another."""
    return any(mon.status is not None and mon.status.name == "SLP" for mon in battle.opponent_team.values())
