"""Agents as users write them: ten lines, any kind of answer, or a Player of poke-env."""

from __future__ import annotations

import asyncio
from typing import Any

from poke_env.player import Player

from agents import Agent


class MoveOrPokemon(Agent):
    """Answers with poke-env's own objects."""

    def act(self, battle: Any) -> Any:
        options = [*battle.available_moves, *battle.available_switches]
        return self.rng.choice(options) if options else battle.legal[0]


class Words(Agent):
    """Answers with words, the strongest move first."""

    def __init__(self, bold: bool = True, depth: int = 1, risk: float = 0.5, style: str = "plain") -> None:
        self.bold, self.depth, self.risk, self.style = bold, depth, risk, style

    def act(self, battle: Any) -> Any:
        moves = sorted(battle.available_moves, key=lambda move: -move.base_power)
        return f"move {moves[0].id}" if moves else "default"


class Wire(Agent):
    """Answers as Showdown's client would."""

    def act(self, battle: Any) -> Any:
        return f"/choose {self.rng.choice(battle.legal).wire}"

    def team_preview(self, battle: Any) -> Any:
        return "/team 654321"


class Last(Player):
    """A poke_env.Player of a user's own: always the last that is allowed, as a coroutine."""

    async def choose_move(self, battle: Any) -> Any:
        await asyncio.sleep(0)
        options = [*battle.available_moves, *battle.available_switches]
        return self.create_order(options[-1]) if options else self.choose_random_move(battle)

    def teampreview(self, battle: Any) -> str:
        return "/team 213456"
