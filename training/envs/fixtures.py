"""Which battle an environment plays next: a function of a seed and of how many battles that seed has begun."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.engine import HOSTED_FORMATS
from arena.fixture import Fixture, FixtureTeam, digest, showdown_seed
from arena.schedules.plan import DRAWN
from teamsets.drawn import drawn_teams
from teamsets.errors import BadInput
from teamsets.formats import get_format
from teamsets.loading import load_set

#: Number of teams of a random battle's format that an environment draws from.
RANDOM_TEAMS = 2000
SEATS = ("drawn", "alternate", "p1", "p2")
LEARNER = "learner"


@dataclass(frozen=True, slots=True)
class EnvBattle:
    """A battle to be played: its fixture, and in which seat (0 or 1) the learner sits."""

    fixture: Fixture
    seat: int

    @property
    def opponent(self) -> str:
        """The opponent's name in the mixture."""
        return self.fixture.agents[1 - self.seat]

    @property
    def about(self) -> dict[str, Any]:
        """For `info`: enough to find the battle again."""
        first, second = self.fixture.teams
        return {
            "format": self.fixture.format,
            "seed": self.fixture.seed,
            "team_1": first.id,
            "team_2": second.id,
            "seat": self.seat,
            "opponent": self.opponent,
        }


class FixtureSampler:
    """Draws battles: both teams evenly from a set, the opponent by its weight, a seed.

    teams: a team set as `load_set` takes it; None where the format generates its teams. packed: whether generated teams are
    needed as packed text (the engine). Teams that the format's engine does not play are left out, which a line on stderr
    says. seat: the learner's, one of SEATS. Raises BadInput.
    """

    def __init__(self, format_id: str, teams: str | None, seat: str, *, packed: bool) -> None:
        if seat not in SEATS:
            raise BadInput(f"seat '{seat}': must be one of {', '.join(SEATS)}")
        self.format, self.seat = get_format(format_id).id, seat
        self.team_set, self.teams = _teams(self.format, teams, packed)

    def game(self, seed: int, number: int, opponents: Mapping[str, float]) -> EnvBattle:
        """The battle with this number of a seed. opponents: names and their weights."""
        rng = random.Random(digest(["environment", seed, number]))
        first, second = rng.choice(self.teams), rng.choice(self.teams)
        drawn = rng.randrange(2)
        seat = {"drawn": drawn, "alternate": number % 2, "p1": 0, "p2": 1}[self.seat]
        opponent = rng.choices(list(opponents), list(opponents.values()))[0]
        agents = (LEARNER, opponent) if seat == 0 else (opponent, LEARNER)
        battle = showdown_seed("environment", seed, number)
        return EnvBattle(Fixture(self.format, agents, (first, second), battle, "", self.team_set), seat)


def _teams(format_id: str, teams: str | None, packed: bool) -> tuple[str, tuple[FixtureTeam, ...]]:
    """The name of the set, and its teams."""
    if not get_format(format_id).random:
        loaded = load_set(teams or "competitive", format_id)
        fixed = tuple(FixtureTeam(team.id, team.name, packed=team.packed) for team in loaded.teams)
        return loaded.name, _played(loaded.name, fixed) if packed and format_id in HOSTED_FORMATS else fixed
    if teams is not None:
        raise BadInput(f"format '{format_id}': the simulator generates its teams: leave out teams='{teams}'")
    seeds = [showdown_seed("environment", format_id, number) for number in range(RANDOM_TEAMS)]
    texts = drawn_teams(format_id, seeds) if packed else [None] * RANDOM_TEAMS
    return DRAWN, tuple(
        FixtureTeam(digest([format_id, seed]), f"drawn {seed[5:13]}", packed=text, seed=seed)
        for seed, text in zip(seeds, texts, strict=True)
    )


def _played(name: str, teams: tuple[FixtureTeam, ...]) -> tuple[FixtureTeam, ...]:
    """The teams of a set that the generation-9 engine plays. Raises BadInput if there are none."""
    from agents.engine.gen9.teams import side_words

    played, reason = [], ""
    for team in teams:
        try:
            side_words(team.packed or "", 0)
        except BadInput as error:
            reason = reason or f"team {team.name}: {error}"
        else:
            played.append(team)
    if not played:
        raise BadInput(
            f"team set {name}: the engine plays none of its {len(teams):,} teams: set venue: showdown ({reason})"
        )
    if left_out := len(teams) - len(played):
        message = f"{left_out:,} of {len(teams):,} teams are left out, which the engine does not play"
        print(f"team set {name}: {message} ({reason})", file=sys.stderr, flush=True)
    return tuple(played)
