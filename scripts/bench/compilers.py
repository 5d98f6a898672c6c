"""Which compiler suits a battle engine: the same crude turn loop in Numba and, where it is installed, in NVIDIA Warp.

Two random draws and a damage formula for each of two sides a turn, 4,096 battles of 1,000 turns. Prints seconds of compiling
and turns a second: Numba on one core and on all, Warp (whose launches on the CPU are serial) on one.

    python scripts/bench/compilers.py      # `uv pip install warp-lang` for the second
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numba
import numpy as np

U = np.uint64
BATTLES, TURNS = 4096, 1000


@numba.njit
def turn(b: Any) -> None:
    for side in range(2):
        b[0] = U(0x5D588B656C078965) * b[0] + U(0x269EC3)
        critical = ((b[0] >> U(32)) * U(256)) >> U(32)
        b[0] = U(0x5D588B656C078965) * b[0] + U(0x269EC3)
        roll = U(217) + (((b[0] >> U(32)) * U(39)) >> U(32))
        level = U(200) if critical < U(60) else U(100)
        damage = ((level * U(2) // U(5) + U(2)) * U(85) * U(298) // U(198)) // U(50) + U(2)
        damage = damage * roll // U(255)
        hp = b[1 + side]
        b[1 + side] = U(353) if hp <= damage else hp - damage


def _loop(battles: Any, turns: int) -> None:
    for n in numba.prange(len(battles)):
        for _ in range(turns):
            turn(battles[n])


def fresh() -> Any:
    battles = np.full((BATTLES, 8), 353, np.uint64)
    battles[:, 0] = np.arange(BATTLES)
    return battles


def report(name: str, play: Callable[[int], Any]) -> None:
    started = time.monotonic()
    play(1)
    compiled = time.monotonic()
    play(TURNS)
    speed = BATTLES * TURNS / (time.monotonic() - compiled) / 1e6
    print(f"{name}: {compiled - started:.1f} s of compiling, {speed:.0f}M turns/s")


def warp() -> None:
    import warp as wp

    wp.config.quiet, wp.config.enable_backward = True, False
    wp.init()
    u = wp.uint64

    @wp.kernel
    def play(b: wp.array2d(dtype=wp.uint64), turns: int):  # type: ignore[valid-type]
        i = wp.tid()
        for _ in range(turns):
            for side in range(2):
                b[i, 0] = u(0x5D588B656C078965) * b[i, 0] + u(0x269EC3)
                critical = ((b[i, 0] >> u(32)) * u(256)) >> u(32)
                b[i, 0] = u(0x5D588B656C078965) * b[i, 0] + u(0x269EC3)
                roll = u(217) + (((b[i, 0] >> u(32)) * u(39)) >> u(32))
                level = u(100)
                if critical < u(60):
                    level = u(200)
                damage = ((level * u(2) / u(5) + u(2)) * u(85) * u(298) / u(198)) / u(50) + u(2)
                damage = damage * roll / u(255)
                if b[i, 1 + side] <= damage:
                    b[i, 1 + side] = u(353)
                else:
                    b[i, 1 + side] = b[i, 1 + side] - damage

    battles = wp.array(fresh(), dtype=wp.uint64, device="cpu")
    report("Warp, one core", lambda turns: wp.launch(play, dim=BATTLES, inputs=[battles, turns], device="cpu"))


def main() -> None:
    battles = fresh()
    one, every = numba.njit(_loop), numba.njit(_loop, parallel=True)
    report("Numba, one core", lambda turns: one(battles, turns))
    report("Numba, all cores", lambda turns: every(battles, turns))
    if find_spec("warp"):
        warp()
    else:
        print("Warp: not installed")


if __name__ == "__main__":
    main()
