"""A stand-in for metamon's evaluator: its command line, and a poke-env player in the model's place."""

import argparse
import asyncio

from poke_env import AccountConfiguration, LocalhostServerConfiguration
from poke_env.concurrency import POKE_LOOP
from poke_env.player import RandomPlayer

import metamon.env


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--agent", required=True, choices=["Abra", "Kadabra"])
    parser.add_argument("--eval_type", required=True, choices=["challenge"])
    parser.add_argument("--gens", type=int, nargs="+", required=True)
    parser.add_argument("--formats", nargs="+", choices=["ubers", "ou", "uu", "nu"], required=True)
    parser.add_argument("--total_battles", type=int, required=True)
    parser.add_argument("--checkpoints", type=int, nargs="+", default=[None])
    parser.add_argument("--username", required=True)
    parser.add_argument("--opponent_username", required=True)
    parser.add_argument("--role", required=True, choices=["challenger", "acceptor"])
    parser.add_argument("--team_set", default="competitive")
    parser.add_argument("--temperature", type=float, default=1.0)
    return parser.parse_args()


async def evaluate(said):
    battle_format = f"gen{said.gens[0]}{said.formats[0]}"
    player = RandomPlayer(
        account_configuration=AccountConfiguration(said.username, None),
        server_configuration=LocalhostServerConfiguration,
        battle_format=battle_format,
        team=metamon.env.get_metamon_teams(battle_format, said.team_set).text,
    )
    if said.role == "challenger":
        await player.send_challenges(said.opponent_username, said.total_battles)
    else:
        await player.accept_challenges(said.opponent_username, said.total_battles)


if __name__ == "__main__":
    asyncio.run_coroutine_threadsafe(evaluate(options()), POKE_LOOP).result()
