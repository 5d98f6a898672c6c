"""What the workers of a run receive before their first battle."""

from __future__ import annotations

from dataclasses import dataclass

from arena.options import VenueName
from arena.venue import Rules


@dataclass(frozen=True)
class WorkerSettings:
    """The settings of a run's workers.

    stock: use unmodified Showdown code. venue: where battles are played that say nothing else. isolate: run each agent in
    its own process. verify_every: one battle on the engine in so many is replayed on Showdown (0: none).
    """

    run: str
    rules: Rules
    stock: bool = False
    venue: VenueName = "simulator"
    isolate: bool = False
    verify_every: int = 0
