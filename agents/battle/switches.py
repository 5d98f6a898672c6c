"""What ends when a Pokémon leaves the field or faints, and what Baton Pass and Shed Tail hand on.

poke-env hands nothing on. It keeps the boosts, types and terastallization of a fainted Pokémon, and the mark of one that its
opponent kept from leaving after that opponent has left.
"""

from __future__ import annotations

from collections.abc import Sequence

from poke_env.battle.effect import Effect
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.status import Status

from agents.battle.formes import end_forme
from agents.battle.illusion import note_bench, recall_sleep
from agents.battle.open_sheets import meet
from agents.battle.statuses import forget_talked_turns
from agents.battle.tracked_battle import TrackedBattle, origin

#: Effects that are not handed on (Showdown's `noCopy`), in any generation.
_KEPT = frozenset(
    {
        Effect.ATTRACT, Effect.AUTOTOMIZE, Effect.DEFENSE_CURL, Effect.DESTINY_BOND, Effect.DISABLE, Effect.DYNAMAX,
        Effect.ENCORE, Effect.FLASH_FIRE, Effect.GLAIVE_RUSH, Effect.G_MAX_CHI_STRIKE, Effect.IMPRISON, Effect.MINIMIZE,
        Effect.MIRACLE_EYE, Effect.NIGHTMARE, Effect.SALT_CURE, Effect.SMACK_DOWN, Effect.SPOTLIGHT, Effect.STOCKPILE,
        Effect.STOCKPILE1, Effect.STOCKPILE2, Effect.STOCKPILE3, Effect.SYRUP_BOMB, Effect.TORMENT, Effect.YAWN,
        Effect.PROTOSYNTHESIS, Effect.PROTOSYNTHESISATK, Effect.PROTOSYNTHESISDEF, Effect.PROTOSYNTHESISSPA,
        Effect.PROTOSYNTHESISSPD, Effect.PROTOSYNTHESISSPE, Effect.QUARK_DRIVE, Effect.QUARKDRIVEATK,
        Effect.QUARKDRIVEDEF, Effect.QUARKDRIVESPA, Effect.QUARKDRIVESPD, Effect.QUARKDRIVESPE,
        Effect.TYPECHANGE, Effect.TYPEADD, Effect.SLOW_START, Effect.MIMIC, Effect.SKILL_SWAP, Effect.ILLUSION,
        Effect.FALLEN, Effect.FALLEN1, Effect.FALLEN2, Effect.FALLEN3, Effect.FALLEN4, Effect.FALLEN5,
    }
)  # fmt: skip
_KEPT_FROM_GENERATION = {
    Effect.FORESIGHT: 3, Effect.TRAPPED: 5, Effect.LOCK_ON: 5, Effect.MIND_READER: 5,
}  # fmt: skip
_HANDING_ON = ("Baton Pass", "Shed Tail")


def read_switch(battle: TrackedBattle, message: list[str]) -> None:
    """ "switch|POKEMON|DETAILS|HP|[from] Baton Pass", "drag|…": one leaves, another comes in."""
    meet(battle, message)
    battle.part_guises(message[2])
    leaving = battle.active_of(message[2])
    move = origin(message, 5).removeprefix("move:").strip()
    boosts: dict[str, int] = {}
    effects: dict[Effect, int] = {}
    if leaving is not None and move in _HANDING_ON and leaving._status is not Status.FNT:
        boosts, effects = _handed_on(leaving, move, battle.gen)
    if leaving is not None:
        end_forme(leaving)
        if battle.gen == 3 and leaving._status is Status.TOX:
            battle.poisoned_before[battle.key_of(leaving)] = leaving._status_counter
        hp, suppressed = leaving._current_hp, Effect.GASTRO_ACID in leaving._effects
        leaving.switch_out(battle._fields)
        if suppressed or "champions" in battle.format_id:  # no Regenerator; in Champions a line has told of it
            leaving._current_hp = hp
        if Effect.TRAPPED not in effects:
            _release(battle.held_by(leaving, message[2]), battle.gen, handed=move == "Baton Pass")
    note_bench(battle, message)
    battle.read(message)
    mon = battle.get_pokemon(message[2])
    recall_sleep(battle, message[2][:3], mon)
    if mon._status is None or mon._status is Status.TOX or (battle.gen == 5 and mon._status is Status.SLP):
        mon._status_counter = 0
    if battle.gen == 3:
        forget_talked_turns(battle, mon)
    if battle.gen == 9:  # the details say it also of one whose guise another one wears
        mon._terastallized = ", tera:" in message[3]
    mon._boosts.update(boosts)
    mon._effects.update(effects)
    if effects:  # Powder is over with the turn for who received it, too
        battle.single_turn = [
            (mon if one is leaving and effect in effects else one, effect) for one, effect in battle.single_turn
        ]
    if battle.locked_on:
        held = [
            (mon, effect, since) for owner, effect, since in battle.locked_on if owner is leaving and effect in effects
        ]
        battle.locked_on = held + [entry for entry in battle.locked_on if entry[0] is not leaving]


def read_faint(battle: TrackedBattle, message: list[str]) -> None:
    """ "faint|POKEMON": it keeps nothing of what it had on the field, and is no longer terastallized."""
    battle.read(message)
    mon = battle.get_pokemon(message[2])
    end_forme(mon)
    active = mon._active
    mon.switch_out(battle._fields)
    mon._active = active
    mon._terastallized = False
    mon._status_counter = 0
    _release(battle.held_by(mon, message[2]), battle.gen, handed=False)
    facing = battle.facing(message[2])
    if battle.gen == 3 and facing is not None and facing._status is Status.TOX and _cuts_entry(battle, mon, facing):
        facing._status_counter = battle.poisoned_before.get(battle.key_of(facing), 0)


def _cuts_entry(battle: TrackedBattle, mon: Pokemon, facing: Pokemon) -> bool:
    """Return whether both have just come in, and one fainted by Spikes before the other's entry, which then never happens.

    In generation 3 Showdown cancels it, so that bad poison does not begin anew. The faster one enters first.
    """
    both = set()
    for line in reversed(battle._replay_data):
        if line[1] not in ("switch", "-damage", "faint"):
            break
        if line[1] == "switch":
            both.add(line[2][:2])
    return len(both) == 2 and mon.base_stats["spe"] * mon.level > facing.base_stats["spe"] * facing.level


def _handed_on(mon: Pokemon, move: str, gen: int) -> tuple[dict[str, int], dict[Effect, int]]:
    """Return the boosts and effects that the next Pokémon receives."""
    if move == "Shed Tail":
        return {}, {effect: turns for effect, turns in mon._effects.items() if effect is Effect.SUBSTITUTE}
    effects = {
        effect: turns
        for effect, turns in mon._effects.items()
        if effect not in _KEPT and gen < _KEPT_FROM_GENERATION.get(effect, 10)
    }
    return dict(mon._boosts), effects


def _release(held: Sequence[Pokemon], gen: int, handed: bool) -> None:
    """End what kept Pokémon from leaving, as the one that did so has left; up to generation 4 Baton Pass hands that on."""
    for mon in held if not (handed and gen <= 4) else ():
        mon._effects.pop(Effect.TRAPPED, None)
