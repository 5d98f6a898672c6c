"""Which Pokémon stand on the ground, as terrains, Spikes and Ground moves require."""

from __future__ import annotations

from agents.mechanics.fighters import Fighter

NO_ROOMS: frozenset[str] = frozenset()


def grounded(
    fighter: Fighter, ability: str | None = None, item: str | None = None, rooms: frozenset[str] = NO_ROOMS
) -> bool:
    """Return whether a Pokémon is on the ground. ability, item: in place of its own, where something switches them off."""
    effects = fighter.effects
    item = fighter.item if item is None else item
    if (
        "gravity" in rooms
        or item == "ironball"
        or "smackdown" in effects
        or ("ingrain" in effects and fighter.gen >= 4)
    ):
        return True
    ability = fighter.ability if ability is None else ability
    if ("FLYING" in fighter.types and "roost" not in effects) or ability in ("levitate", "eelevate"):
        return False
    return item != "airballoon" and "magnetrise" not in effects and "telekinesis" not in effects
