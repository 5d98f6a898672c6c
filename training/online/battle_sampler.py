"""Which battles online training plays: a function of the run's seed and the battle's number."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

from arena.fixture import digest, showdown_seed
from teamsets.errors import BadInput
from teamsets.formats import get_format
from teamsets.loading import load_set
from training.envs.fixtures import EnvBattle, FixtureSampler
from training.online.config import RolloutSettings


class BattleSampler:
    """Draws battles: a team set by weight, both teams evenly from it, the opponent by weight, the seat.

    Teams of the held-out sets are left out, wherever else they occur. Raises BadInput if a set has no others.
    """

    def __init__(self, settings: RolloutSettings, format_id: str, seed: int, *, packed: bool) -> None:
        self._seed = seed
        held_out = {team.packed for name in settings.held_out for team in load_set(name, format_id).teams}
        sets: list[str | None] = [teams.set for teams in settings.teams]
        sets = sets or [None]
        self._weights = [teams.weight for teams in settings.teams] or [1.0]
        self._draws = [FixtureSampler(format_id, name, "drawn", packed=packed) for name in sets]
        for draw in self._draws:
            if not get_format(format_id).random:
                draw.teams = tuple(team for team in draw.teams if team.packed not in held_out)
                if not draw.teams:
                    raise BadInput(f"rollout.teams: every team of {draw.team_set} is held out: use another set")

    def game(self, number: int, opponents: Mapping[str, float]) -> EnvBattle:
        """The battle with this number. opponents: names and their weights."""
        rng = random.Random(digest(["online", self._seed, number]))
        draw = rng.choices(self._draws, self._weights)[0]
        return draw.game(self._seed, number, opponents)

    def replica(self, game: EnvBattle, number: int, copy: int) -> EnvBattle:
        """The same battle with other chance: copy 1, 2, … of the battle with this number."""
        seed = showdown_seed("online-copy", self._seed, number, copy)
        return EnvBattle(replace(game.fixture, seed=seed), game.seat)
