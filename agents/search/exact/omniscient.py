"""`search:omniscient`: the exact search with both teams in view, as an opponent in training on the engine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

from agents.batched import EngineAgent
from agents.contract import OptionLimits
from agents.search.exact.agent import compiled, lacks, lacks_any
from agents.search.exact.weights import digest_of, files_of
from teamsets.errors import BadInput
from teamsets.formats import get_format

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from agents.search.exact.game import Positions


class OmniscientSearch(EngineAgent):
    """The tree search of `search:exact` from the true position: it knows both teams, and not the battle's random numbers.

    A sparring partner for online training on the engine, in `league.members` and as an environment's opponent. It needs no
    samples of the opponent's team, so that few iterations play well; an iteration takes about 6 microseconds in generation 1
    and 12 in gen9ou. With the same seed it plays the same. It cannot be evaluated.

    Options: iterations, per decision, 300; temperature, 0 (the most visited choice) or 1/T, the power of the visits by which
    choices are sampled; weights, as for `search:exact`, "network" (in generation 9 the fitted weights).
    """

    option_limits: ClassVar[OptionLimits] = {
        "iterations": (1, math.inf),
        "temperature": (0, math.inf),
    }

    def __init__(self, iterations: int = 300, temperature: float = 0.0, weights: str = "network") -> None:
        if problem := self.wrong_option(iterations=iterations, temperature=temperature):
            raise BadInput(f"search:omniscient: {problem}")
        files_of(weights)
        if reason := self.missing():
            raise BadInput(f"search:omniscient: {reason}")
        self.iterations, self.temperature, self._weights = iterations, temperature, weights

    @classmethod
    def version(cls, **options: Any) -> str:
        """Return a digest of the weights."""
        return digest_of(options.get("weights", "network"))

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        lacking = lacks_any() if format_id is None else lacks(get_format(format_id).gen)
        return lacking or super().missing(format_id, **options)

    @classmethod
    def act_on(
        cls, agents: Sequence[Self], engine: Any, rows: NDArray[np.int64], seats: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        import numpy as np

        positions = {weights: _positions(engine.gen, weights) for weights in {agent._weights for agent in agents}}
        translated = next(iter(positions.values())).engine_actions(engine, rows, seats)
        chosen = (
            agent._choose(positions[agent._weights], engine, row, seat, actions)
            for agent, row, seat, actions in zip(agents, rows.tolist(), seats.tolist(), translated, strict=True)
        )
        return np.fromiter(chosen, np.int64, len(rows))

    def _choose(self, positions: Positions, engine: Any, row: int, seat: int, translated: NDArray[np.int32]) -> int:
        """The network's action in a row. translated [actions]: the engine's action of each of them, or ILLEGAL, UNKNOWN."""
        import numpy as np

        legal = np.flatnonzero(translated >= 0)
        if len(legal) == 1:
            return int(legal[0])
        (tree,) = positions.trees(engine, row, seat, self.iterations, 1 + self.rng.getrandbits(60), 0, None)
        visits = tree.edges(seat)[0][translated[legal]]
        if self.temperature == 0:
            return int(legal[visits.argmax()])
        odds = (visits / visits.max()) ** (1 / self.temperature)
        return int(self.rng.choices(legal.tolist(), odds.tolist())[0])


@cache
def _positions(gen: int, weights: str) -> Positions:
    """A generation's positions, true ones; its search is compiled or loaded."""
    from agents.search.exact.teacher import positions_of

    compiled(gen)
    return positions_of(gen, weights)
