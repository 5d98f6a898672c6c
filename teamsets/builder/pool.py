"""The pool that teams are sampled from: published sets by species, with facts from the Pokédex."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from teamsets.builder.published import Member, PublishedSet
from teamsets.validator import TeamValidator

_TRIES = 200


@dataclass(frozen=True)
class Pool:
    """Published sets by species, and each species' facts (see TeamValidator.species)."""

    sets: dict[str, list[PublishedSet]]
    facts: dict[str, dict[str, Any]]

    @classmethod
    def of(cls, gen: int, sets: Iterable[PublishedSet], validator: TeamValidator) -> Pool:
        """A pool of the sets whose species the generation has."""
        by_species: dict[str, list[PublishedSet]] = {}
        for each in sets:
            by_species.setdefault(each.species, []).append(each)
        facts = validator.species(gen, list(by_species))
        return cls({name: found for name, found in by_species.items() if name in facts}, facts)

    def fill(
        self, team: list[str], weights: dict[str, float], shared_weakness: int, rng: random.Random
    ) -> list[str] | None:
        """Complete `team` to six different species, at most `shared_weakness` of them weak to the same type.

        None if the samples contain no such team.
        """
        names, chances = list(weights), list(weights.values())
        for _ in range(_TRIES):
            if len(team) == 6:
                return team
            candidate = rng.choices(names, chances)[0]
            if self._fits([*team, candidate], shared_weakness):
                team = [*team, candidate]
        return None

    def members(self, team: list[str], first: float, rng: random.Random) -> list[Member]:
        """A member for each species: one of its published sets, with alternatives as PublishedSet.draw takes them."""
        return [rng.choice(self.sets[name]).draw(rng, first, self.facts[name]["ability"]) for name in team]

    def _fits(self, team: list[str], shared_weakness: int) -> bool:
        """Whether a team whose last member is new may have it."""
        bases = [self.facts[name]["base"] for name in team]
        if bases[-1] in bases[:-1]:
            return False
        attacks = self.facts[team[-1]]["takes"]
        return all(
            sum(self.facts[name]["takes"][attack] > 1 for name in team) <= shared_weakness
            for attack, multiplier in attacks.items()
            if multiplier > 1
        )
