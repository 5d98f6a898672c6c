"""Weather, fields and the conditions of the sides."""

from __future__ import annotations

from poke_env.battle.field import Field
from poke_env.battle.side_condition import SideCondition
from poke_env.battle.weather import Weather
from poke_env.data import to_id_str

from agents.battle.abilities import show_ability
from agents.battle.tracked_battle import TrackedBattle, origin, other

#: What Court Change leaves where it is.
_NOT_SWAPPED = frozenset(
    {
        SideCondition.CRAFTY_SHIELD, SideCondition.LUCKY_CHANT, SideCondition.MATBLOCK, SideCondition.QUICK_GUARD,
        SideCondition.WIDE_GUARD,
    }
)  # fmt: skip


def read_weather(battle: TrackedBattle, message: list[str]) -> None:
    """ "-weather|RainDance|[upkeep]": the weather goes on since it began. poke-env takes every turn for its first."""
    if "[upkeep]" in message and message[2] != "none":
        weather = Weather.from_showdown_message(message[2])
        if weather in battle._weather:
            battle.record(message)
            return
    battle.read(message)
    _show_setter(battle, message)


def read_fieldstart(battle: TrackedBattle, message: list[str]) -> None:
    """ "-fieldstart|move: Grassy Terrain|[from] ability: Grassy Surge|[of] POKEMON": it shows the ability."""
    battle.read(message)
    _show_setter(battle, message)


def _show_setter(battle: TrackedBattle, message: list[str]) -> None:
    source = origin(message)
    if source.startswith("ability:") and other(message):
        show_ability(battle.get_pokemon(other(message)), to_id_str(source.removeprefix("ability:")))


def read_fieldend(battle: TrackedBattle, message: list[str]) -> None:
    """ "-fieldend|move: Trick Room": it ends, also where its beginning was not heard."""
    battle.record(message)
    battle._fields.pop(Field.from_showdown_message(message[2]), None)


def read_sideend(battle: TrackedBattle, message: list[str]) -> None:
    """ "-sideend|p1: NAME|Reflect": it ends, also where its beginning was not heard."""
    battle.record(message)
    ours = message[2][:2] == battle._player_role
    conditions = battle._side_conditions if ours else battle._opponent_side_conditions
    conditions.pop(SideCondition.from_showdown_message(message[3]), None)


def read_swapsideconditions(battle: TrackedBattle, message: list[str]) -> None:
    """ "-swapsideconditions" (Court Change): all but what lasts for a turn, and Lucky Chant, changes sides."""
    battle.record(message)
    ours, theirs = battle._side_conditions, battle._opponent_side_conditions
    battle._side_conditions = _after_swap(ours, theirs)
    battle._opponent_side_conditions = _after_swap(theirs, ours)


def _after_swap(own: dict[SideCondition, int], other_side: dict[SideCondition, int]) -> dict[SideCondition, int]:
    kept = {condition: value for condition, value in own.items() if condition in _NOT_SWAPPED}
    return kept | {condition: value for condition, value in other_side.items() if condition not in _NOT_SWAPPED}
