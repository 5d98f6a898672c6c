"""Lines about boosts that poke-env reads otherwise than they are meant."""

from __future__ import annotations

from poke_env.battle.effect import Effect
from poke_env.battle.pokemon import Pokemon

from agents.battle.effect_sources import show_cause
from agents.battle.tracked_battle import TrackedBattle

#: Effects on the chance of a critical hit.
_CRITICAL = (Effect.DRAGON_CHEER, Effect.FOCUS_ENERGY, Effect.G_MAX_CHI_STRIKE, Effect.LASER_FOCUS)
_FIRST_WITH_COPIED_EFFECTS = 6


def read_copyboost(battle: TrackedBattle, message: list[str]) -> None:
    """ "-copyboost|USER|TARGET" (Psych Up, Costar): the user takes the target's boosts. poke-env does the opposite."""
    battle.record(message)
    user, target = battle.get_pokemon(message[2]), battle.get_pokemon(message[3])
    user.copy_boosts(target)
    copy_critical_effects(battle, user, target)
    show_cause(battle, message)


def copy_critical_effects(battle: TrackedBattle, user: Pokemon, target: Pokemon) -> None:
    """Give a Pokémon that copies another its Focus Energy and the like, and end its own, as from generation 6."""
    if battle.gen < _FIRST_WITH_COPIED_EFFECTS:
        return
    for effect in _CRITICAL:
        user._effects.pop(effect, None)
        if effect in target._effects:
            user._effects[effect] = target._effects[effect]


def read_clearallboost(battle: TrackedBattle, message: list[str]) -> None:
    """ "-clearallboost" (Haze): all boosts are 0; in generation 4 Focus Energy ends, too."""
    battle.read(message)
    if battle.gen == 4:
        for mon in battle.fielded():
            mon._effects.pop(Effect.FOCUS_ENERGY, None)


def read_clearboost(battle: TrackedBattle, message: list[str]) -> None:
    """ "-clearboost|POKEMON|[from] ability: Curious Medicine|[of] HOLDER": its boosts are 0; the holder has the ability."""
    battle.read(message)
    show_cause(battle, message)


def read_setboost(battle: TrackedBattle, message: list[str]) -> None:
    """ "-setboost|POKEMON|atk|12" (Anger Point in generation 4): the boost is 6. poke-env refuses numbers beyond."""
    amount = max(-6, min(6, int(message[4])))
    battle.record(message)
    battle.get_pokemon(message[2]).set_boost(message[3], amount)
    show_cause(battle, message)
