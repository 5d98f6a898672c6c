"""Competitive teams: sampled by a format's recipe, kept if they fill its roles, differ, and Showdown accepts them."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass

from teamsets.builder import doubles_sets
from teamsets.builder.pool import Pool
from teamsets.builder.published import Member, as_text, published_sets
from teamsets.builder.recipes import Recipe, formats, recipe
from teamsets.builder.roles import roles
from teamsets.errors import ArenaError
from teamsets.formats import Format
from teamsets.teams import Team
from teamsets.validator import TeamValidator

#: How many teams of a format are shipped.
SIZE = 32

_SHARED = 4  # two teams have at most so many species in common
_PATIENCE = 4000  # draws without a new team before one more species may be shared
_SAME_TERA = 2


@dataclass
class _Made:
    """The teams kept so far, and how alike two may be."""

    teams: list[Team]
    shared: int = _SHARED
    misses: int = 0

    def differs(self, species: set[str]) -> bool:
        return all(len(species.intersection(team.species)) <= self.shared for team in self.teams)

    def miss(self) -> None:
        self.misses += 1
        if self.misses == _PATIENCE:
            self.misses = 0
            self.shared += 1


def make(chosen: Format, count: int, seed: int) -> list[Team]:
    """Generate `count` different competitive teams for a format, from a seed.

    A format of doubles without a recipe of its own takes Showdown's sets for random doubles (doubles_sets.py). Raises
    BadInput for another format without a recipe, and ArenaError if the recipe does not allow so many.
    """
    if chosen.doubles and chosen.id not in formats():
        return doubles_sets.make(chosen, count, seed)
    plan = recipe(chosen.id)
    rng = random.Random(f"{chosen.id}:{seed}")
    made = _Made([])
    with TeamValidator() as validator:
        tier = chosen.id.removeprefix(f"gen{chosen.gen}")
        wanted = [each for each in published_sets(chosen.gen, tier) if plan.uses(each.species, each.name)]
        pool = Pool.of(chosen.gen, wanted, validator)
        if lacking := plan.species - pool.sets.keys():
            raise ArenaError(f"recipe {chosen.id}: no published sets for {', '.join(sorted(lacking))}")
        while len(made.teams) < count:
            if made.shared == 6:
                raise ArenaError(f"competitive {chosen.id}: the recipe gives {len(made.teams)} teams, not {count}")
            team = _attempt(plan, pool, rng, made, chosen.id, validator)
            if team is None:
                made.miss()
            else:
                made.misses = 0
                made.teams.append(team)
    return made.teams


def _attempt(
    plan: Recipe, pool: Pool, rng: random.Random, made: _Made, format_id: str, validator: TeamValidator
) -> Team | None:
    species = _draw_species(plan, pool, rng)
    if species is None or not made.differs(set(species)):
        return None
    members = pool.members(species, plan.first, rng)
    if not _has_roles(plan, pool, members):
        return None
    check = validator.validate(format_id, as_text(members))
    if check.problems:
        return None
    name = f"{len(made.teams) + 1:02}-{_slug(species[0])}-{_slug(_rarest(plan, species[1:]))}"
    return Team.of(format_id, check.packed, name=name, source=f"competitive recipe for {format_id}")


def _draw_species(plan: Recipe, pool: Pool, rng: random.Random) -> list[str] | None:
    team = rng.choices(list(plan.leads), list(plan.leads.values()))
    team += [name for name, chance in plan.core.items() if name not in team and rng.random() < chance]
    return pool.fill(team, plan.others, plan.shared_weakness, rng)


def _has_roles(plan: Recipe, pool: Pool, members: list[Member]) -> bool:
    filled = Counter(role for member in members for role in roles(member, pool.facts[member.species]["speed"]))
    tera = Counter(member.tera_type for member in members if member.tera_type)
    return (
        all(filled[role] >= number for role, number in plan.at_least.items())
        and all(filled[role] <= number for role, number in plan.at_most.items())
        and all(number <= _SAME_TERA for number in tera.values())
    )


def _rarest(plan: Recipe, species: list[str]) -> str:
    """Return the most characteristic member of a team: the one with the lowest weight in the recipe."""
    return min(species, key=lambda name: plan.core.get(name, 0) * 10 + plan.others.get(name, 0))


def _slug(species: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", species.lower())
