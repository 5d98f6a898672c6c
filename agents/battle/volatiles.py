"""Effects on a Pokémon: how they begin, what they replace, and those that end without a line of their own.

poke-env keeps every count of Perish Song and Stockpile, effects of one turn that it has no list entry for, Destiny Bond
after the next move, Lock-On for good; and it takes every ability or move that "activates" for an effect.
"""

from __future__ import annotations

from collections.abc import Callable

from poke_env.battle.effect import Effect
from poke_env.battle.move import Move
from poke_env.battle.pokemon import Pokemon
from poke_env.data import to_id_str

from agents.battle.abilities import PERISHING, end_gas, give_ability, read_spread, read_swap, show_ability
from agents.battle.boosts import copy_critical_effects
from agents.battle.continued_moves import end_thrashing
from agents.battle.effect_sources import show_cause
from agents.battle.items import end_charge
from agents.battle.quick_poke_env import ability_of
from agents.battle.tracked_battle import TrackedBattle, origin, other
from agents.battle.types import add_type, change_types

_COUNTS = (
    PERISHING,
    frozenset({Effect.STOCKPILE1, Effect.STOCKPILE2, Effect.STOCKPILE3}),
)
#: What lines of "-activate" tell of an effect that lasts; the others tell of something that happened.
_LASTING = frozenset(
    {
        Effect.TRAPPED, Effect.BIND, Effect.CLAMP, Effect.FIRE_SPIN, Effect.INFESTATION, Effect.MAGMA_STORM,
        Effect.SAND_TOMB, Effect.SNAP_TRAP, Effect.THUNDER_CAGE, Effect.WHIRLPOOL, Effect.WRAP,
        Effect.G_MAX_CENTIFERNO, Effect.G_MAX_SANDBLAST, Effect.LOCK_ON, Effect.MIND_READER, Effect.PROTOSYNTHESIS,
        Effect.QUARK_DRIVE, Effect.COMMANDER,
    }
)  # fmt: skip
_LOCKS = (Effect.LOCK_ON, Effect.MIND_READER)
_STOCKPILES = _COUNTS[1]
#: Effects of Protect and the like, as lines name them.
_PROTECTIONS = frozenset({"protect", "endure", "wideguard", "quickguard", "maxguard"})
#: Prepared moves that Gravity and Smack Down break off.
_IN_THE_AIR = frozenset({"bounce", "fly", "skydrop"})


def read_start(battle: TrackedBattle, message: list[str]) -> None:
    """ "-start|POKEMON|EFFECT|…": an effect begins, or one that counts has another count."""
    name = message[3]
    if name in ("typechange", "typeadd"):
        battle.record(message)
        (change_types if name == "typechange" else add_type)(battle, message)
    else:
        battle.read(message)
        mon = battle.get_pokemon(message[2])
        effect = Effect.from_showdown_message(name)
        if name == "Dynamax":
            mon._effects.pop(Effect.MINIMIZE, None)
        if name == "Mimic" and battle.gen > 1:
            start_mimic(mon)
        if name == "Smack Down":
            _ground(mon)
        if name == "confusion" and battle.gen == 2:
            end_thrashing(battle, message)
        for counts in _COUNTS:
            if effect in counts:
                for ended in counts - {effect}:
                    mon._effects.pop(ended, None)
    if name.startswith("ability:"):
        show_ability(battle.get_pokemon(message[2]), to_id_str(name.removeprefix("ability:")))
    else:
        show_cause(battle, message)


def read_end(battle: TrackedBattle, message: list[str]) -> None:
    """ "-end|POKEMON|EFFECT": an effect ends; "Stockpile" is one of three."""
    if message[3] == "ability: Neutralizing Gas":
        end_gas(battle, message)
        return
    battle.read(message)
    mon = battle.get_pokemon(message[2])
    if message[3] == "Toxic counter":  # Haze in generation 1: bad poison has become poison
        mon._status_counter = 0
    if message[3] == "Stockpile":
        for effect in _STOCKPILES:
            mon._effects.pop(effect, None)


def read_single_turn(battle: TrackedBattle, message: list[str]) -> None:
    """ "-singleturn|POKEMON|move: Roost": an effect that ends with the turn."""
    battle.read(message)
    mon = battle.get_pokemon(message[2])
    battle.single_turn.append((mon, Effect.from_showdown_message(message[3])))
    worked = to_id_str(message[3].split(":")[-1]) in _PROTECTIONS
    if worked and battle.protecting is not None and battle.protecting[0] is mon:
        mon._protect_counter = battle.protecting[1] + 1
        battle.protected.append(mon)
        battle.protecting = None


