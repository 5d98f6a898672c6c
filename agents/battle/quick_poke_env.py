"""Makes poke-env's tracking of a battle quicker without changing what it does: the same state after every line and request.

Two thirds of a decision of an agent that reads the battle are poke-env's. Its hot spots are properties that call properties
(the moves of a Pokémon), lookups of effects where there are none (each hashes an enum in Python), and chains of comparisons
that find out what kind of line it is. Here the usual case of each is written out; anything else is left to poke-env's own
code, from the beginning of the line. tests/agents/battle/test_quick_poke_env.py compares both, attribute by attribute.

This module replaces methods of poke-env's Pokemon and GenData, for every battle of the process, when it is imported;
`slow_down` restores them. agents/battle/quick_battle.py has poke-env's Battle with the other part.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from poke_env.battle.effect import Effect
from poke_env.battle.field import Field
from poke_env.battle.move import Move, MoveSet
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.status import Status
from poke_env.data import GenData, to_id_str

_stock_hp_status = Pokemon.set_hp_status
_stock_available_moves = Pokemon.available_moves_from_request
_stock_moved = Pokemon.moved
_stock_add_move = Pokemon._add_move
_stock_identifies_as = Pokemon.identifies_as
_stock_generate_learnset = GenData.generate_learnset
_stock_moves = Pokemon.moves
MoveSet._mimicked = None  # type: ignore[attr-defined]
FAINTED = Status.FNT
_ASLEEP = Status.SLP
_POISONED = Status.TOX


def _moves(mon: Pokemon) -> dict[str, Move]:
    known = mon._moves
    while known._transform_moves is not None:
        known = known._transform_moves
    return known._base_moves if known._mimic_move is None else known.moves


def _known_moves(known: MoveSet) -> dict[str, Move]:
    """As poke-env's, with mimicked moves in any slot (generation 1: `_mimicked`, by the slot's own move).

    A mimicked Hidden Power whose type is known is found under its name without it, as one of its own is.
    """
    copied = known.mimic_move
    mimicked = known._resolved()._mimicked or ({"mimic": copied} if copied else {})  # type: ignore[attr-defined]
    shown = {}
    for name, move in known.base_moves.items():
        here = mimicked.get(name)
        shown[name if here is None else Move.retrieve_id(here.id)] = here or move
    return shown


def ability_of(mon: Pokemon) -> str | None:
    """Return a Pokémon's ability, as its property does; None also for a temporary one that is not known ("")."""
    if mon._temporary_ability is not None:
        return mon._temporary_ability or None
    return mon._ability if mon._forme_change_ability is None else mon._forme_change_ability


def _add_move(mon: Pokemon, move_id: str) -> Move | None:
    found = _moves(mon).get(Move.retrieve_id(move_id))
    return _stock_add_move(mon, move_id) if found is None else found


@lru_cache(1 << 15)
def read_condition(text: str) -> tuple[int, int, Status | None]:
    """HP, maximum HP and status of a condition like "88/100 par". Raises what poke-env raises for another."""
    hp, space, status = text.partition(" ")
    if space and " " in status:
        raise ValueError(text)
    current, most = "".join([c for c in hp if c in "0123456789/"]).split("/")
    return int(current), int(most), Status[status.upper()] if space else None


def _set_hp_status(mon: Pokemon, hp_status: str, store: bool = False) -> None:
    if hp_status == "0 fnt":
        mon._current_hp = 0
        mon._status = FAINTED
        return
    try:
        current, most, status = read_condition(hp_status)
    except Exception:
        _stock_hp_status(mon, hp_status, store)
        return
    if status is _ASLEEP and mon._effects:
        _stock_hp_status(mon, hp_status, store)
        return
    mon._status = status
    mon._current_hp = current
    mon._max_hp = most
    if store:
        mon._stats["hp"] = most


def _moved(
    mon: Pokemon,
    move_id: str,
    failed: bool = False,
    use: bool = True,
    reveal: bool = True,
    pressure: bool = False,
) -> None:
    if mon._effects:
        _stock_moved(mon, move_id, failed=failed, use=use, reveal=reveal, pressure=pressure)
        return
    mon._must_recharge = False
    mon._preparing_move = None
    mon._preparing_target = None
    move = mon._add_move(move_id) if reveal else None
    if use:
        if move is not None:
            move.use(pressure)
        for known in _moves(mon).values():
            known._is_last_used = known is move
    if move is not None and not failed and move.is_protect_counter:
        mon._protect_counter += 1
    else:
        mon._protect_counter = 0
    if mon._status is _ASLEEP:
        mon._status_counter += 1


def _use(move: Move, pressure: int = 0, overridden: bool = False) -> None:
    """As poke-env's. pressure: how many Pokémon with Pressure it is aimed at, or whether it is."""
    move._current_pp = max(move._current_pp - (not overridden) - pressure, 0)


