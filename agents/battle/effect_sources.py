"""What a line shows besides: the ability or the item that something is from.

poke-env reads such causes in some shapes of some lines only, and gives a berry that was eaten back to who ate it.
"""

from __future__ import annotations

from poke_env.battle.pokemon import Pokemon
from poke_env.data import to_id_str

from agents.battle.abilities import show_ability
from agents.battle.items import take_barb
from agents.battle.tracked_battle import TrackedBattle, origin, other

#: Items that are gone when the line comes.
_CONSUMED = ("berry", "herb", "juice", "gem", "seed")
#: Abilities of the one that "[of]" names in a line of "-heal", where it otherwise names who attacked.
_OF_THE_OTHER = frozenset({"hospitality"})


def read_caused(battle: TrackedBattle, message: list[str]) -> None:
    """ "-immune|POKEMON|[from] ability: Levitate", "-fail|…|[from] ability: White Smoke|[of] HOLDER", "-block|…"."""
    battle.record(message)
    show_cause(battle, message)


def read_hp(battle: TrackedBattle, message: list[str]) -> None:
    """ "-damage|POKEMON|50/100|[from] item: Jaboca Berry|[of] HOLDER", "-heal|…": HP, status and cause."""
    battle.record(message)
    battle.get_pokemon(message[2]).set_hp_status(message[3])
    if len(message) > 4:
        show_cause(battle, message)


def read_heal(battle: TrackedBattle, message: list[str]) -> None:
    """ "-heal|POKEMON|100/100|[from] move: Lunar Dance": as `read_hp`; Lunar Dance also restores all PP."""
    read_hp(battle, message)
    if len(message) > 4 and message[4] == "[from] move: Lunar Dance":
        for move in battle.get_pokemon(message[2]).base_moves.values():
            move._current_pp = move.max_pp


def show_cause(battle: TrackedBattle, message: list[str]) -> None:
    """Note who has the ability or item that a line is from."""
    kind, _, name = (message[3] if message[1] == "-block" else origin(message)).partition(":")
    if kind not in ("ability", "item"):
        return
    cause, whose = to_id_str(name), other(message)
    if message[1] in ("-heal", "-immune") and cause not in _OF_THE_OTHER:
        whose = ""
    mon = battle.get_pokemon(whose or message[2])
    if kind == "ability":
        if not _has_just_lost(battle, mon, cause):
            show_ability(mon, cause)
    elif cause == "stickybarb" and mon._item != cause:
        take_barb(battle, mon)
    elif not cause.endswith(_CONSUMED):
        mon._item = cause


def _has_just_lost(battle: TrackedBattle, mon: Pokemon, ability: str) -> bool:
    """Return whether one has lost an ability by the move in progress, and its effect still comes (Mummy, Poison Touch)."""
    if mon._temporary_ability is None or mon._ability != ability:
        return False
    for line in reversed(battle._replay_data[:-1]):
        if line[1] == "move":
            return False
        if (
            line[1] == "-activate"
            and "[ability]" in line[-1]
            and to_id_str(line[-1].removeprefix("[ability]")) == ability
        ):
            return battle.get_pokemon(line[4]) is mon
    return False
