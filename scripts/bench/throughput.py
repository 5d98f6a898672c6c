"""Battles a second: the arena against poke-env's own way, the same random-against-random battles, in one go.

poke-env's way: a local Showdown server and two RandomPlayers by `battle_against`, ten battles at once. The arena's way:
its workers, every battle recorded and put into DuckDB. Both use every core of the machine. Teams are those
of the set `competitive` where Showdown draws none. The two take turns, so that a machine whose speed drifts slows both.
Prints a line for each turn, and the ratios of the medians: of battles/s, and of CPU time (all processes, Linux only), which
says more on a machine that others use.

    python scripts/bench/throughput.py [--battles 200] [--rounds 3] [--warm 10] [--formats gen1randombattle gen9randombattle]
        [--ways arena "arena, stock" "arena, random"] [--seed 0]

`arena` plays poke-env's RandomPlayer (its seats keep poke-env's state up to date, as for any agent that looks at the
battle); `arena, stock` does so on Showdown's code untouched, without fast.mjs; `arena, random` plays the arena's own random
agent, which needs only the list of legal choices.

Node runs Showdown ever faster for several hundred battles, while V8 compiles it. Each turn of either side begins with new
processes and `--warm` battles for each of its processes that run Showdown (the server has one, the arena one for each
worker), which are not counted. 10 shows what a short run gets, 400 what a long one does.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import statistics
import tempfile
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from poke_env.concurrency import POKE_LOOP
from poke_env.player import RandomPlayer
from poke_env.ps_client.account_configuration import AccountConfiguration
from poke_env.ps_client.server_configuration import ServerConfiguration
from poke_env.teambuilder import Teambuilder

from agents.battle.quick_poke_env import slow_down
from arena.run.tournament import EvaluateSettings, play_into
from arena.store import rows
from arena.venues.server.local import LocalServer
from arena.workers.local_pool import default_workers
from arena.workers.progress import RunProgress
from teamsets.formats import get_format
from teamsets.loading import load_set


@contextmanager
def local_server() -> Iterator[str]:
    """The URI of a Showdown server of our own, whose pipes poke-env's thread attends to."""

    def there(step: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(step, POKE_LOOP).result()

    server = there(LocalServer.launch())
    try:
        yield server.uri
    finally:
        there(server.close())


class Speed(NamedTuple):
    """battles, turns: a second. cpu_ms: CPU time of all processes for a battle, in milliseconds; 0 outside of Linux."""

    battles: float
    turns: float
    cpu_ms: float


async def close(player: RandomPlayer) -> None:
    """Close a player's connection, and end what still waits for a message there: battles that were reset, say."""
    client = player.ps_client
    await client._stop_listening()
    client.logger.disabled = True  # it calls their end critical
    waiting = [*client._active_tasks]
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


class Teams(Teambuilder):
    """The arena's competitive teams of a format, at random."""

    def __init__(self, format_id: str, number: int) -> None:
        self._teams = [team.packed for team in load_set("competitive", format_id).teams]
        self._rng = random.Random(number)

    def yield_team(self) -> str:
        return self._rng.choice(self._teams)


def poke_env_speed(format_id: str, battles: int, warm: int, number: int) -> Speed:
    """poke-env's `battle_against` over a new server, ten at once, by poke-env's own code."""
    with local_server() as uri:
        return _over_server(uri, format_id, battles, warm, number)


def _over_server(uri: str, format_id: str, battles: int, warm: int, number: int) -> Speed:
    slow_down()
    server = ServerConfiguration(uri, "https://127.0.0.1:1/action.php?")
    players = [
        RandomPlayer(
            account_configuration=AccountConfiguration(f"bench{name}{number}", None),
            battle_format=format_id,
            team=None if get_format(format_id).random else Teams(format_id, number),
            server_configuration=server,
            max_concurrent_battles=10,
            open_timeout=None,  # a machine under load takes longer than poke-env's ten seconds, and without it nothing ends
        )
        for name in "ab"
    ]
    asyncio.run(players[0].battle_against(players[1], n_battles=warm))  # modules, connections, V8
    players[0].reset_battles()
    players[1].reset_battles()
    began, cpu_before = time.perf_counter(), cpu_seconds(os.getpid())
    asyncio.run(players[0].battle_against(players[1], n_battles=battles))
    seconds, cpu = time.perf_counter() - began, cpu_seconds(os.getpid()) - cpu_before
    turns = sum(battle.turn for battle in players[0].battles.values())
    for player in players:
        asyncio.run_coroutine_threadsafe(close(player), player.ps_client.loop).result()
    return Speed(battles / seconds, turns / seconds, cpu / battles * 1000)


def cpu_seconds(process: int) -> float:
    """The CPU time (user and system) of a process, of its descendants, and of all that these have waited for. Linux only."""
    with contextlib.suppress(OSError):  # it has ended
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{process}/task").glob("*/children")
        below = [int(child) for threads in children for child in threads.read_text().split()]
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") + sum(map(cpu_seconds, below))
    return 0.0


def arena_speed(
    agents: tuple[str, str],
    format_id: str,
    battles: int,
    seed: int,
    *,
    warm: int = 10,
    stock: bool = False,
    isolate: bool = False,
) -> Speed:
    """How fast a run of the arena is, from the battle after `warm` for each worker to the last battle in DuckDB."""
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "bench.duckdb"
        warm *= default_workers()
        settings = EvaluateSettings(
            agents=agents, formats=(format_id,), battles=battles + warm, seed=seed, stock=stock, isolate=isolate
        )
        marks: list[tuple[float, int, int, float]] = []
        looking = 0.0  # CPU time that looking has taken

        def mark(progress: RunProgress) -> None:
            nonlocal looking
            began = time.process_time()
            marks.append((time.perf_counter(), progress.played, progress.turns, cpu_seconds(os.getpid()) - looking))
            looking += time.process_time() - began

        play_into(db, settings, show=mark)
        ended = time.perf_counter()
        ((total, turns),) = rows("SELECT count(*), sum(turns) FROM battles", db)
    # A short run may be over before the next look: then all of it counts.
    began, played, turns_before, cpu_before = next((found for found in marks if warm <= found[1] < total), marks[0])
    # The workers have ended by the last mark: what they have used is counted up to the one before.
    _, played_then, _, cpu_then = next((found for found in reversed(marks) if found[1] < total), marks[-1])
    cpu = (cpu_then - cpu_before) / max(played_then - played, 1)
    return Speed((total - played) / (ended - began), (turns - turns_before) / (ended - began), cpu * 1000)


_PLAYERS = ("poke-env:RandomPlayer", "poke_env.player:RandomPlayer")
#: Way -> both agents, and whether Showdown's code is left as it is.
_WAYS = {
    "arena": (_PLAYERS, False),
    "arena, stock": (_PLAYERS, True),
    "arena, random": (("random", "agents.rules.uniform:UniformRandom"), False),
}


def median(speeds: list[Speed], field: int) -> float:
    """The median of one field of several speeds."""
    return statistics.median(speed[field] for speed in speeds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battles", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warm", type=int, default=10)
    parser.add_argument("--formats", nargs="+", default=["gen1randombattle", "gen9randombattle"])
    parser.add_argument("--ways", nargs="+", choices=_WAYS, default=list(_WAYS))
    parser.add_argument(
        "--seed", type=int, default=0, help="of the first round of the arena; each has the next one [default: 0]"
    )
    options = parser.parse_args()
    battles, warm = options.battles, options.warm
    for number, format_id in enumerate(options.formats):
        speeds: dict[str, list[Speed]] = {name: [] for name in ["poke-env", *options.ways]}
        for turn in range(options.rounds):
            seed = options.seed + 100 * number + turn
            for name in speeds:
                if name == "poke-env":
                    speed = poke_env_speed(format_id, battles, warm, seed)
                else:
                    agents, stock = _WAYS[name]
                    speed = arena_speed(agents, format_id, battles, seed, warm=warm, stock=stock)
                speeds[name].append(speed)
                print(
                    f"{format_id:18} {name:14} {speed.battles:7.1f} battles/s {speed.turns:8.0f} turns/s "
                    f"{speed.cpu_ms:6.1f} ms of CPU a battle",
                    flush=True,
                )
        battles_a_second, cpu = ({name: median(taken, n) for name, taken in speeds.items()} for n in (0, 2))
        for name in options.ways:
            times = battles_a_second[name] / battles_a_second["poke-env"]
            work = f", with {cpu[name] / cpu['poke-env']:.2f} of its CPU time a battle" if cpu["poke-env"] else ""
            print(f"{format_id:18} {name:14} is {times:.2f} times poke-env{work}", flush=True)


if __name__ == "__main__":
    main()
