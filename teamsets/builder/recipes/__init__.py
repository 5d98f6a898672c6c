"""Recipes: for each format, which species lead, which are nearly always there, which fill up, and the roles needed.

One TOML file a format. Where a recipe names no sets for a species, all its published sets are used.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from teamsets.errors import BadInput

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Recipe:
    """The recipe of a format's competitive teams.

    `first` is the chance that a field takes the published set's first alternative; `shared_weakness` the most members
    that may be weak to one type; `leads` and `others` are species -> weight, `core` species -> chance of being on the
    team; `at_least` and `at_most` are role -> number of members (see roles.py).
    """

    first: float
    shared_weakness: int
    leads: dict[str, float]
    core: dict[str, float]
    others: dict[str, float]
    at_least: dict[str, int]
    at_most: dict[str, int]
    avoid: list[str] = field(default_factory=list)
    sets: dict[str, list[str]] = field(default_factory=dict)

    @property
    def species(self) -> set[str]:
        """Every species the recipe names."""
        return {*self.leads, *self.core, *self.others}

    def uses(self, species: str, set_name: str) -> bool:
        """Whether a published set is one that the recipe draws from."""
        if species in self.sets:
            return set_name in self.sets[species]
        return species in self.species and not any(word in set_name for word in self.avoid)


def formats() -> list[str]:
    """The formats that have a recipe."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


@cache
def recipe(format_id: str) -> Recipe:
    """Return the recipe of a format. Raises BadInput if there is none."""
    if format_id not in formats():
        raise BadInput(f"format '{format_id}': no recipe for competitive teams: there are {', '.join(formats())}")
    return Recipe(**tomllib.loads((_FOLDER / f"{format_id}.toml").read_text(encoding="utf-8")))


def common_leads(format_id: str) -> set[str]:
    """The species that commonly lead in a format, as far as a recipe tells."""
    return set(recipe(format_id).leads) if format_id in formats() else set()
