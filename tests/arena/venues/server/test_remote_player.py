"""A program of other people's (a poke-env player over its own websocket) meets a seat of ours on our server."""

from __future__ import annotations

import asyncio

import pytest
from poke_env.concurrency import POKE_LOOP
from poke_env.player import RandomPlayer
from poke_env.ps_client.account_configuration import AccountConfiguration
from poke_env.ps_client.server_configuration import ServerConfiguration

from agents import resolve
from arena.battles.guard import StepGuard
from arena.battles.seat import Fault, new_seat
from arena.venues.server.client import Client
from arena.venues.server.local import LocalServer
from arena.venues.server.room import BattleRoom, Hooks

FORMAT = "gen9randombattle"


@pytest.mark.slow
def test_a_poke_env_player_challenges_and_a_seat_accepts_and_plays() -> None:
    async def play() -> None:
        over = asyncio.get_running_loop().create_future()
        names: list[str] = []
        seat = new_seat(
            "p2", resolve("random").make(), StepGuard(), 1, tag="t", format_id=FORMAT, gen=9, seed=1, think_limit=60.0
        )

        def failed(problem: Fault | Exception) -> None:
            over.set_exception(problem)

        async with await LocalServer.launch() as server, await Client.connect(server.uri, "ours") as client:
            say, end = (lambda text: client.say(text, names[0])), (lambda: over.set_result(None))
            room = BattleRoom(seat, 1000, Hooks(say, failed, end, failed))

            def begin(name: str) -> BattleRoom:
                names.append(name)
                return room

            client.on_battle = begin
            client.on_challenge = lambda user, format_id: client.accept(user)
            there = ServerConfiguration(server.uri, "https://127.0.0.1:1/action.php?")
            account = AccountConfiguration("remote_player", None)
            remote_player = RandomPlayer(
                account_configuration=account, battle_format=FORMAT, server_configuration=there
            )
            played = asyncio.run_coroutine_threadsafe(remote_player.send_challenges("ours", 1), POKE_LOOP)
            await asyncio.wait_for(over, 120)
            await asyncio.wrap_future(played)
            leaving = asyncio.run_coroutine_threadsafe(remote_player.ps_client.stop_listening(), POKE_LOOP)
            await asyncio.wrap_future(leaving)

        (battle,) = remote_player.battles.values()
        assert room.winner == {True: "p1", False: "p2", None: ""}[battle.won]
        assert "|player|p1|p1||" in seat.log and "|player|p2|p2||" in seat.log
        assert f"|turn|{battle.turn}" in seat.log
        assert len(seat.decisions) >= battle.turn

    asyncio.run(play())
