"""Lines about boosts that poke-env reads otherwise than they are meant."""

from __future__ import annotations

from agents.battle.causes import show_cause
from agents.battle.tracked_battle import TrackedBattle


def read_copyboost(battle: TrackedBattle, message: list[str]) -> None:
    """ "-copyboost|USER|TARGET" (Psych Up, Costar): the user takes the target's boosts. poke-env does the opposite."""
    battle.record(message)
    battle.get_pokemon(message[2]).copy_boosts(battle.get_pokemon(message[3]))


def read_setboost(battle: TrackedBattle, message: list[str]) -> None:
    """ "-setboost|POKEMON|atk|12" (Anger Point in generation 4): the boost is 6. poke-env refuses numbers beyond."""
    amount = max(-6, min(6, int(message[4])))
    battle.record(message)
    battle.get_pokemon(message[2]).set_boost(message[3], amount)
    show_cause(battle, message)
