"""Who plays the other seat of an environment's battles: one agent, or for each battle one of several by their weights."""

from __future__ import annotations

import inspect
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents import Agent, AgentSource, resolve
from agents.batched import BatchedAgent, EngineAgent, actions_of
from arena.fixture import SEATS, seat_seed
from teamsets.errors import ArenaError, BadInput
from training.envs.background import soon, wait_for
from training.envs.fixtures import EnvBattle
from training.envs.seeding import draw_actions, next_random
from training.envs.venue import Battles, Ints

#: A spec, an agent's class, or several of them with their weights.
Mixture = str | type[Agent] | Mapping[str | type[Agent], float]
#: Its draws are made for all battles at once, from the masks.
RANDOM = "random"


@dataclass(frozen=True, slots=True)
class _Member:
    """One agent of a mixture. source: None for RANDOM."""

    name: str
    weight: float
    source: AgentSource | type[Agent] | None

    def make(self, seed: int) -> Agent:
        assert self.source is not None
        agent = self.source.make() if isinstance(self.source, AgentSource) else self.source()
        agent.rng = random.Random(seed)
        return agent


class Opponents:
    """The opponents of N battles. Raises BadInput for an agent that cannot play the format here.

    on_engine: whether subclasses of EngineAgent can: the battles have an `engine`.
    """

    def __init__(self, mixture: Mixture, size: int, format_id: str, *, on_engine: bool = False) -> None:
        self.format_id, self.on_engine = format_id, on_engine
        self._members: list[_Member] = []
        self._index: dict[str, int] = {}
        self.change(mixture)
        self._which = np.zeros(size, np.int64)  # index into _members
        self._agents: list[Agent | None] = [None] * size
        self._states = np.zeros(size, np.uint64)

    @property
    def weights(self) -> dict[str, float]:
        """The present mixture: name -> weight."""
        return {name: self._members[index].weight for name, index in self._index.items()}

    def change(self, mixture: Mixture) -> None:
        """Sets the mixture for battles that begin from now on."""
        members = [self._member(agent, weight) for agent, weight in _weights(mixture).items()]
        self._index = {member.name: len(self._members) + k for k, member in enumerate(members)}
        # Members of earlier mixtures stay for the battles that they are playing.
        self._members += members

    def sit_down(self, rows: Ints, games: Sequence[EnvBattle]) -> list[tuple[Agent | None, Agent | None]]:
        """The agents of the battles that begin, as `Battles.begin` takes them: those that play one at a time."""
        seated: list[tuple[Agent | None, Agent | None]] = []
        gone = [self._agents[row] for row in rows.tolist()]
        for row, game in zip(rows.tolist(), games, strict=True):
            self._which[row] = self._index[game.opponent]
            member = self._members[self._which[row]]
            seed = seat_seed(game.fixture.seed, SEATS[1 - game.seat])
            self._states[row] = seed % 2**64
            agent = self._agents[row] = None if member.source is None else member.make(seed)
            seat_agent = None if isinstance(agent, BatchedAgent | EngineAgent) else agent
            seated.append((None, seat_agent) if game.seat == 0 else (seat_agent, None))
        soon(gone.clear)  # there, for a network's agent gives its place at the inference server back when it goes
        return seated

    def choosing_leads(self, rows: Ints) -> NDArray[np.bool_]:
        """[n]: whose agents choose their lead as they choose an action, where there is a team preview."""
        agents = [self._agents[row] for row in rows.tolist()]
        return np.array([isinstance(agent, BatchedAgent) and agent.decides_previews for agent in agents], np.bool_)

    def act(self, battles: Battles, rows: Ints, seats: Ints) -> Ints:
        """The opponents' actions [n] at these seats, all of which are asked."""
        actions = np.full(len(rows), -1, np.int64)
        for index in np.unique(self._which[rows]).tolist():
            mine = np.flatnonzero(self._which[rows] == index)
            actions[mine] = self._act_as(self._members[index], battles, rows[mine], seats[mine])
        return actions

    def _act_as(self, member: _Member, battles: Battles, rows: Ints, seats: Ints) -> Ints:
        if member.source is None:
            states = self._states[rows]
            numbers = next_random(states)
            self._states[rows] = states
            return draw_actions(battles.masks(rows, seats), numbers)
        agents = [self._agents[row] for row in rows.tolist()]
        kind: type = type(agents[0])  # all are of this class
        if issubclass(kind, EngineAgent):
            engine: Any = battles  # those of Showdown have no such opponents
            actions = kind.act_on(agents, engine.engine, rows, seats)
            self._check(member, actions, battles.masks(rows, seats))
            return actions
        if not issubclass(kind, BatchedAgent):
            return battles.answers(rows, seats)
        seen = battles.observe(rows, seats)
        answer = kind.act_many(agents, seen)
        try:
            actions = np.array(
                actions_of(wait_for(answer) if inspect.isawaitable(answer) else answer, len(rows)), np.int64
            )
        except ValueError as error:
            raise ArenaError(f"opponent '{member.name}': {error}") from None
        self._check(member, actions, seen.legal)
        return actions

    @staticmethod
    def _check(member: _Member, actions: Ints, legal: NDArray[np.bool_]) -> None:
        fits = actions.shape == (len(legal),) and ((actions >= 0) & (actions < legal.shape[1])).all()
        if not fits or not legal[np.arange(len(legal)), actions].all():
            raise ArenaError(
                f"opponent '{member.name}': act_many or act_on returned an action that is not legal, or a wrong shape"
            )

    def _member(self, agent: str | type[Agent], weight: float) -> _Member:
        if agent == RANDOM:
            return _Member(RANDOM, weight, None)
        source: AgentSource | type[Agent]
        if isinstance(agent, str):
            source = resolve(agent)
            name, missing, made, acts_on_rows = source.spec, source.missing, source.make, source.acts_on_rows
            if source.is_external:
                raise BadInput(f"opponent '{agent}': an external program, which plays in `arena evaluate` only")
        else:
            source, name, missing, made = agent, agent.__name__, agent.missing, agent
            acts_on_rows = issubclass(agent, EngineAgent)
        on_engine = self.on_engine and acts_on_rows
        if on_engine:
            made()  # raises for its options
        elif lacks := missing(self.format_id):
            raise BadInput(f"opponent '{name}': cannot play {self.format_id}: {lacks}")
        return _Member(name, weight, source)


def _weights(mixture: Mixture) -> dict[str | type[Agent], float]:
    """Agent -> weight. Raises BadInput."""
    weights = dict(mixture) if isinstance(mixture, Mapping) else {mixture: 1.0}
    if not weights or any(not 0 < weight < math.inf for weight in weights.values()):
        raise BadInput(f"opponent {mixture!r}: each agent of a mixture needs a weight above 0, and there must be one")
    return weights
