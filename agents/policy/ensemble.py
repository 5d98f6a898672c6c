"""`ensemble:A,B,…`: several networks as one player."""

from __future__ import annotations

import asyncio
import functools
import hashlib
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from agents.battle import SeatBattle
from agents.observation.observation import Observations
from agents.policy.player import NetworkAgent, policy, softmax
from teamsets.errors import BadInput

#: Networks of an ensemble at most: each has an inference server of its own.
_MOST = 16


class Ensemble(NetworkAgent):
    """Several networks as one player: the mean of their probabilities, each at temperature 1.

    A, B, …: two or more as after `policy:` (`ensemble:gen1ou,runs/other@best`). The same one twice counts twice. Their
    errors differ, and the mean has less of them (Dietterich 2000); a decision costs as much as all of them together. In
    singles it chooses its lead if all of them do; otherwise it plays the team's own order.

    Diagnostics of each decision: `win_probability`, the mean of theirs; `probabilities`, of each legal choice; or
    `no_action` if no legal choice is in the action space.

    Options: temperature, 0 (the most probable action) or 1/T, the power of the mean probabilities by which actions are
    sampled; device, as of `policy:`.
    """

    paths: ClassVar[tuple[str, ...]] = ()

    def __init__(self, temperature: float = 0.0, device: str = "auto") -> None:
        super().__init__(temperature, device)
        self._members = [policy(path)(device=device) for path in self.paths]
        self.decides_previews = all(member.decides_previews for member in self._members)

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
    async def answers(cls, agents: Sequence[Self], observations: Observations) -> NDArray[np.float64]:
        """Ask every network for all decisions at once; the logarithms of the mean probabilities, and the mean value."""
        of_networks = await asyncio.gather(
            *(
                policy(path).answers([agent._members[place] for agent in agents], observations)
                for place, path in enumerate(cls.paths)
            )
        )
        answers = np.stack(of_networks).astype(np.float64)  # [networks, n, 14]
        mean = answers.mean(0)
        for row, legal in enumerate(observations.legal):
            probabilities = np.mean([softmax(logits) for logits in answers[:, row, :-1][:, legal]], axis=0)
            mean[row, :-1][legal] = np.log(np.maximum(probabilities, np.finfo(np.float64).tiny))
        return mean

    def finish(self, battle: SeatBattle) -> None:
        for member in self._members:
            member.finish(battle)


@functools.cache
def ensemble(names: str) -> type[Ensemble]:
    """Return the agent class of networks, their names separated by commas. Raises BadInput."""
    paths = tuple(name.strip() for name in names.split(","))
    if not 2 <= len(paths) <= _MOST or not all(paths):
        raise BadInput(f"ensemble:{names}: name 2 to {_MOST} networks, as after policy:, separated by commas")
    return type(
        "Ensemble",
        (Ensemble,),
        {"__doc__": Ensemble.__doc__, "__module__": __name__, "paths": paths, "spec": f"ensemble:{names}"},
    )


#: Name -> agent class, for the registry.
ENSEMBLES: dict[str, Any] = {"*": ensemble}
