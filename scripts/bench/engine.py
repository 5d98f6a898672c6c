"""Speed of an engine beside Showdown's bare `Battle`, on the same cores in one go, and which bars it reaches.

Generation 1: bench/gen1_speed.py, which also plays poke-env and libpkmn. Generation 9: bench/gen9_speed.py. Their
docstrings say what is measured. A figure that misses its bar is marked NO; the exit code stays 0, as machines are noisy.

    python scripts/bench/engine.py [--rounds 3] [--seconds 5] [--battles 4096] [--server-battles 60] [--libpkmn PYTHON]
    python scripts/bench/engine.py --gen 9 [--rounds 3] [--seconds 4] [--battles 1024]
"""

from __future__ import annotations

import argparse

#: What belongs to generation 1 alone.
GEN1_OPTIONS = {"server_battles": "--server-battles", "libpkmn_python": "--libpkmn", "compile_times": "--no-compile"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gen", type=int, choices=(1, 9), default=1, help="whose engine (1)")
    parser.add_argument("--rounds", type=int, default=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=argparse.SUPPRESS, help="of each turn (5; generation 9: 4)")
    battles = "in the engine's batch (4096; generation 9: 1024)"
    parser.add_argument("--battles", type=int, default=argparse.SUPPRESS, help=battles)
    only = parser.add_argument_group("generation 1 alone")
    server_battles = "of poke-env in each round (60)"
    only.add_argument("--server-battles", type=int, default=argparse.SUPPRESS, help=server_battles)
    libpkmn = "an interpreter that has oak-lab"
    only.add_argument("--libpkmn", metavar="PYTHON", dest="libpkmn_python", default=argparse.SUPPRESS, help=libpkmn)
    no_compile = "leave out the compile times, some two minutes"
    only.add_argument(
        "--no-compile", dest="compile_times", action="store_false", default=argparse.SUPPRESS, help=no_compile
    )
    options = vars(parser.parse_args())
    if options.pop("gen") == 1:
        from gen1_speed import compare  # imports Numba, which generation 9 does without
    elif given := [option for name, option in GEN1_OPTIONS.items() if name in options]:
        parser.error(f"--gen 9 has no {', '.join(given)}: leave it out, or take --gen 1")
    else:
        from gen9_speed import compare
    compare(**options)


if __name__ == "__main__":
    main()
