"""Formes: species, base stats, types, weight and ability of a Pokémon are those of its forme on the field.

poke-env keeps the base species while the forme lasts, and the forme's stats and types after it has ended: one that only
lasts on the field ends with leaving and with fainting, without a line of its own. It knows the megas by the last letter of
their stones, of which there are more than X and Y.
"""

from __future__ import annotations

from functools import cache

from poke_env.battle.effect import Effect
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.pokemon_type import PokemonType
from poke_env.data import GenData, to_id_str

from agents.battle.tracked_battle import TrackedBattle


@cache
def base_species(gen: int, species: str) -> str:
    """Return the id of the species that a forme belongs to."""
    return to_id_str(GenData.from_gen(gen).pokedex.get(species, {}).get("baseSpecies", species))


def read_formechange(battle: TrackedBattle, message: list[str]) -> None:
    """ "-formechange|POKEMON|Aegislash-Blade": a forme that ends when it leaves."""
    battle.record(message)
    mon, species = battle.get_pokemon(message[2]), to_id_str(message[3].split(",")[0])
    mon._effects.pop(Effect.TYPEADD, None)
    if mon.transformed:
        entry = GenData.from_gen(mon.gen).pokedex[species]
        mon._temporary_base_stats, mon._weightkg = entry["baseStats"], entry["weightkg"]
        mon._temporary_types = [PokemonType.from_name(name) for name in entry["types"]]
        return
    mon._update_from_pokedex(species)
    mon._temporary_types = []


def read_detailschange(battle: TrackedBattle, message: list[str]) -> None:
    """ "detailschange|POKEMON|Charizard-Mega-X, M": a forme that it keeps, with the ability of that forme."""
    battle.record(message)
    mon = battle.get_pokemon(message[2])
    mon._update_from_details(message[3])
    mon._effects.pop(Effect.TYPEADD, None)
    mon._temporary_types = []
    mon._temporary_base_stats = mon._temporary_ability = None


def read_mega(battle: TrackedBattle, message: list[str]) -> None:
    """ "-mega|POKEMON|SPECIES|STONE", "-primal|POKEMON|ORB", "-burst|POKEMON|SPECIES|CRYSTAL" show its item.

    The forme has been told by the line before.
    """
    battle.record(message)
    if message[1] == "-mega":
        if message[2].startswith(battle.player_role or "?"):
            battle._used_mega_evolve = True
        else:
            battle._opponent_used_mega_evolve = True
    item = message[3 if message[1] == "-primal" else 4] if len(message) > (3 if message[1] == "-primal" else 4) else ""
    if item:
        battle.get_pokemon(message[2]).item = item


def end_forme(mon: Pokemon) -> None:
    """Return a Pokémon that leaves the field to the forme of its details; a transformed one to its own weight."""
    own = to_id_str(mon._last_details.split(",", 1)[0])
    if own and mon._species != own:
        mon._update_from_pokedex(own)
    elif mon.transformed:
        entry = GenData.from_gen(mon.gen).pokedex[mon._species]
        mon._heightm, mon._weightkg = entry["heightm"], entry["weightkg"]
