"""Agents that play legally and harm what is around their steps: the worker, its pipes, the machine, their own records."""

from __future__ import annotations

from typing import Any

from agents import Agent


class Plays(Agent):
    """Plays uniformly at random; the subclasses do their harm in `harm`, at each decision."""

    def act(self, battle: Any) -> Any:
        self.harm(battle)
        return self.rng.choice(battle.legal)

    def harm(self, battle: Any) -> None:
        """What it does besides."""


class _Unreadable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


class _Endless:
    def __repr__(self) -> str:
        while True:
            pass


class ThinksDeep(Plays):
    """Diagnostics of 100,000 levels."""

    def harm(self, battle: Any) -> None:
        nested: list[Any] = []
        for _ in range(100_000):
            nested = [nested]
        self.thought = {"nested": nested}


class ThinksUnreadably(Plays):
    """Diagnostics whose `repr` raises."""

    def harm(self, battle: Any) -> None:
        self.thought = {"one": _Unreadable()}


class ThinksEndlessly(Plays):
    """Diagnostics whose `repr` never returns."""

    def harm(self, battle: Any) -> None:
        self.thought = {"one": _Endless()}


class ThinksALot(Plays):
    """Diagnostics of 60 MB."""

    def harm(self, battle: Any) -> None:
        self.thought = {"text": "x" * 60_000_000}


class ThinksABomb(Plays):
    """Diagnostics that are small in memory and would be 10^15 numbers as JSON."""

    def harm(self, battle: Any) -> None:
        bomb: list[Any] = [1] * 1000
        for _ in range(4):
            bomb = [bomb] * 1000
        self.thought = {"bomb": bomb}


class ThinksOften(Plays):
    """Diagnostics that are just small enough, at every decision."""

    def harm(self, battle: Any) -> None:
        self.thought = {"text": "x" * 60_000}


class ThinksOddKeys(Plays):
    """Diagnostics with keys and numbers that JSON does not have."""

    def harm(self, battle: Any) -> None:
        self.thought = {float("nan"): float("inf"), None: 1 << 70, ("a", 1): b"bytes", 3: "\udcff\0"}


class ThinksThroughAProperty(Plays):
    """Diagnostics that raise when they are looked at."""

    @property
    def thought(self) -> Any:
        raise RuntimeError("not telling")

    @thought.setter
    def thought(self, value: Any) -> None:
        raise RuntimeError("not listening")