def read_single_move(battle: TrackedBattle, message: list[str]) -> None:
    """ "-singlemove|POKEMON|Destiny Bond": an effect that ends with its next move, or when it cannot move.

    That is by the end of the next turn, also where no line tells that it tried (held by Sky Drop). Up to generation 3 a turn
    ends when one faints: the effect stays until the other moves.
    """
    battle.read(message)
    mon, effect = battle.get_pokemon(message[2]), Effect.from_showdown_message(message[3])
    battle.single_move.append((mon, effect, battle.turn))


def read_activate(battle: TrackedBattle, message: list[str]) -> None:
    """ "-activate|POKEMON|EFFECT|…": what it does, by its name; the ability that activates is shown."""
    name = message[3] if len(message) > 3 else ""
    reader = _ACTIVATIONS.get(name.removeprefix("move: ")) or _ACTIVATIONS.get(name)
    if reader is not None:
        reader(battle, message)
        return
    if not message[2]:
        battle.record(message)
        return
    if battle.gen >= 6 and (name == "move: Feint" or "[broken]" in message):  # its next Protect is as its first
        battle.get_pokemon(message[2])._protect_counter = 0
    ability = to_id_str(name.removeprefix("ability:")) if name.startswith("ability:") else ""
    if ability == "dancer":
        battle.read(message)
    elif name.startswith("item:"):
        battle.record(message)
        battle.get_pokemon(message[2])._item = None if "[consumed]" in message else to_id_str(name[5:])
    else:
        battle.record(message)
        effect = Effect.from_showdown_message(name)
        if effect in _LASTING:
            mon = battle.get_pokemon(message[2])
            lasts = any(owner is mon for owner, *_ in battle.locked_on)  # in generation 2 it is used in vain
            if effect not in _LOCKS or not lasts:
                mon.start_effect(name)
            if effect is Effect.TRAPPED:
                battle.trappers += [(mon, holder) for holder in _holder(battle, mon)]
            if effect in _LOCKS and not lasts:
                battle.locked_on.append((mon, effect, battle.turn))
    if ability and ability != "persistent":
        show_ability(battle.get_pokemon(message[2]), ability)


def _holder(battle: TrackedBattle, held: Pokemon) -> list[Pokemon]:
    """Return who keeps a Pokémon from leaving: the user of the last move; for the user itself (Jaw Lock) its target."""
    used = next((line for line in reversed(battle._replay_data) if line[1] == "move"), None)
    if used is None:
        return []
    user = battle.get_pokemon(used[2])
    if user is not held:
        return [user]
    return [battle.get_pokemon(used[4])] if len(used) > 4 and used[4][:1] == "p" else []


def read_transform(battle: TrackedBattle, message: list[str]) -> None:
    """ "-transform|POKEMON|INTO": it has the other's types, forme, ability and moves as they are now.

    poke-env gives it those of the other's species, and leaves it its own ability where the other's is not known; one with
    Imposter that is no Ditto receives the move Transform.
    """
    mon, into = battle.get_pokemon(message[2]), battle.get_pokemon(message[3])
    if origin(message, 4) == "ability: Imposter":
        show_ability(mon, "imposter")
    battle.record(message)
    last = mon.last_move
    mon.transform(into)
    if last is not None:
        battle.before_transform.append((mon, last.id))
    keep_last_moves(battle)
    mon._temporary_base_stats = into.base_stats
    mon._weightkg, mon._heightm = into._weightkg, into._heightm
    mon._temporary_types = list(into.base_types)
    mon._effects.pop(Effect.TYPEADD, None)
    if Effect.TYPEADD in into._effects:
        mon._effects[Effect.TYPEADD] = 0
    if battle.gen > 2:
        give_ability(mon, ability_of(into))
    copy_critical_effects(battle, mon, into)


def keep_last_moves(battle: TrackedBattle) -> None:
    """Mark the move by which one has transformed as its last one, if it has transformed into one that knows it."""
    for mon, last in battle.before_transform:
        if mon.transformed and mon.last_move is None and last in mon.moves:
            mon.moves[last]._is_last_used = True


def start_mimic(mon: Pokemon) -> None:
    """Give a move that was mimicked the PP that it has: 5 up to generation 4, then those without PP Ups."""
    move = mon.mimic_move
    if move is not None:
        move._current_pp = min(5, move.entry["pp"]) if mon.gen <= 4 else move.entry["pp"]


def _lower_pp(battle: TrackedBattle, message: list[str]) -> None:
    """ "-activate|POKEMON|move: Spite|MOVE|4": a move of it loses PP (also Eerie Spell, G-Max Depletion)."""
    battle.record(message)
    move = battle.get_pokemon(message[2])._add_move(message[4])
    if move is not None:
        move._current_pp = max(0, move._current_pp - int(message[5]))


