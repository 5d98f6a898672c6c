"""`ensemble:A,B,…`: several networks as one player."""

from __future__ import annotations

import asyncio
import functools
import hashlib
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from agents.batched import BatchedAgent
from agents.battle import SeatBattle
from agents.observation.observation import Observations
from agents.policy.player import policy, softmax
from teamsets.errors import BadInput

#: Networks of an ensemble at most: each has an inference server of its own.
_MOST = 16


class Ensemble(BatchedAgent):
    """Several networks as one player: the mean of their probabilities, each at temperature 1.

    A, B, …: two or more as after `policy:` (`ensemble:gen1ou,runs/other@best`). The same one twice counts twice. Their
    errors differ, and the mean has less of them (Dietterich 2000); a decision costs as much as all of them together.

    Diagnostics of each decision: `win_probability`, the mean of theirs; `probabilities`, of each legal choice; or
    `no_action` if no legal choice is in the action space.

    Options: temperature, 0 (the most probable action) or 1/T, the power of the mean probabilities by which actions are
    sampled; device, as of `policy:`.
    """

    paths: ClassVar[tuple[str, ...]] = ()

    def __init__(self, temperature: float = 0.0, device: str = "auto") -> None:
        if not 0 <= temperature < float("inf"):
            raise BadInput(
                f"ensemble:{','.join(self.paths)}: temperature={temperature}: must be 0 (most probable action) or more"
            )
        self.temperature = temperature
        self._members = [policy(path)(device=device) for path in self.paths]

    @classmethod
    def repeats(cls, **options: Any) -> bool:
        """Return whether the networks run on a CPU."""
        return all(policy(path).repeats(**options) for path in cls.paths)

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        """Return what is missing: torch, or a usable checkpoint."""
        return next(filter(None, (policy(path).missing(format_id) for path in cls.paths)), "")

    @classmethod
    def version(cls, **options: Any) -> str:
        """Return a hash of the networks' versions, in their order."""
        versions = [policy(path).version() for path in cls.paths]
        return hashlib.sha256("\n".join(versions).encode()).hexdigest()[:16] if all(versions) else ""

    @classmethod
    async def act_many(cls, agents: Sequence[Self], observations: Observations) -> NDArray[np.int64]:
        """Ask every network for all decisions at once. `probabilities` in the diagnostics are by action."""
        asked = (
            policy(path).answers([agent._members[place] for agent in agents], observations)
            for place, path in enumerate(cls.paths)
        )
        answers = np.stack(await asyncio.gather(*asked), axis=1)  # [n, networks, 14]
        decided = zip(agents, answers, observations.legal, strict=True)
        return np.array([agent._decide(answer, np.flatnonzero(legal)) for agent, answer, legal in decided], np.int64)

    def _decide(self, answers: NDArray[np.float32], legal: NDArray[np.int64]) -> int:
        """Return the action, and set the diagnostics. answers: [networks, 14]. legal: legal actions, ascending."""
        probabilities = np.mean([softmax(answer[legal].astype(np.float64)) for answer in answers], axis=0)
        actions = legal.tolist()
        self.diagnostics = {
            "win_probability": round(float(answers[:, -1].mean()), 4),
            "probabilities": {action: round(p, 4) for action, p in zip(actions, probabilities.tolist(), strict=True)},
        }
        if self.temperature == 0:
            return int(actions[int(probabilities.argmax())])
        odds = (probabilities / probabilities.max()) ** (1 / self.temperature)
        return int(self.rng.choices(actions, odds.tolist())[0])

    def finish(self, battle: SeatBattle) -> None:
        for member in self._members:
            member.finish(battle)


@functools.cache
def ensemble(names: str) -> type[Ensemble]:
    """Return the agent class of networks, their names separated by commas. Raises BadInput."""
    paths = tuple(name.strip() for name in names.split(","))
    if not 2 <= len(paths) <= _MOST or not all(paths):
        raise BadInput(f"ensemble:{names}: name 2 to {_MOST} networks, as after policy:, separated by commas")
    return type("Ensemble", (Ensemble,), {"__doc__": Ensemble.__doc__, "__module__": __name__, "paths": paths})


#: Name -> agent class, for the registry.
ENSEMBLES: dict[str, Any] = {"*": ensemble}
