"""Do the intervals hold what they promise? Tournaments between agents of known strength, rated as real ones are.

For each setting: how often the 95% interval of an agent held its true Elo (averaged over agents besides the anchor) and how
often the truth lay below and above it, with the script's own 95% uncertainty; the same for differences of every two agents;
how often "A is better than B" was true when the ratings said so with a probability of 60-90%, 90-97.5%, and more; and the
error of the ratings (bias, and root mean square) beside the width of the intervals.

    python scripts/simulate/interval_coverage.py [--tournaments 500] [--resamples 500] [--only NAME ...] [--jobs N]

The two battles of a pair share their teams: one team's advantage helps the one agent in the first battle and the other in
the second. An agent's expected score is what its Elo says all the same. The anchor is the weakest agent, the hardest case,
unless a setting says otherwise. In settings with series of three battles the Elo is that of series, whose battles all have
the teams of the pair.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: a process a setting uses the cores better

import numpy as np
from scipy.special import ndtr

from arena.ratings.bradley_terry import Ratings, fit_ratings
from arena.ratings.evidence import Evidence, Floats
from arena.ratings.team_sets import set_differences

CLAIMS = (0.6, 0.9, 0.975, 1.01)


@dataclass(frozen=True)
class Setting:
    """span: the truth is drawn evenly from 0 to `span` Elo for every tournament (even: in equal steps instead).

    pairs: of a pairing. ties: share of ties between equals. luck: share of a battle's chance that lies in the teams.
    shared: the k-th pair of all pairings has the same teams. anchor: its place from below. series: of three battles, as
    one result each.
    """

    name: str
    agents: int
    span: float
    pairs: int
    ties: float = 0.05
    luck: float = 0.4
    even: bool = False
    shared: bool = False
    anchor: int = 0
    series: bool = False


SETTINGS = (
    Setting("narrow, no luck", 6, 300, 4, ties=0.0, luck=0.0),
    Setting("narrow", 6, 300, 4),
    Setting("narrow, many ties", 6, 300, 10, ties=0.3),
    Setting("narrow, long", 6, 300, 40),
    Setting("middle", 8, 600, 4),
    Setting("middle, longer", 8, 600, 10),
    Setting("wide", 12, 1500, 4),
    Setting("wide, longer", 12, 1500, 12),
    Setting("whole pool", 18, 1500, 2),
    Setting("whole pool, longer", 18, 1500, 4),
    Setting("whole pool, anchor amid", 18, 1500, 4, anchor=9),
    Setting("very wide", 18, 3000, 4),
    Setting("very wide, anchor amid", 18, 3000, 4, anchor=9),
    Setting("ladder of equal steps", 12, 1500, 4, even=True),
    Setting("very wide ladder", 18, 3000, 2, even=True),
    Setting("one pair a pairing", 8, 600, 1),
    Setting("one pair, wide", 12, 1500, 1),
    Setting("two agents", 2, 300, 20),
    Setting("two agents, few", 2, 300, 4),
    Setting("teams shared by all", 8, 600, 4, shared=True),
    Setting("teams shared, longer", 8, 600, 40, shared=True),
    Setting("series", 6, 300, 4, ties=0.0, series=True),
    Setting("series, much luck", 6, 300, 4, ties=0.0, luck=0.8, series=True),
    Setting("series, longer", 8, 600, 10, ties=0.0, luck=0.8, series=True),
    Setting("series, two agents", 2, 300, 20, ties=0.0, luck=0.8, series=True),
)


def draw_strengths(setting: Setting, rng: np.random.Generator) -> Floats:
    """True Elo [N], rising; the anchor has 1000."""
    steps = np.linspace(0, setting.span, setting.agents)
    elo = steps if setting.even else np.sort(rng.uniform(0, setting.span, setting.agents))
    return 1000 + elo - elo[setting.anchor]


def tournament(setting: Setting, elo: Floats, rng: np.random.Generator, team_set: int = 0) -> Evidence:
    """The pairs of one round robin between agents of these strengths [N].

    A battle's chance is a normal number, `luck` of its variance the teams', with the opposite sign in the other battle of
    the pair. The best share of it wins, as large as the agent's Elo says, with the ties around the edge half to either side.
    """
    rows, columns = np.triu_indices(len(elo), 1)
    first, second = np.repeat(rows, setting.pairs), np.repeat(columns, setting.pairs)
    chance = 1 / (1 + 10 ** ((elo[second] - elo[first]) / 400))
    tie = setting.ties * np.minimum(chance, 1 - chance)
    teams = rng.normal(size=setting.pairs if setting.shared else len(first))
    if setting.shared:
        teams = np.tile(teams, len(rows))
    points = np.zeros(len(first))
    for sign in (1, -1) if setting.series else ():
        own = rng.normal(size=(3, len(first)))
        battles = sign * np.sqrt(setting.luck) * teams + np.sqrt(1 - setting.luck) * own
        points += (battles < series_threshold(chance, setting.luck)).sum(axis=0) >= 2
    for sign in (1, -1) if not setting.series else ():
        own = rng.normal(size=len(first))
        place = ndtr(sign * np.sqrt(setting.luck) * teams + np.sqrt(1 - setting.luck) * own)
        points += np.where(place < chance - tie, 1.0, np.where(place < chance + tie, 0.5, 0.0))
    names = tuple(f"agent {number:02}" for number in range(len(elo)))
    sets = np.full(len(first), team_set)
    return Evidence(names, ("one", "other"), first, second, points, np.full(len(first), 2), sets)


def series_threshold(chance: Floats, luck: float) -> Floats:
    """Below which normal number a battle is won, so that a series of three is won with this chance [P].

    A battle's number is sqrt(luck) times that of the teams, which a series keeps, and sqrt(1 - luck) times its own.
    """
    teams, weights = np.polynomial.hermite_e.hermegauss(60)
    thresholds = np.linspace(-6, 6, 2001)
    battle = ndtr((thresholds[:, None] - np.sqrt(luck) * teams) / np.sqrt(1 - luck))
    series = (3 * battle**2 - 2 * battle**3) @ weights / weights.sum()
    return np.interp(chance, series, thresholds)


@dataclass(frozen=True)
class Verdict:
    """One tournament's outcome: shares of agents (differences: of every two), and claims as (probability, true)."""

    held: float
    below: float
    above: float
    differences: float
    error: float
    squared_error: float
    width: float
    marked: float
    claims: Floats


