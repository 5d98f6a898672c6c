"""An adaptive schedule: plays the most informative pairings, those that shorten the ranking's intervals most.

The rule is optimal design for a Bradley-Terry fit (A-optimality on the scale of standard errors; Chaloner and Verdinelli,
"Bayesian experimental design: a review", 1995, section 4; greedy as in Grasshoff and Schwabe, "Optimal design for the
Bradley-Terry paired comparison model", 2008). A pair between i and j adds information 2 p (1 - p) on the difference of
their strengths, p being their expected score: unequal pairings carry little information. With the covariance C of the
strengths relative to the anchor, and v = C (e_i - e_j), one more pair shrinks every variance C_aa by
w v_a^2 / (1 + w (v_i - v_j)); the pair that shortens the sum of the standard errors most is played next, and so on.

Battles are planned in batches. A batch is planned from the results of all batches except the one before it, so that the
workers need not wait, and from no other results, whenever they arrive: the same seed gives the same battles with any number
of workers. Battles in progress count as information with an unknown result.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from arena.fixture import Fixture
from arena.ratings.bradley_terry import ELO, fit, information
from arena.ratings.evidence import Floats
from arena.schedules.plan import Plan, numbered_pair, pair_name
from arena.schedules.schedule import KnownPair, Results
from teamsets.errors import BadInput

#: The information that every agent's strength starts with (natural units): a standard error of about 450 Elo.
PRIOR = 0.15
#: Pairs of the first batch; later ones grow with what has been planned, so that planning costs little in long runs.
FIRST_BATCH = 16
GROWTH = 8


@dataclass
class _Batch:
    """pairs: (format, i, j) of each; open: battles that have not ended; results: of those that have, p1's score."""

    pairs: list[tuple[str, int, int]]
    open: int
    results: list[tuple[Fixture, float]] = field(default_factory=list)


