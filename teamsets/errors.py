"""The project's exceptions, from the lowest room up.

ArenaError
├── BadInput          what the user gave cannot be used: one line that names the input and the mend (exit code 2)
│   ├── BadTeam       a team that the simulator's own validator refuses, or a file that holds none
│   ├── UnknownFormat a format that is not there, or not supported (doubles)
│   └── ...           higher rooms add their own: UnknownAgent, BadDatabase
└── MissingTool       node or its packages are not there; says how to get them (exit code 2)
"""

from __future__ import annotations


class ArenaError(Exception):
    """Base of everything that this project raises on purpose."""


class BadInput(ArenaError):
    """What the user gave cannot be used. The message is one line: the input, what is wrong, the mend."""


class BadTeam(BadInput):
    """A team that Showdown's validator refuses, or a file that holds no team."""


class UnknownFormat(BadInput):
    """A format that Showdown does not know, or that is not played here."""


class MissingTool(ArenaError):
    """Node or the simulator's package is not there. The message says how to get it."""
