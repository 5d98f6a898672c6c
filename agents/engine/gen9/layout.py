"""The words of a battle by name: NumPy types of a row, and of what a seat was shown, read from src/layout.h and
src/shown/shown.h, where each word has its name.

`np.ndarray.view(ROW)` of words [N, WORDS] shows them as records: `rows["sides"]["pokemon"]["hp"]` is [N, 2, 6].
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

SOURCES = Path(__file__).parent / "src"
_STRUCT = re.compile(r"struct (\w+) \{\n(.*?)\n\};", re.S)
_CONSTANT = re.compile(r"\b([A-Z_]+) = (-?\d+)")


_SHOWN = (SOURCES / "shown" / "shown.h").read_text()


def _types() -> tuple[dict[str, np.dtype[Any]], dict[str, int]]:
    text = re.sub(r"//.*", "", (SOURCES / "layout.h").read_text() + _SHOWN)
    text = re.sub(r"namespace Stat .*?\n\}", "constexpr int STAT_COUNT = 7;", text, flags=re.S).replace(
        "Stat::COUNT", "STAT_COUNT"
    )
    constants = {name: int(value) for name, value in _CONSTANT.findall(text)}
    types: dict[str, np.dtype[Any]] = {"int32_t": np.dtype(np.int32)}
    for name, body in _STRUCT.findall(text):
        fields: list[Any] = []
        for kind, declared in re.findall(r"(\w+) ([^;]+);", body):
            for word in declared.split(","):
                field, _, count = word.split("=")[0].strip().rstrip("]").partition("[")
                length = (constants[count] if count in constants else int(count)) if count else 0
                fields.append((field, types[kind], (length,)) if length else (field, types[kind]))
        types[name] = np.dtype(fields)
    return types, constants


STRUCTS, CONSTANTS = _types()
ROW = STRUCTS["Row"]
SIDE = STRUCTS["Side"]
WORDS = ROW.itemsize // 4
#: What a seat of a battle was shown, and its words.
SHOWN = STRUCTS["Shown"]
SHOWN_WORDS = SHOWN.itemsize // 4


def _names(namespace: str) -> list[str]:
    found = re.search(rf"namespace {namespace} .*?{{\nenum : int32_t {{(.*?)}};", re.sub(r"//.*", "", _SHOWN), re.S)
    assert found is not None
    return [name for part in found[1].split(",") if (name := part.strip()) and name != "COUNT"]


#: poke-env's effects on a Pokémon by the bits of ShownPokemon.effects, and its side conditions by their places.
EFFECTS, SIDE_CONDITIONS = _names("ShownEffect"), _names("ShownCondition")
