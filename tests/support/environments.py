"""Random play in environments, and opponents for them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from agents.batched import BatchedAgent
from agents.observation.observation import Observations
from training.envs.seeding import draw_actions, next_random


class Chooser:
    """Draws actions from masks [n, 13]; equal seeds draw the same."""

    def __init__(self, seed: int, size: int) -> None:
        self.states = np.arange(size, dtype=np.uint64) + np.uint64(seed)

    def __call__(self, masks: NDArray[Any]) -> NDArray[np.int64]:
        return draw_actions(masks.astype(np.bool_), next_random(self.states))


def drawn_actions(legal: NDArray[np.bool_], rng: np.random.Generator, switches: float) -> NDArray[np.int64]:
    """An action of each mask [n, 13], of which switches count so much."""
    weights = np.where((np.arange(13) >= 4) & (np.arange(13) < 9), switches, 1.0)
    return (legal * rng.random(legal.shape) * weights).argmax(axis=1)


class First(BatchedAgent):
    """The first legal action. calls: the number of decisions in each call of all instances."""

    calls: list[int] = []  # noqa: RUF012  (shared on purpose)

    @classmethod
    def act_many(cls, agents: Sequence[Self], observations: Observations) -> NDArray[np.int64]:
        cls.calls.append(len(agents))
        return observations.legal.argmax(axis=1)


class Last(BatchedAgent):
    """The last legal action, from a coroutine."""

    @classmethod
    async def act_many(cls, agents: Sequence[Self], observations: Observations) -> NDArray[np.int64]:
        await asyncio.sleep(0)
        return 12 - observations.legal[:, ::-1].argmax(axis=1)


class Illegal(BatchedAgent):
    """An action that is never legal in generation 1."""

    @classmethod
    def act_many(cls, agents: Sequence[Self], observations: Observations) -> NDArray[np.int64]:
        return np.full(len(agents), 12)


def same_arrays(one: dict[str, NDArray[Any]], other: dict[str, NDArray[Any]]) -> bool:
    """Whether two observations are equal: words and masks exactly, numbers to 1e-6."""
    return (
        np.array_equal(one["token_ids"], other["token_ids"])
        and np.array_equal(one["action_mask"], other["action_mask"])
        and np.allclose(one["features"], other["features"], rtol=0, atol=1e-6)
    )


def played(env: Any, steps: int, seed: int) -> list[tuple[Any, ...]]:
    """Steps a vector environment at random; what each call returned, the reset first."""
    choose = Chooser(seed, env.num_envs)
    observations, infos = env.reset(seed=seed)
    found: list[tuple[Any, ...]] = [(observations, infos)]
    for _ in range(steps):
        found.append(env.step(choose(found[-1][0]["action_mask"])))
    return found
