"""The end of a turn: what is counted, and what ends with it."""

from __future__ import annotations

from poke_env.battle.effect import Effect
from poke_env.battle.status import Status

from agents.battle.tracked_battle import TrackedBattle, is_among

_MOST_TOXIC = 15


def read_upkeep(battle: TrackedBattle, message: list[str]) -> None:
    """ "upkeep": what happens at the end of a turn has happened, poison included; Pokémon that fainted are replaced next."""
    battle.record(message)
    if battle.gen > 2:  # before, a turn of poison counts when it hurts (statuses.read_damage)
        for mon in battle.fielded():
            if mon._status is Status.TOX and not is_among(mon, battle.poisoned_at_end):
                mon._status_counter = min(mon._status_counter + 1, _MOST_TOXIC)
    battle.poisoned_at_end.clear()
    _end_turn(battle, battle._turn + 1)
    battle.turn_ended = True


def read_turn(battle: TrackedBattle, message: list[str]) -> None:
    """ "turn|7": a new turn. poke-env counts poison here, keeps some effects of one turn, and Lock-On for good."""
    battle.record(message)
    battle._turn = int(message[2])
    for mon in battle.fielded():
        mon._active_turns += 1
        mon._dancing = False
        for effect in list(mon._effects):
            if effect.is_turn_countable:
                mon._effects[effect] += 1
            if effect.ends_on_turn and effect is not Effect.MIND_READER:
                mon.end_effect(effect.name)
    if not battle.turn_ended:
        _end_turn(battle, battle._turn)
    battle.turn_ended = False


def _end_turn(battle: TrackedBattle, turn: int) -> None:
    """End effects of one turn, protections in a row that were broken off, and Lock-On of the turn before. turn: the next."""
    for mon in battle.fielded():
        if mon._protect_counter and not is_among(mon, battle.protected):
            mon._protect_counter = 0
    battle.protected.clear()
    battle.protecting = None
    if battle.gen > 1:  # there the turn is not the unit (first_generation.py)
        _end_unmoved(battle)
    for mon, effect in battle.single_turn:
        mon._effects.pop(effect, None)
    battle.single_turn.clear()
    if battle.gen > 3:  # before, a turn ends when one faints, and the other has not moved
        for mon, effect, since in battle.single_move:
            if turn > since + 1:
                mon._effects.pop(effect, None)
        battle.single_move = [entry for entry in battle.single_move if turn <= entry[2] + 1]
    if battle.locked_on:
        for mon, effect, since in battle.locked_on:
            if turn > since + 1:
                mon._effects.pop(effect, None)
        battle.locked_on = [entry for entry in battle.locked_on if turn <= entry[2] + 1]


def _end_unmoved(battle: TrackedBattle) -> None:
    """End the preparation, and the need to rest, of the turn before, which no line does.

    Sky Drop held it, or, up to generation 3, the turn ended as the other one fainted.
    """
    unmoved = []
    for mon in battle.fielded():
        if not (mon._preparing_move or mon._must_recharge):
            continue
        if is_among(mon, battle.unmoved):
            mon._preparing_move = mon._preparing_target = None
            mon._must_recharge = False
        else:
            unmoved.append(mon)
    battle.unmoved = unmoved
