"""What Ray costs: battles a second of the same run on worker processes of this machine and on a Ray cluster of it, in turns.

    python scripts/bench/ray_workers.py [--battles 400] [--rounds 7] [--workers 2] [--formats gen1randombattle] [--seed 0]
        [--client]

Both sides have the same number of workers and play the same fixtures. Counting begins when the workers have had their first
battles, so the start of the processes and of the cluster is not in it. Each round plays both, the order changes from round
to round; a first round is not counted. Ray is started once. Prints a line for each round, then the median of the ratios.

By default this process belongs to the cluster (`--on ray`). With --client it connects through Ray's client
(`--on ray://HOST:PORT`), as from a machine that does not belong to it.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from arena.run.tournament import EvaluateSettings, play_into
from arena.workers.cluster.connection import connect_cluster
from arena.workers.progress import RunProgress

AGENTS = ("poke-env:RandomPlayer", "random")
#: Battles of each worker before counting begins.
WARM = 15


def speed(on: str | None, format_id: str, battles: int, workers: int, seed: int) -> float:
    """Battles a second of a run between its first and its last battles."""
    marks: list[tuple[float, int]] = []

    def mark(progress: RunProgress) -> None:
        marks.append((time.perf_counter(), progress.played))

    warm = WARM * workers
    settings = EvaluateSettings(agents=AGENTS, formats=(format_id,), battles=battles + 2 * warm, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        play_into(Path(folder) / "bench.duckdb", settings, workers=workers, on=on, show=mark)
    # The last battles are left out, too: they end one by one, with workers idle.
    counted = [found for found in marks if warm <= found[1] <= battles + warm]
    (began, first), (ended, last) = counted[0], counted[-1]
    return (last - first) / (ended - began)


@contextmanager
def cluster(workers: int, client: bool) -> Iterator[str]:
    """A Ray cluster of this machine, connected to. Yields what `--on` says of it."""
    if not client:
        with connect_cluster("ray", workers):
            yield "ray"
        return
    # As with `--on ray`: the loopback only, nothing sent. Without a token, which Ray would leave in the home folder.
    # Without the last one the process that Ray starts for a client may die at once (docs/scale.md).
    os.environ |= {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0", "GRPC_ENABLE_FORK_SUPPORT": "0"}
    command = [str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", "--include-dashboard=false"]
    port, client_port = _free_ports()
    command += [f"--port={port}", f"--ray-client-server-port={client_port}", "--node-ip-address=127.0.0.1"]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as output:
        head = subprocess.Popen(
            [*command, f"--num-cpus={workers}", f"--temp-dir={folder}"], stdout=output, stderr=output, text=True
        )
        try:
            _wait_until_started(head, output, client_port)
            on = f"ray://127.0.0.1:{client_port}"
            with connect_cluster(on, workers):
                yield on
        finally:
            head.terminate()
            head.wait()


def _free_ports() -> tuple[int, int]:
    """Two ports of the loopback that nobody has: Ray's own could be those of a cluster that is in use."""
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        return one.getsockname()[1], other.getsockname()[1]


def _wait_until_started(head: subprocess.Popen[str], output: IO[str], client_port: int) -> None:
    """Until `ray start` says so and the head listens for clients, which may be later. said: the file of its output."""
    last = time.monotonic() + 120
    while time.monotonic() < last:
        ended = head.poll() is not None
        output.seek(0)
        text = output.read()
        if ended:
            raise SystemExit(f"`ray start` ended with exit code {head.returncode}: {text.strip()}")
        if "Ray runtime started" in text and _listens(client_port):
            return
        time.sleep(0.2)
    raise SystemExit(f"`ray start` has started nothing that listens for clients at port {client_port}: {text.strip()}")


def _listens(port: int) -> bool:
    with socket.socket() as there:
        return there.connect_ex(("127.0.0.1", port)) == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battles", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--formats", nargs="+", default=["gen1randombattle"])
    parser.add_argument("--seed", type=int, default=0, help="of the first round; each has the next one  [default: 0]")
    parser.add_argument("--client", action="store_true", help="through Ray's client, ray://HOST:PORT")
    options = parser.parse_args()
    name = "Ray's client" if options.client else "Ray"
    with cluster(options.workers, options.client) as on:  # started once, and used by all turns on Ray
        for format_id in options.formats:
            ratios = []
            for turn in range(options.rounds + 1):
                sides = (None, on) if turn % 2 == 0 else (on, None)
                speeds = {
                    side: speed(side, format_id, options.battles, options.workers, options.seed + turn)
                    for side in sides
                }
                ratio = speeds[on] / speeds[None]
                print(
                    f"{format_id}, {options.workers} workers: processes {speeds[None]:.1f}, "
                    f"{name} {speeds[on]:.1f} battles/s, "
                    f"ratio {ratio:.3f}{'' if turn else ' (not counted)'}",
                    flush=True,
                )
                if turn:  # in the first one Ray's own processes are still starting
                    ratios.append(ratio)
            print(
                f"{format_id}, {options.workers} workers: {name} has {statistics.median(ratios):.3f} of the battles/s of "
                f"processes (median of {len(ratios)} rounds)",
                flush=True,
            )


if __name__ == "__main__":
    main()
