"""The interface of an agent: its methods and the answers that it may give."""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Mapping
from typing import Any, ClassVar

from poke_env.battle.move import Move
from poke_env.battle.pokemon import Pokemon
from poke_env.player.battle_order import BattleOrder

from agents.battle import SeatBattle
from agents.battle.choices import Choice

#: What `act` may return: a legal `Choice`, poke-env's order, move or Pokémon, or a choice as text; in doubles also a pair of
#: them, one for each slot.
Answer = Choice | BattleOrder | Move | Pokemon | str | tuple["Answer", "Answer"]

#: Option -> the least and the largest number that it may be.
OptionLimits = Mapping[str, tuple[float, float]]


class Agent:
    """A player. Subclass it and implement `act`; one instance plays one seat of one battle, so it may keep state in `self`.

    Constructor arguments with defaults become options of the spec: `def __init__(self, risk: float = 0.2)` is
    `mymodule:MyAgent?risk=0.5`. Anything raised, an answer too late or three illegal ones in a row lose the battle,
    and the reason is stored; an agent cannot end the tournament.
    """

    #: Its spec; set by the registry.
    name: str = ""
    #: False if its answers depend on more than the battle and `rng`, as those of a search limited by time.
    repeatable: ClassVar[bool] = True
    #: False if it uses only `battle.legal`: then the state of the battle is not updated, which saves time.
    reads_battle: ClassVar[bool] = True
    #: False if it plays singles only. In doubles `act` receives a SeatDoubleBattle, whose `legal` lists joint choices.
    plays_doubles: ClassVar[bool] = True
    #: True for an external program that plays over a websocket (agents/external): `act` is never called.
    is_external: ClassVar[bool] = False
    #: What `wrong_option` checks; a limit that is infinite: none, but the value must be finite.
    option_limits: ClassVar[OptionLimits] = {}
    #: The seat's generator, seeded by the fixture; set before `start`.
    rng: random.Random
    #: Diagnostics of its last decision, JSON-serializable; stored with the decision, then cleared. Some names are used by
    #: `train`: `win_probability`, from 0 to 1; `visits` or `probabilities`, by choice (docs/agents.md).
    diagnostics: dict[str, Any] | None = None

    @property
    def thought(self) -> dict[str, Any] | None:
        """Former name of `diagnostics`."""
        return self.diagnostics

    @thought.setter
    def thought(self, diagnostics: dict[str, Any] | None) -> None:
        self.diagnostics = diagnostics

    @classmethod
    def repeats(cls, **options: Any) -> bool:
        """Returns whether it is repeatable with these options; `repeatable` unless a subclass overrides this."""
        return cls.repeatable

    @classmethod
    def version(cls, **options: Any) -> str:
        """Return what else determines its play besides code and options (a program's content), as a short text."""
        return ""

    @classmethod
    def uses(cls, **options: Any) -> tuple[str, ...]:
        """Return further modules whose code determines its play with these options, besides those that its own import."""
        return ()

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        """Returns what it lacks to play a format (None: any format) and the fix, in one line; empty if nothing.

        Called before a run starts, so that an agent without its program or file is refused instead of losing every battle.
        """
        return ""

    @classmethod
    def wrong_option(cls, **options: Any) -> str:
        """Returns which option has a value that it cannot have, and what it must be, in one line; empty if none.

        options: those that the spec gives. Checks `option_limits`; a subclass may check more. Called with `missing`, so that
        an agent that cannot be created with its options is refused instead of losing every battle.
        """
        for name, (least, most) in cls.option_limits.items():
            value = options.get(name)
            if value is None or (least <= value <= most and math.isfinite(value)):
                continue
            if math.isfinite(most):
                return f"{name}={value}: must be from {least:g} to {most:g}"
            return f"{name}={value}: must be " + (f"{least:g} or more" if math.isfinite(least) else "a finite number")
        return ""

    def prepare(self, format_id: str) -> None:
        """Load or compile what it needs for a format. Called once before the battle; no decision's time counts this."""

    def start(self, battle: SeatBattle) -> None:
        """Called once before the first decision."""

    def team_preview(self, battle: SeatBattle) -> Answer | Awaitable[Answer | None] | None:
        """Return the order of the team in formats with team preview ("team 312456"), or None for the team's own order."""
        return None

    def act(self, battle: SeatBattle) -> Answer | Awaitable[Answer]:
        """Return the choice for this request. May be a coroutine. `battle.legal` lists the legal choices."""
        raise NotImplementedError(f"{type(self).__name__}.act")

    def finish(self, battle: SeatBattle) -> None:
        """Called once after the battle, however it ended."""


class SinglesAgent(Agent):
    """An agent that plays singles only: a run in a format of doubles refuses it."""

    plays_doubles = False
