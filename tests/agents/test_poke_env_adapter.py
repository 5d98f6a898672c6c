"""What the adapter owes a player: one of its own for each battle, unless it is one of poke-env's, which keep nothing."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from poke_env.player import Player, RandomPlayer

from agents import SeatBattle
from agents.poke_env_adapter import PokeEnvAgent


class Counting(Player):
    """Keeps something of a battle in itself."""

    def choose_move(self, battle):  # type: ignore[no-untyped-def]
        self.asked = getattr(self, "asked", 0) + 1
        return self.choose_default_move()


class Drawing(Player):
    """Draws between its steps; what it waits for may fail."""

    async def choose_move(self, battle: Any) -> Any:
        drawn = [random.random()]
        for _ in range(3):
            try:
                await (battle or asyncio.sleep(0))
            except ValueError:
                drawn.append(-1.0)
            drawn.append(random.random())
        return drawn

    async def teampreview(self, battle: Any) -> Any:
        return await self.choose_move(battle)


def started(player: type[Player]) -> PokeEnvAgent:
    agent = PokeEnvAgent(player, {})
    agent.rng = random.Random(1)
    agent.start(SeatBattle("battle-gen1ou-1", "p1", "p1", 1, "gen1ou", agent.rng))
    return agent


def test_a_users_player_is_made_anew_for_each_battle() -> None:
    first, second = started(Counting), started(Counting)
    first.act(SeatBattle("battle-gen1ou-1", "p1", "p1", 1, "gen1ou", first.rng))
    assert first._player.asked == 1  # type: ignore[attr-defined]
    assert first._player is not second._player
    assert not hasattr(second._player, "asked")


async def _drawn(agent: PokeEnvAgent, what: str, awaited: Any = None) -> list[float]:
    return await getattr(agent, what)(awaited)  # type: ignore[no-any-return]


@pytest.mark.parametrize("what", ["act", "team_preview"])
def test_a_coroutine_draws_the_same_whoever_else_draws_between_its_steps(what: str) -> None:
    async def meddler() -> None:
        for _ in range(9):
            random.seed(0)
            await asyncio.sleep(0)

    async def among_others() -> list[list[float]]:
        agents = [started(Drawing) for _ in range(3)]
        drawn = await asyncio.gather(meddler(), *(_drawn(agent, what) for agent in agents), meddler())
        return drawn[1:-1]  # type: ignore[return-value]

    alone = asyncio.run(_drawn(started(Drawing), what))
    assert len(set(alone)) == 4
    assert asyncio.run(among_others()) == [alone] * 3


def test_a_coroutine_leaves_the_chance_of_others_alone() -> None:
    answer = started(Drawing).act(None)  # type: ignore[arg-type]
    random.seed(5)
    expected = random.Random(5).random()
    answer.send(None)
    answer.close()
    assert random.random() == expected
    assert answer.cr_frame is None


def test_a_coroutine_hears_of_the_failure_of_what_it_waits_for() -> None:
    async def play() -> list[float]:
        failing = asyncio.get_running_loop().create_future()
        failing.set_exception(ValueError())
        return await _drawn(started(Drawing), "act", failing)

    alone = asyncio.run(_drawn(started(Drawing), "act"))
    assert asyncio.run(play()) == [alone[0], -1.0, alone[1], -1.0, alone[2], -1.0, alone[3]]


def test_poke_envs_own_players_are_shared() -> None:
    assert started(RandomPlayer)._player is started(RandomPlayer)._player