def judge(ratings: Ratings, elo: Floats) -> Verdict:
    """How the ratings of one tournament stand to the truth [N]."""
    others = np.array([name != ratings.anchor for name in ratings.agents])
    below, above = elo < ratings.low, elo > ratings.high
    rows, columns = np.triu_indices(len(elo), 1)
    gaps = ratings.samples[:, rows] - ratings.samples[:, columns]
    low, high = np.quantile(gaps, [0.025, 0.975], axis=0, method="weibull")
    truth = elo[rows] - elo[columns]
    claim = ratings.better[rows, columns]
    right = np.where(claim >= 0.5, truth > 0, truth < 0)
    error = (ratings.elo - elo)[others]
    return Verdict(
        held=1 - float((below | above)[others].mean()),
        below=float(below[others].mean()),
        above=float(above[others].mean()),
        differences=float(((low <= truth) & (truth <= high)).mean()),
        error=float(error.mean()),
        squared_error=float((error**2).mean()),
        width=float(np.median((ratings.high - ratings.low)[others])),
        marked=float(np.mean([bool(mark) for mark in ratings.marks])),
        claims=np.stack([np.maximum(claim, 1 - claim), right]),
    )


def simulate(setting: Setting, tournaments: int, resamples: int, seed: int = 0) -> list[Verdict]:
    """`tournaments` verdicts: strengths drawn, battles drawn, rated."""
    rng = np.random.default_rng(seed)
    verdicts = []
    anchor = f"agent {setting.anchor:02}"
    for number in range(tournaments):
        elo = draw_strengths(setting, rng)
        evidence = tournament(setting, elo, rng)
        verdicts.append(judge(fit_ratings(evidence, anchor=anchor, resamples=resamples, seed=number), elo))
    return verdicts


