"""Battles a second of random against random: `--venue engine` against `--venue simulator`, in turns, and the ratio.

Both use every core, and store every battle in DuckDB. The engine's runs include the replays on Showdown of one battle in
`--verify-every`. The time is that of the whole run, from the start of its workers to the end of the last: the engine, which
plays hundreds of battles at once, needs many to be measured. What has to be compiled is compiled before.

    python scripts/bench/engine_venue.py [--battles 400] [--engine-battles 4000] [--rounds 3] [--verify-every 100]
    python scripts/bench/engine_venue.py --format gen9ou --battles 200 --engine-battles 400

gen9ou is played on the `competitive` teams. Its engine is followed line by line, as Showdown is.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from arena.run.tournament import EvaluateSettings, play_into
from arena.store import rows
from arena.venues.engine.venue import ready_engine
from arena.workers.local_pool import default_workers

FORMATS = ("gen1randombattle", "gen1ou")
#: `random` under two names: a run's agents must differ.
PLAYERS = ("random", "agents.rules.uniform:UniformRandom")


def speed(venue: str, format_id: str, battles: int, seed: int, verify_every: int) -> tuple[float, float]:
    """Battles/s and turns/s of a run."""
    settings = EvaluateSettings(
        agents=PLAYERS,
        formats=(format_id,),
        battles=battles,
        seed=seed,
        venue=venue,  # type: ignore[arg-type]  # one of two
        verify_every=verify_every,
    )
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "arena.duckdb"
        began = time.perf_counter()
        play_into(db, settings, kind="bench", workers=default_workers())
        seconds = time.perf_counter() - began
        ((played, turns),) = rows("SELECT count(*), sum(turns) FROM battles WHERE venue = ?", db, [venue])
    return played / seconds, turns / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battles", type=int, default=400, help="in the simulator, a round")
    parser.add_argument("--engine-battles", type=int, default=4000, help="on the engine, a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--verify-every", type=int, default=100)
    parser.add_argument(
        "--format", action="append", choices=(*FORMATS, "gen9ou"), help="default: those of generation 1"
    )
    options = parser.parse_args()
    formats = options.format or FORMATS
    if any(format_id in FORMATS for format_id in formats):
        asyncio.run(ready_engine())
    for number, format_id in enumerate(formats):
        speeds_by_venue: dict[str, list[float]] = {"simulator": [], "engine": []}
        for turn in range(options.rounds):
            for venue, speeds in speeds_by_venue.items():
                battles = options.engine_battles if venue == "engine" else options.battles
                battles_s, turns_s = speed(venue, format_id, battles, 100 * number + turn, options.verify_every)
                speeds.append(battles_s)
                print(f"{format_id:18} {venue:10} {battles_s:7.1f} battles/s {turns_s:8.0f} turns/s", flush=True)
        ratio = statistics.median(speeds_by_venue["engine"]) / statistics.median(speeds_by_venue["simulator"])
        print(f"{format_id:18} the engine plays {ratio:.1f} times as many battles a second", flush=True)


if __name__ == "__main__":
    main()
