"""A module that starts programs as soon as it is imported: one, one in a session of its own, and one as a daemon.

The environment variable STARTS_MARK is in their command lines, by which they are found.
"""

from __future__ import annotations

import os
import subprocess
from typing import Any

from agents import Agent

_COMMAND = ["/bin/sh", "-c", "while :; do sleep 0.1; done", os.environ.get("STARTS_MARK", "")]

subprocess.Popen(_COMMAND)
subprocess.Popen(_COMMAND, start_new_session=True)
subprocess.run(["/bin/sh", "-c", '"$@" & exit 0', "daemon", *_COMMAND], start_new_session=True)


class First(Agent):
    """Always its first legal choice."""

    def act(self, battle: Any) -> Any:
        return battle.legal[0]