def mean_and_margin(shares: list[float]) -> tuple[float, float]:
    """Mean over tournaments, and the half-width of its 95% interval (agents of one tournament are not independent)."""
    return float(np.mean(shares)), 1.96 * float(np.std(shares)) / len(shares) ** 0.5


def line(setting: Setting, verdicts: list[Verdict]) -> str:
    held, margin = mean_and_margin([each.held for each in verdicts])
    differences, _ = mean_and_margin([each.differences for each in verdicts])
    claims = np.concatenate([each.claims for each in verdicts], axis=1)
    calibration = []
    for low, high in pairwise(CLAIMS):
        made = claims[:, (claims[0] >= low) & (claims[0] < high)]
        calibration.append(f"{made[0].mean():.3f}:{made[1].mean():.3f}" if made.shape[1] > 50 else "  -  :  -  ")
    of = {name: np.mean([getattr(each, name) for each in verdicts]) for name in ("below", "above", "error", "marked")}
    return (
        f"{setting.name:23} {setting.agents:3} {setting.span:5.0f} {setting.pairs:3}  {held:.3f} ±{margin:.3f}"
        f"  {of['below']:.3f} {of['above']:.3f}  {differences:.3f}  {' '.join(calibration)}  {of['error']:+4.0f}"
        f" {np.mean([each.squared_error for each in verdicts]) ** 0.5:4.0f}"
        f" {np.median([each.width for each in verdicts]):5.0f}  {of['marked']:.3f}"
    )


def two_sets(setting: Setting, tournaments: int, resamples: int, shift: float) -> str:
    """Differences between two team sets; `shift`: how much worse the last agent really is on the second.

    The others then differ from their own others, too, by a small part of it: "falsely" means the wrong way or, without a
    shift, at all.
    """
    rng = np.random.default_rng(1)
    held, false, detected = [], 0, 0
    for number in range(tournaments):
        elo = draw_strengths(setting, rng)
        moved = np.r_[elo[:-1], elo[-1] - shift]
        first_set, second_set = tournament(setting, elo, rng), tournament(setting, moved, rng, team_set=1)
        both = Evidence(
            first_set.agents,
            first_set.team_sets,
            np.concatenate([first_set.first, second_set.first]),
            np.concatenate([first_set.second, second_set.second]),
            np.concatenate([first_set.points, second_set.points]),
            np.concatenate([first_set.games, second_set.games]),
            np.concatenate([first_set.team_set, second_set.team_set]),
        )
        clear = [0, 0]
        for each in set_differences(both, resamples=resamples, seed=2 * number):
            sign = 1 if each.better_on == "one" else -1
            last = each.agent == first_set.agents[-1]
            if last:
                held.append(each.low <= sign * shift <= each.high)
            clear[last and sign > 0] += each.clear and (last or sign > 0 or not shift)
        false += clear[0] > 0 if shift else sum(clear) > 0
        detected += clear[1] > 0
    return (
        f"two team sets: {setting.agents} agents, {setting.pairs} pairs, one of them {shift:.0f} Elo worse on one set: its"
        f" interval holds {np.mean(held):.3f}; called clear {detected / tournaments:.3f};"
        f" any falsely {false / tournaments:.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tournaments", type=int, default=500)
    parser.add_argument("--resamples", type=int, default=500)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="settings whose name holds one of these")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    settings = [each for each in SETTINGS if not options.only or any(word in each.name for word in options.only)]
    print("setting                  N   span pairs    held    below above  diffs  said:true (3 classes)", end="")
    print("            bias rmse width marked")
    with ProcessPoolExecutor(options.jobs) as jobs:
        waiting = [jobs.submit(simulate, each, options.tournaments, options.resamples) for each in settings]
        sets = [
            jobs.submit(two_sets, Setting("", 12, 600, 10), options.tournaments, options.resamples, shift)
            for shift in (0.0, 200.0)
            if not options.only or "two team sets" in options.only
        ]
        for setting, verdicts in zip(settings, waiting, strict=True):
            print(line(setting, verdicts.result()), flush=True)
        for comparison in sets:
            print(comparison.result(), flush=True)


if __name__ == "__main__":
    main()
