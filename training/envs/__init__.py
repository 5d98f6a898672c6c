"""Environments for learning libraries: Gymnasium's and PettingZoo's, over the engine and over Showdown.

Importing this package registers PokemonGen1-v0 and PokemonGen9-v0 (the engine) and PokemonShowdown-v0 (any format of singles
or doubles) with Gymnasium.
"""

from gymnasium.envs.registration import register

from training.envs.single import PokemonEnv
from training.envs.slot_agents import SlotAgentsEnv
from training.envs.two_seats import TwoSeatEnv
from training.envs.vector import PokemonVectorEnv

__all__ = ["PokemonEnv", "PokemonVectorEnv", "SlotAgentsEnv", "TwoSeatEnv"]

for _name, _venue, _format in (
    ("PokemonGen1-v0", "engine", "gen1ou"),
    ("PokemonGen9-v0", "engine", "gen9ou"),
    ("PokemonShowdown-v0", "showdown", "gen1ou"),
):
    register(
        _name,
        entry_point="training.envs.single:PokemonEnv",
        vector_entry_point="training.envs.vector:PokemonVectorEnv",
        kwargs={"venue": _venue, "format": _format},
    )
