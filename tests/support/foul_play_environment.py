"""A stand-in for foul-play (tests/support/stand_ins/foul_play) as set-up leaves the real one."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from agents.external.foul_play import Home
from support.command_line import TESTS
from teamsets.atomic import write_atomic

CHECKOUT = TESTS / "support" / "stand_ins" / "foul_play"


def prepare_stand_in(checkout: Path, *gens: int) -> None:
    """Make a checkout ready for generations, in the cache folder of the test.

    Other test processes may have the same folder and read meanwhile: a file is there as a whole, or not at all.
    """
    home = Home(checkout)
    home.python.parent.mkdir(parents=True, exist_ok=True)
    if not home.python.exists():
        mine = home.python.with_name(f"python-{os.getpid()}")
        mine.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        mine.chmod(0o755)
        mine.replace(home.python)
    for gen in gens:
        home.engine(gen).mkdir(parents=True, exist_ok=True)
        write_atomic(home.engine(gen) / "poke_engine.py", f'GENERATION = "{gen}"\n')
        (home.engine(gen) / ".ready").touch()