class Adaptive:
    """Plays the `budget` (None: unlimited) most informative battles about the strengths relative to `anchor`.

    results: of this run's stored battles. known: pairs of earlier runs; they count, and are not played again.
    """

    over = False
    already_played = 0

    def __init__(
        self, plan: Plan, results: Results, *, anchor: str, budget: int | None, known: Sequence[KnownPair] = ()
    ) -> None:
        if len(plan.pairings) < 1:
            raise BadInput(f"agents: at least two are needed, not {len(plan.agents)}")
        self.plan, self.results, self.budget = plan, results, budget
        self.total: int | None = None if budget is None else budget + budget % 2
        self._anchor = plan.agents.index(anchor)
        self._place = {agent: i for i, agent in enumerate(plan.agents)}
        size = len(plan.agents)
        self._points = {f: np.zeros((size, size)) for f in plan.formats}
        self._games = {f: np.zeros((size, size)) for f in plan.formats}
        self._in_progress = {f: np.zeros((size, size)) for f in plan.formats}
        self._pairings = np.array([[self._place[agent] for agent in pairing] for pairing in plan.pairings])
        self._known = {pair.pair for pair in known}
        self._numbers: Counter[tuple[tuple[str, str], tuple[str, str]]] = Counter()
        self._on: Counter[tuple[str, tuple[str, str]]] = Counter()  # pairs of an agent on a pool
        self._queue: deque[Fixture] = deque()
        self._batches: list[_Batch] = []
        self._of: dict[str, int] = {}  # fixture key -> its batch
        self._applied = 0
        self._pairs = 0
        self._remark = ""
        for pair in known:
            self._count(pair.format_id, pair.agents, pair.points, pair.games)

    def __iter__(self) -> Iterator[Fixture | None]:
        return self

    def __next__(self) -> Fixture | None:
        while True:
            while self._queue:
                fixture = self._queue.popleft()
                if fixture.key not in self.results:
                    return fixture
                self.already_played += 1
                self.record_result(fixture, self.results[fixture.key])
            if self.total is not None and 2 * self._pairs >= self.total:
                raise StopIteration
            if any(batch.open for batch in self._batches[self._applied : -1]):
                return None
            for batch in self._batches[self._applied : -1]:
                self._apply(batch)
            self._plan_batch()

    def record_result(self, fixture: Fixture, score: float | None) -> None:
        """Keeps a result until its batch may count."""
        batch = self._batches[self._of[fixture.key]]
        batch.open -= 1
        if score is not None:
            batch.results.append((fixture, score))

    def remark(self) -> str:
        return self._remark

    def _apply(self, batch: _Batch) -> None:
        for fixture, score in batch.results:
            self._count(fixture.format, fixture.agents, score, 1)
        for format_id, i, j in batch.pairs:
            self._in_progress[format_id][[i, j], [j, i]] -= 2
        self._applied += 1

    def _count(self, format_id: str, agents: tuple[str, str], points: float, games: int) -> None:
        i, j = (self._place[agent] for agent in agents)
        self._points[format_id][[i, j], [j, i]] += (points, games - points)
        self._games[format_id][[i, j], [j, i]] += games

    def _plan_batch(self) -> None:
        """Picks the pairs of the next batch one by one, each on top of those before it."""
        size = FIRST_BATCH + self._pairs // GROWTH
        if self.total is not None:
            size = min(size, self.total // 2 - self._pairs)
        designs = {f: self._design(f) for f in self.plan.formats}
        gains = {f: design.gains() for f, design in designs.items()}
        batch = _Batch([], open=2 * size)
        for _ in range(size):
            format_id = max(gains, key=lambda f: float(gains[f].max()))
            chosen = int(gains[format_id].argmax())
            designs[format_id].add(chosen)
            gains[format_id] = designs[format_id].gains()
            i, j = map(int, self._pairings[chosen])
            batch.pairs.append((format_id, i, j))
            self._in_progress[format_id][[i, j], [j, i]] += 2
            for fixture in self._next_pair(format_id, self.plan.pairings[chosen]):
                self._queue.append(fixture)
                self._of[fixture.key] = len(self._batches)
        self._batches.append(batch)
        self._pairs += size
        width = np.mean([design.mean_interval() for design in designs.values()])
        self._remark = f"mean interval about ±{width:.0f} Elo"

    def _design(self, format_id: str) -> _Design:
        elo = fit(self._points[format_id], self._games[format_id])
        games = self._games[format_id] + self._in_progress[format_id]
        return _Design(elo, games, self._anchor, self._pairings)

    def _next_pair(self, format_id: str, pairing: tuple[str, str]) -> tuple[Fixture, Fixture]:
        """On the team set on which the pairing, and then its two agents, have played least; known pairs are skipped."""
        pools = [pool for pool in self.plan.pools if pool[0] == format_id]
        pool = min(pools, key=lambda pool: (self._numbers[pairing, pool], sum(self._on[a, pool] for a in pairing)))
        self._on.update((agent, pool) for agent in pairing)
        while True:
            number = self._numbers[pairing, pool]
            self._numbers[pairing, pool] += 1
            if pair_name(self.plan.seed, *pool, pairing, number, self.plan.best_of) not in self._known:
                return numbered_pair(self.plan, pool, pairing, number)


class _Design:
    """How well a format's strengths are known, relative to the anchor, and what one more pair would add.

    elo: [N]; games: [N, N], those in progress included; pairings: [M, 2], those that may be played.
    """

    def __init__(self, elo: Floats, games: Floats, anchor: int, pairings: NDArray[np.int64]) -> None:
        known = information(elo, games) * ELO**2
        everybody = np.linalg.inv(known + PRIOR * np.eye(len(elo)))
        to_anchor = np.eye(len(elo))
        to_anchor[:, anchor] -= 1
        self.covariance = to_anchor @ everybody @ to_anchor.T
        self.pairings = pairings
        chance = expit((elo[pairings[:, 0]] - elo[pairings[:, 1]]) / ELO)
        self.weights = 2 * chance * (1 - chance)

    def gains(self) -> Floats:
        """[M]: by how much a pair of each pairing would shorten the sum of the standard errors."""
        i, j = self.pairings.T
        shared = self.covariance[i] - self.covariance[j]  # [M, N]
        added = self.weights / (1 + self.weights * (shared[np.arange(len(i)), i] - shared[np.arange(len(j)), j]))
        variances = self.covariance.diagonal()
        remaining = np.maximum(variances - added[:, None] * shared**2, 0)
        return np.asarray((np.sqrt(np.maximum(variances, 0)) - np.sqrt(remaining)).sum(axis=1))

    def add(self, chosen: int) -> None:
        """Updates the covariance as if one more pair of a pairing had been played."""
        i, j = self.pairings[chosen]
        shared = self.covariance[i] - self.covariance[j]
        weight = self.weights[chosen]
        self.covariance -= weight / (1 + weight * (shared[i] - shared[j])) * np.outer(shared, shared)

    def mean_interval(self) -> float:
        """Half the width of a 95% interval, in Elo, on average over the agents besides the anchor."""
        errors = np.sqrt(np.maximum(self.covariance.diagonal(), 0))
        return float(1.96 * ELO * errors.sum() / max(len(errors) - 1, 1))
