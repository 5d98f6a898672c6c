"""Battles on the generation-1 engine (agents/engine): thousands of rows, advanced together."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.engine.checks import seed_words
from agents.observation.actions import ACTIONS
from agents.observation.observation import Observations
from arena.fixture import Fixture
from teamsets.errors import BadInput, MissingTool
from training.envs.venue import ALONE, Ints, Pair, check_engine_format, not_legal

try:
    import numba

    from agents.engine.gen1.engine import Engine
    from agents.engine.gen1.layout import ACTIONS as ENGINE_ACTIONS
    from agents.engine.gen1.layout import REQUEST, SEED, SIDE_WORDS, SIDES, TURN, UNDECIDED, WAITING, WINNER
    from agents.observation.engine_observation import compile_engine, observe_rows
except ModuleNotFoundError as error:
    raise MissingTool(
        f"{error.name} is not installed: the engine needs it: `make training` (or pip install 'battle-arena[envs]')"
    ) from None

#: Battles, and observations, for which another core is worth the wait for it.
_PER_CORE, _SEEN_PER_CORE = 512, 64
_REQUESTS = [SIDES + seat * SIDE_WORDS + REQUEST for seat in (0, 1)]


class EngineBattles:
    """See `Battles` (venue.py). engine: the engine itself; its rows are the battles.

    cores: how many the engine uses at most; None: all. A busy core delays every call: fewer are faster on a shared machine.
    """

    def __init__(self, size: int, format_id: str, cores: int | None = None) -> None:
        check_engine_format(format_id)
        settings: Any = numba.config
        most: int = settings.NUMBA_NUM_THREADS
        if cores is not None and not 1 <= cores <= most:
            raise BadInput(f"cores={cores}: must be from 1 to {most}, the number that there are")
        compile_engine(lambda line: print(line, file=sys.stderr, flush=True))
        self.engine, self._cores = Engine(size, format_id), cores or most

    @property
    def winners(self) -> NDArray[np.int32]:
        return self.engine.words[:, WINNER]

    @property
    def turns(self) -> NDArray[np.int32]:
        return self.engine.words[:, TURN]

    def begin(
        self, rows: Ints, fixtures: Sequence[Fixture], agents: Sequence[Pair], leads: NDArray[np.bool_] | None = None
    ) -> None:
        # Generation 1 has no team preview.
        teams = [(first.packed or "", second.packed or "") for first, second in (one.teams for one in fixtures)]
        with self._limited(len(rows)):
            self.engine.reset(teams, [fixture.seed for fixture in fixtures], rows.tolist())

    def clear(self, rows: Ints) -> None:
        """Leaves these rows without a battle: nobody has a decision to make there."""
        self.engine.words[rows] = 0
        self.engine.words[rows[:, None], _REQUESTS] = WAITING

    def needs_decision(self, rows: Ints) -> NDArray[np.bool_]:
        state = self.engine.words
        waits = state[rows[:, None], _REQUESTS] == WAITING
        deciding: NDArray[np.bool_] = ~waits & (state[rows, WINNER] == UNDECIDED)[:, None]
        return deciding

    def masks(self, rows: Ints, seats: Ints) -> NDArray[np.bool_]:
        # Cheaper than observations: an agent that draws an action evenly needs no more than this.
        masks = np.zeros((len(rows), ACTIONS), np.bool_)
        each = np.tile(np.arange(ENGINE_ACTIONS, dtype=np.int64), len(rows))
        repeated = np.repeat(rows, ENGINE_ACTIONS), np.repeat(seats, ENGINE_ACTIONS)
        with self._limited(len(rows)):
            translated = self.engine.translate(*repeated, each)
        masks[:, :ENGINE_ACTIONS] = translated.reshape(len(rows), ENGINE_ACTIONS) >= 0
        return masks

    def observe(self, rows: Ints, seats: Ints, out: Observations | None = None) -> Observations:
        with self._limited(len(rows), _SEEN_PER_CORE):
            return observe_rows(self.engine, rows, seats, out)

    def answers(self, rows: Ints, seats: Ints) -> Ints:
        raise BadInput(ALONE)

    def play(self, rows: Ints, actions: Ints) -> None:
        with self._limited(len(rows)):
            chosen, seats = np.nonzero(actions >= 0)
            choices = np.zeros(actions.shape, np.int32)
            choices[chosen, seats] = self.engine.translate(rows[chosen], seats, actions[chosen, seats])
            illegal = np.argwhere(choices < 0)
            if len(illegal):
                place, seat = illegal[0]
                raise not_legal(rows[place], seat, actions[place, seat])
            self.engine.step(choices, rows)

    def copy(self, sources: Ints, targets: Ints, seeds: Sequence[str], agents: Sequence[Pair] | None = None) -> None:
        self.engine.words[targets] = self.engine.words[sources]
        self.engine.words[targets, SEED : SEED + 4] = [seed_words(seed) for seed in seeds]

    def close(self) -> None:
        pass

    @contextlib.contextmanager
    def _limited(self, battles: int, per_core: int = _PER_CORE) -> Iterator[None]:
        """Few battles are stepped on one core: to wake the others takes longer."""
        before = numba.get_num_threads()
        numba.set_num_threads(min(self._cores, 1 + battles // per_core))
        try:
            yield
        finally:
            numba.set_num_threads(before)
