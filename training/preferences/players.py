"""Who plays a forked battle on: a network with the memory of the battle so far, or an agent.

A network's memory is that of the whole battle. An agent that keeps notes of its own begins without them at the fork.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from agents import resolve
from agents.batched import BatchedAgent, EngineAgent
from arena.fixture import Fixture
from teamsets.errors import BadInput
from training.envs.fixtures import EnvBattle
from training.envs.opponents import RANDOM, Opponents
from training.envs.venue import Battles, Ints, Pair

_NETWORK = "policy:"


class Player(Protocol):
    """Plays both seats of all rows."""

    def begin(self, seed: int, fixture: Fixture) -> None:
        """Forget all battles. seed: of everything that is drawn from now on."""

    def watch(self, battles: Battles, rows: Ints, seats: Ints) -> None:
        """See the decisions of these seats, which are made by others."""

    def fork(self, source: int, rows: Ints, seeds: Sequence[str]) -> list[Pair]:
        """Know the battles in `rows` as the one in `source`. Returns the agents of their seats."""

    def act(self, battles: Battles, rows: Ints, seats: Ints) -> Ints:
        """Return the actions [n] of these seats, all of which are asked."""


def player_of(spec: str, rows: int, format_id: str, *, in_batches: bool) -> Player:
    """Return the player of a spec. in_batches: on arrays of the engine. Raises BadInput for one that cannot play here."""
    if spec.startswith(_NETWORK):
        return _NetworkPlays(spec, rows, format_id)
    return _AgentPlays(spec, rows, format_id, in_batches=in_batches)


def acts_in_batches(spec: str) -> bool:
    """Return whether a player can act on arrays of an engine. Raises BadInput."""
    return spec.startswith(_NETWORK) or spec == RANDOM or resolve(spec).batched


class _NetworkPlays:
    """A network, sampled at its `temperature`. It sees each decision, those that others make included."""

    def __init__(self, spec: str, rows: int, format_id: str) -> None:
        source = resolve(spec)
        lacks = source.missing(format_id)
        if lacks:
            raise BadInput(f"--play-on {spec}: {lacks}")
        from agents.policy import checkpoint

        folder = checkpoint.find(spec.removeprefix(_NETWORK).partition("?")[0])
        self._network, _ = checkpoint.load(folder)
        self._temperature = float({**source.options, **source.given}["temperature"])
        self._rows = rows

    def begin(self, seed: int, fixture: Fixture) -> None:
        import torch

        from training.envs.network_players import NetworkPlayer, SamplingSettings
        from training.envs.network_steps import EagerSteps

        generator = torch.Generator().manual_seed(seed % 2**63)
        self._player: Any = NetworkPlayer(
            EagerSteps(self._network, 2 * self._rows),
            2 * self._rows,
            SamplingSettings(self._temperature, 0.0),
            generator,
        )

    def watch(self, battles: Battles, rows: Ints, seats: Ints) -> None:
        self.act(battles, rows, seats)

    def fork(self, source: int, rows: Ints, seeds: Sequence[str]) -> list[Pair]:
        for seat in (0, 1):
            self._player.copy(rows * 0 + 2 * source + seat, 2 * rows + seat)
        return [(None, None)] * len(rows)

    def act(self, battles: Battles, rows: Ints, seats: Ints) -> Ints:
        from training.envs.network_steps import SeenTensors

        seen = SeenTensors.of(battles.observe(rows, seats), self._player.device)
        actions: Ints = self._player.decide(2 * rows + seats, seen).actions.numpy()
        return actions


class _AgentPlays:
    """Any agent behind Showdown's messages; on arrays of an engine `random` and those that act in batches."""

    def __init__(self, spec: str, rows: int, format_id: str, *, in_batches: bool) -> None:
        try:
            self._by_seat = [Opponents(spec, rows, format_id, on_engine=in_batches) for _ in (0, 1)]
        except BadInput as error:
            raise BadInput(f"--play-on {spec}: {error}") from None
        if in_batches and spec != RANDOM and not isinstance(resolve(spec).make(), BatchedAgent | EngineAgent):
            raise BadInput(
                f"--play-on {spec}: cannot play on the engine, where {format_id}'s forks are played in batches: take "
                "random, array:... or policy:..., or set --venue showdown"
            )
        (self._name,) = self._by_seat[0].weights

    def begin(self, seed: int, fixture: Fixture) -> None:
        self._fixture = fixture

    def watch(self, battles: Battles, rows: Ints, seats: Ints) -> None:
        pass

    def fork(self, source: int, rows: Ints, seeds: Sequence[str]) -> list[Pair]:
        from dataclasses import replace

        both = (self._name, self._name)
        fixtures = [replace(self._fixture, agents=both, seed=seed) for seed in seeds]
        seated = [
            self._by_seat[seat].sit_down(rows, [EnvBattle(fixture, 1 - seat) for fixture in fixtures])
            for seat in (0, 1)
        ]
        return [(first[0], second[1]) for first, second in zip(*seated, strict=True)]

    def act(self, battles: Battles, rows: Ints, seats: Ints) -> Ints:
        actions = np.full(len(rows), -1, np.int64)
        for seat in (0, 1):
            mine = np.flatnonzero(seats == seat)
            if len(mine):
                actions[mine] = self._by_seat[seat].act(battles, rows[mine], seats[mine])
        return actions
