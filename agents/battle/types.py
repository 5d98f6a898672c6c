"""Types: a third one, those of Stellar, of Roost, of one that has transformed; and the Tera types of one's own.

poke-env leaves out the type that Trick-or-Treat and Forest's Curse add, takes a Pokémon that has terastallized as Stellar
for one of that type, though it keeps its own, and gives one that transforms the types of the other's species, not of the
other.
"""

from __future__ import annotations

from poke_env.battle.effect import Effect
from poke_env.battle.move import Move
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.pokemon_type import PokemonType
from poke_env.data import GenData

from agents.battle.tracked_battle import TrackedBattle, other

_STELLAR, _FLYING = PokemonType.STELLAR, PokemonType.FLYING


def change_types(battle: TrackedBattle, message: list[str]) -> None:
    """ "-start|POKEMON|typechange|Water", or "…|[from] move: Reflect Type|[of] TARGET": an added type ends."""
    mon = battle.get_pokemon(message[2])
    if "[silent]" in message:
        if mon.name != message[2][5:]:
            return  # the types of the one whose guise ours wears
        battle.types_before.setdefault(message[2][:3], list(mon._temporary_types))
    else:
        battle.types_before.pop(message[2][:3], None)
    mon._effects.pop(Effect.TYPEADD, None)
    if message[4].startswith("[from]"):
        target = battle.get_pokemon(other(message))
        types: list[PokemonType] = [kind for kind in target.types if kind is not PokemonType.THREE_QUESTION_MARKS]
        if Effect.TYPEADD in target._effects:
            types = types if len(types) > 1 else [PokemonType.NORMAL, *types]
            mon._effects[Effect.TYPEADD] = 0
        mon._temporary_types = types
    else:
        mon._temporary_types = [PokemonType.from_name(name) for name in message[4].split("/")]
    mon._effects[Effect.TYPECHANGE] = 0


def add_type(battle: TrackedBattle, message: list[str]) -> None:
    """ "-start|POKEMON|typeadd|Grass": the type comes after its own, and replaces another that was added."""
    mon = battle.get_pokemon(message[2])
    types = list(mon.base_types)
    if Effect.TYPEADD in mon._effects:
        types.pop()
    mon._effects[Effect.TYPEADD] = 0
    mon._temporary_types = [*types, PokemonType.from_name(message[4])]


def read_terastallize(battle: TrackedBattle, message: list[str]) -> None:
    """ "-terastallize|POKEMON|Fairy": its own types stay what they were, without an added one."""
    mon = battle.get_pokemon(message[2])
    types = list(mon._temporary_types)
    if mon._effects.pop(Effect.TYPEADD, None) is not None:
        types.pop()
    battle.read(message)
    mon._temporary_types = types


def _types(mon: Pokemon) -> list[PokemonType]:
    """All types that a Pokémon has at this moment, its added one last."""
    if mon._terastallized and mon._terastallized_type not in (None, _STELLAR):
        return [mon._terastallized_type]
    types = list(mon.base_types)
    if Effect.ROOST in mon._effects and _FLYING in types:
        types.remove(_FLYING)
        return types or [PokemonType.NORMAL if mon.gen >= 5 else PokemonType.THREE_QUESTION_MARKS]
    return types


def _second_type(mon: Pokemon) -> PokemonType | None:
    types = _types(mon)
    return types[1] if len(types) > 1 else None


def _damage_multiplier(mon: Pokemon, type_or_move: PokemonType | Move) -> float:
    """The factor by which the types of a Pokémon change the damage of a type or move."""
    kind = type_or_move.type if isinstance(type_or_move, Move) else type_or_move
    chart = GenData.from_gen(mon.gen).type_chart
    factor = 1.0
    for own in _types(mon):
        factor *= kind.damage_multiplier(own, type_chart=chart)
    return factor


_CORRECTED = {
    "types": property(_types, doc=_types.__doc__),
    "type_1": property(lambda mon: _types(mon)[0], doc=Pokemon.type_1.__doc__),
    "type_2": property(_second_type, doc=Pokemon.type_2.__doc__),
    "damage_multiplier": _damage_multiplier,
}
for _name, _function in _CORRECTED.items():  # for every battle of the process, as agents/battle/quick_poke_env.py does
    setattr(Pokemon, _name, _function)


def own_tera(mon: Pokemon, battle: TrackedBattle) -> str:
    """Return the tera type of one of ours from the request, which poke-env does not read. "" before generation 9."""
    if battle.gen < 9:
        return ""
    for entry in battle.last_request.get("side", {}).get("pokemon", ()):
        if battle.team.get(entry["ident"]) is mon:
            return str(entry.get("teraType", "")).upper()
    return ""
