"""What --isolate costs: battles a second of rule players with and without it, the two in turns, in one go.

    python scripts/bench/isolate.py [--battles 100] [--rounds 3] [--formats gen1randombattle gen9randombattle]

Each player meets itself (with an option spelled out, for a run needs two agents). Counting begins when the workers have had
their first battles, so the start of processes is not in it. Prints a line for each turn, and the ratio of the medians.
"""

from __future__ import annotations

import argparse
import statistics

from throughput import Speed, arena_speed

PLAYERS = {
    "random": ("random", "agents.rules.uniform:UniformRandom"),
    "heuristic:max-damage": ("heuristic:max-damage", "heuristic:max-damage?risk=0.5"),
    "heuristic:expert": ("heuristic:expert", "heuristic:expert?tera=0.12"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battles", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--formats", nargs="+", default=["gen1randombattle", "gen9randombattle"])
    parser.add_argument("--players", nargs="+", default=list(PLAYERS), choices=list(PLAYERS))
    options = parser.parse_args()
    for format_id in options.formats:
        for player in options.players:
            speeds: dict[bool, list[Speed]] = {False: [], True: []}
            for turn in range(options.rounds):
                for isolate, measured in speeds.items():
                    speed = arena_speed(PLAYERS[player], format_id, options.battles, turn, isolate=isolate)
                    measured.append(speed)
                    way = "isolated" if isolate else "shared"
                    print(
                        f"{format_id}, {player}, {way}: {speed.battles:.1f} battles/s, {speed.cpu_ms:.1f} ms CPU",
                        flush=True,
                    )
            shared, isolated = (
                [statistics.median(column) for column in zip(*measured, strict=True)] for measured in speeds.values()
            )
            print(
                f"{format_id}, {player}: --isolate takes {shared[0] / isolated[0]:.2f} times as long"
                f" and {isolated[2] / shared[2]:.2f} times the CPU time",
                flush=True,
            )


if __name__ == "__main__":
    main()
