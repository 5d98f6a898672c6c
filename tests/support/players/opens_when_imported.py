"""A module that opens the memory of other processes as soon as it is imported, and notes which it was let to."""

from __future__ import annotations

import os
from pathlib import Path

from attackers import Honest, opened

Path(os.environ["OPENED"]).write_text("\n".join(opened()))


class Agent(Honest):
    """Plays badly."""
