"""A run whose Ray cluster is gone ends with a line."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import support.ray_cluster  # noqa: F401 - sets what Ray reads when it is imported

pytest.importorskip("ray")

from arena.workers.cluster import ray_pool
from arena.workers.coordinator import WorkersFailed


@pytest.mark.parametrize("error", [ValueError("Cannot invoke RPC on closed channel!"), ConnectionError("gone")])
def test_whatever_ray_raises_then_ends_the_run(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def nodes() -> Any:
        raise error

    monkeypatch.setattr(ray_pool.ray, "nodes", nodes)
    told: list[Exception | None] = []

    async def watched() -> None:
        settings: Any = None
        payload: Any = None
        pool = ray_pool.RayPool(settings, None, payload, {}, ())
        await pool.open(lambda *_: None, lambda *_: None, told.append)
        await pool._watching
        await pool.close()

    asyncio.run(watched())
    (failure,) = told
    assert isinstance(failure, WorkersFailed)
    kept = "finished battles are kept; continue the run on this machine or on a cluster (docs/scale.md)"
    assert str(failure) == f"the Ray cluster does not answer: {type(error).__name__}: {error}: {kept}"
