"""The end of Illusion: what was taken for one Pokémon's goes to the one that wore its guise.

poke-env leaves the copied Pokémon without HP and status, with the moves, item and counters of the other; the other comes in
without boosts and effects.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from poke_env.battle.effect import Effect
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.status import Status

from agents.battle.open_sheets import keep_tera_type, meet
from agents.battle.tracked_battle import FIRST_WITH_ILLUSION, TrackedBattle

#: What a Pokémon has on the field, and its health: of the one that wears the guise.
_WORN = (
    "_active_turns", "_boosts", "_current_hp", "_dancing", "_effects", "_max_hp", "_must_recharge", "_preparing_move",
    "_preparing_target", "_protect_counter", "_status", "_status_counter", "_temporary_ability", "_temporary_types",
    "_terastallized", "_terastallized_type",
)  # fmt: skip
_SLOTS = tuple(name for name in Pokemon.__slots__ if name not in ("_moves", "_gen"))
_slots_of = attrgetter(*_SLOTS)


def note_bench(battle: TrackedBattle, message: list[str]) -> None:
    """Remember what is known of a Pokémon just before it comes in, since it may be another one under Illusion."""
    if battle.gen < FIRST_WITH_ILLUSION:
        return
    battle.pressing.discard(message[2][:3])
    battle.types_before.pop(message[2][:3], None)
    ident = message[2][:2] + message[2][3:]
    team = battle._team if ident[:2] == battle._player_role else battle._opponent_team
    mon = team.get(ident)
    if mon is None:
        species = message[3].split(",")[0]
        mon = next((known for known in team.values() if known.identifies_as(species)), None)
    state = None if mon is None else state_of(mon)
    battle.on_bench[message[2][:3]] = ident, state


def recall_sleep(battle: TrackedBattle, place: str, mon: Pokemon) -> None:
    """Tell apart, as a Pokémon comes in, the turns of sleep of one that wears its guise and its own.

    Nobody falls asleep on the bench: who left asleep and comes in awake, or the reverse, is not the same Pokémon, or was
    cured. So a sleeper that comes in where one was awake is the one that slept here before.
    """
    battle.entered_asleep.pop(place, None)
    ident, before = battle.on_bench.get(place, ("", None))
    if before is not None and before["_status"] is Status.SLP and mon._status is not Status.SLP:
        battle.slept[ident] = before["_status_counter"]
    if mon._status is Status.SLP and battle.gen > FIRST_WITH_ILLUSION:  # in that one, sleep begins anew
        if before is not None and before["_status"] is not Status.SLP:
            mon._status_counter = battle.slept.get(ident, 0)
        battle.entered_asleep[place] = mon._status_counter


def read_replace(battle: TrackedBattle, message: list[str]) -> None:
    """ "replace|POKEMON|DETAILS": the active Pokémon is this one, and was so since it came in."""
    battle.record(message)
    meet(battle, message)
    copied = battle.active_of(message[2])
    wearer = battle.get_pokemon(message[2], details=message[3])
    if copied is None or copied is wearer:
        return
    unmask(battle, message[2][:3], wearer, copied)
    wearer.switch_in(details=message[3])
    keep_tera_type(battle, wearer)
    if wearer._ability is None:
        wearer._ability = "illusion"
    battle.recognise(message[2])


def unmask(battle: TrackedBattle, place: str, wearer: Pokemon, copied: Pokemon) -> None:
    """Give to the wearer of a guise what has been taken for the copied Pokémon's since it came in."""
    ident, before = battle.on_bench.get(place, ("", None))
    battle.occupy(place, wearer)
    battle.transfer_marks(copied, wearer)
    slept = wearer._status_counter - battle.entered_asleep.get(place, 0) if wearer._status is Status.SLP else 0
    for name in _WORN:
        setattr(wearer, name, getattr(copied, name))
    if place in battle.entered_asleep and wearer._status is Status.SLP:
        wearer._status_counter += slept
    wearer._temporary_types = battle.types_before.pop(place, wearer._temporary_types)
    if Effect.TYPEADD in wearer._effects and Effect.TYPECHANGE not in wearer._effects:
        added, wearer._temporary_types = wearer._temporary_types[-1], []
        wearer._temporary_types = [*wearer.base_types, added]
    old_moves = {} if before is None else before["_moves"]
    for name, move in copied._moves._base_moves.items():
        old = old_moves.get(name)
        used = (move.max_pp if old is None else old[1]) - move._current_pp
        if old is None or used or move._is_last_used:
            own = wearer._add_move(name)
            if own is not None:
                own._current_pp = max(0, own._current_pp - used)
                own._is_last_used = move._is_last_used
    if before is None or copied._item != before["_item"]:
        wearer._item = copied._item
    if before is None:
        team = battle._team if place[:2] == battle._player_role else battle._opponent_team
        unseen = Pokemon(battle.gen, details=copied._last_details, name=copied.name)
        unseen._current_hp = unseen._max_hp = copied._max_hp
        team[ident] = unseen
        return
    for name in _SLOTS:
        setattr(copied, name, before[name])
    copied._moves._base_moves = {name: move for name, (move, _) in old_moves.items()}
    for move, pp in old_moves.values():
        move._current_pp, move._is_last_used = pp, False


def state_of(mon: Pokemon) -> dict[str, Any]:
    """Return all that is known of a Pokémon on the bench."""
    state: dict[str, Any] = dict(zip(_SLOTS, _slots_of(mon), strict=True))
    for name in ("_boosts", "_stats", "_effects"):
        state[name] = dict(state[name])
    state["_moves"] = {name: (move, move._current_pp) for name, move in mon._moves._base_moves.items()}
    return state
