"""`search:omniscient`: the exact search with both teams in view, as an opponent in training on the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from agents.batched import EngineAgent
from agents.search.exact.agent import compiled, lacks
from agents.search.exact.weights import digest_of, files_of, read
from teamsets.errors import BadInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from agents.engine.gen1.engine import Engine


class OmniscientSearch(EngineAgent):
    """The tree search of `search:exact` from the true position: it knows both teams, and not the battle's random numbers.

    A sparring partner for online training on the engine, in `league.members` and as an environment's opponent. It needs no
    samples of the opponent's team, so that few iterations play well; an iteration takes about 6 microseconds. With the same
    seed it plays the same. It cannot be evaluated.

    Options: iterations, per decision, 300; temperature, 0 (the most visited choice) or 1/T, the power of the visits by which
    choices are sampled; weights, as for `search:exact`, "network".
    """

    def __init__(self, iterations: int = 300, temperature: float = 0.0, weights: str = "network") -> None:
        if iterations < 1:
            raise BadInput(f"search:omniscient: iterations={iterations}: must be 1 or more")
        if temperature < 0:
            raise BadInput(f"search:omniscient: temperature={temperature}: must be 0 or more")
        files_of(weights)
        if reason := lacks(1):
            raise BadInput(f"search:omniscient: {reason}")
        self.iterations, self.temperature = iterations, temperature
        self._weights = read(weights)
        compiled(1)

    @classmethod
    def version(cls, **options: Any) -> str:
        """Return a digest of the weights."""
        return digest_of(options.get("weights", "network"))

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        return lacks(1) or super().missing(format_id, **options)

    @classmethod
    def act_on(
        cls, agents: Sequence[Self], engine: Engine, rows: NDArray[np.int64], seats: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        import numpy as np

        from agents.search.exact.positions import engine_actions

        chosen = (
            agent._choose(engine.words[row], seat, translated)
            for agent, row, seat, translated in zip(
                agents, rows.tolist(), seats.tolist(), engine_actions(engine, rows, seats), strict=True
            )
        )
        return np.fromiter(chosen, np.int64, len(rows))

    def _choose(self, position: NDArray[np.int32], seat: int, translated: NDArray[np.int32]) -> int:
        """The network's action at a position [WORDS]. translated [9]: the engine's action of each of them; -1: not legal."""
        from agents.search.exact.positions import grow_tree, legal_visits

        if (translated >= 0).sum() == 1:
            return int(translated.argmax())
        tree = grow_tree(position, self.iterations, self._weights, 1 + self.rng.getrandbits(60))
        legal, visits = legal_visits(tree, seat, translated)
        if self.temperature == 0:
            return legal[int(visits.argmax())]
        odds = (visits / visits.max()) ** (1 / self.temperature)
        return self.rng.choices(legal, odds.tolist())[0]
