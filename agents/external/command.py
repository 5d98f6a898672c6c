"""`external?command=…`: any program that speaks Showdown's protocol, given by its command line."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

from agents.external.contract import BattleAddress, Program, ProgramAgent
from teamsets.errors import BadInput

_PLACEHOLDER = re.compile(r"\{([a-z_]*)\}")
#: Larger files are identified by size and date: hashing a model's weights would take as long as loading them.
_HASHED_BYTES = 16 << 20


class External(ProgramAgent):
    """A program of your own that plays on the arena's Showdown server, started once for each battle.

    The command is split as by a shell, but no shell is run. Placeholders:

        {uri}        the server's websocket, ws://127.0.0.1:PORT/showdown/websocket
        {user}       the name to sign in with, without a password: `/trn NAME,0,`
        {opponent}   the user in the other seat
        {role}       challenge (it challenges the opponent) or accept (it accepts the opponent's challenge)
        {format}     e.g. gen1ou
        {team}       its team, packed; empty for formats with random teams
        {team_file}  a file with its team in Showdown's export format; empty for formats with random teams
        {battles}    the number of battles to play: 1
        {folder}     a folder of its own, removed afterwards

    The same values are in its environment as ARENA_URI, ARENA_USER and so on. Its output is written to a log.

    In a spec `+` and `%20` mean a space, so `+`, `%`, `&` and `#` in the command are written %2B, %25, %26 and %23:
    `external?command=python bot.py --server {uri} --name {user} --versus {opponent}`.

    Options: command; role, challenge; allowance, seconds per decision beyond the think limit, 5; start, seconds from its
    start to the battle, 60; cwd, its working folder, the current one.
    """

    def __init__(
        self, command: str = "", role: str = "challenge", allowance: float = 5.0, start: float = 60.0, cwd: str = ""
    ) -> None:
        problem = _problem(command, role) or self.wrong_option(allowance=allowance, start=start)
        if problem:
            raise BadInput(f"agent 'external': {problem}")
        self.argv = shlex.split(command)
        self.role = "accept" if role == "accept" else "challenge"
        self.allowance, self.start_limit, self.cwd = allowance, start, cwd

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        """Return what is wrong with the command or its program; empty if nothing is."""
        command = options.get("command", "")
        problem = _problem(command, options.get("role", "challenge"))
        if problem:
            return problem
        folder = options.get("cwd") or "."
        if not os.path.isdir(folder):
            return f"cwd '{folder}' is not a folder: give the folder in which the program runs"
        program = shlex.split(command)[0]
        if shutil.which(os.path.join(folder, program) if os.sep in program else program) is None:
            return f"its program '{program}' was not found: install it, or give its full path"
        return ""

    @classmethod
    def version(cls, **options: Any) -> str:
        """Return a hash of the files that the command names."""
        digest = hashlib.sha256()
        if _problem(options.get("command", ""), options.get("role", "challenge")):
            return ""
        for word in shlex.split(options["command"]):
            path = Path(options.get("cwd", ""), word)
            if path.is_file():
                state = path.stat()
                digest.update(word.encode())
                small = state.st_size <= _HASHED_BYTES
                digest.update(path.read_bytes() if small else f"{state.st_size} {state.st_mtime_ns}".encode())
        return digest.hexdigest()

    def program(self, address: BattleAddress) -> Program:
        values = _values(address)
        command = [_PLACEHOLDER.sub(lambda match: values[match[1]], argument) for argument in self.argv]
        environment = {f"ARENA_{name.upper()}": value for name, value in values.items()}
        return Program(command, environment, Path(self.cwd) if self.cwd else None)


_NAMES = ("uri", "user", "opponent", "role", "format", "team", "team_file", "battles", "folder")


def _values(address: BattleAddress) -> dict[str, str]:
    team, file = address.team or "", address.team_file
    values = (
        address.uri,
        address.user,
        address.opponent,
        address.role,
        address.format,
        team,
        str(file or ""),
        "1",
        str(address.folder),
    )
    return dict(zip(_NAMES, values, strict=True))


def _problem(command: str, role: str) -> str:
    """Return why no program can be started with these options, with the fix; empty if it can."""
    if role not in ("challenge", "accept"):
        return f"role '{role}' is unknown: use challenge or accept"
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        return f"its command cannot be split into words: {error}: check its quotation marks"
    if not arguments:
        return "command is required: external?command=python bot.py {uri} {user} {opponent}"
    for argument in arguments:
        for name in _PLACEHOLDER.findall(argument):
            if name not in _NAMES:
                return f"its command has the unknown placeholder '{{{name}}}': known are {', '.join(_NAMES)}"
    return ""
