"""Moves that go on by themselves, in generation 2, whose lines do not say so: "move|p1a: Rattata|Fly|…" twice is one use.

Later generations write "[from] lockedmove". A prepared move, Thrash and its like, and Rollout go on in the next turn.
"""

from __future__ import annotations

from typing import NamedTuple

from poke_env.battle.pokemon import Pokemon
from poke_env.battle.status import Status
from poke_env.data import to_id_str

from agents.battle.tracked_battle import TrackedBattle

#: Moves that go on for two or three turns, and until they fail or have been used five times.
_THRASHING = frozenset({"thrash", "petaldance", "outrage"})
_ROLLING = frozenset({"rollout"})
_MOST_USES = dict.fromkeys(_THRASHING, 3) | dict.fromkeys(_ROLLING, 5)
_CONTINUED = "[from] lockedmove"


class ContinuedMove(NamedTuple):
    """A move that may go on: how often and when it was used last, and where the line of that use is in the record."""

    mon: Pokemon
    move: str
    uses: int
    turn: int
    line: int


def marked_continued(battle: TrackedBattle, mon: Pokemon, message: list[str]) -> list[str]:
    """Return the line of a used move, with the mark of later generations if the move goes on."""
    move = to_id_str(message[3])
    before = battle.continued.pop(message[2][:2], None)
    goes_on = before is not None and before.mon is mon and before.move == move and _still_goes_on(battle, before)
    if move in _MOST_USES and mon._status is not Status.SLP:
        uses = before.uses + battle.turn - before.turn if before is not None and goes_on else 1
        if uses < _MOST_USES[move]:
            use = ContinuedMove(mon, move, uses, battle.turn, len(battle._replay_data))
            battle.continued[message[2][:2]] = use
    prepared = mon._preparing_move is not None and mon._preparing_move.id == move
    return [*message, _CONTINUED] if goes_on or prepared else message


def end_thrashing(battle: TrackedBattle, message: list[str]) -> None:
    """ "-start|POKEMON|confusion|[silent]": it is confused, since its Thrash has ended."""
    if "[silent]" in message:
        battle.continued.pop(message[2][:2], None)


def _still_goes_on(battle: TrackedBattle, before: ContinuedMove) -> bool:
    skipped = battle.turn - 1 - before.turn
    if skipped < 0 or before.mon._active_turns < 2 + skipped:
        return False  # it has left and come back
    user, since = battle._replay_data[before.line][2][:2], battle._replay_data[before.line + 1 :]
    if before.move in _THRASHING:  # a turn that ended as the other one fainted does not break it off
        return not skipped or not any(_breaks_off(line, user) for line in since)
    if skipped:
        return False
    for line in since:
        if line[1] in ("move", "upkeep", ""):
            return False
        if line[1] == "-damage" and len(line) == 4 and line[2][:2] != user:
            return True
        if line[1] in ("-activate", "-end") and line[3] == "Substitute":
            return True
    return False


def _breaks_off(line: list[str], user: str) -> bool:
    """Return whether the user of Thrash could not move, or has hit itself in confusion."""
    return len(line) > 2 and line[2][:2] == user and (line[1] == "cant" or line[-1] == "[from] confusion")
