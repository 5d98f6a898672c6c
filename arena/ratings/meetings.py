"""Newton's method for many Bradley-Terry fits to the same meetings at once.

A visitor of a server meets a few agents and no other visitor, so most of the table [N, N] is empty. Agents that have not met
each other are eliminated from the linear system of a step (the Schur complement of their diagonal block), and what is left
has the size of the others only. For a pool in which everybody meets everybody that is one agent, and the cost is that of
the whole table. The result is the same: it is the same system, solved exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from arena.ratings.evidence import Floats, Ints

STEPS, CLOSE = 200, 1e-6  # at most so many steps; done when no difference moves by more than so many logits


class Meetings:
    """Who has met whom: E pairings of N agents.

    met [N, N]: whether two have met. group [N]: numbers from 0 of agents that battles link.
    rows, columns [E]: the pairings, row < column, ascending. cost: numbers in the largest table of one fit.
    """

    def __init__(self, met: NDArray[np.bool_], group: Ints) -> None:
        from scipy.sparse import csr_array  # as long to import as all the rest here

        self.size, self.group = len(met), group
        self.rows, self.columns = np.nonzero(np.triu(met, 1))
        edges = np.arange(len(self.rows))
        ends = np.r_[self.rows, self.columns]
        signs = np.r_[np.ones(len(edges)), -np.ones(len(edges))]
        shape = (self.size, len(edges))
        self.differences = csr_array((signs, (ends, np.r_[edges, edges])), shape=shape)  # [N, E]: +1 row, -1 column
        self.sums = abs(self.differences)
        self.eliminated = _apart(met)
        self.kept = np.setdiff1d(np.arange(self.size), self.eliminated)
        place = np.empty(self.size, dtype=np.int64)
        place[self.kept], place[self.eliminated] = np.arange(len(self.kept)), np.arange(len(self.eliminated))
        is_kept = np.zeros(self.size, dtype=bool)
        is_kept[self.kept] = True
        inner = is_kept[self.rows] & is_kept[self.columns]
        self.inner = np.flatnonzero(inner)
        self.inner_places = place[self.rows[inner]], place[self.columns[inner]]
        self.outer = np.flatnonzero(~inner)  # each between a kept and an eliminated agent
        first, second = self.rows[~inner], self.columns[~inner]
        first_kept = is_kept[first]
        self.outer_places = place[np.where(first_kept, first, second)], place[np.where(first_kept, second, first)]
        together = group[self.kept][:, None] == group[self.kept]
        self.together = together.astype(float)
        self.members = (group == np.arange(group.max() + 1)[:, None]).astype(float) if self.size else np.zeros((0, 0))
        self.cost = max(1, len(edges), len(self.kept) * max(len(self.kept), len(self.eliminated)))

    def steps(self, weights: Floats, slope: Floats) -> Floats:
        """Solve the systems of B Newton steps: Laplacian of `weights` [B, E] times the step [B, N] = `slope` [B, N].

        The steps have mean 0 in every group.
        """
        number, kept, out = len(weights), len(self.kept), self.eliminated
        diagonal = (self.sums @ weights.T).T
        own = np.where(diagonal[:, out] > 0, diagonal[:, out], 1.0)
        links = np.zeros((number, kept, len(out)))
        links[:, self.outer_places[0], self.outer_places[1]] = weights[:, self.outer]
        scaled = links / own[:, None, :]
        curve = -scaled @ links.transpose(0, 2, 1)
        curve[:, self.inner_places[0], self.inner_places[1]] -= weights[:, self.inner]
        curve[:, self.inner_places[1], self.inner_places[0]] -= weights[:, self.inner]
        curve[:, range(kept), range(kept)] += diagonal[:, self.kept]
        scale = np.maximum(np.einsum("bii->b", curve) / max(kept, 1), 1e-9)
        right = slope[:, self.kept] + np.einsum("bko,bo->bk", scaled, slope[:, out])
        step = np.zeros_like(slope)
        step[:, self.kept] = np.linalg.solve(curve + scale[:, None, None] * self.together, right[:, :, None])[:, :, 0]
        step[:, out] = slope[:, out] / own + np.einsum("bko,bk->bo", scaled, step[:, self.kept])
        means = step @ self.members.T / self.members.sum(axis=1)
        return np.asarray(step - means[:, self.group])


def _apart(met: NDArray[np.bool_]) -> Ints:
    """Agents of whom no two have met, ascending: those with the fewest opponents first."""
    degree = met.sum(axis=1)
    is_free = np.ones(len(met), dtype=bool)
    chosen = []
    for agent in np.argsort(degree, kind="stable"):
        if is_free[agent]:
            chosen.append(agent)
            is_free[met[agent]] = False
    return np.sort(np.array(chosen, dtype=np.int64))


def fit_meetings(meetings: Meetings, won: Floats, count: Floats, start: Floats) -> Floats:
    """Strengths [B, N] in logits with mean 0 in every group, of B fits to the same meetings, from `start` [N].

    won, count [B, E]: what the rows won against the columns, of how many battles.
    Steps are shortened to log(1 + d) / d, d the largest change of a difference, which makes Newton's method converge from
    anywhere for logistic losses (Sun and Tran-Dinh, Mathematical Programming 178, 2019).
    Raises ArithmeticError if a fit does not converge.
    """
    strengths = np.broadcast_to(start, (len(won), meetings.size)).copy()
    active = np.arange(len(won))
    for _ in range(STEPS):
        now = strengths[active]
        chance = expit(now[:, meetings.rows] - now[:, meetings.columns])
        slope = (meetings.differences @ (won[active] - count[active] * chance).T).T
        step = meetings.steps(count[active] * chance * (1 - chance), slope)
        size = step.max(axis=1) - step.min(axis=1)
        strengths[active] += step * (np.log1p(size) / np.maximum(size, 1e-300))[:, None]
        active = active[size > CLOSE]
        if not len(active):
            return strengths
    raise ArithmeticError(f"Bradley-Terry: {len(active)} of {len(won)} fits did not converge in {STEPS} steps")
