"""How many battles an adaptive schedule needs for a ranking as sure as a round robin's.

Simulated pools of known strengths play both schedules; after every few battles both are rated as a report would rate them
(`fit_ratings`, bootstrap over pairs), and the mean width of the 95% intervals is taken over the agents besides the anchor.
The ratio printed is: battles of the adaptive schedule until its mean width stays at the round robin's final one, over the
battles of that round robin. It also prints how many of the intervals hold the truth.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from statistics import geometric_mean

import numpy as np

from arena.fixture import Fixture, FixtureTeam
from arena.ratings.bradley_terry import Ratings, fit_ratings
from arena.ratings.evidence import make_evidence
from arena.schedules.adaptive import Adaptive
from arena.schedules.plan import Plan
from arena.schedules.schedule import RoundRobin, Schedule

TEAMS = tuple(FixtureTeam(f"{number:016x}", f"team {number}", packed=f"packed {number}") for number in range(32))
#: Strengths of 12 agents in Elo. "shipped" has the spread of the pool that comes with the arena: three that are harmful,
#: a crowd in the middle, one far above.
POOLS = {
    "even steps, 50 Elo": [50 * i for i in range(12)],
    "even steps, 100 Elo": [100 * i for i in range(12)],
    "shipped": [-900, -600, -550, -250, -150, 0, 20, 60, 90, 120, 150, 420],
}
CONCURRENT_BATTLES = 24


def battle_score(fixture: Fixture, strengths: dict[str, float], rng: random.Random) -> float:
    """A win or a loss by the strengths; in a pair the better team's holder has a lead of its own."""
    team_luck = random.Random(fixture.pair).gauss(0, 100)  # of the team in p1's seat: the same in both battles
    lead = strengths[fixture.agents[0]] - strengths[fixture.agents[1]] + team_luck
    return float(rng.random() < 1 / (1 + 10 ** (-lead / 400)))


def simulate(schedule: Schedule, strengths: dict[str, float], seed: int) -> list[tuple[Fixture, float]]:
    """Plays a schedule with CONCURRENT_BATTLES battles at once, which end in any order."""
    rng = random.Random(seed)
    ended: list[tuple[Fixture, float]] = []
    in_progress: list[Fixture] = []
    while True:
        while len(in_progress) < CONCURRENT_BATTLES and (fixture := next(schedule, None)) is not None:
            in_progress.append(fixture)
        if not in_progress:
            return ended
        fixture = in_progress.pop(rng.randrange(len(in_progress)))
        score = battle_score(fixture, strengths, rng)
        schedule.record_result(fixture, score)
        ended.append((fixture, score))


def rate(battles: list[tuple[Fixture, float]], agents: tuple[str, ...], anchor: str, resamples: int) -> Ratings:
    pairs: dict[str, list[tuple[str, str, float]]] = {}
    for fixture, score in battles:
        pairs.setdefault(fixture.pair, []).append((*fixture.agents, score))
    rows = []
    for halves in pairs.values():
        first, second, _ = halves[0]
        points = sum(score if agent == first else 1 - score for agent, _, score in halves)
        rows.append((first, second, points, len(halves), "set"))
    return fit_ratings(make_evidence(rows, agents), anchor=anchor, resamples=resamples, seed=0)


def mean_width(ratings: Ratings) -> float:
    others = [i for i, agent in enumerate(ratings.agents) if agent != ratings.anchor]
    return float((ratings.high - ratings.low)[others].mean())


def covered(ratings: Ratings, strengths: dict[str, float]) -> tuple[int, int]:
    """(intervals that hold the truth, intervals)."""
    truth = np.array([1000 + strengths[a] - strengths[ratings.anchor] for a in ratings.agents])
    others = np.array([agent != ratings.anchor for agent in ratings.agents])
    return int(((ratings.low <= truth) & (truth <= ratings.high))[others].sum()), int(others.sum())


def battles_needed(
    battles: list[tuple[Fixture, float]], agents: tuple[str, ...], anchor: str, width: float, resamples: int
) -> int:
    """After how many battles the mean width is `width` or less, by bisection (it shrinks all but steadily)."""
    low, high = 0, len(battles)
    while high - low > 6:
        middle = (low + high) // 2
        if mean_width(rate(battles[:middle], agents, anchor, resamples)) <= width:
            high = middle
        else:
            low = middle
    return high


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tournaments", type=int, default=8, help="for each pool (default 8)")
    parser.add_argument("--battles", type=int, default=8, help="of the round robin, for each pairing (default 8)")
    parser.add_argument("--resamples", type=int, default=300)
    options = parser.parse_args()
    everything = []
    for name, elos in POOLS.items():
        agents = tuple(f"agent{i:02}" for i in range(len(elos)))
        strengths = dict(zip(agents, map(float, elos), strict=True))
        anchor = agents[len(agents) // 2]
        ratios, held = [], {"round robin": [0, 0], "adaptive": [0, 0]}
        planning = 0.0
        for number in range(options.tournaments):
            plan = Plan(agents, {("gen1ou", "set"): TEAMS}, options.battles, seed=number)
            robin = simulate(RoundRobin(plan, {}), strengths, seed=number)
            width = mean_width(rate(robin, agents, anchor, options.resamples))
            began = time.perf_counter()
            adaptive = simulate(
                Adaptive(plan, {}, anchor=anchor, budget=len(robin)), strengths, seed=number + 1_000_000
            )
            planning += time.perf_counter() - began
            needed = battles_needed(adaptive, agents, anchor, width, options.resamples)
            ratios.append(needed / len(robin))
            for kind, battles in (("round robin", robin), ("adaptive", adaptive)):
                good, of = covered(rate(battles, agents, anchor, options.resamples), strengths)
                held[kind][0] += good
                held[kind][1] += of
        ratio = geometric_mean(ratios)
        error = 1.96 * np.std(np.log(ratios), ddof=1) / math.sqrt(len(ratios)) if len(ratios) > 1 else math.nan
        everything.append(ratio)
        print(f"{name} ({len(elos)} agents, round robin of {len(robin)} battles, {options.tournaments} tournaments):")
        print(
            f"  battles for the same mean width: ratio {ratio:.2f} [{ratio * math.exp(-error):.2f}, "
            f"{ratio * math.exp(error):.2f}]"
        )
        for kind, (good, of) in held.items():
            print(f"  intervals that hold the truth, {kind}: {100 * good / of:.1f}% of {of}")
        print(f"  planning: {1000 * planning / options.tournaments / len(robin):.2f} ms a battle", flush=True)
    print(f"adaptive / round robin, geometric mean over the pools: {geometric_mean(everything):.2f}")


if __name__ == "__main__":
    main()
