"""Which words of a battle parity compares, and where: all of agents/engine/gen9/src/layout.h but NOT_COMPARED.

scripts/parity/gen9_state.mjs takes the same fields from Showdown, in the same order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.engine.gen9 import layout
from agents.engine.gen9.layout import ROW, WORDS

#: Fields that Showdown does not have, or that show in others.
NOT_COMPARED = {
    "Row.queue": "its order shows in what happens next",
    "Pokemon.setSpecies": "of the team",
    "Pokemon.setAbility": "of the team",
    "Pokemon.points": "of the team; the stats are compared",
    "Pokemon.plus": "of the team; the stats are compared",
    "Pokemon.minus": "of the team; the stats are compared",
    "Pokemon.baseMoveSlots": "Showdown's are compared once they are moveSlots again",
    "Pokemon.baseMoveCount": "as baseMoveSlots",
}
#: Fields that count only where others of the same struct are not 0.
ONLY_WHERE = {
    "Pokemon.abilityState": ("isActive",),
    "Pokemon.itemState": ("isActive",),
    "Pokemon.speed": ("isActive",),
    "Pokemon.status": ("hp",),
    "Pokemon.statusState": ("hp", "status"),
}
#: In singles only the first active slot of a side is played.
PLAYED = {"Side.active": 1, "Side.slotConditions": 1}


class Columns:
    """Where the compared words of a row are. names [K]: "sides.0.pokemon.2.hp"; structs: the fields for gen9_state.mjs."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.structs: dict[str, list[tuple[str, str, int]]] = {}
        self._places: list[int] = []
        self._where: list[tuple[int, ...]] = []
        self._kinds = {dtype: name for name, dtype in layout.STRUCTS.items() if dtype.fields}
        self._add(ROW, 0, "", ())
        self._gates = np.array([[*where, WORDS, WORDS][:2] for where in self._where])

    def _add(self, dtype: np.dtype[Any], offset: int, prefix: str, where: tuple[int, ...]) -> None:
        kind = self._kinds[dtype]
        fields = self.structs.setdefault(kind, [])
        first_time = not fields
        for field, (of, at) in (dtype.fields or {}).items():  # type: ignore[misc]
            if f"{kind}.{field}" in NOT_COMPARED:
                continue
            base, shape = of.subdtype or (of, ())
            count = PLAYED.get(f"{kind}.{field}", shape[0] if shape else 1)
            if first_time:
                fields.append((field, self._kinds.get(base, "int32_t"), count if shape else 0))
            also = tuple(offset + dtype.fields[one][1] for one in ONLY_WHERE.get(f"{kind}.{field}", ()))  # type: ignore[index]
            for place in range(count):
                name = f"{prefix}{field}.{place}" if shape else f"{prefix}{field}"
                start = offset + at + place * base.itemsize
                if base in self._kinds:
                    self._add(base, start, f"{name}.", where + also)
                else:
                    self.names.append(name)
                    self._places.append(start // 4)
                    self._where.append(tuple(one // 4 for one in where + also))

    def of(self, words: NDArray[np.int32]) -> NDArray[np.int32]:
        """The compared words [N, K] of battles [N, WORDS]; 0 where they do not count."""
        padded = np.concatenate([words, np.ones((len(words), 1), np.int32)], axis=1)
        counts = (padded[:, self._gates[:, 0]] != 0) & (padded[:, self._gates[:, 1]] != 0)
        return np.where(counts, words[:, self._places], 0)


def hashes(numbers: NDArray[np.int32]) -> NDArray[np.uint32]:
    """The hash of each row: of each word and its place, added up; 0 adds nothing."""
    places = np.arange(1, numbers.shape[1] + 1, dtype=np.uint32) * np.uint32(2654435761)
    mixed = (numbers.astype(np.uint32) ^ places) * np.uint32(2246822519)
    mixed = (mixed ^ mixed >> np.uint32(15)) * np.uint32(3266489917)
    total: NDArray[np.uint32] = np.where(numbers == 0, np.uint32(0), mixed ^ mixed >> np.uint32(13)).sum(
        axis=1, dtype=np.uint32
    )
    return total


def shown(name: str, value: int, numbers: dict[str, dict[str, int]]) -> str:
    """A word's value, with the name of the effect where it may be one."""
    names = {number: id for ids in numbers.values() for id, number in ids.items()}
    field = name.rstrip(".0123456789").rpartition(".")[2]
    effects = (
        "id",
        "ability",
        "baseAbility",
        "item",
        "lastItem",
        "status",
        "move",
        "lastMove",
        "lastMoveUsed",
        "sourceEffect",
    )
    return f"{value} ({names[value]})" if field in effects and value in names else str(value)
