"""The interface of an agent: its methods and the answers that it may give."""

from __future__ import annotations

import random
from collections.abc import Awaitable
from typing import Any, ClassVar

from poke_env.battle.move import Move
from poke_env.battle.pokemon import Pokemon
from poke_env.player.battle_order import BattleOrder

from agents.battle import SeatBattle
from agents.choices import Choice

#: What `act` may return: a legal `Choice`, poke-env's order, move or Pokémon, or Showdown's own words.
Answer = Choice | BattleOrder | Move | Pokemon | str


class Agent:
    """A player. Subclass it and implement `act`; one instance plays one seat of one battle, so it may keep state in `self`.

    Constructor arguments with defaults become options of the spec: `def __init__(self, risk: float = 0.2)` is
    `mymodule:MyAgent?risk=0.5`. Anything raised, an answer too late or three illegal ones in a row lose the battle,
    and the reason is stored; an agent cannot end the tournament.
    """

    #: The spec that made it; set by the registry.
    name: str = ""
    #: False for one whose answers depend on more than the battle and `rng` (a search limited by time, say).
    repeatable: ClassVar[bool] = True
    #: False for one that looks at `battle.legal` and nothing else: its seat then spares the cost of the state.
    reads_battle: ClassVar[bool] = True
    #: True for a program of its own that plays over a websocket (agents/external): it is never asked here.
    outside: ClassVar[bool] = False
    #: The seat's generator, seeded by the fixture; set before `start`.
    rng: random.Random
    #: Diagnostics of its last decision, JSON-able; stored with the decision, then cleared. Some names have a meaning for
    #: training: `win_probability`, from 0 to 1; `visits` or `probabilities`, by choice (docs/agents.md).
    thought: dict[str, Any] | None = None

    @classmethod
    def repeats(cls, **options: Any) -> bool:
        """Returns whether it is repeatable with these options; `repeatable` unless a subclass overrides this."""
        return cls.repeatable

    @classmethod
    def version(cls, **options: Any) -> str:
        """What decides how it plays besides its code and its options (another program's contents), as a short text."""
        return ""

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        """Returns what it lacks to play a format (None: any format) and the fix, in one line; empty if nothing.

        Called before a run starts, so that an agent without its program or file is refused instead of losing every battle.
        """
        return ""

    def start(self, battle: SeatBattle) -> None:
        """Called once before the first decision."""

    def team_preview(self, battle: SeatBattle) -> Answer | Awaitable[Answer | None] | None:
        """The order of the team where the format shows it ("team 312456"), or None for the team's own order."""
        return None

    def act(self, battle: SeatBattle) -> Answer | Awaitable[Answer]:
        """The choice for this request. May be a coroutine. `battle.legal` lists what is allowed."""
        raise NotImplementedError(f"{type(self).__name__}.act")

    def finish(self, battle: SeatBattle) -> None:
        """Called once after the battle, however it ended."""