def _take_all_pp(battle: TrackedBattle, message: list[str]) -> None:
    """ "-activate|POKEMON|move: Grudge|MOVE": its move has no PP left."""
    battle.record(message)
    move = battle.get_pokemon(message[2])._add_move(message[4])
    if move is not None:
        move._current_pp = 0


def _restore_pp(battle: TrackedBattle, message: list[str]) -> None:
    """ "-activate|POKEMON|item: Leppa Berry|MOVE": the move has 10 PP more. poke-env raises if it does not know it."""
    battle.record(message)
    mon = battle.get_pokemon(message[2])
    move = mon._add_move(message[4])
    if move is not None:
        move._current_pp = min(move._current_pp + (5 if "Mystery" in message[3] else 10), move.max_pp)
    if "[consumed]" in message and mon._item == to_id_str(message[3][5:]):
        mon._item = None  # else it has eaten another's (Bug Bite, Fling), or "-enditem" has said it


def _sketch(battle: TrackedBattle, message: list[str]) -> None:
    """ "-activate|POKEMON|move: Sketch|MOVE": it knows the move in Sketch's place, for good, with PP without PP Ups."""
    battle.record(message)
    mon = battle.get_pokemon(message[2])
    mon._moves._base_moves.pop("sketch", None)
    move = mon._add_move(message[4])
    if move is not None:
        mon._moves._base_moves[move._id] = SketchedMove(move._id, battle.gen)


class SketchedMove(Move):
    """A move that Sketch has put into its own place: without PP Ups, also where Lunar Dance or a berry restores PP."""

    __slots__ = ()

    def __init__(self, move_id: str, gen: int) -> None:
        super().__init__(move_id, gen)
        self._current_pp = self.max_pp

    @property
    def max_pp(self) -> int:
        return int(self.entry["pp"])


def _mimic(battle: TrackedBattle, message: list[str]) -> None:
    """ "-activate|POKEMON|move: Mimic|MOVE", which up to generation 4 is also Sketch's line."""
    used = next((line for line in reversed(battle._replay_data) if line[1] == "move"), None)
    if battle.gen <= 4 and used is not None and used[3] == "Sketch":
        _sketch(battle, message)
    else:
        battle.read(message)
        start_mimic(battle.get_pokemon(message[2]))


def _gravity(battle: TrackedBattle, message: list[str]) -> None:
    """ "-activate|POKEMON|move: Gravity": it is brought to the ground."""
    battle.record(message)
    _ground(battle.get_pokemon(message[2]))


def _ground(mon: Pokemon) -> None:
    """End what kept a Pokémon in the air: its Fly or Bounce, Magnet Rise and Telekinesis."""
    if mon._preparing_move is not None and mon._preparing_move.id in _IN_THE_AIR:
        end_charge(mon)
    for effect in (Effect.MAGNET_RISE, Effect.TELEKINESIS):
        mon._effects.pop(effect, None)


def _snatch(battle: TrackedBattle, message: list[str]) -> None:
    """ "-activate|POKEMON|move: Snatch|[of] FROM": that one's move has no effect on it.

    Up to generation 4 Snatch costs one more if it has Pressure.
    """
    battle.record(message)
    if battle.silent_effect is not None:
        robbed, effect = battle.silent_effect
        robbed._effects.pop(effect, None)
    snatch = battle.get_pokemon(message[2]).moves.get("snatch")
    if snatch is not None and battle.gen <= 4 and ability_of(battle.get_pokemon(other(message))) == "pressure":
        snatch.use(overridden=True, pressure=True)


def _trick(battle: TrackedBattle, message: list[str]) -> None:
    """ "-activate|USER|move: Trick|[of] TARGET": lines of "-item" and "-enditem" follow and say who has what."""
    battle.record(message)


def _symbiosis(battle: TrackedBattle, message: list[str]) -> None:
    """ "-activate|HOLDER|ability: Symbiosis|ITEM|[of] ALLY": the holder gives its item to its ally."""
    battle.read(message)
    show_ability(battle.get_pokemon(message[2]), "symbiosis")


_ACTIVATIONS: dict[str, Callable[[TrackedBattle, list[str]], None]] = {
    "Skill Swap": read_swap,
    "ability: Mummy": read_spread,
    "ability: Lingering Aroma": read_spread,
    "ability: Wandering Spirit": read_swap,
    "ability: Symbiosis": _symbiosis,
    "Spite": _lower_pp,
    "Eerie Spell": _lower_pp,
    "G-Max Depletion": _lower_pp,
    "Grudge": _take_all_pp,
    "item: Leppa Berry": _restore_pp,
    "item: Mystery Berry": _restore_pp,
    "Sketch": _sketch,
    "Snatch": _snatch,
    "Mimic": _mimic,
    "Gravity": _gravity,
    "Trick": _trick,
}
