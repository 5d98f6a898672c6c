"""Ratings: one joint Bradley-Terry fit over all agents, on an Elo scale, with intervals by a bootstrap over pairs.

The model: an agent of strength x beats one of strength y with probability 1 / (1 + 10^((y - x) / 400)); a tie is half a win.
The fit maximises the likelihood times Jeffreys' prior, which amounts to about one virtual tie an agent, laid where the
agent's own battles tell something. It is what keeps a perfect score finite, and it takes away the first-order bias of the
plain likelihood (Firth, Biometrika 80, 1993). Why this, and what it covers: docs/ratings.md.

Inside this file strengths are logits (natural logarithm); results are in Elo.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from arena.ratings.evidence import BASE, Evidence, Floats, Ints, default_anchor
from arena.ratings.meetings import STEPS, Meetings, fit_meetings
from teamsets.errors import BadInput

ELO = 400 / math.log(10)  # Elo points in one logit
LEVERAGE_POWER = 1.5  # between the HC2 (1) and HC3 (2) errors of regression: what covers best, docs/ratings.md
LEAST_SHAPE = 0.25  # of a pair's weight: a pair on which the fit hangs wholly would have no spread to show
LEAST_VIRTUAL = 1e-6  # of a virtual battle's weight: keeps the worst draw of a perfect score within about 2,500 Elo
CHUNK = 1_000_000  # numbers in one table of a batch of fits


@dataclass(frozen=True)
class Ratings:
    """What is known of N agents after a fit.

    elo, low, high [N]: rating and interval, in Elo against the anchor, which has 1000 exactly; always finite.
    games [N]: battles that count; score [N]: mean score in them (NaN without battles).
    group [N]: ratings compare only within a group (agents linked by battles); the anchor's is 0. Every other group has a
    mean of 1000 of its own. marks [N]: "" or why rating and interval of that agent are bounds from the prior, for people.
    better [N, N]: probability that the row is better than the column; 0.5 on the diagonal, NaN across groups.
    samples [B, N]: the bootstrap's ratings, anchored likewise.
    """

    agents: tuple[str, ...]
    anchor: str
    elo: Floats
    low: Floats
    high: Floats
    games: Ints
    score: Floats
    group: Ints
    marks: tuple[str, ...]
    better: Floats
    samples: Floats


def fit_ratings(
    evidence: Evidence, *, anchor: str | None = None, resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> Ratings:
    """The joint fit of all agents of `evidence`, with intervals that should hold the truth `level` of the time.

    anchor: who has 1000; without one `default_anchor`'s choice.
    The order of the pairs does not matter, and the same evidence and seed give the same numbers.
    Raises BadInput for evidence without agents and for an anchor that is not among them.
    """
    agents = evidence.agents
    if not agents:
        raise BadInput("ratings: no battles; play some with `arena evaluate`")
    if anchor is None:
        anchor = default_anchor(agents)
    if anchor not in agents:
        raise BadInput(f"anchor {anchor!r}: has none of these battles; name one of {', '.join(agents)}")
    points, games = evidence.tables()
    group = groups(games)
    group = np.where(group == group[agents.index(anchor)], -1, group)
    group = np.unique(group, return_inverse=True)[1].astype(np.int64)
    logits, virtual = _fit_jeffreys(points, games)
    samples = _bootstrap(evidence, logits, virtual, resamples, np.random.default_rng(seed))
    elo = _anchored(logits[None] * ELO, group, agents.index(anchor))[0]
    samples = _anchored(samples * ELO, group, agents.index(anchor))
    low, high = np.quantile(samples, [(1 - level) / 2, (1 + level) / 2], axis=0, method="weibull")
    played = games.sum(axis=1).astype(np.int64)
    return Ratings(
        agents=agents,
        anchor=anchor,
        elo=elo,
        low=np.minimum(low, elo),
        high=np.maximum(high, elo),
        games=played,
        score=np.divide(points.sum(axis=1), played, out=np.full(len(agents), np.nan), where=played > 0),
        group=group,
        marks=_marks(agents, points, games),
        better=_better(samples, group),
        samples=samples,
    )


def fit(points: Floats, games: Floats) -> Floats:
    """Strengths [N] in Elo, mean 0 in every group, from tables [N, N]: what the row won against the column, of how many.

    The same estimate as in `fit_ratings`, always finite; an agent without battles has 0.
    """
    return _fit_jeffreys(points, games)[0] * ELO


def information(elo: Floats, games: Floats) -> Floats:
    """Fisher's information [N, N], per squared Elo, of `games` [N, N] between agents of these strengths [N].

    It is the sum over battles of p (1 - p) v v' with v = +1 for one agent and -1 for the other, so its rows sum to 0: only
    differences are known. Battles are taken as independent.
    """
    return _laplacian(_weights(elo / ELO, games)) / ELO**2


def groups(games: Floats) -> Ints:
    """Group [N] of every agent, numbered from 0: agents are in one group when battles link them, through others or not."""
    return _components(games, directed=False)


def _components(links: Floats, directed: bool) -> Ints:
    """Component [N] of every node, numbered from 0; strongly connected ones where links have a direction."""
    from scipy.sparse.csgraph import connected_components  # as long to import as all the rest here

    return connected_components(links, directed=directed, connection="strong")[1].astype(np.int64)


def _weights(logits: Floats, games: Floats) -> Floats:
    """The information of the battles between two agents [..., N, N], per squared logit of their difference."""
    chance = expit(logits[..., :, None] - logits[..., None, :])
    return games * chance * (1 - chance)


def _laplacian(weights: Floats) -> Floats:
    result = -weights
    size = weights.shape[-1]
    result[..., range(size), range(size)] += weights.sum(axis=-1)
    return result


def _difference_variances(weights: Floats, group: Ints) -> Floats:
    """Variance [N, N] of the difference of every two agents of a group, in squared logits."""
    together = (group[:, None] == group) * max(weights.max(), 1e-9)
    covariance = np.linalg.inv(_laplacian(weights) + together)
    own = np.diag(covariance)
    return np.maximum(own[:, None] + own - 2 * covariance, 0.0)


def _fit_jeffreys(points: Floats, games: Floats) -> tuple[Floats, Floats]:
    """Strengths [N] in logits, and the virtual battles [N, N] that stand for the prior: half of them won by each side.

    The virtual battles of a pairing are its leverage: its share in what is known of the difference of the two, at most 1.
    They depend on the strengths, so both are found in turns.
    """
    group = groups(games)
    meetings = Meetings(games > 0, group)
    logits = np.zeros(len(games))
    virtual: Floats = np.where(games > 0, 0.5, 0.0)
    for _ in range(STEPS):
        met = (meetings.rows, meetings.columns)
        new = fit_meetings(meetings, (points + virtual / 2)[met][None], (games + virtual)[met][None], logits)[0]
        moved = np.ptp(new - logits)
        logits = new
        if moved < 1e-4:
            break
        weights = _weights(logits, games)
        virtual = weights * _difference_variances(weights, group)
    return logits, virtual


def _bootstrap(evidence: Evidence, logits: Floats, virtual: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Strengths [resamples, N] in logits, each fitted to the pairs with random weights of mean 1 (Rubin's bootstrap).

    A weight is drawn for a pair, never for a battle. Equal pairs of a pairing are drawn together: the sum of their weights.
    A pair that pulls the fit towards itself leaves too small a residual, so its weight varies the more: with the variance
    (1 - leverage) ** -LEVERAGE_POWER. A virtual win and a virtual loss have random weights, too.
    """
    size = len(logits)
    _, games = evidence.tables()
    group = groups(games)
    cells, counts = evidence.cells()
    if not len(cells):
        return np.zeros((resamples, size))
    first, second = cells[:, 0].astype(np.int64), cells[:, 1].astype(np.int64)
    known = _weights(logits, np.ones((size, size))) * _difference_variances(_weights(logits, games), group)
    free = np.maximum(1 - cells[:, 3] * known[first, second], 0)  # rounding may leave less than nothing
    shape = np.maximum(free**LEVERAGE_POWER, LEAST_SHAPE)
    begins = np.flatnonzero(np.r_[True, (np.diff(first) != 0) | (np.diff(second) != 0)])
    rows, columns = first[begins], second[begins]
    half = virtual[rows, columns] / 2
    meetings = Meetings(games > 0, group)
    fitted: list[Floats] = []
    drawn: list[tuple[Floats, Floats]] = []
    chunk = max(1, CHUNK // size**2)
    for begin in range(0, resamples, chunk):
        number = min(chunk, resamples - begin)
        weight = rng.gamma(counts * shape, 1 / shape, (number, len(cells)))
        lucky, unlucky = rng.gamma(half, size=(2, number, len(half))) + LEAST_VIRTUAL * half
        won = np.add.reduceat(weight * cells[:, 2], begins, axis=1) + lucky
        count = np.add.reduceat(weight * cells[:, 3], begins, axis=1) + lucky + unlucky
        drawn.append((won, count))
        if len(drawn) * number * meetings.cost >= CHUNK or begin + number == resamples:
            won, count = (np.concatenate(part) for part in zip(*drawn, strict=True))
            fitted.append(fit_meetings(meetings, won, count, logits))
            drawn = []
    return np.concatenate(fitted)


def _anchored(elo: Floats, group: Ints, anchor: int) -> Floats:
    """The same strengths [B, N] moved group by group: the anchor to 1000, every other group's mean to 1000."""
    result = np.empty_like(elo)
    for number in range(group.max() + 1):
        members = group == number
        zero = elo[:, anchor] if members[anchor] else elo[:, members].mean(axis=1)
        result[:, members] = elo[:, members] - zero[:, None] + BASE
    return result


def _better(samples: Floats, group: Ints) -> Floats:
    above = np.stack([(samples[:, [i]] > samples).mean(axis=0) for i in range(len(group))])
    result = (above + 1 - above.T) / 2  # a tie of a resample is half
    return np.where(group[:, None] == group, result, np.nan)


def _marks(agents: tuple[str, ...], points: Floats, games: Floats) -> tuple[str, ...]:
    """Why an agent's rating is a bound from the prior: no battle, or no way to the others and back over points won.

    Where such a way is missing the plain likelihood has no maximum: the distance could be anything upwards. In every group
    the largest set of agents with ways between them all is unmarked.
    """
    group = groups(games)
    kind = _components((points > 0).astype(float), directed=True)
    size = np.bincount(kind)[kind]
    marks = []
    for agent in range(len(agents)):
        mates = kind == kind[agent]
        against = np.ix_(mates, ~mates)
        if not games[agent].any():
            marks.append("no battles")
        elif size[agent] > 1 and kind[agent] == kind[np.argmax(np.where(group == group[agent], size, 0))]:
            marks.append("")
        else:
            share = points[against].sum() / games[against].sum()
            verdict = {1.0: "won all", 0.0: "lost all"}.get(share, "won all or lost all against each")
            friends = ", ".join(
                name for name, mate in zip(agents, mates, strict=True) if mate and name != agents[agent]
            )
            marks.append(f"{verdict} but against {friends}" if friends else verdict)
    return tuple(marks)
