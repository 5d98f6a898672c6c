"""Random play-outs by libpkmn, which the package oak-lab carries. bench/engine.py runs this with an interpreter that has it.

oak-lab has no call that plays battles at random in bulk. Its Monte-Carlo search does: each iteration plays a position to the
end by random choices (a part of them chosen by its tree). So play-outs a second are the search's iterations a second, and
turns a play-out are measured apart, by play-outs of the same position whose choices this script draws. Prints JSON.

    python scripts/bench/libpkmn.py SECONDS SEED
"""

from __future__ import annotations

import json
import random
import sys
import time

import oak
import oak.search

SIDE = "; ".join(
    (
        "starmie recover thunderwave blizzard thunderbolt",
        "exeggutor sleeppowder psychic explosion stunspore",
        "alakazam psychic thunderwave recover seismictoss",
        "chansey icebeam thunderwave softboiled thunderbolt",
        "snorlax bodyslam reflect rest selfdestruct",
        "tauros bodyslam hyperbeam earthquake blizzard",
    )
)
POSITION = f"{SIDE} | {SIDE}"
PLAYOUTS = 1000  # from which turns a play-out are taken


def mean_turns(choose: random.Random) -> float:
    """Turns of a play-out, on average."""
    turns = 0
    for _ in range(PLAYOUTS):
        battle, durations, result = oak.parse_battle(POSITION, choose.getrandbits(60))
        while oak.result_type(result) == 0:
            first, second = oak.choices(battle, result)
            result = oak.update(battle, durations, choose.choice(first), choose.choice(second))
        turns += battle.turn
    return turns / PLAYOUTS


def main() -> None:
    seconds, seed = float(sys.argv[1]), int(sys.argv[2])
    agent = oak.search.Agent()
    agent.budget, agent.bandit, agent.eval = f"{int(seconds * 1000)}ms", "ucb-1.0", "mc"
    battle, durations, result = oak.parse_battle(POSITION, seed)
    started = time.perf_counter()
    search = oak.search.search(battle, durations, result, oak.search.Heap(), agent)
    elapsed = time.perf_counter() - started
    turns = mean_turns(random.Random(seed))
    print(json.dumps({"playouts": search.iterations, "seconds": elapsed, "turns_a_playout": turns}))


if __name__ == "__main__":
    main()
