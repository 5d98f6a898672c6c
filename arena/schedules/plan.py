"""Pairings, teams and seeds of a run's fixtures. Pure: the same plan gives the same fixtures everywhere."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from arena.fixture import Fixture, FixtureTeam, digest, showdown_seed
from teamsets.errors import BadInput
from teamsets.formats import get_format

#: The team set of formats in which Showdown draws the teams itself.
DRAWN = "drawn"


@dataclass(frozen=True)
class Plan:
    """The input of a schedule.

    agents: specs. pools: (format, team set) -> its teams; empty for formats that draw their own teams.
    battles: for each pairing on each team set; played as pairs, so an odd number is rounded up. seed: of the whole run.
    challengers: where there are any, only pairings with one of them are played (a gauntlet). same_luck: whoever the
    challenger is, an opponent's pairs have the same teams and seeds, so that challengers compare pair by pair.
    external_agents: those that are external programs. on_engine: the (format, agent) that can play on the engine, in a run
    that does. batched_agents: those that answer many battles at once. best_of: of the series that are played; 1: single
    battles. `battles` counts series then, and a fixture of the plan is the first battle of one (arena/schedules/series.py
    plays the others).
    """

    agents: tuple[str, ...]
    pools: Mapping[tuple[str, str], Sequence[FixtureTeam]]
    battles: int
    seed: int
    challengers: frozenset[str] = frozenset()
    same_luck: bool = False
    external_agents: frozenset[str] = frozenset()
    on_engine: frozenset[tuple[str, str]] = frozenset()
    batched_agents: frozenset[str] = frozenset()
    best_of: int = 1

    @property
    def pairs(self) -> int:
        return (self.battles + 1) // 2

    @property
    def pairings(self) -> list[tuple[str, str]]:
        everybody = itertools.combinations(self.agents, 2)
        return [pairing for pairing in everybody if not self.challengers or self.challengers & set(pairing)]

    @property
    def formats(self) -> list[str]:
        return list(dict.fromkeys(format_id for format_id, _ in self.pools))

    def __len__(self) -> int:
        return 2 * self.pairs * len(self.pairings) * len(self.pools)


def round_robin(plan: Plan) -> Iterator[Fixture]:
    """Every pairing on every team set, `plan.battles` times, as pairs with the agents' seats exchanged.

    Every pair draws its own teams: pairs with the same teams would be correlated, and carry less information than assumed.
    All pairings are played once before any is played a second time, so a run that is stopped early is still balanced.
    """
    if len(plan.agents) < 2:
        raise BadInput(f"agents: at least two are needed, not {len(plan.agents)}")
    for number in range(plan.pairs):
        for pool in plan.pools:
            for pairing in plan.pairings:
                yield from numbered_pair(plan, pool, pairing, number)


def numbered_pair(plan: Plan, pool: tuple[str, str], pairing: tuple[str, str], number: int) -> tuple[Fixture, Fixture]:
    """The `number`-th pair of a pairing on a pool (format, team set): the same in every schedule of the same seed.

    Two fixtures with the same teams and the same luck, in which each agent once holds each team.
    """
    format_id, team_set = pool
    name = pair_name(plan.seed, *pool, pairing, number, plan.best_of)
    luck = name
    if plan.same_luck:
        opponents = tuple(agent for agent in pairing if agent not in plan.challengers)
        luck = pair_name(plan.seed, *pool, opponents, number, plan.best_of)
    teams = draw_teams(luck, format_id, plan.pools[pool])
    seed = showdown_seed("battle", luck)
    first, second = pairing
    external = (first in plan.external_agents, second in plan.external_agents)
    on_engine = {(format_id, first), (format_id, second)} <= plan.on_engine
    fixture = Fixture(
        format_id,
        (first, second),
        teams,
        seed,
        name,
        team_set,
        external,
        on_engine,
        in_batches=on_engine and not plan.batched_agents.isdisjoint(pairing),
        best_of=plan.best_of,
        open_sheets=plan.best_of > 1 and get_format(format_id).open_sheets,
    )
    return fixture, replace(fixture, agents=(second, first), external_seats=external[::-1])


def draw_teams(name: str, format_id: str, teams: Sequence[FixtureTeam]) -> tuple[FixtureTeam, FixtureTeam]:
    """The two teams of the pair called `name`: two different ones where there are two, or seeds for Showdown to draw by."""
    if not teams:
        first, second = (showdown_seed("teams", name, seat) for seat in (1, 2))
        return _drawn_team(format_id, first), _drawn_team(format_id, second)
    if len(teams) == 1:
        return teams[0], teams[0]
    first_team, second_team = random.Random(int(digest(["teams", name]), 16)).sample(list(teams), 2)
    return first_team, second_team


def _drawn_team(format_id: str, seed: str) -> FixtureTeam:
    return FixtureTeam(id=digest([format_id, seed]), name=f"drawn {seed[5:13]}", seed=seed)


def pair_name(seed: int, format_id: str, team_set: str, agents: tuple[str, ...], number: int, best_of: int = 1) -> str:
    """The key that the two fixtures of a pair share, or the battles of two series."""
    content = [seed, format_id, team_set, sorted(agents), number]
    return digest(content if best_of == 1 else [*content, best_of])
