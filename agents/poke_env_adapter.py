"""Any `poke_env.Player` as an agent: uses its `choose_move` and `teampreview`, without its server, queues or listeners."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Coroutine, Generator
from types import CoroutineType
from typing import Any

from poke_env.player.player import Player
from poke_env.ps_client.account_configuration import AccountConfiguration

from agents.battle import SeatBattle
from agents.contract import Agent

# Creating a Player takes milliseconds (locks and queues in poke-env's loop). poke-env's own players have no state per
# battle, so one instance is shared by all battles of a process; other players may have, so each battle gets its own.
_SHARED: dict[tuple[type[Player], str, str], Player] = {}
# One name for all: poke-env creates a logger for each name, and loggers are never freed.
_ACCOUNT = AccountConfiguration("arena", None)


class PokeEnvAgent(Agent):
    """Plays as a `poke_env.Player`. Created by the registry for any Player class (`poke-env:RandomPlayer`).

    Randomness: poke-env's players use Python's global `random`, which is seeded from the seat's generator before each
    decision, so their battles are repeatable. If `choose_move` is a coroutine, the state of `random` is saved and restored
    around each of its steps, so that other battles do not affect it; this does not cover tasks that it starts.
    """

    def __init__(self, player: type[Player], options: dict[str, Any]) -> None:
        self._class = player
        self._options = options

    def start(self, battle: SeatBattle) -> None:
        if not self._class.__module__.startswith("poke_env."):
            self._player = self._new_player(battle.format_id)
            return
        key = (self._class, repr(sorted(self._options.items())), battle.format_id)
        if key not in _SHARED:
            _SHARED[key] = self._new_player(battle.format_id)
        self._player = _SHARED[key]

    def _new_player(self, format_id: str) -> Player:
        return self._class(
            account_configuration=_ACCOUNT, battle_format=format_id, start_listening=False, **self._options
        )

    def team_preview(self, battle: SeatBattle) -> Any:
        random.seed(self.rng.getrandbits(64))
        return _with_own_random_state(self._player.teampreview(battle))

    def act(self, battle: SeatBattle) -> Any:
        random.seed(self.rng.getrandbits(64))
        return _with_own_random_state(self._player.choose_move(battle))


def _with_own_random_state(answer: Any) -> Any:
    return _OwnRandomState(answer) if inspect.iscoroutine(answer) else answer


class _OwnRandomState(Coroutine[Any, Any, Any]):
    """A coroutine whose steps run with their own state of Python's global `random`."""

    def __init__(self, coroutine: CoroutineType[Any, Any, Any]) -> None:
        self._coroutine = coroutine
        self._state = random.getstate()

    def _step(self, function: Callable[..., Any], *arguments: Any) -> Any:
        outside = random.getstate()
        random.setstate(self._state)
        try:
            return function(*arguments)
        finally:
            self._state = random.getstate()
            random.setstate(outside)

    def send(self, value: Any) -> Any:
        return self._step(self._coroutine.send, value)

    def throw(self, *error: Any) -> Any:
        return self._step(self._coroutine.throw, *error)

    def close(self) -> None:
        self._step(self._coroutine.close)

    def __await__(self) -> Generator[Any, Any, Any]:
        return self  # type: ignore[return-value]  # with send, throw and close it is a generator

    def __next__(self) -> Any:
        return self.send(None)

    @property
    def cr_frame(self) -> Any:
        """None once it has ended, as for any coroutine."""
        return self._coroutine.cr_frame


def is_player(agent_class: Any) -> bool:
    """Return whether an object is a concrete `poke_env.Player` class."""
    return inspect.isclass(agent_class) and issubclass(agent_class, Player) and not inspect.isabstract(agent_class)
