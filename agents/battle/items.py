"""Items: who has which after a line; a charge that an item or the weather spares.

poke-env swaps what it believes at Trick, and knows four of the moves and abilities by which an item changes hands; it raises
at the others.
"""

from __future__ import annotations

from poke_env.battle.pokemon import Pokemon
from poke_env.data import GenData, to_id_str

from agents.battle.abilities import show_ability
from agents.battle.tracked_battle import TrackedBattle, origin, other

_TAKING = frozenset({"thief", "covet", "magician", "pickpocket", "bestow", "switcheroo"})
_EXCHANGING = _TAKING | {"trick", "symbiosis"}
_BARB = "stickybarb"


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
    holder._item = None if cause in _EXCHANGING and _used_at_once(battle, message) else item
    if source.startswith("ability:"):
        show_ability(holder, cause)
    if whose and cause in _TAKING:
        battle.get_pokemon(whose)._item = None


def _used_at_once(battle: TrackedBattle, message: list[str]) -> bool:
    """Return whether a line of "-item" is about an item that was used at once: its "-enditem" comes first (White Herb)."""
    for line in reversed(battle._replay_data[:-1]):
        if line[1] in ("move", "-item", "turn", ""):
            return False
        if line[1] == "-enditem" and line[2:4] == message[2:4] and "[silent]" not in line and not origin(line):
            return True  # not one that another took or knocked off
    return False


def take_barb(battle: TrackedBattle, mon: Pokemon) -> None:
    """Note that a Pokémon has a Sticky Barb: one of its own, or that of a holder that it has hit, which no line tells.

    The one that it has hit may itself have taken it so in the same turn. Of an earlier turn the request has said since what
    ours have.
    """
    taker, earlier = mon, False
    for line in reversed(battle._replay_data):
        earlier = earlier or line[1] == "turn"
        if earlier and taker is not mon:
            break
        touched = _touched(battle, line)
        if not touched or battle.get_pokemon(line[2]) is not taker:
            continue
        holders = [each for each in touched if each._item == _BARB]
        for holder in holders:
            if not (earlier and any(holder is ours for ours in battle.team.values())):
                holder._item = None
        if holders or len(touched) > 1:
            break
        taker = touched[0]
    mon._item = _BARB


def _touched(battle: TrackedBattle, line: list[str]) -> list[Pokemon]:
    """Return whom a line of "move" with contact is aimed at; nobody for other lines."""
    if line[1] != "move" or len(line) < 5 or line[4][:2] not in ("p1", "p2"):
        return []
    move = GenData.from_gen(battle.gen).moves.get(to_id_str(line[3]), {})
    if "contact" not in move.get("flags", ()):
        return []
    spread = next((part.split()[1].split(",") for part in line[5:] if part.startswith("[spread] ")), None)
    hit = map(battle.active_of, spread) if spread else (battle.get_pokemon(line[4]),)
    return [mon for mon in hit if mon is not None]


def read_own_barb(battle: TrackedBattle, mon: Pokemon | None, before: str | None) -> None:
    """Read from a request that Sticky Barb has changed hands. mon: our active one, before: its item before it.

    Who has fainted takes none: the barb that Final Gambit takes, which makes contact in generation 5, is lost.
    """
    if mon is None or not mon._active:
        return
    if mon._item == _BARB != before:
        take_barb(battle, mon)
    elif before == _BARB and not mon._item:
        if battle.slots > 1:  # an ally may have touched it
            attack = next((line for line in reversed(battle._replay_data) if mon in _touched(battle, line)), None)
        else:
            moved = (line for line in reversed(battle._replay_data) if line[1] == "move")
            attack = next((line for line in moved if line[2][:2] == battle.opponent_role), None)
        # The request says what our ally has: the barb may have left it since.
        if attack is not None and attack[2][:2] == battle.opponent_role and not _gambled(battle, attack):
            battle.get_pokemon(attack[2])._item = _BARB
    elif battle.gen == 5 and mon.fainted and not mon._item:
        moved = (line for line in reversed(battle._replay_data) if line[1] == "move")
        attack = next((line for line in moved if battle.get_pokemon(line[2]) is mon), None)
        if attack is not None and _gambled(battle, attack):
            holder = battle.get_pokemon(attack[4])
            if holder._item == _BARB:
                holder._item = None


def _gambled(battle: TrackedBattle, move: list[str]) -> bool:
    """Return whether a line of "move" is of a user that fainted by it and touched its target: Final Gambit that hit."""
    if battle.gen != 5 or to_id_str(move[3]) != "finalgambit" or len(move) < 5 or "[miss]" in move:
        return False
    for line in reversed(battle._replay_data):  # back to this very line: an equal one may have come before
        if line is move:
            return False
        if line[1] == "-damage" and line[2] == move[4]:
            return True
    return False


def read_enditem(battle: TrackedBattle, message: list[str]) -> None:
    """ "-enditem|POKEMON|ITEM": it has no item.

    Without a mark, that of a Micle Berry is the end of its effect: it was eaten before, perhaps as another's (Bug Bite).
    """
    battle.record(message)
    if message[3] != "Micle Berry" or len(message) > 4:
        battle.get_pokemon(message[2])._item = None


def read_anim(battle: TrackedBattle, message: list[str]) -> None:
    """ "-anim|POKEMON|Solar Beam|TARGET" after "-prepare": it needs no turn to charge (sun, Power Herb)."""
    battle.record(message)
    end_charge(battle.get_pokemon(message[2]))


def end_charge(mon: Pokemon) -> None:
    """End what a Pokémon prepares."""
    mon._preparing_move = mon._preparing_target = None
