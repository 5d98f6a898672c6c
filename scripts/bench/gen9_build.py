"""How long the generation-9 engine takes to compile, now and with more handlers of events, in seconds of CPU and elapsed.

Cold: everything. One file: after a change of abilities_power.cpp. A header: after a change of battle.h. Load: a new
process, from the cache to the first step. The added handlers are of five kinds with different numbers, in files of 50.

    python scripts/bench/gen9_build.py [--rounds 3] [--added 0 100 500]
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from agents.engine.gen9 import library
from agents.engine.gen9.layout import SOURCES

BODIES = (
    "return e.target->hp * {n} > e.target->maxhp + {n} ? e.chainModify({n} + 2, 2) : UNDEFINED;",
    "b.damage(e.source->maxhp / ({n} + 3), e.source, e.target, e.effect); return UNDEFINED;",
    "return b.prng.randomChance(1, {n} + 2) && e.move()->type == {n} % 18 ? FALSE : UNDEFINED;",
    "b.heal(e.target->maxhp / ({n} + 5), e.target); return UNDEFINED;",
    "e.move()->basePower += {n}; return b.addVolatile(e.target, condition::flinch, e.source, {n} % 40);",
)
FILE = """#include "battle.h"
namespace {{
constexpr Handler HANDLERS_HERE[] = {{
{entries}
}};
}}
extern const HandlerList MORE_{n};
const HandlerList MORE_{n} = {{HANDLERS_HERE, sizeof(HANDLERS_HERE) / sizeof(Handler)}};
"""
ENTRY = """    {{ability::levitate, onAnyModifyDamage, {{.priority = {n}}},
     []([[maybe_unused]] Battle& b, Event& e) -> Value {{ {body} }}}},"""
EACH = 50
#: The sources that are changed, within src/: a file of handlers, and the header that nearly all files include.
ONE_FILE, HEADER = "abilities_power.cpp", "battle.h"
_LOAD = """
import numpy as np
from agents.engine.gen9.engine import Engine
from agents.engine.gen9.library import library
engine = Engine(0)
engine.legal(), engine.step(np.zeros((0, 2, 2), np.int32))
"""


def add_handlers(sources: Path, count: int) -> None:
    for first in range(0, count, EACH):
        numbers = range(first, min(first + EACH, count))
        entries = "\n".join(ENTRY.format(n=n, body=BODIES[n % len(BODIES)].format(n=n)) for n in numbers)
        (sources / f"more_{first}.cpp").write_text(FILE.format(entries=entries, n=first))


def timed_build(folder: Path) -> tuple[float, float]:
    """CPU and elapsed seconds."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    library.build(folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - started


def change(file: Path) -> None:
    """Append a comment with the time to a source file. Raises FileNotFoundError where there is none."""
    file.write_text(file.read_text() + f"// {time.monotonic()}\n")


def measure(added: int, original: Path = SOURCES) -> dict[str, tuple[float, float]]:
    """Build a copy of the sources, with so many handlers added: cold, then after each change.

    original: the folder src/. Returns CPU and elapsed seconds of each build.
    """
    built = library.SOURCES
    with tempfile.TemporaryDirectory() as temporary:
        folder, sources = Path(temporary) / "cache", Path(temporary) / "src"
        shutil.copytree(original, sources)
        add_handlers(sources, added)
        library.SOURCES = sources
        try:
            times = {"cold": timed_build(folder)}
            for name, file in (("one file", ONE_FILE), ("a header", HEADER)):
                change(sources / file)
                times[name] = timed_build(folder)
        finally:
            library.SOURCES = built
        return times


def load_seconds() -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", _LOAD], check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--added", type=int, nargs="+", default=[0, 100, 500])
    options = parser.parse_args()
    print(f"compiler: {' '.join(library.compiler())}, flags {' '.join(library.FLAGS)}")
    rounds: dict[tuple[int, str], list[tuple[float, float]]] = {}
    for _ in range(options.rounds):
        for added in options.added:
            for name, seconds in measure(added).items():
                rounds.setdefault((added, name), []).append(seconds)
    for (added, name), seconds in rounds.items():
        cpu, elapsed = (statistics.median(column) for column in zip(*seconds, strict=True))
        print(f"{added} more handlers, {name}: {cpu:.1f} s of CPU, {elapsed:.1f} s elapsed")
    library.library()
    print(f"load: {statistics.median(load_seconds() for _ in range(options.rounds)):.2f} s of CPU, imports included")


if __name__ == "__main__":
    main()
