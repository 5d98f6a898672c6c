"""What held items do to a move: the types they strengthen, the berries that weaken, and what cannot be knocked off."""

from __future__ import annotations

from functools import cache

from poke_env.data import GenData

from agents.battle.formes import base_species

#: Items that strengthen moves of a type, by half a tenth (incenses of generation 3), a tenth or a fifth.
TYPE_ITEMS = {
    "silkscarf": "NORMAL", "charcoal": "FIRE", "mysticwater": "WATER", "miracleseed": "GRASS", "magnet": "ELECTRIC",
    "nevermeltice": "ICE", "blackbelt": "FIGHTING", "poisonbarb": "POISON", "softsand": "GROUND", "sharpbeak": "FLYING",
    "twistedspoon": "PSYCHIC", "silverpowder": "BUG", "hardstone": "ROCK", "spelltag": "GHOST", "dragonfang": "DRAGON",
    "blackglasses": "DARK", "metalcoat": "STEEL", "fairyfeather": "FAIRY", "seaincense": "WATER", "waveincense": "WATER",
    "oddincense": "PSYCHIC", "rockincense": "ROCK", "roseincense": "GRASS",
}  # fmt: skip
PLATES = {
    "flameplate": "FIRE", "splashplate": "WATER", "meadowplate": "GRASS", "zapplate": "ELECTRIC", "icicleplate": "ICE",
    "fistplate": "FIGHTING", "toxicplate": "POISON", "earthplate": "GROUND", "skyplate": "FLYING", "mindplate": "PSYCHIC",
    "insectplate": "BUG", "stoneplate": "ROCK", "spookyplate": "GHOST", "dracoplate": "DRAGON", "dreadplate": "DARK",
    "ironplate": "STEEL", "pixieplate": "FAIRY",
}  # fmt: skip
TYPE_ITEMS.update(PLATES)
#: In generation 2 it is Dragon Scale, not Dragon Fang, that strengthens Dragon moves.
TYPE_ITEMS_OF_2 = {
    **{item: kind for item, kind in TYPE_ITEMS.items() if item not in ("dragonfang", "silkscarf")},
    "dragonscale": "DRAGON", "pinkbow": "NORMAL", "polkadotbow": "NORMAL",
}  # fmt: skip
MEMORIES = {f"{kind.lower()}memory": kind for kind in PLATES.values()}
DRIVES = {"burndrive": "FIRE", "chilldrive": "ICE", "dousedrive": "WATER", "shockdrive": "ELECTRIC"}
GEMS = {f"{kind.lower()}gem": kind for kind in (*PLATES.values(), "NORMAL")}
#: Berries that halve one hit of a type, if it is super effective (any hit for Chilan Berry's).
BERRIES = {
    "occaberry": "FIRE", "passhoberry": "WATER", "wacanberry": "ELECTRIC", "rindoberry": "GRASS", "yacheberry": "ICE",
    "chopleberry": "FIGHTING", "kebiaberry": "POISON", "shucaberry": "GROUND", "cobaberry": "FLYING",
    "payapaberry": "PSYCHIC", "tangaberry": "BUG", "chartiberry": "ROCK", "kasibberry": "GHOST", "habanberry": "DRAGON",
    "colburberry": "DARK", "babiriberry": "STEEL", "chilanberry": "NORMAL", "roseliberry": "FAIRY",
}  # fmt: skip
#: Items of one species (by its number in the Pokédex) that strengthen moves of two types.
SPECIES_ITEMS = {
    "adamantorb": (483, ("STEEL", "DRAGON")), "adamantcrystal": (483, ("STEEL", "DRAGON")),
    "lustrousorb": (484, ("WATER", "DRAGON")), "lustrousglobe": (484, ("WATER", "DRAGON")),
    "griseousorb": (487, ("GHOST", "DRAGON")), "griseouscore": (487, ("GHOST", "DRAGON")),
}  # fmt: skip
MASKS = {
    "wellspringmask": "ogerponwellspring", "hearthflamemask": "ogerponhearthflame",
    "cornerstonemask": "ogerponcornerstone",
}  # fmt: skip
#: Items that halve the speed, which Klutz does not switch off.
MACHO_ITEMS = frozenset(
    {"machobrace", "poweranklet", "powerband", "powerbelt", "powerbracer", "powerlens", "powerweight"}
)
#: Species (by number) whose own items cannot be taken -> start or end of the items' names.
_TIED = {
    483: ("adamantcrystal",), 484: ("lustrousglobe",), 487: ("griseous",), 493: ("plate",), 649: ("drive",),
    773: ("memory",), 888: ("rustedsword",), 889: ("rustedshield",), 382: ("blueorb",), 383: ("redorb",),
    1017: ("mask",),
}  # fmt: skip
#: Species whose mega stones have no name like theirs.
_STONES = {"absolitez": "absol", "garchompitez": "garchomp", "lucarionitez": "lucario"}


def active_item(item: str, ability: str, effects: frozenset[str], rooms: frozenset[str]) -> str:
    """Return an item, or "" while Klutz, Embargo or Magic Room switch it off."""
    if not item:
        return ""
    if "embargo" in effects or "magicroom" in rooms:
        return "" if item not in ("redorb", "blueorb") else item
    return "" if ability == "klutz" and item not in MACHO_ITEMS else item


@cache
def number_of(gen: int, species: str) -> int:
    """Return a species' number in the Pokédex, which its formes share; 0 if unknown."""
    return int(GenData.from_gen(gen).pokedex.get(species, {}).get("num", 0))


@cache
def evolves(gen: int, species: str) -> bool:
    """Return whether a species can still evolve in this generation, as Eviolite requires."""
    dex = GenData.from_gen(gen).pokedex
    return any(name_id in dex for name_id in map(_id, dex.get(species, {}).get("evos", ())))


@cache
def tied(gen: int, species: str, item: str) -> bool:
    """Return whether a species' item cannot be taken from it: its mega stone, plate, mask and the like."""
    number = number_of(gen, species)
    if any(item.startswith(part) or item.endswith(part) for part in _TIED.get(number, ())):
        return number != 1017 or item in MASKS
    if item.endswith("iumz"):
        return True
    if gen in (6, 7) or gen == 9:
        stone_of = _STONES.get(item) or item.removesuffix("x").removesuffix("y")
        return "ite" in stone_of[-4:] and stone_of[:4] == base_species(gen, species)[:4] and item != "eviolite"
    return False


def _id(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())
