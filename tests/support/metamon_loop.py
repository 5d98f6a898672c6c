"""Runs in metamon's environment: `python metamon_loop.py SETTINGS` plays by metamon's own evaluation, then by ours.

On PYTHONPATH: agents/external/metamon/inside.

SETTINGS is JSON: uri of a Showdown server, folder of a run, checkpoint, backend, format, teams (a folder), opponent,
battles.
The first half is metamon's: its environment on a websocket, amago's evaluate_test, the most probable action. What its
player received is kept, and what went into the agent and came out. Then the classes of our process get the same messages, of
all battles at once, and the result is printed: the number of decisions, and of those where the two differ.
"""

import itertools
import json
import os
import sys
from pathlib import Path

os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")


def main():
    settings = json.loads(sys.argv[1])

    import poke_env

    usual = poke_env.LocalhostServerConfiguration
    address = settings["uri"] if "://" in usual[0] else settings["uri"].split("/")[2]
    local = type(usual)(address, *usual[1:])
    import metamon.env.wrappers as wrappers

    wrappers.LocalhostServerConfiguration = local
    from metamon.env import metamon_player

    wrappers.PokeAgentPlayer = metamon_player.PokeAgentPlayer  # metamon 1.6.0 forgets to import it there
    from resident import Resident

    own = json.loads(Path(settings["folder"], "metamon.json").read_text())
    options = {
        "model": "", "folder": settings["folder"], "checkpoint": settings["checkpoint"], "backend": settings["backend"],
        "preview": "", "own": own, "device": "cpu", "threads": 1,
    }  # fmt: skip
    resident = Resident(options)
    received, steps, orders = watched(resident, wrappers)
    play(resident, settings)
    print(json.dumps(compared(Resident(options), settings["format"], received, steps, orders)))


def watched(resident, wrappers):
    """Return lists that metamon's loop fills: messages of each battle, (inputs, action) and orders of each decision."""
    from poke_env.player import Player

    received, steps, orders = {}, [], []
    player_class = Player if resident.backend == "poke-env" else wrappers.MetamonPlayer
    handle = player_class._handle_battle_message

    async def handle_and_keep(self, split_messages):
        if type(self).__name__ == "_AsyncPlayer":
            received.setdefault(split_messages[0][0], []).extend(split_messages[1:])
        await handle(self, split_messages)

    player_class._handle_battle_message = handle_and_keep
    decide = resident.policy.get_actions

    def decide_and_keep(obs, rl2s, time_idxs, **more):
        actions, state = decide(obs=obs, rl2s=rl2s, time_idxs=time_idxs, **more)
        inputs = {**{name: part.numpy().copy() for name, part in obs.items()}, "rl2s": rl2s.numpy().copy()}
        steps.append((int(time_idxs), inputs, int(actions), resident._probabilities[0].copy()))
        return actions, state

    resident.policy.get_actions = decide_and_keep
    choose = wrappers.PokeEnvWrapper.action_to_move

    def choose_and_keep(self, action, battle):
        order = choose(self, action, battle)
        orders.append(order.message)
        return order

    wrappers.PokeEnvWrapper.action_to_move = choose_and_keep
    return received, steps, orders


def play(resident, settings):
    """Play by amago's evaluate_test against one of metamon's baselines."""
    from functools import partial

    import metamon.env
    from metamon.baselines import get_baseline
    from metamon.rl.metamon_to_amago import make_baseline_env

    experiment = resident.experiment
    experiment.env_mode, experiment.parallel_actors, experiment.verbose = "sync", 1, False
    for name in ("sample_actions", "sample_actions_train", "sample_actions_val"):
        if hasattr(experiment, name):
            setattr(experiment, name, False)
    environment = partial(
        make_baseline_env,
        battle_format=settings["format"],
        observation_space=resident.model.observation_space,
        action_space=resident.model.action_space,
        reward_function=resident.model.reward_function,
        team_set=metamon.env.TeamSet(settings["teams"], settings["format"]),
        opponent_type=get_baseline(settings["opponent"]),
        battle_backend=resident.backend,
    )
    experiment.evaluate_test([environment], timesteps=400 * settings["battles"], episodes=settings["battles"])


def compared(resident, format_id, received, steps, orders):
    """Give the resident what metamon's player received, and count what differs from metamon's own decisions."""
    inputs = []
    forward = resident._pass

    def forward_and_keep(rows, state, sample=False):
        inputs.extend(rows)
        return forward(rows, state, sample=sample)

    resident._pass = forward_and_keep
    starts = [index for index, step in enumerate(steps[: len(orders)]) if step[0] == 0] + [len(orders)]
    theirs = [list(zip(steps[a:b], orders[a:b], strict=True)) for a, b in itertools.pairwise(starts)]
    asks = [asked(messages) for messages in received.values()][: len(theirs)]
    count = {
        "battles": len(asks),
        "decisions": 0,
        "observations": 0,
        "actions": 0,
        "orders": 0,
        "failed": 0,
        "largest": 0.0,
    }
    while any(theirs):
        playing = [battle for battle, left in enumerate(theirs) if left]
        inputs.clear()
        fixed = {"format": format_id, "name": "p1", "seed": 1, "temperature": 0.0}
        answers = resident.answer([{**next(asks[battle]), "session": str(battle), **fixed} for battle in playing])
        rows = iter(zip(inputs, resident._probabilities, strict=False))  # fewer battles than a pass has rows
        for battle, answer in zip(playing, answers, strict=True):
            count["failed"] += bool(answer.get("failed") or "error" in answer)
            if "action" not in answer:  # team preview
                continue
            (_, kept, action, probabilities), order = theirs[battle].pop(0)
            count["decisions"] += 1
            given, ours = next(rows)
            count["observations"] += not equal(given, kept)
            count["actions"] += answer["action"] != action
            count["orders"] += answer["choice"] != order
            count["largest"] = max(count["largest"], float(abs(ours - probabilities).max()))
    return count


def equal(ours, theirs):
    """Return whether two inputs of the agent are the same to the last bit."""
    import numpy as np

    observation, rl2, _ = ours
    parts = {**observation, "rl2s": rl2}
    return parts.keys() == theirs.keys() and all(np.array_equal(parts[name], theirs[name][0]) for name in parts)


def asked(messages):
    """Yield what the arena would ask of a battle's messages: the lines up to each request that is to be answered."""
    lines = []
    for message in messages:
        if len(message) > 2 and message[1] == "request":
            if message[2] and not json.loads(message[2]).get("wait"):
                yield {"lines": lines, "request": message[2]}
                lines = []
        elif len(message) > 1:
            lines.append("|".join(message))


if __name__ == "__main__":
    main()
