"""Cases of damage that scripts/parity/damage_parity.py --freeze keeps, as fighters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agents.mechanics.fighters import Fighter
from support.rule_matches import fighter


def types(names: str) -> tuple[str, ...]:
    """Types of a kept case ("Water/Ice")."""
    return tuple("THREE_QUESTION_MARKS" if name == "???" else name.upper() for name in names.split("/"))


def built(gen: int, side: dict[str, Any]) -> Fighter:
    """One of the two Pokémon of a kept case."""
    tera = side.get("tera", "").upper()
    one = fighter(side["species"], gen, tuple(side["stats"]), types(side["types"]))
    return replace(
        one,
        level=side.get("level", 100),
        base_types=types(side.get("baseTypes", side["types"])),
        tera=tera,
        terastallized=bool(tera),
        boosts=tuple(sorted(side.get("boosts", {}).items())),
        hp=side.get("hp", side["stats"][0]) / side["stats"][0],
        weight=side.get("weight", one.weight),
        effects=frozenset(side.get("effects", ())),
        first_turn=True,
        **{key: side.get(key, "") for key in ("ability", "item", "status", "gender")},
    )
