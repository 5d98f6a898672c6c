"""A stand-in for foul-play (tests/support/stand_ins/foul_play) as set-up leaves the real one."""

from __future__ import annotations

import sys
from pathlib import Path

from agents.external.foul_play import Home
from support.command_line import TESTS

CHECKOUT = TESTS / "support" / "stand_ins" / "foul_play"


def prepare_stand_in(checkout: Path, *gens: int) -> None:
    """Make a checkout ready for generations, in the cache folder of the test."""
    home = Home(checkout)
    home.python.parent.mkdir(parents=True, exist_ok=True)
    if not home.python.exists():
        home.python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        home.python.chmod(0o755)
    for gen in gens:
        home.engine(gen).mkdir(parents=True, exist_ok=True)
        (home.engine(gen) / "poke_engine.py").write_text(f'GENERATION = "{gen}"\n')
        (home.engine(gen) / ".ready").touch()
