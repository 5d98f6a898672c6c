"""Two small teams in export text, and the formats of the ladder for a parametrized test, most of them slow."""

from __future__ import annotations

import pytest

from teamsets.formats import LADDER_FORMATS

GOOD = """Starmie
- Recover
- Thunder Wave
- Blizzard
- Psychic

Tauros
- Body Slam
- Hyper Beam
- Blizzard
- Earthquake
"""
BAD = GOOD.replace("- Recover", "- Spore")

SOME_FAST = [
    one if one in ("gen1ou", "gen9ou") else pytest.param(one, marks=pytest.mark.slow) for one in LADDER_FORMATS
]
