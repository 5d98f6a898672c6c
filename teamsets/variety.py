"""The set `variety`: random teams of published sets with unusual leads, generated on demand and cached."""

from __future__ import annotations

import random
from collections.abc import Container, Iterator

from teamsets import cache
from teamsets.builder import doubles_sets, published
from teamsets.builder.pool import Pool
from teamsets.builder.published import as_text
from teamsets.builder.recipes import common_leads
from teamsets.errors import ArenaError, BadInput
from teamsets.formats import Format
from teamsets.teams import Team
from teamsets.validator import TeamValidator, rules_version

NAME = "variety"
#: How many teams a format's set has unless asked otherwise.
SIZE = 1000
#: Part of the cache key: raise it whenever the same seed would make other teams.
GENERATOR = 1

_COMMON_LEAD = 0.05  # weight of a lead that everyone uses, against 1
_OWN_TIER = 3.0  # weight of a species of the format's own tier, against 1 for those from lower tiers
_SHARED_WEAKNESS = 3  # at most so many members weak to one type
_ATTEMPTS = 200


def teams(chosen: Format, count: int, seed: int) -> list[Team]:
    """Return the first `count` teams of a format's variety for a seed; team `i` does not depend on the count.

    Raises BadInput for a format without published sets, UnknownFormat for one that Showdown does not play.
    """
    name = f"{NAME}/{chosen.id}-seed{seed}-v{GENERATOR}-{rules_version()}-sets{published.version()}.json"
    packed = cache.read(name)
    if not isinstance(packed, list) or len(packed) < count:
        packed = _make(chosen, count, seed)
        cache.write(name, packed)
    return [
        Team.of(chosen.id, text, name=f"{NAME}-{seed}-{index:04}", source=f"variety seed={seed} index={index}")
        for index, text in enumerate(packed[:count])
    ]


def is_made_for(chosen: Format) -> bool:
    """Return whether there are sets to make teams of a format from: published ones, or Showdown's for random doubles."""
    if doubles_sets.is_made_for(chosen):
        return True
    try:
        published.pool(chosen.gen, _tier(chosen))
    except BadInput:
        return False
    return True


def _tier(chosen: Format) -> str:
    return chosen.id.removeprefix(f"gen{chosen.gen}")


def _make(chosen: Format, count: int, seed: int) -> list[str]:
    tier = _tier(chosen)
    if doubles_sets.is_made_for(chosen) and not published.published_sets(chosen.gen, tier):
        return [team.packed for team in doubles_sets.make(chosen, count, seed, any_species=True)]
    sets = published.pool(chosen.gen, tier)
    own = {each.species for each in sets if each.tier == tier}
    usual = common_leads(chosen.id)
    made: dict[str, None] = {}
    with TeamValidator() as validator:
        pool = Pool.of(chosen.gen, sets, validator)
        lead = {name: _COMMON_LEAD if name in usual else 1.0 for name in pool.sets}
        others = {name: _OWN_TIER if name in own else 1.0 for name in pool.sets}
        for index in range(count):
            draws = _draws(pool, lead, others, f"{seed}:{index}")
            made[_first_valid(draws, chosen.id, validator, made)] = None
    return list(made)


def _draws(pool: Pool, lead: dict[str, float], others: dict[str, float], seed: str) -> Iterator[str]:
    """Yield random teams for a seed, in export format, without end."""
    for attempt in range(_ATTEMPTS):
        rng = random.Random(f"{seed}:{attempt}")
        team = pool.fill(rng.choices(list(lead), list(lead.values())), others, _SHARED_WEAKNESS, rng)
        if team:
            # `first` = 0: every alternative is as likely as the recommended one.
            yield as_text(pool.members(team, 0.0, rng))


def _first_valid(draws: Iterator[str], format_id: str, validator: TeamValidator, made: Container[str]) -> str:
    """Return the first new team that Showdown accepts, packed."""
    problem = "no six species fit together"
    for text in draws:
        check = validator.validate(format_id, text)
        if check.packed and check.packed not in made:
            return check.packed
        problem = " ".join(check.problems) or "it was made before"
    raise ArenaError(f"variety for {format_id}: no valid team in {_ATTEMPTS} draws; the last: {problem}")
