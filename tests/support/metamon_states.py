"""Runs in metamon's environment: prints metamon's own state (UniversalState as a dict) at every decision of given logs.

`python metamon_states.py [FOLDER]`, with agents/external/metamon/inside on PYTHONPATH. On stdin: lines of JSON {"format",
"name", "asks": [{"lines", "request"}]}; on stdout a line of JSON for each, its states, without those of team preview.
FOLDER: of parsed replays, which metamon's own dataset reads; the last line of output counts them.
"""

import json
import os
import sys


def main():
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    from metamon.interface import UniversalState
    from seats import Listener

    listeners = {}
    for number, line in enumerate(sys.stdin):
        side = json.loads(line)
        key = side["format"], side["name"]
        if key not in listeners:
            listeners[key] = Listener("metamon", *key)
        listener = listeners[key]
        tag = f"battle-{side['format']}-{number}"
        battle = listener.new_battle(tag)
        states = []
        for ask in side["asks"]:
            listener.read(tag, ask["lines"], ask["request"])
            if not battle._teampreview:
                states.append(UniversalState.from_Battle(battle).to_dict())
        output.write(json.dumps(states) + "\n")
        listener.forget(tag)
    if len(sys.argv) > 1:
        output.write(json.dumps(read(sys.argv[1])) + "\n")


def read(folder):
    """Return how many files and decisions metamon's dataset reads, and how many actions its states do not allow."""
    from metamon.data import ParsedReplayDataset
    from metamon.interface import get_action_space, get_observation_space, get_reward_function

    dataset = ParsedReplayDataset(
        dset_root=folder,
        observation_space=get_observation_space("TeamPreviewObservationSpace"),
        action_space=get_action_space("DefaultActionSpace"),
        reward_function=get_reward_function("DefaultShapedReward"),
        formats=["gen1ou", "gen9ou"],
        verbose=False,
    )
    count = {"files": len(dataset), "decisions": 0, "illegal": 0}
    for index in range(len(dataset)):
        _, actions, rewards, _ = dataset[index]
        count["decisions"] += len(rewards)
        for chosen, legal, missing in zip(actions["chosen"], actions["legal"], actions["missing"], strict=False):
            count["illegal"] += not missing and chosen not in legal
    return count


if __name__ == "__main__":
    main()
