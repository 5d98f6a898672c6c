"""Statuses, their counters, and what a Pokémon that cannot move loses.

poke-env never sets a counter back when a status ends, counts a turn of sleep twice where Sleep Talk is used, and keeps the
mark of a Pokémon that must recharge after it has done so.
"""

from __future__ import annotations

from poke_env.battle.pokemon import Pokemon
from poke_env.battle.status import Status
from poke_env.data import to_id_str

from agents.battle.abilities import show_ability
from agents.battle.effect_sources import read_hp, show_cause
from agents.battle.tracked_battle import TrackedBattle, origin, other

#: What counts a turn of bad poison, in generations 1 and 2.
_POISON = {1: ("[from] psn", "[from] tox", "[from] Leech Seed"), 2: ("[from] psn", "[from] tox")}


def read_status(battle: TrackedBattle, message: list[str]) -> None:
    """ "-status|POKEMON|tox|[from] item: Toxic Orb": a new status, whose counter begins."""
    battle.read(message)
    mon = battle.get_pokemon(message[2])
    mon._status_counter = 0
    battle.entered_asleep.pop(message[2][:3], None)
    show_cause(battle, message)
    if origin(message, 4) == "item: Toxic Orb" or _is_after_future_move(battle):
        battle.poisoned_at_end.append(mon)


def _is_after_future_move(battle: TrackedBattle) -> bool:
    """Return whether a Doom Desire or Future Sight has just come, whose user has Toxic Chain or Poison Touch."""
    for line in reversed(battle._replay_data[:-1]):
        if line[1] in ("", "move", "switch", "upkeep", "turn"):
            return False
        if line[1] == "-end" and line[3] in ("move: Doom Desire", "move: Future Sight"):
            return True
    return False


def read_curestatus(battle: TrackedBattle, message: list[str]) -> None:
    """ "-curestatus|POKEMON|slp|[from] ability: Natural Cure": the status and its counter end."""
    battle.read(message)
    mon = battle.get_pokemon(message[2])
    if mon._status is None:
        mon._status_counter = 0
    show_cause(battle, message)


def read_cureteam(battle: TrackedBattle, message: list[str]) -> None:
    """ "-cureteam|POKEMON": the statuses of its team end, and their counters."""
    battle.read(message)
    for mon in (battle._team if message[2][:2] == battle._player_role else battle._opponent_team).values():
        if mon._status is None:
            mon._status_counter = 0


def read_cant(battle: TrackedBattle, message: list[str]) -> None:
    """ "cant|POKEMON|REASON": a turn without a move. Recharging and charging are over; only "slp" is a turn of sleep.

    In "cant|HOLDER|ability: Damp|MOVE|[of] POKEMON" the first is who has the ability, not who cannot move.
    """
    battle.record(message)
    mon, reason = battle.get_pokemon(message[2]), message[3]
    if reason.startswith("ability:") and other(message):
        show_ability(mon, to_id_str(reason.removeprefix("ability:")))
        return
    mon._dancing = False
    if reason.startswith("ability:"):
        show_ability(mon, to_id_str(reason.removeprefix("ability:")))
    if reason == "slp" and mon._status is Status.SLP:
        mon._status_counter += 1
        if battle.gen == 3:
            note_sleep(battle, mon, talks=False)
    elif battle.gen == 3 and mon._status is Status.SLP and reason != "recharge":
        note_sleep(battle, mon, talks=True)  # only Sleep Talk or Snore can still be kept from being used
    if reason == "recharge":
        mon._must_recharge = False
    if battle.gen > 1:  # in generation 1 a Pokémon that cannot move stays in the air or under the ground
        mon._preparing_move = mon._preparing_target = None
    battle.end_single_move(mon)


def read_damage(battle: TrackedBattle, message: list[str]) -> None:
    """ "-damage|POKEMON|50/100|[from] …": its cause. One that hits itself in confusion does not move."""
    read_hp(battle, message)
    if battle.gen <= 2 and len(message) > 4 and message[4] in _POISON[battle.gen]:
        _count_poison(battle.get_pokemon(message[2]))
    if len(message) > 4 and message[4] == "[from] confusion":
        mon = battle.get_pokemon(message[2])
        mon._dancing = False
        if battle.gen == 3 and mon._status is Status.SLP:
            note_sleep(battle, mon, talks=True)
        if battle.gen > 1:
            mon._preparing_move = mon._preparing_target = None
        battle.end_single_move(mon)


def _count_poison(mon: Pokemon) -> None:
    """Count a turn of bad poison when it hurts: in generations 1 and 2 after its own move, if that faints nobody."""
    if mon._status is Status.TOX:
        mon._status_counter += 1


def note_sleep(battle: TrackedBattle, mon: Pokemon, talks: bool) -> None:
    """Count the last turns of sleep in which a Pokémon used Sleep Talk or Snore. talks: it does so now; else it sleeps.

    In generation 3 those turns do not count when it has left and come in again.
    """
    turns, undecided = battle.talked.get(battle.key_of(mon), (0, False))
    battle.talked[battle.key_of(mon)] = (turns + 1, False) if talks else (0 if undecided else turns, True)


def forget_talked_turns(battle: TrackedBattle, mon: Pokemon) -> None:
    """Take off, as a Pokémon comes in, the turns of sleep that do not count any more (`note_sleep`)."""
    turns, undecided = battle.talked.pop(battle.key_of(mon), (0, False))
    if mon._status is Status.SLP and not undecided:
        mon._status_counter = max(0, mon._status_counter - turns)
