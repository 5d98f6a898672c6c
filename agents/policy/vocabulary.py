"""Words as numbers: the place of every species, move, ability, item, status, weather … in one table of embeddings.

Each kind of word has a region of the table; a region begins with NONE (there is none) and UNKNOWN (there is one, and it has
not been seen, or the table does not know it). Moves have two regions, for those that a Pokémon knows and for the last used
one, and types two, for those that count now and for the tera type, since the words of a token are added up.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path

from poke_env.battle.field import Field
from poke_env.battle.pokemon_type import PokemonType
from poke_env.battle.status import Status
from poke_env.battle.weather import Weather
from poke_env.data import to_id_str

from agents.choices import plain_move

_FILE = Path(__file__).with_name("vocabulary.json")
_GENERATIONS = 9


class Region:
    """One kind of word's part of the table. none, unknown: the ids of those two."""

    def __init__(self, start: int, words: Iterable[str]) -> None:
        self.none, self.unknown = start, start + 1
        self._places = {word: start + 2 + index for index, word in enumerate(words)}
        self.end = start + 2 + len(self._places)

    def __getitem__(self, word: str) -> int:
        """The id of a word; UNKNOWN for one that is not in the table."""
        return self._places.get(word, self.unknown)

    def __len__(self) -> int:
        return len(self._places) + 2


class Vocabulary:
    """The whole table. size: how many ids there are; version: 12 hex digits over all words and their order."""

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
        place = 0
        for kind, words in kinds.items():
            self._regions[kind] = Region(place, words)
            place = self._regions[kind].end
        self.size = place
        self.version = hashlib.sha256(json.dumps(kinds).encode()).hexdigest()[:12]

    def region(self, kind: str) -> Region:
        return self._regions[kind]


@cache
def vocabulary() -> Vocabulary:
    """This version's table."""
    return Vocabulary()


@lru_cache(maxsize=8192)
def move_word(move: str) -> str:
    """The word of a move: without Hidden Power's type, and without a power that its id names ("return102")."""
    return plain_move(to_id_str(move))
