"""Splits a set of teams into those that an agent trains on and those that it has never seen."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from teamsets.errors import BadInput
from teamsets.teams import Team


@dataclass(frozen=True)
class TeamSplit:
    """training: number of teams -> these, each set contained in the larger ones. unseen: none of them is in any of those."""

    training: dict[int, list[Team]]
    unseen: list[Team]

    @property
    def same_species(self) -> int:
        """How many unseen teams have the same species as a training team, in whatever order."""
        known = {frozenset(team.species) for teams in self.training.values() for team in teams}
        return sum(frozenset(team.species) in known for team in self.unseen)


def split_teams(teams: Sequence[Team], training: Sequence[int], unseen: int, seed: int) -> TeamSplit:
    """Split teams by their contents and a seed: neither names nor order of the files matter.

    training: numbers of teams to train on; unseen: how many other teams to evaluate on. The protocol is that of vgc-bench
    (Angliss et al., arXiv:2506.10326): the teams are shuffled; training takes from the beginning, evaluation from the end.
    Raises BadInput where there are too few teams.
    """
    most = max(training, default=0)
    if most + unseen > len(teams):
        raise BadInput(
            f"--train {most} --unseen {unseen}: needs {most + unseen} teams, and there are {len(teams)}: ask for fewer"
        )
    shuffled = sorted(teams, key=lambda team: team.id)
    random.Random(seed).shuffle(shuffled)
    return TeamSplit({count: shuffled[:count] for count in sorted(set(training))}, shuffled[len(shuffled) - unseen :])
