"""Items: who has which after a line; a charge that an item or the weather spares.

poke-env swaps what it believes at Trick, and knows four of the moves and abilities by which an item changes hands; it raises
at the others.
"""

from __future__ import annotations

from poke_env.battle.pokemon import Pokemon
from poke_env.data import to_id_str

from agents.battle.abilities import show_ability
from agents.battle.tracked_battle import TrackedBattle, origin, other

_TAKING = frozenset({"thief", "covet", "magician", "pickpocket", "bestow", "switcheroo"})


def read_item(battle: TrackedBattle, message: list[str]) -> None:
    """ "-item|POKEMON|ITEM|[from] move: Thief|[of] FROM": it has this item now; "[from] ability: Frisk|[of] WHO FRISKS"."""
    battle.record(message)
    item, source, whose = to_id_str(message[3]), origin(message, 4), other(message, 4)
    cause = to_id_str(source.split(":")[-1])
    if cause == "frisk":
        show_ability(battle.get_pokemon(whose), "frisk")
        holder = battle.get_pokemon(message[2]) if message[2] else battle.facing(whose)
        if holder is not None:
            holder._item = item
        return
    holder = battle.get_pokemon(message[2])
    holder._item = item
    if source.startswith("ability:"):
        show_ability(holder, cause)
    if whose and cause in _TAKING:
        battle.get_pokemon(whose)._item = None


def read_enditem(battle: TrackedBattle, message: list[str]) -> None:
    """ "-enditem|POKEMON|ITEM": it has no item."""
    battle.record(message)
    battle.get_pokemon(message[2])._item = None


def read_anim(battle: TrackedBattle, message: list[str]) -> None:
    """ "-anim|POKEMON|Solar Beam|TARGET" after "-prepare": it needs no turn to charge (sun, Power Herb)."""
    battle.record(message)
    end_charge(battle.get_pokemon(message[2]))


def end_charge(mon: Pokemon) -> None:
    """End what a Pokémon prepares."""
    mon._preparing_move = mon._preparing_target = None
