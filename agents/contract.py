"""The contract of an agent: what it is asked, and what it may answer."""

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
    """A player. Subclass it and give it `act`; one instance plays one seat of one battle, so `self` may remember.

    Constructor arguments with defaults become options of the spec: `def __init__(self, risk: float = 0.2)` is
    `mymodule:MyAgent?risk=0.5`. Anything raised, an answer too late or three illegal ones in a row lose the battle,
    with the reason kept; nothing that an agent does ends the tournament.
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
    #: What it thought at its last decision, JSON-able; kept with the decision, then cleared. Some names have a meaning for
    #: training: `win_probability`, a chance to win from 0 to 1; `visits` or `probabilities`, by choice (docs/agents.md).
    thought: dict[str, Any] | None = None

    @classmethod
    def repeats(cls, **options: Any) -> bool:
        """Whether it is repeatable with these options; as `repeatable` says, unless a subclass knows better."""
        return cls.repeatable

    @classmethod
    def version(cls, **options: Any) -> str:
        """What decides how it plays besides its code and its options (another program's contents), as a short text."""
        return ""

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        """What it lacks to play a format (None: any at all) and the mend, in one line; empty when nothing.

        Asked before a run begins, so that an agent that needs a program or a file does not lose every battle instead.
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
        """Called once after the battle, whatever its end."""
