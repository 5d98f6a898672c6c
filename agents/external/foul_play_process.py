"""foul-play's processes without a server: one that has its code in memory, for each format, and one for each battle.

foul-play keeps what it knows of a battle's sets in its modules, so a process plays one battle. The resident process forks
them (foul_play_resident.py): that takes milliseconds, and they share its memory.
"""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents.external.contract import new_program_log
from agents.kept_processes import KeptProcess, KeptProcesses
from teamsets.errors import ArenaError
from teamsets.logs import last_line

#: Length of the last line of output in a message: the path behind it must not be cut off.
_LAST_LINE = 120
#: Seconds that a resident process has to end by itself.
_LEAVE_SECONDS = 2.0


class FoulPlayFailed(ArenaError):
    """foul-play's process has ended, or has written something else than an answer. The message names its log."""


class ResidentFoulPlay(KeptProcess):
    """The resident process for a format. command: that starts it. Blocks until it has started; raises FoulPlayFailed."""

    def __init__(self, command: Sequence[str]) -> None:
        self.log = new_program_log()
        self._control, its = socket.socketpair()
        with its, self.log.open("ab") as output:
            self._process = subprocess.Popen(
                command, stdin=its.fileno(), stdout=output, stderr=output, start_new_session=True
            )
        try:
            if not self._control.recv(64):
                raise FoulPlayFailed(f"foul-play did not start{_output(self.log)}")
        except BaseException:  # also the time limit for creating an agent
            self.close()
            raise

    def fork(self, options: list[str]) -> FoulPlayBattle:
        """Start the process of a battle. options: foul-play's. Raises FoulPlayFailed."""
        log = new_program_log()
        ours, its = socket.socketpair()
        with its, log.open("ab") as output:
            order = json.dumps({"options": options}).encode() + b"\n"
            with contextlib.suppress(OSError):  # it has ended: reading says so
                socket.send_fds(self._control, [order], [its.fileno(), output.fileno()])
        battle = FoulPlayBattle(ours, log)
        try:
            battle.pid = battle.read()["pid"]
        except BaseException as error:
            battle.close()
            if not isinstance(error, FoulPlayFailed):
                raise
            raise FoulPlayFailed(f"foul-play's resident process has ended{_output(self.log)}") from error
        return battle

    def close(self) -> None:
        """End it, with the processes of its battles."""
        with contextlib.suppress(OSError):  # it has ended
            self._control.shutdown(socket.SHUT_RDWR)
        self._control.close()
        try:
            self._process.wait(_LEAVE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class FoulPlayBattle:
    """The process of one battle. connection: the socket to it. log: its output. pid: set once it has started."""

    def __init__(self, connection: socket.socket, log: Path) -> None:
        self.log = log
        self.pid = 0
        self._connection = connection
        self._lines = connection.makefile("rb")

    def choose(
        self, messages: list[str], played: str | None, spreads: list[tuple[str, tuple[int, ...]]]
    ) -> tuple[str, dict[str, float]]:
        """Give foul-play its next messages, the last of which asks for a choice. Return its answer as text, and its visits.

        visits: choice as text -> share of its search's visits; they need not sum to 1.

        played: the move that was played instead of its last choice, or None. spreads: natures and EVs of its team in the
        order of the first request, with the first messages. Blocks meanwhile. Raises FoulPlayFailed.
        """
        order = {"messages": messages, "played": played, "spreads": spreads}
        try:
            with contextlib.suppress(OSError):  # it has ended: reading says how
                self._connection.sendall(json.dumps(order).encode() + b"\n")
            reply = self.read()
            answer, visits = reply.get("choice"), reply.get("visits")
            if not (isinstance(answer, str) and isinstance(visits, dict)):
                raise FoulPlayFailed(f"foul-play's process wrote no choice{_output(self.log)}")
        except BaseException:  # also the time limit: the late answer would be read as that of the next decision
            self.close()
            raise
        return answer, visits

    def read(self) -> dict[str, Any]:
        """Return the next line that the process has written. Raises FoulPlayFailed if there is none."""
        line = self._lines.readline()
        try:
            reply = json.loads(line or b'{"ended": null}')
        except ValueError:
            reply = {}
        if not isinstance(reply, dict):
            reply = {}
        if "ended" in reply:
            status = reply["ended"]
            how = "" if status is None else f" with status {status}"
            raise FoulPlayFailed(f"foul-play's process ended{how}{_output(self.log)}")
        return reply

    def close(self) -> None:
        """End the process: it ends when the socket closes. Can be called more than once."""
        with contextlib.suppress(OSError):  # it has ended
            self._connection.shutdown(socket.SHUT_RDWR)
        self._lines.close()
        self._connection.close()


def _output(log: Path) -> str:
    """Return the last line of a log, and its path, for a message; "" if it was removed, as the oldest are."""
    try:
        last = last_line(log)[:_LAST_LINE]
    except FileNotFoundError:
        return ""
    return (f": {last}" if last else "") + f"; its log is {log}"


#: Of this process, by the command that starts it.
residents = KeptProcesses[tuple[str, ...], ResidentFoulPlay](ResidentFoulPlay)
