"""The vocabulary: an id for each species, move, ability, item, status, weather …, in one embedding table.

Each kind of name has a region of ids, which starts with NONE (there is none) and UNKNOWN (not revealed yet, or not in the
table). Moves have two regions, for a Pokémon's moves and for its last move, and types have two, for its current types and
its tera type, because the embeddings of a token are summed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import ItemsView, Iterable
from functools import cache, lru_cache
from pathlib import Path

from poke_env.battle.field import Field
from poke_env.battle.pokemon_type import PokemonType
from poke_env.battle.status import Status
from poke_env.battle.weather import Weather
from poke_env.data import to_id_str

from agents.battle.choices import plain_move

_FILE = Path(__file__).with_name("vocabulary.json")
_GENERATIONS = 9


class Region:
    """The ids of one kind of name. none, unknown: the ids of NONE and UNKNOWN. end: the first id after the region."""

    def __init__(self, start: int, names: Iterable[str]) -> None:
        self.none, self.unknown = start, start + 1
        self._ids = {name: start + 2 + index for index, name in enumerate(names)}
        self.end = start + 2 + len(self._ids)

    def __getitem__(self, name: str) -> int:
        """Return the id of a name; UNKNOWN if it is not in the table."""
        return self._ids.get(name, self.unknown)

    def __len__(self) -> int:
        return len(self._ids) + 2

    def items(self) -> ItemsView[str, int]:
        """Return the names with their ids, without NONE and UNKNOWN."""
        return self._ids.items()


class Vocabulary:
    """All regions. size: number of ids. version: hash of all names and their order, 12 hex digits."""

    def __init__(self) -> None:
        listed = json.loads(_FILE.read_text(encoding="utf-8"))
        types = [kind.name.lower() for kind in PokemonType]
        fields = [field.name.lower() for field in Field if field is not Field.UNKNOWN]
        kinds = {
            "species": listed["species"],
            "moves": [*listed["moves"], "recharge", "fight"],
            "last_moves": listed["moves"],
            "abilities": listed["abilities"],
            "items": listed["items"],
            "types": types,
            "tera_types": types,
            "statuses": [status.name.lower() for status in Status],
            "weathers": [weather.name.lower() for weather in Weather if weather is not Weather.UNKNOWN],
            "fields": fields,
            "gens": [str(gen) for gen in range(1, _GENERATIONS + 1)],
            "categories": ["physical", "special", "status"],
        }
        self._regions: dict[str, Region] = {}
        start = 0
        for kind, names in kinds.items():
            self._regions[kind] = Region(start, names)
            start = self._regions[kind].end
        self.size = start
        self.version = hashlib.sha256(json.dumps(kinds).encode()).hexdigest()[:12]

    def region(self, kind: str) -> Region:
        return self._regions[kind]


@cache
def vocabulary() -> Vocabulary:
    """Return this version's vocabulary."""
    return Vocabulary()


@lru_cache(maxsize=8192)
def move_name(move: str) -> str:
    """Return a move's name in the vocabulary: without Hidden Power's type and without a power ("return102")."""
    return plain_move(to_id_str(move))