def _end_turn(mon: Pokemon) -> None:
    mon._active_turns += 1
    if mon._status is _POISONED:
        mon._status_counter += 1
    effects = mon._effects
    if not effects:
        return
    for effect in list(effects):
        if effect.is_turn_countable:
            effects[effect] += 1
        if effect.ends_on_turn:
            mon.end_effect(effect.name)


def _switch_out(mon: Pokemon, fields: dict[Field, int]) -> None:
    if (
        ability_of(mon) == "regenerator"
        and (mon._item == "abilityshield" or Field.NEUTRALIZING_GAS not in fields)
        and mon._status is not FAINTED
    ):
        mon._current_hp = min(int(mon.current_hp + mon.max_hp / 3), mon.max_hp)
    mon._active = False
    mon._boosts.update(dict.fromkeys(mon._boosts, 0))
    if mon._effects:
        mon._clear_effects()
    mon._active_turns = 0
    mon._must_recharge = False
    mon._preparing_move = None
    mon._preparing_target = None
    mon._protect_counter = 0
    mon._temporary_ability = None
    mon._temporary_base_stats = None
    mon._moves._transform_moves = None
    mon._moves._mimic_move = None
    mon._moves._mimicked = None  # type: ignore[attr-defined]
    mon._temporary_types = []
    if mon._status is _POISONED:
        mon._status_counter = 0
    for move in mon._moves._base_moves.values():
        move._is_last_used = False


def _available_moves(mon: Pokemon, request: dict[str, Any]) -> list[Move]:
    effects = mon._effects
    if effects and (Effect.COMMANDER in effects or Effect.DYNAMAX in effects):
        return _stock_available_moves(mon, request)
    known = _moves(mon)
    available: list[Move] = []
    for listed in request["moves"]:
        if listed.get("disabled", False):
            continue
        move = known.get(listed["id"])
        if move is None:
            return _stock_available_moves(mon, request)
        available.append(move)
    return available


def _learnset_for_generation(data: GenData, species: str, generation: int) -> set[str]:
    learnset = data.raw_learnset.get(species, {}).get("learnset")
    if not isinstance(learnset, dict):
        return set()
    moves = GenData.from_gen(generation).moves
    learnable: set[str] = set()
    for move, sources in learnset.items():
        entry = moves.get(move)
        if not isinstance(entry, dict) or entry.get("isNonstandard") == "Past" or not isinstance(sources, list):
            continue
        for source in sources:
            if isinstance(source, str) and source and source[0].isdigit() and int(source[0]) <= generation:
                learnable.add(move)
                break
    return learnable


def _generate_learnset(data: GenData, species: str) -> None:
    """As poke-env's, which raises for species without a pre-evolution whose entry says so (Vivillon-Fancy)."""
    entry = data.pokedex.get(species, {})
    if "prevo" in entry and entry["prevo"] is None:
        del entry["prevo"]
    _stock_generate_learnset(data, species)


def _identifies_as(mon: Pokemon, ident: str) -> bool:
    """As poke-env's, but Porygon is not taken for Porygon-Z: the part before a hyphen is tried for unknown names only."""
    entry = GenData.from_gen(mon.gen).pokedex.get(to_id_str(ident))
    if entry is None:
        return _stock_identifies_as(mon, ident)
    return mon.base_species == to_id_str(entry.get("baseSpecies", entry["name"]))


def _with_getter(stock: Any, getter: Any) -> Any:
    """Return a property with another getter."""
    return stock.getter(getter)


_QUICK: dict[tuple[type, str], Any] = {
    (Pokemon, "moves"): property(_moves, doc=Pokemon.moves.__doc__),
    (MoveSet, "moves"): property(_known_moves, doc=MoveSet.moves.__doc__),
    (Pokemon, "ability"): _with_getter(Pokemon.ability, ability_of),
    (Pokemon, "_add_move"): _add_move,
    (Pokemon, "identifies_as"): _identifies_as,
    (Pokemon, "set_hp_status"): _set_hp_status,
    (Pokemon, "damage"): lambda mon, hp_status: mon.set_hp_status(hp_status),
    (Pokemon, "moved"): _moved,
    (Pokemon, "end_turn"): _end_turn,
    (Move, "use"): _use,
    (Pokemon, "switch_out"): _switch_out,
    (Pokemon, "available_moves_from_request"): _available_moves,
    (GenData, "generate_learnset"): _generate_learnset,
    (GenData, "_learnset_for_generation"): _learnset_for_generation,
}
_STOCK: dict[tuple[type, str], Any] = {(owner, name): vars(owner)[name] for owner, name in _QUICK}


def speed_up() -> None:
    """Replace poke-env's methods by the quicker ones, in this process."""
    for (owner, name), function in _QUICK.items():
        setattr(owner, name, function)


def slow_down() -> None:
    """Restore poke-env's own methods, to compare with."""
    for (owner, name), function in _STOCK.items():
        setattr(owner, name, function)


speed_up()
