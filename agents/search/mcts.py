"""Monte Carlo tree search over poke-engine, with what is hidden drawn at random several times."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

from agents.battle import SeatBattle
from agents.choices import Choice
from agents.contract import Agent
from agents.mechanics.matchups import Matchups
from agents.mechanics.preview import best_lead
from agents.search.builds import builds, missing
from agents.search.engine import EngineFailed, Found, Option, SearchSettings, engine_for
from agents.search.history import History
from agents.search.state import position
from teamsets.errors import BadInput
from teamsets.formats import get_format

#: What scripts/build/fit_search_weights.py has fitted, a file for each generation that has it.
WEIGHTS = Path(__file__).with_name("weights")
# Draws by generation; where a set is no more than its moves, two deeper searches are worth more than four.
_SAMPLES = {1: 2}


class MonteCarloTreeSearch(Agent):
    """Searches the game tree on poke-engine; what the opponent hides is drawn from known sets, several times over.

    Each draw makes one possible position. Each is searched (Monte Carlo tree search, both sides choosing at once, each by
    its own PUCT), and the shares of visits are averaged over the draws; the choice with the greatest share is made. Equal
    draws are searched once, with their time together. Where the search stops, a position is judged by weights fitted to
    how battles ended; how soon an option is tried depends on weights fitted to what strong players chose.

    The scheme of draws is foul-play's, which then draws among the choices that have three quarters of the best one's
    share; that is `good=0.75` here.

    Kept with each decision: `values`, the mean value of each choice from 0 (lost) to 1 (won); `visits`, its share of the
    visits; `win_probability`, the mean of the values weighed by the visits; `iterations`, how many there
    were; `failed`, poke-engine's words where it failed on a position.

    Needs poke-engine, built for the format's generation: `make search`. Limited by time it is not repeatable; with
    `iterations`, on one thread, the same seed gives the same battle.

    Options: ms, the milliseconds for one decision, all draws together, 100; samples, how many draws, 0 (2 in
    generation 1, where a set is moves alone, 4 elsewhere); threads, of the search, each with a tree of its own, 1;
    iterations, for one decision instead of a time, 0; good, the part of the best choice's share that another must have
    to be drawn in proportion to its share, 1.0 (the best alone); exploration, the factor of PUCT, 1.5; first, how much
    less than its position's mean an untried option is taken to be worth, 0.05; weights, "fitted" (where the generation
    has them), "none" (poke-engine's own evaluation, all options alike) or a file; trust, the power to which fitted
    priors are raised, 0.5.
    """

    repeatable: ClassVar[bool] = False

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
        for name, value, least in (("ms", ms, 1), ("samples", samples, 0), ("threads", threads, 1)):
            if value < least:
                raise BadInput(f"search:mcts: {name}={value}: must be {least} or more")
        if iterations < 0:
            raise BadInput(f"search:mcts: iterations={iterations}: must be 0 (limited by ms) or more")
        if not 0 <= good <= 1:
            raise BadInput(f"search:mcts: good={good}: must be from 0 to 1")
        if exploration < 0:
            raise BadInput(f"search:mcts: exploration={exploration}: must be 0 or more")
        if weights not in ("fitted", "none") and not Path(weights).is_file():
            raise BadInput(f"search:mcts: weights={weights}: must be fitted, none or a file")
        if trust < 0:
            raise BadInput(f"search:mcts: trust={trust}: must be 0 (uniform prior) or more")
        self.good, self.exploration, self.first, self.weights, self.trust = good, exploration, first, weights, trust
        self.ms, self.samples, self.threads, self.iterations = ms, samples, threads, iterations
        self._history = History()

    @classmethod
    def repeats(cls, **options: Any) -> bool:
        """With iterations instead of a time, and on one thread."""
        return options.get("iterations", 0) > 0 and options.get("threads", 1) == 1

    @classmethod
    def version(cls, **options: Any) -> str:
        """The builds of poke-engine and the fitted weights."""
        chosen = Path(options.get("weights", ""))
        files = [*sorted(WEIGHTS.glob("*.txt")), *([chosen] if chosen.is_file() else [])]
        return "\n".join([*builds(), *(path.read_text() for path in files)])

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        """Why it cannot play a format (None: any at all), with the mend; empty when it can."""
        return missing(None if format_id is None else get_format(format_id).gen)

    def team_preview(self, battle: SeatBattle) -> Choice | None:
        """The lead that `heuristic:expert` would take: the preview is no position of poke-engine's."""
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
        assert self.thought is not None
        self.thought["visits"] = {choice.words: round(share, 4) for choice, share in shares.items()}
        self.thought["values"] = {choice.words: round(value, 4) for choice, value in values.items()}
        self.thought["win_probability"] = round(
            sum(share * values[choice] for choice, share in shares.items() if share), 4
        )
        best = max(shares.values())
        good = {choice: share for choice, share in shares.items() if share >= self.good * best}
        return self.rng.choices(list(good), list(good.values()))[0]

    def _settings(self, gen: int) -> SearchSettings:
        file = WEIGHTS / f"gen{gen}.txt" if self.weights == "fitted" else Path(self.weights)
        return SearchSettings(self.exploration, self.first, file if file.is_file() else None, self.trust)

    def _draws(self, battle: SeatBattle) -> list[str]:
        """The texts of the drawn positions. Which choices they name is the same for all."""
        wanted = self.samples or _SAMPLES.get(battle.gen, 4)
        drawn = [position(battle, self._history, self.rng) for _ in range(wanted)]
        self._choices = drawn[0].choices
        return [one.state.text() for one in drawn]

    def _searched(self, battle: SeatBattle, draws: Counter[str]) -> tuple[dict[Choice, float], dict[Choice, float]]:
        """Share of visits and mean score of our legal choices, over all draws."""
        self.thought = {"iterations": 0}
        shares: dict[Choice, float] = {}
        scores: dict[Choice, float] = {}
        wanted = waiting = draws.total()
        settings = self._settings(battle.gen)
        for state, times in draws.items():
            weight = times / wanted
            # Of the time that is left, so that what one search takes too long the next ones have less.
            left = self.ms - (time.perf_counter() - self._began) * 1000
            ms = max(1, round(left * times / waiting))
            waiting -= times
            try:
                iterations = round(self.iterations * weight)
                found = engine_for(battle.gen).search(state, settings, ms, iterations, self.threads)
            except EngineFailed as error:
                self.thought["failed"] = str(error)
                continue
            self.thought["iterations"] += found.iterations
            self._add(found, weight, shares, scores)
        values = {choice: scores[choice] / share for choice, share in shares.items() if share}
        total = sum(shares.values())
        return {choice: share / total for choice, share in shares.items() if total}, values

    def _add(self, found: Found, weight: float, shares: dict[Choice, float], scores: dict[Choice, float]) -> None:
        """Adds one search. Of several names of one choice ("Fight": any move) the most visited stands for it."""
        ours: dict[Choice, Option] = {}
        for name, option in found.one.items():
            choice = self._choices.get(name)
            if choice is not None and (choice not in ours or ours[choice].visits < option.visits):
                ours[choice] = option
        visits = sum(option.visits for option in ours.values())
        for choice, option in ours.items():
            share = weight * option.visits / visits if visits else 0.0
            shares[choice] = shares.get(choice, 0.0) + share
            scores[choice] = scores.get(choice, 0.0) + share * option.value
