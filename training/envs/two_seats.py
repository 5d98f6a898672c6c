"""Both seats learn: PettingZoo's parallel environment, over the engine and over Showdown."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np

from agents.observation.layout import layout_of_format
from agents.observation.observation import Observations
from arena.fixture import SEATS
from teamsets.errors import BadInput, MissingTool
from teamsets.formats import get_format
from training.envs.fixtures import LEARNER, EnvBattle, FixtureSampler
from training.envs.learner import ILLEGAL, check_max_turns, open_battles
from training.envs.seeding import draw_actions, next_random
from training.envs.spaces import (
    NOTHING_TO_CHOOSE,
    Arrays,
    action_space,
    arrays_of,
    observation_space,
    row_of,
)
from training.envs.venue import STUCK, TIE, UNDECIDED

try:
    from pettingzoo import ParallelEnv
except ModuleNotFoundError:
    raise MissingTool(
        "pettingzoo is not installed: environments need it: `make training` (or pip install 'battle-arena[envs]')"
    ) from None

_ROWS, _SEATS = np.zeros(2, np.int64), np.arange(2)
_ROW = np.zeros(1, np.int64)


class TwoSeatEnv(ParallelEnv[str, Arrays, int]):
    """A battle between the agents "p1" and "p2".

    Both are in every step. A seat that waits while the other one replaces a fainted Pokémon has a mask with action 0 alone,
    its action is ignored, and its info has "waiting": True. Rewards at the end: 1, -1, or 0 for both. In
    doubles a seat decides slot by slot, in steps of their own.

    venue, format, teams, max_turns, illegal_action, team_preview (of both seats): see `LearnerBattles`.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "pokemon_v0", "render_modes": [], "is_parallelizable": True}

    def __init__(
        self,
        *,
        venue: str = "engine",
        format: str = "gen1ou",
        teams: str | None = None,
        max_turns: int = 1000,
        illegal_action: str = "random",
        team_preview: bool = False,
        render_mode: str | None = None,
    ) -> None:
        if illegal_action not in ILLEGAL:
            raise BadInput(f"illegal_action='{illegal_action}': must be {' or '.join(ILLEGAL)}")
        self.render_mode, self.team_preview = render_mode, team_preview
        self.max_turns, self.strict = check_max_turns(max_turns), illegal_action == "error"
        self.possible_agents = list(SEATS)
        self.agents: list[str] = []
        format_id = get_format(format).id
        layout = layout_of_format(format_id)
        self._observation_spaces = {agent: observation_space(layout) for agent in self.possible_agents}
        self._action_spaces = {agent: action_space(layout) for agent in self.possible_agents}
        self.battles = open_battles(venue, 1, format_id)
        self.draw = FixtureSampler(format_id, teams, "p1", packed=venue == "engine")
        self.game: EnvBattle | None = None
        self._seed: int | None = None
        self._number = 0
        self._states = np.zeros(2, np.uint64)
        self._seen: Observations

    @property
    def engine(self) -> Any:
        """The engine (agents/engine/gen1/engine.py or gen9/engine.py); None on Showdown."""
        return getattr(self.battles, "engine", None)

    def observation_space(self, agent: str) -> gymnasium.Space[Any]:
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        return self._action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Arrays], dict[str, dict[str, Any]]]:
        """Begins the first battle of `seed`; None: the next one. The infos have the "fixture"."""
        if seed is not None:
            self._seed, self._number = seed, 0
        elif self._seed is None:
            self._seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0]) >> 1
        self.game = self.draw.game(self._seed, self._number, {LEARNER: 1.0})
        self._states[:] = self._number, ~self._number & 0xFFFF
        self._number += 1
        leads = np.full((1, 2), self.team_preview)
        self.battles.begin(_ROW, [self.game.fixture], [(None, None)], leads)
        self.agents = list(self.possible_agents)
        about = {key: value for key, value in self.game.about.items() if key not in ("seat", "opponent")}
        infos = {agent: {**info, "fixture": about} for agent, info in self._infos().items()}
        return self._observed(), infos

    def step(
        self, actions: dict[str, int]
    ) -> tuple[dict[str, Arrays], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Plays the actions of the seats that have a decision to make, on to the next one."""
        if not self.agents:
            return {}, {}, {}, {}, {}
        chosen, illegal = self._legal(actions)
        self.battles.play(_ROW, chosen[None])
        winner, turns = int(self.battles.winners[0]), int(self.battles.turns[0])
        truncated = turns > self.max_turns or winner == STUCK
        terminated = winner != UNDECIDED and not truncated
        decided = terminated and winner != TIE
        rewards = {agent: (1.0 if winner == k else -1.0) if decided else 0.0 for k, agent in enumerate(SEATS)}
        observations, infos = self._observed(), self._infos()
        for seat in np.flatnonzero(illegal).tolist():
            infos[SEATS[seat]]["illegal_action"] = True
        if terminated or truncated:
            self.agents = []
            for info in infos.values():
                info["turns"] = turns
        return observations, rewards, dict.fromkeys(SEATS, terminated), dict.fromkeys(SEATS, truncated), infos

    def close(self) -> None:
        self.battles.close()

    def _observed(self) -> dict[str, Arrays]:
        seen = self.battles.observe(_ROWS, _SEATS)
        if self.battles.winners[0] != UNDECIDED:
            seen.token_ids[:], seen.features[:], seen.legal[:] = 0, 0, False
        self._seen = Observations(seen.token_ids, seen.features, seen.legal.copy())
        seen.legal[~seen.legal.any(axis=1), NOTHING_TO_CHOOSE] = True
        arrays = arrays_of(seen)
        return {agent: row_of(arrays, seat) for seat, agent in enumerate(SEATS)}

    def _infos(self) -> dict[str, dict[str, Any]]:
        deciding = self.battles.needs_decision(_ROW)[0]
        over = self.battles.winners[0] != UNDECIDED
        return {agent: {"waiting": bool(not deciding[seat] and not over)} for seat, agent in enumerate(SEATS)}

    def _legal(self, actions: dict[str, int]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """The actions [2], -1 for a seat that waits, and which of them were not legal and were replaced."""
        masks, deciding = self._seen.legal, self.battles.needs_decision(_ROW)[0]
        chosen, illegal = np.full(2, -1, np.int64), np.zeros(2, np.bool_)
        for seat in np.flatnonzero(deciding).tolist():
            action = int(actions.get(SEATS[seat], -1))
            chosen[seat], illegal[seat] = action, not (0 <= action < len(masks[seat]) and masks[seat, action])
        if illegal.any():
            seat = int(illegal.argmax())
            if self.strict:
                legal = ", ".join(map(str, np.flatnonzero(masks[seat])))
                raise BadInput(f"{SEATS[seat]}: action {chosen[seat]} is not legal: choose one of {legal}")
            states = self._states[illegal]
            chosen[illegal] = draw_actions(masks[illegal], next_random(states))
            self._states[illegal] = states
        return chosen, illegal
