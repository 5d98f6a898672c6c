"""What the adapter owes a player: one of its own for each battle, unless it is one of poke-env's, which keep nothing."""

from __future__ import annotations

import random
from pathlib import Path

from poke_env.player import Player, RandomPlayer

from agents import SeatBattle
from agents.poke_env_adapter import PokeEnvAgent
from agents.registry import _sources, resolve


class Counting(Player):
    """Keeps something of a battle in itself."""

    def choose_move(self, battle):  # type: ignore[no-untyped-def]
        self.asked = getattr(self, "asked", 0) + 1
        return self.choose_default_move()


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


def test_poke_envs_own_players_are_shared() -> None:
    assert started(RandomPlayer)._player is started(RandomPlayer)._player


def test_a_fingerprint_covers_what_the_agents_module_imports_of_its_package_and_no_more() -> None:
    import agents.heuristics.trainers as trainers
    import agents.heuristics.uniform as uniform

    def names(module) -> set[str]:  # type: ignore[no-untyped-def]
        return {path.name for path in _sources(Path(module.__file__), module.__name__.rpartition(".")[0])}

    assert names(uniform) == {"uniform.py"}
    assert {"trainers.py", "damage.py"} <= names(trainers)
    assert resolve("random").fingerprint != resolve("heuristic:emerald").fingerprint
