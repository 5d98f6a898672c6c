"""Open team sheets as Showdown shows them: a packed team of which the stat points and names are left out."""

from __future__ import annotations

from dataclasses import dataclass

from poke_env.battle.pokemon_type import PokemonType
from poke_env.data import to_id_str

#: Parts of a packed set: name | species | item | ability | moves | nature | EVs | gender | IVs | shiny | level | others.
_PARTS = 12


@dataclass(frozen=True)
class TeamSheet:
    """The sheet of one Pokémon; ids as poke-env has them ("direclaw"). item: "" for none. tera_type: None where there is no
    terastallization. nature: "" where it is not shown (everywhere but in Pokémon Champions)."""

    species: str
    item: str
    ability: str
    moves: tuple[str, ...]
    tera_type: PokemonType | None = None
    nature: str = ""
    gender: str = ""
    level: int = 100


def parse_sheets(packed: str) -> tuple[TeamSheet, ...]:
    """Return the sheets of a packed team. Raises ValueError for a text that is none."""
    return tuple(map(_parse_sheet, packed.split("]")))


def _parse_sheet(packed: str) -> TeamSheet:
    parts = packed.split("|")
    if len(parts) < _PARTS:
        raise ValueError(f"a packed set has {_PARTS} parts, not {len(parts)}")
    name, species, item, ability, moves, nature, _, gender, _, _, level, others = parts[:_PARTS]
    details = others.split(",")  # happiness, type of Hidden Power, ball, Gigantamax, Dynamax level, Tera type
    tera = details[5] if len(details) > 5 else ""
    return TeamSheet(
        species=to_id_str(species or name),
        item=to_id_str(item),
        ability=to_id_str(ability),
        moves=tuple(map(to_id_str, moves.split(","))),
        tera_type=PokemonType.from_name(tera) if tera else None,
        nature=nature.lower(),
        gender=gender,
        level=int(level) if level else 100,
    )
