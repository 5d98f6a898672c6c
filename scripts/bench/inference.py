"""What batching buys: decisions a second of the inference server (agents/policy) with many battles at once, and with one.

Starts the server on an untrained network of a preset and asks it from this process, as a worker does: first `--battles`
battles at once, each asking again as soon as it is answered; then the same battles in step, all decisions in one call, as
the engine's battles ask; then one battle alone. The observations are made up: what an answer costs does not depend on them.
The three take turns, `--rounds` times, and the best round of each counts.

    python scripts/bench/inference.py [--preset tiny] [--battles 32] [--decisions 40] [--rounds 3] [--device cpu]
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

import numpy as np

from agents.observation.observation import FEATURES, IDS_PER_TOKEN, TOKENS, Observation, Observations
from agents.policy import checkpoint
from agents.policy.client import InferenceConnection, connection_to
from agents.policy.network import Network
from agents.policy.shape import PRESETS


def made_up(seed: int) -> Observation:
    draw = np.random.default_rng(seed)
    ids = draw.integers(1, 4000, (TOKENS, IDS_PER_TOKEN)).astype(np.int16)
    return Observation(ids, draw.standard_normal((TOKENS, FEATURES)).astype(np.float32), np.ones(13, dtype=np.bool_))


async def speed(connection: InferenceConnection, battles: int, decisions: int) -> float:
    """Decisions a second of so many battles at once, each of so many decisions."""

    async def battle(seed: int) -> None:
        session, seen = connection.new_session(), made_up(seed)
        for position in range(decisions):
            await connection.ask(session, position, seen)
        connection.forget(session)

    began = time.perf_counter()
    await asyncio.gather(*map(battle, range(battles)))
    return battles * decisions / (time.perf_counter() - began)


async def speed_in_step(connection: InferenceConnection, battles: int, decisions: int) -> float:
    """The same with all battles in one call."""
    sessions, seen = [connection.new_session() for _ in range(battles)], [made_up(seed) for seed in range(battles)]
    many = Observations(
        *(np.stack([getattr(one, name) for one in seen]) for name in ("token_ids", "features", "legal"))
    )
    began = time.perf_counter()
    for position in range(decisions):
        await connection.ask_many(sessions, [position] * battles, many)
    seconds = time.perf_counter() - began
    for session in sessions:
        connection.forget(session)
    return battles * decisions / seconds


async def compare(connection: InferenceConnection, options: argparse.Namespace) -> None:
    await speed(connection, options.battles, 5)
    together, in_step, single = [], [], []
    for _ in range(options.rounds):
        together.append(await speed(connection, options.battles, options.decisions))
        in_step.append(await speed_in_step(connection, options.battles, options.decisions))
        single.append(await speed(connection, 1, options.decisions))
    print(
        f"{options.preset} on {options.device}: {max(together):,.0f} decisions/s with {options.battles} battles at once,"
        f" {max(in_step):,.0f} in one call, {max(single):,.0f} of one alone; ratio {max(together) / max(single):.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="tiny", choices=sorted(PRESETS))
    parser.add_argument("--battles", type=int, default=32)
    parser.add_argument("--decisions", type=int, default=40, help="of each battle")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        saved = checkpoint.save(checkpoint.folder_of(Path(folder), 0), Network(PRESETS[options.preset]), 0)
        connection = connection_to(saved, options.device)
        asyncio.run(compare(connection, options))
        connection.close()


if __name__ == "__main__":
    main()
