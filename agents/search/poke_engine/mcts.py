"""Determinized Monte Carlo tree search with poke-engine: several samples of the hidden information are searched."""

from __future__ import annotations

import math
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

from agents.battle import SeatBattle
from agents.battle.choices import Choice
from agents.contract import OptionLimits, SinglesAgent
from agents.mechanics.matchups import Matchups
from agents.mechanics.preview import best_lead
from agents.search import fitted
from agents.search.poke_engine.builds import builds, missing
from agents.search.poke_engine.engine import EngineFailed, Option, PokeEngine, SearchResult, SearchSettings, engines
from agents.search.poke_engine.history import History
from agents.search.poke_engine.state import position
from teamsets.errors import BadInput
from teamsets.formats import get_format

#: Weights fitted by scripts/build/fit_search_weights.py, a file per generation.
WEIGHTS = fitted.FOLDER
#: What `weights` may be besides a file.
_NAMED = ("fitted", "none")
# Number of samples by generation; where a set is only its moves, two deeper searches are stronger than four.
_SAMPLES = {1: 2}


class MonteCarloTreeSearch(SinglesAgent):
    """Determinized MCTS with poke-engine: hidden information is sampled from known sets, and each sample is searched.

    Each sample is a possible position. It is searched by MCTS with simultaneous moves, where each side uses PUCT (Silver et
    al. 2017) independently. The visit shares are averaged over the samples, and the choice with the largest share is played.
    Equal samples are searched once with their combined time. Leaves are evaluated by weights fitted to results of battles;
    priors come from weights fitted to the choices of strong players.

    The sampling scheme is foul-play's, which then samples among the choices with at least 75% of the best one's share:
    `good=0.75` here.

    Diagnostics of each decision: `values`, mean value of each choice from 0 (lost) to 1 (won); `visits`, its visit share;
    `win_probability`, mean of the values weighted by visits; `iterations`, in total; `failed`, poke-engine's error if a
    search failed.

    Needs poke-engine, built for the format's generation: `make search`. With a time limit it is not repeatable; with
    `iterations` and one thread, the same seed gives the same battle.

    Options: ms, time per decision for all samples in milliseconds, 100; samples, number of samples, 0 (2 in generation 1,
    where a set is only its moves, else 4); threads, of the search, each with its own tree, 1; iterations, per decision
    instead of a time limit, 0; good, minimum share, as a fraction of the best one's, of choices that are sampled in
    proportion to their shares, 1.0 (the best only); exploration, PUCT's constant, 1.5; first, first-play urgency: how much
    below its node's mean value an unvisited option starts, 0.05; weights, "fitted" (if the generation has them), "none"
    (poke-engine's own evaluation, uniform priors) or a file; trust, exponent of the fitted priors, 0.5.
    """

    repeatable: ClassVar[bool] = False
    option_limits: ClassVar[OptionLimits] = {
        **dict.fromkeys(("ms", "threads"), (1, math.inf)),
        **dict.fromkeys(("samples", "iterations", "exploration", "trust"), (0, math.inf)),
        "first": (-math.inf, math.inf),
        "good": (0, 1),
    }

    def __init__(
        self,
        ms: int = 100,
        samples: int = 0,
        threads: int = 1,
        iterations: int = 0,
        good: float = 1.0,
        exploration: float = 1.5,
        first: float = 0.05,
        weights: str = "fitted",
        trust: float = 0.5,
    ) -> None:
        problem = self.wrong_option(
            ms=ms, samples=samples, threads=threads, iterations=iterations, good=good, exploration=exploration,
            first=first, weights=weights, trust=trust,
        )  # fmt: skip
        if problem:
            raise BadInput(f"search:mcts: {problem}")
        self.good, self.exploration, self.first, self.weights, self.trust = good, exploration, first, weights, trust
        self.ms, self.samples, self.threads, self.iterations = ms, samples, threads, iterations
        self._history = History()

    @classmethod
    def repeats(cls, **options: Any) -> bool:
        """Return True with iterations instead of a time limit, and one thread."""
        return options.get("iterations", 0) > 0 and options.get("threads", 1) == 1

    @classmethod
    def version(cls, **options: Any) -> str:
        """Return the builds of poke-engine and the fitted weights; the fingerprint itself has a file that is an option."""
        return "\n".join([*builds(), *(path.read_text() for path in sorted(WEIGHTS.glob("*.txt")))])

    @classmethod
    def wrong_option(cls, **options: Any) -> str:
        """Check the name of the weights too."""
        weights = options.get("weights", _NAMED[0])
        known = weights in _NAMED or Path(weights).is_file()
        return super().wrong_option(**options) or (
            "" if known else f"weights={weights}: must be {', '.join(_NAMED)} or a file"
        )

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        """Return why it cannot play a format (None: any), with the fix; empty if it can. Has a file of weights read."""
        gen = None if format_id is None else get_format(format_id).gen
        weights, lacking = options.get("weights", _NAMED[0]), missing(gen)
        if lacking or gen is None or weights in _NAMED:
            return lacking
        with closing(PokeEngine(gen)) as engine:
            problem = engine.no_weights(weights)
        return problem and f"weights={problem}: give a file that scripts/build/fit_search_weights.py has written"

    def team_preview(self, battle: SeatBattle) -> Choice | None:
        """Return the lead of `heuristic:expert`, because poke-engine has no team preview."""
        return best_lead(battle, Matchups())

    def act(self, battle: SeatBattle) -> Choice:
        self._began = time.perf_counter()
        self._history.follow(battle)
        if len(battle.legal) == 1:
            return battle.legal[0]
        draws = Counter(self._draws(battle))
        shares, values = self._searched(battle, draws)
        if not shares:
            return self.rng.choice(battle.legal)
        assert self.diagnostics is not None
        self.diagnostics["visits"] = {choice.label: round(share, 4) for choice, share in shares.items()}
        self.diagnostics["values"] = {choice.label: round(value, 4) for choice, value in values.items()}
        self.diagnostics["win_probability"] = round(
            sum(share * values[choice] for choice, share in shares.items() if share), 4
        )
        best = max(shares.values())
        good = {choice: share for choice, share in shares.items() if share >= self.good * best}
        return self.rng.choices(list(good), list(good.values()))[0]

    def _settings(self, gen: int) -> SearchSettings:
        file = WEIGHTS / f"gen{gen}.txt" if self.weights == "fitted" else Path(self.weights)
        return SearchSettings(self.exploration, self.first, file if file.is_file() else None, self.trust)

    def _draws(self, battle: SeatBattle) -> list[str]:
        """Return the sampled positions as text. All have the same names of our choices."""
        wanted = self.samples or _SAMPLES.get(battle.gen, 4)
        drawn = [position(battle, self._history, self.rng) for _ in range(wanted)]
        self._choices = drawn[0].choices
        return [one.state.text() for one in drawn]

    def _searched(self, battle: SeatBattle, draws: Counter[str]) -> tuple[dict[Choice, float], dict[Choice, float]]:
        """Return the visit share and the mean value of our legal choices, over all samples."""
        self.diagnostics = {"iterations": 0}
        shares: dict[Choice, float] = {}
        scores: dict[Choice, float] = {}
        wanted = waiting = draws.total()
        settings = self._settings(battle.gen)
        for state, times in draws.items():
            weight = times / wanted
            # A share of the remaining time, so that later searches make up for one that took too long.
            remaining_ms = self.ms - (time.perf_counter() - self._began) * 1000
            ms = max(1, round(remaining_ms * times / waiting))
            waiting -= times
            try:
                iterations = round(self.iterations * weight)
                result = engines.get(battle.gen).search(state, settings, ms, iterations, self.threads)
            except EngineFailed as error:
                self.diagnostics["failed"] = str(error)
                continue
            self.diagnostics["iterations"] += result.iterations
            self._add(result, weight, shares, scores)
        values = {choice: scores[choice] / share for choice, share in shares.items() if share}
        total = sum(shares.values())
        return {choice: share / total for choice, share in shares.items() if total}, values

    def _add(
        self, result: SearchResult, weight: float, shares: dict[Choice, float], scores: dict[Choice, float]
    ) -> None:
        """Add the result of a search. A choice with several names ("Fight": any move) counts as its most visited one."""
        ours: dict[Choice, Option] = {}
        for name, option in result.side_one.items():
            choice = self._choices.get(name)
            if choice is not None and (choice not in ours or ours[choice].visits < option.visits):
                ours[choice] = option
        visits = sum(option.visits for option in ours.values())
        for choice, option in ours.items():
            share = weight * option.visits / visits if visits else 0.0
            shares[choice] = shares.get(choice, 0.0) + share
            scores[choice] = scores.get(choice, 0.0) + share * option.value
