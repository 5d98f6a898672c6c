"""Battles a second: the arena against poke-env's own way, the same random-against-random battles, in one go.

poke-env's way: a local Showdown server and two RandomPlayers by `battle_against`, ten battles at once. The arena's way:
its workers, every battle recorded and put into DuckDB. Both use every core of the machine. The two take turns, so that a
machine whose speed drifts slows both. Prints a line for each turn, and the ratio of the medians.

    python scripts/bench_throughput.py [--battles 200] [--rounds 3] [--formats gen1randombattle gen9randombattle]

`arena` plays poke-env's RandomPlayer (its seats keep poke-env's state up to date, as for any agent that looks at the
battle); `arena, random` plays the arena's own random agent, which needs only the list of legal choices.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from poke_env.player import RandomPlayer
from poke_env.ps_client.account_configuration import AccountConfiguration
from poke_env.ps_client.server_configuration import ServerConfiguration

from arena.evaluate import EvaluateSettings, default_workers, play, prepare
from arena.store import Store, writer_lock
from teamsets.showdown import node, package


class LocalServer:
    """Showdown's own server from the npm package, on a free port of this machine, with a copy of its config to itself."""

    def __enter__(self) -> int:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        self.folder = Path(tempfile.mkdtemp(prefix="bench-server-"))
        root = self.folder / "node_modules" / "pokemon-showdown"
        # A copy: the server writes beside its code. Its dependencies are found one folder up, where they are linked.
        shutil.copytree(package(), root, symlinks=True)
        for dependency in package().parent.iterdir():
            if dependency.name != "pokemon-showdown":
                (root.parent / dependency.name).symlink_to(dependency)
        config = (root / "config" / "config-example.js").read_text() + "\nexports.repl = false;\nexports.bindaddress = '127.0.0.1';\n"
        (root / "config" / "config.js").write_text(config)
        for name in ("logs/repl", "logs/modlog", "databases"):
            (root / name).mkdir(parents=True, exist_ok=True)
        command = [node(), "pokemon-showdown", "start", "--no-security", "--skip-build", str(port)]
        self.log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen(command, cwd=root, stdout=self.log, stderr=self.log, start_new_session=True)
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return port
            time.sleep(0.1)
        raise SystemExit(f"the server did not start: {(self.folder / 'log').read_text()[-2000:]}")

    def __exit__(self, *_: object) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def poke_env_speed(port: int, format_id: str, battles: int, number: int) -> tuple[float, float]:
    """Battles/s and turns/s of poke-env's `battle_against` over the server, ten at once."""
    server = ServerConfiguration(f"ws://127.0.0.1:{port}/showdown/websocket", "https://127.0.0.1:1/action.php?")
    players = [
        RandomPlayer(
            account_configuration=AccountConfiguration(f"bench{name}{number}", None),
            battle_format=format_id,
            server_configuration=server,
            max_concurrent_battles=10,
        )
        for name in "ab"
    ]
    asyncio.run(players[0].battle_against(players[1], n_battles=10))  # warm: modules, connections, V8
    players[0].reset_battles()
    players[1].reset_battles()
    began = time.perf_counter()
    asyncio.run(players[0].battle_against(players[1], n_battles=battles))
    seconds = time.perf_counter() - began
    turns = sum(battle.turn for battle in players[0].battles.values())
    for player in players:
        asyncio.run_coroutine_threadsafe(player.ps_client.stop_listening(), player.ps_client.loop).result()
    return battles / seconds, turns / seconds


def arena_speed(agents: tuple[str, str], format_id: str, battles: int, seed: int) -> tuple[float, float]:
    """Battles/s and turns/s of a run of the arena, from the first hand-out to the last battle in DuckDB, warm as above."""
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "bench.duckdb"
        warm = min(battles, 40)
        with writer_lock(db):
            store = Store(db)
            run = prepare(store, EvaluateSettings(agents, (format_id,), battles=battles + warm, seed=seed))
            marks: list[tuple[float, int, int]] = []
            asyncio.run(
                play(
                    run,
                    store,
                    workers=default_workers(),
                    show=lambda p: marks.append((time.perf_counter(), p.played, p.turns)),
                )
            )
            ended = time.perf_counter()
    # Counting begins when the workers are warm, as the other side's does after its ten battles.
    began, played, turns = next(mark for mark in marks if mark[1] >= warm)
    total_turns = marks[-1][2]
    return (battles + warm - played) / (ended - began), (total_turns - turns) / (ended - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battles", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--formats", nargs="+", default=["gen1randombattle", "gen9randombattle"])
    options = parser.parse_args()
    with LocalServer() as port:
        number = 0
        for format_id in options.formats:
            speeds: dict[str, list[float]] = {"poke-env": [], "arena": [], "arena, random": []}
            for _ in range(options.rounds):
                number += 1
                ways = {
                    "poke-env": lambda: poke_env_speed(port, format_id, options.battles, number),
                    "arena": lambda: arena_speed(
                        ("poke-env:RandomPlayer", "poke_env.player:RandomPlayer"), format_id, options.battles, number
                    ),
                    "arena, random": lambda: arena_speed(("random", "agents.heuristics.uniform:UniformRandom"), format_id, options.battles, number),
                }
                for name, way in ways.items():
                    battles, turns = way()
                    speeds[name].append(battles)
                    print(f"{format_id:18} {name:14} {battles:7.1f} battles/s {turns:8.0f} turns/s", flush=True)
            base = statistics.median(speeds["poke-env"])
            for name in ("arena", "arena, random"):
                print(f"{format_id:18} {name:14} is {statistics.median(speeds[name]) / base:.2f} times poke-env", flush=True)


if __name__ == "__main__":
    sys.exit(main())
