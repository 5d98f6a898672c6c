"""A matrix game as a venue of online training: both seats choose once, and a drawn number decides by the payoff."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agents.observation.actions import ACTIONS
from agents.observation.observation import TOKENS, Observations
from arena.fixture import Fixture, FixtureTeam, showdown_seed
from training.envs.fixtures import LEARNER, EnvBattle
from training.envs.venue import UNDECIDED, Ints

_TEAM = FixtureTeam("none", "none", packed="")


class MatrixGame:
    """N games. wins: [k, k], the probability that seat 0 wins with its action (row) against seat 1's (column)."""

    def __init__(self, size: int, wins: Sequence[Sequence[float]]) -> None:
        self.wins = np.array(wins)
        self.winners = np.full(size, UNDECIDED, np.int64)
        self.turns = np.ones(size, np.int64)
        self._random = [random.Random(0)] * size

    def begin(self, rows: Ints, fixtures: Sequence[Fixture], agents: Sequence[object], leads: object = None) -> None:
        self.winners[rows] = UNDECIDED
        for row, fixture in zip(rows.tolist(), fixtures, strict=True):
            self._random[row] = random.Random(fixture.seed)

    def needs_decision(self, rows: Ints) -> NDArray[np.bool_]:
        return np.repeat(self.winners[rows, None] == UNDECIDED, 2, axis=1)

    def observe(self, rows: Ints, seats: Ints, out: Observations | None = None) -> Observations:
        n = len(rows)
        out = Observations.room_for(n, out)
        out.legal[:] = np.arange(ACTIONS) < len(self.wins)
        out.token_ids[:], out.features[:] = 0, 0
        out.token_ids[:, :, 0] = np.arange(1, TOKENS + 1)  # tokens must differ, as a battle's do
        return out

    def masks(self, rows: Ints, seats: Ints) -> NDArray[np.bool_]:
        return self.observe(rows, seats).legal

    def play(self, rows: Ints, actions: Ints) -> None:
        for row, (first, second) in zip(rows.tolist(), actions.tolist(), strict=True):
            self.winners[row] = int(self._random[row].random() >= self.wins[first, second])

    def close(self) -> None:
        pass


class MatrixGames:
    """Draws them, in place of `Games`."""

    def game(self, number: int, opponents: dict[str, float]) -> EnvBattle:
        rng = random.Random(number)
        opponent = rng.choices(list(opponents), list(opponents.values()))[0]
        seat = rng.randrange(2)
        agents = (LEARNER, opponent) if seat == 0 else (opponent, LEARNER)
        return EnvBattle(Fixture("gen1ou", agents, (_TEAM, _TEAM), showdown_seed("matrix", number), "", ""), seat)

    def replica(self, game: EnvBattle, number: int, copy: int) -> EnvBattle:
        seed = showdown_seed("matrix", number, copy)
        return EnvBattle(Fixture("gen1ou", game.fixture.agents, (_TEAM, _TEAM), seed, "", ""), game.seat)
