"""Doubles with an agent for each slot: PettingZoo's parallel environment in which the two slots of a side cooperate."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np

from agents.observation.doubles.decisions import LETTERS, DoublesDecisions
from arena.fixture import SEATS
from teamsets.errors import BadInput
from teamsets.formats import get_format
from training.envs.showdown_battles import ShowdownBattles
from training.envs.spaces import NOTHING_TO_CHOOSE, Arrays
from training.envs.two_seats import ParallelEnv, TwoSeatEnv


class SlotAgentsEnv(ParallelEnv[str, Arrays, int]):
    """A battle of doubles between "p1a" and "p1b" on one side and "p2a" and "p2b" on the other.

    Slot b decides after slot a and sees what it has chosen, so a side's step is that of one of its agents; the other one
    waits: a mask with action 0 alone, zeros else, "waiting": True in its info. At team preview they pick in turn. Both
    agents of a side get its reward: 1, -1, or 0.

    format: of doubles. teams, max_turns, illegal_action: see `LearnerBattles`.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "pokemon_slots_v0", "render_modes": [], "is_parallelizable": True}

    def __init__(
        self, *, format: str = "gen9randomdoublesbattle", render_mode: str | None = None, **settings: Any
    ) -> None:
        if not get_format(format).doubles:
            raise BadInput(f"format '{format}': has one slot a side: choose a format of doubles, or TwoSeatEnv")
        self.render_mode = render_mode
        self.sides = TwoSeatEnv(venue="showdown", format=format, **settings)
        self.possible_agents = [seat + letter for seat in SEATS for letter in LETTERS]
        self.agents: list[str] = []
        self._deciding: dict[str, str] = {}

    def observation_space(self, agent: str) -> gymnasium.Space[Any]:
        return self.sides.observation_space(agent[:2])

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        return self.sides.action_space(agent[:2])

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Arrays], dict[str, dict[str, Any]]]:
        """Begins the first battle of `seed`; None: the next one. The infos have the "fixture"."""
        observations, infos = self.sides.reset(seed, options)
        self.agents = list(self.possible_agents)
        return self._by_slot(observations, infos)

    def step(
        self, actions: dict[str, int]
    ) -> tuple[dict[str, Arrays], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Plays the actions of the agents that have a decision to make, on to the next one."""
        if not self.agents:
            return {}, {}, {}, {}, {}
        decided = {side: actions.get(agent, -1) for side, agent in self._deciding.items()}
        observations, rewards, terminated, truncated, infos = self.sides.step(decided)
        seen, by_slot = self._by_slot(observations, infos)
        ends = [{agent: ended[agent[:2]] for agent in seen} for ended in (terminated, truncated)]
        if not self.sides.agents:
            self.agents = []
        return seen, {agent: rewards[agent[:2]] for agent in seen}, ends[0], ends[1], by_slot

    def close(self) -> None:
        self.sides.close()

    def _by_slot(
        self, observations: dict[str, Arrays], infos: dict[str, dict[str, Any]]
    ) -> tuple[dict[str, Arrays], dict[str, dict[str, Any]]]:
        """Give each side's observation and info to the agent that decides; the other agent of the side waits."""
        self._deciding = {side: side + LETTERS[self._slot(seat)] for seat, side in enumerate(SEATS)}
        seen: dict[str, Arrays] = {}
        slot_infos: dict[str, dict[str, Any]] = {}
        for agent in self.possible_agents:
            side = agent[:2]
            waits = agent != self._deciding[side]
            seen[agent] = _nothing(observations[side]) if waits and not infos[side]["waiting"] else observations[side]
            slot_infos[agent] = {**infos[side], "waiting": waits or infos[side]["waiting"]}
        return seen, slot_infos

    def _slot(self, seat: int) -> int:
        """The slot of the agent that decides next for a seat."""
        battles = self.sides.battles
        assert isinstance(battles, ShowdownBattles) and battles.rows[0] is not None
        turn = battles.rows[0].decisions[seat]
        if not isinstance(turn, DoublesDecisions) or not turn.actions:
            return 0
        return turn.number % 2 if turn.slot is None else turn.slot


def _nothing(seen: Arrays) -> Arrays:
    """What an agent sees that has nothing to decide."""
    empty = {name: np.zeros_like(array) for name, array in seen.items()}
    empty["action_mask"][NOTHING_TO_CHOOSE] = 1
    return empty
