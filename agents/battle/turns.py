"""The end of a turn: what is counted, and what ends with it."""

from __future__ import annotations

from poke_env.battle.effect import Effect
from poke_env.battle.status import Status

from agents.battle.tracked_battle import TrackedBattle

_SURE_HIT_TURNS = 2


def read_turn(battle: TrackedBattle, message: list[str]) -> None:
    """ "turn|7": a new turn. poke-env counts poison here (statuses.read_upkeep does), and keeps effects of one turn.

    Lock-On lasts until the end of the next turn: poke-env keeps it, and ends Mind Reader a turn early.
    """
    battle.record(message)
    battle._turn = int(message[2])
    for mon in (battle.active_pokemon, battle.opponent_active_pokemon):
        if mon is None:
            continue
        mon._active_turns += 1
        if battle.gen == 1 and mon._status is Status.TOX:  # its turns may end without upkeep
            mon._status_counter += 1
        for effect in list(mon._effects):
            if effect.is_turn_countable:
                mon._effects[effect] += 1
            if effect.ends_on_turn and effect is not Effect.MIND_READER:
                mon.end_effect(effect.name)
    for mon, effect in battle.single_turn:
        mon._effects.pop(effect, None)
    battle.single_turn.clear()
    if battle.locked_on:
        for mon, effect, since in battle.locked_on:
            if battle._turn >= since + _SURE_HIT_TURNS:
                mon._effects.pop(effect, None)
        battle.locked_on = [entry for entry in battle.locked_on if battle._turn < entry[2] + _SURE_HIT_TURNS]
