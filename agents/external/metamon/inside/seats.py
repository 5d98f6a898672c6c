"""What metamon keeps of a battle outside of its network: its player's reading of it, the agent's input and choice."""

import asyncio
import copy
import random

import numpy as np
from amago.hindsight import Timestep
from metamon.env import metamon_player
from metamon.interface import UniversalAction, UniversalState
from poke_env import AccountConfiguration
from poke_env.concurrency import POKE_LOOP
from poke_env.player import Player


def described(error):
    """Return an error as one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:400]


class Listener:
    """metamon's player of one format and name, without its connection: it reads the messages of its battles."""

    def __init__(self, backend, format_id, name):
        self.format_id, self.loop = format_id, POKE_LOOP
        kind = type(
            "Listener", (_player_class(backend),), {"_handle_battle_request": _nothing, "choose_move": _nothing}
        )
        self.player = kind(
            account_configuration=AccountConfiguration(name, None),
            battle_format=format_id,
            start_listening=False,
            max_concurrent_battles=0,
            log_level=50,
        )

    def new_battle(self, tag):
        """Create a battle as the first message of a room does."""
        asyncio.run_coroutine_threadsafe(self._read(tag, [["", "init", "battle"]]), self.loop).result()
        return self.player._battles[tag]

    def read(self, tag, lines, request):
        """Read protocol lines and the request. Returns what metamon could not read; it reads on after each."""
        messages = [line.split("|") for line in lines] + [["", "request", request]]
        return asyncio.run_coroutine_threadsafe(self._read(tag, messages), self.loop).result()

    async def _read(self, tag, messages):
        failed = []
        for message in messages:
            try:
                await self.player._handle_battle_message([[">" + tag], message])
            except Exception as error:  # metamon's own loop would lose the rest of the message, and give no answer
                failed.append(f"{'|'.join(message)[:80]}: {described(error)}")
        return failed

    def forget(self, tag):
        """Release a battle."""
        self.player._battles.pop(tag, None)
        queue = self.player._battle_count_queue
        if not queue.empty():
            queue.get_nowait()


async def _nothing(*_):
    """Decisions are made in batches (Resident), not where a request is read."""


def _player_class(backend):
    if backend == "poke-env":
        return Player
    return metamon_player.PokeAgentPlayer if backend == "pokeagent" else metamon_player.MetamonPlayer


class Seat:
    """One seat of one battle, as metamon's environment (metamon.env.PokeEnvWrapper) keeps it."""

    def __init__(self, model, listener, tag, slot):
        self.listener, self.tag, self.slot = listener, tag, slot
        self.battle = listener.new_battle(tag)
        self.observation_space = copy.deepcopy(model.observation_space)
        self.observation_space.reset()
        self.action_space, self.reward_function = model.action_space, model.reward_function
        self.state, self.action, self.steps = None, None, 0

    def step(self):
        """Return the agent's input at the current request: observation, last reward and action, time index."""
        state = UniversalState.from_Battle(self.battle)
        legal = UniversalAction.definitely_valid_actions(state=state, battle=self.battle)
        illegal = np.ones((self.action_space.gym_space.n,), dtype=bool)
        for action in legal:
            illegal[self.action_space.action_to_agent_output(state=state, action=action)] = False
        observation = {**self.observation_space.state_to_obs(state), "illegal_actions": illegal}
        last = np.zeros((1, len(illegal)), dtype=np.uint8)
        reward = 0.0
        if self.action is not None:
            last[0, self.action] = 1
            reward = self.reward_function(self.state, state)
        timestep = Timestep(
            obs={name: value[np.newaxis, ...] for name, value in observation.items()},
            prev_action=last,
            reward=np.array([reward], dtype=np.float32),
            terminal=np.array([False]),
            time_idx=np.array([self.steps], dtype=np.int64),
            batched_envs=1,
        )
        self.state = state
        self.steps += 1
        return timestep.as_input()

    def order(self, action):
        """Return the text of the choice that an action of the agent means, or None if it means none that is legal."""
        universal = self.action_space.agent_output_to_action(state=self.state, agent_output=action)
        order = universal.to_BattleOrder(self.battle)
        return None if order is None else order.message

    def random_order(self, seed):
        """Return the choice that metamon's environment makes for an action that is not legal: a random one."""
        random.seed(seed)
        return self.listener.player.choose_random_move(self.battle).message
